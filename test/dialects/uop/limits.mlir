// RUN: uop-opt %s --split-input-file | uop-opt - --split-input-file | filecheck %s
// RUN: uop-opt %s --print-op-generic --split-input-file | uop-opt - --split-input-file | filecheck %s
// RUN: uop-opt %s --print-op-generic --split-input-file | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: uop.kernel @ranges
// GENERIC-LABEL: sym_name = "ranges"
uop.kernel @ranges(%out: memref<64x64xf32>, %x: memref<64x64xf32>, %length: memref<i64>) {
  %i = uop.range i = 64
  %c1 = uop.const 1 : index
  %next = uop.add %i, %c1 : index
  %n = uop.load %length[] : memref<i64>
  %hi = uop.cast %n : i64 -> index
  // CHECK: uop.range j = 64 to %{{.*}}
  // GENERIC: "uop.range"(%{{.*}}) <{axis = #uop.axis<j = 64>, operandSegmentSizes = array<i32: 0, 1>}>
  %j = uop.range j = 64 to %hi
  // CHECK: uop.range k = 64 from %i to %{{.*}}
  // GENERIC: "uop.range"(%{{.*}}, %{{.*}}) <{axis = #uop.axis<k = 64>, operandSegmentSizes = array<i32: 1, 1>}>
  %k = uop.range k = 64 from %i to %next
  // CHECK: uop.range k = 64 from %i{{$}}
  %l = uop.range k = 64 from %i
  %0 = uop.load %x[%k, %l] : memref<64x64xf32>
  %1 = uop.reduce add %0 over %k, %l : f32
  uop.store %1, %out[%i, %j] : memref<64x64xf32>
}

// -----

// CHECK-LABEL: uop.kernel @loops
uop.kernel @loops(%out: memref<64xf32>, %x: memref<64x64xf32>) {
  %lo = uop.const 3 : index
  %hi = uop.const 50 : index
  // CHECK: loop.for %i (i = 64 parallel) from %{{.*}} to %{{.*}} {
  loop.for %i (i = 64 parallel) from %lo to %hi {
    // CHECK: loop.reduce %k (k = 64) to %i add : f32 {
    %0 = loop.reduce %k (k = 64) to %i add : f32 {
      %1 = uop.load %x[%i, %k] : memref<64x64xf32>
      loop.yield %1 : f32
    }
    uop.store %0, %out[%i] : memref<64xf32>
  }
  %zero = uop.const 0.0 : f32
  // CHECK: loop.for %s (s = 8 loop) from %{{.*}} carry (%a = add from %{{.*}} : f32) {
  %2 = loop.for %s (s = 8 loop) from %lo carry (%a = add from %zero : f32) {
    loop.yield %a : f32
  }
}
