// Axes that are given replace those that were chosen; several of them stand in the order that is given.
// RUN: uop-opt %s -p "choose-schedule{schedule='@product: k = 8 loop * 8 loop','@copy: i = 2 block * 16 thread','@decided: i = 8 thread'}" --remarks 2>&1 | filecheck %s --check-prefix=ONE
// RUN: not uop-opt %s -p "choose-schedule{schedule='@copies: i = 2 loop'}" 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not uop-opt %s -p "choose-schedule{schedule='i = 2 lop'}" 2>&1 | filecheck %s --check-prefix=SYNTAX
// RUN: not uop-opt %s -p "choose-schedule{schedule='k = 64 loop'}" 2>&1 | filecheck %s --check-prefix=AXIS
// RUN: not uop-opt %s -p "choose-schedule{schedule='@product: stage = [%x buffers 100]'}" 2>&1 | filecheck %s --check-prefix=ROOM
// RUN: uop-opt %s --uop-to-cuda='after=loop to=tile schedule="@product: j = 2 block * 24 thread, i = 5 block * 8 thread, k = 64 loop, stage = []"' --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=WHOLE

// NAME: error: schedule '@copies: i = 2 loop': no kernel is called that
// NAME: help: there are: @copy, @product, @decided
// SYNTAX: error: pass 'choose-schedule': schedule 'i = 2 lop', column 7: expected an axis kind: {{.*}}, found 'lop'
// AXIS: choose-schedule-pins.mlir:{{[0-9]+}}:1: error: kernel @copy: the schedule binds axis k, but the kernel's axes are: i (32)
// AXIS: help: a schedule is for all kernels unless it begins with the name of one, as in `@copy: …`
// ROOM: error: kernel @product: the schedule stages %x, which cannot be staged: the slab takes {{[0-9]+}} bytes, and 0 of the 81920 bytes that there are are taken
// WHOLE: choose-schedule{schedule="@product: j = 2 block * 24 thread, i = 5 block * 8 thread, k = 64 loop, stage = []"}

// ONE: remark: @copy: elementwise: {{.*}}: i = 8 thread * 4 register; pinned: i = 2 block * 16 thread: i = 2 block * 16 thread
// ONE: remark: @product: product: {{.*}}; pinned: k = 8 loop * 8 loop: k = 8 loop * 8 loop, i = {{.*}}, stage = [%x
// ONE: remark: @decided has a schedule already: `i = 8 thread` is not used

// ONE: uop.kernel @copy({{.*}}) schedule #tile.schedule<i = 2 block * 16 thread> {
uop.kernel @copy(%out: memref<32xf32>, %x: memref<32xf32>) {
  loop.for %i (i = 32 parallel) {
    %0 = uop.load %x[%i] : memref<32xf32>
    uop.store %0, %out[%i] : memref<32xf32>
  }
}

// ONE: uop.kernel @product({{.*}}) schedule #tile.schedule<k = 8 loop * 8 loop, i = 2 block * 4 register * 8 thread, j = 2 block * 8 thread * 4 register, stage = [%x buffers 2 async pad 4, %y buffers 2 async]> {
// WHOLE: uop.kernel @product({{.*}}) schedule #tile.schedule<j = 2 block * 24 thread, i = 5 block * 8 thread, k = 64 loop> {
uop.kernel @product(%out: memref<40x48xf32>, %x: memref<40x64xf32>, %y: memref<64x48xf32>) {
  loop.for %i (i = 40 parallel) {
    loop.for %j (j = 48 parallel) {
      %0 = loop.reduce %k (k = 64) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<40x64xf32>
        %2 = uop.load %y[%k, %j] : memref<64x48xf32>
        %3 = uop.mul %1, %2 : f32
        loop.yield %3 : f32
      }
      uop.store %0, %out[%i, %j] : memref<40x48xf32>
    }
  }
}

// ONE: uop.kernel @decided({{.*}}) schedule #tile.schedule<i = 4 block * 2 thread> {
uop.kernel @decided(%out: memref<8xf32>, %x: memref<8xf32>) schedule #tile.schedule<i = 4 block * 2 thread> {
  loop.for %i (i = 8 parallel) {
    %0 = uop.load %x[%i] : memref<8xf32>
    uop.store %0, %out[%i] : memref<8xf32>
  }
}
