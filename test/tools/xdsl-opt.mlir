// RUN: xdsl-opt %s -p 'choose-schedule' | filecheck %s

// Stock xdsl-opt reads our dialects and runs our passes: the entry point `xdsl.universe` tells it of them.
// CHECK: uop.kernel @copy(%out: memref<64xf32>, %x: memref<64xf32>) schedule #tile.schedule<i = 16 thread * 4 register> {
// CHECK-NEXT: loop.for %i (i = 64 parallel) {
uop.kernel @copy(%out: memref<64xf32>, %x: memref<64xf32>) {
  loop.for %i (i = 64 parallel) {
    %0 = uop.load %x[%i] : memref<64xf32>
    uop.store %0, %out[%i] : memref<64xf32>
  }
}
