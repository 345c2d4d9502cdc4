// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-stage)' --split-input-file --verify-diagnostics | filecheck %s

// The origin is the block's and the outer step's, the slab what threads, registers and inner steps read: 16 rows of 32.
// %bias is read by every thread, so that is staged like the others; the masks said no more than "inside the buffer".
uop.kernel @matmul(%out: memref<30x30xf32>, %x: memref<30x50xf32>, %bias: memref<50xf32>, %w: memref<50x30xf32>)
    schedule #tile.schedule<i = 2 block * 8 thread * 2 register, j = 2 block * 16 thread, k = 2 loop * 32 loop,
                            stage = [%x buffers 2 async pad 4, %bias, %w buffers 2]> {
  loop.for %i (i = 30 parallel) {
    loop.for %j (j = 30 parallel) {
      %0 = loop.reduce %k (k = 50) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<30x50xf32>
        %2 = uop.load %bias[%k] : memref<50xf32>
        %3 = uop.add %1, %2 : f32
        %4 = uop.load %w[%k, %j] : memref<50x30xf32>
        %5 = uop.mul %3, %4 : f32
        loop.yield %5 : f32
      }
      uop.store %0, %out[%i, %j] : memref<30x30xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @matmul
// CHECK:         %[[TI2:.*]] = uop.mul %ti, %{{.*}} : index
// CHECK:         %[[TI:.*]] = uop.expand %[[TI2]] : index -> vector<2xindex>
// CHECK-NEXT:    %[[I:.*]] = uop.add %[[TI]], %ri : vector<2xindex>
// CHECK-NEXT:    loop.for %ko (k = 2 loop)
// CHECK-NEXT:      %[[K:.*]] = uop.mul %ko, %{{.*}} : index
// CHECK-NEXT:      %x_s = tile.stage %x[%{{.*}}, %[[K]]] buffers 2 async : memref<30x50xf32> -> memref<16x32xf32, strided<[36, 1]>, "shared">
// CHECK-NEXT:      %bias_s = tile.stage %bias[%[[K]]] buffers 1 : memref<50xf32> -> memref<32xf32, "shared">
// CHECK-NEXT:      %w_s = tile.stage %w[%[[K]], %{{.*}}] buffers 2 : memref<50x30xf32> -> memref<32x16xf32, "shared">
// CHECK:           loop.for %ki (k = 32 loop)
// CHECK:             tile.read %x_s[%[[I]], %ki] : memref<16x32xf32, strided<[36, 1]>, "shared">(vector<2xindex>, index) -> vector<2xf32>
// CHECK:             tile.read %bias_s[%ki] : memref<32xf32, "shared">(index) -> f32
// CHECK:             tile.read %w_s[%ki, %tj] : memref<32x16xf32, "shared">(index, index) -> f32

// -----

// With one serial factor a slab is one step; elements that the load's own mask excludes stay masked.
uop.kernel @triangle(%out: memref<16xf32>, %x: memref<20x16xf32>) schedule #tile.schedule<i = 16 thread, k = 20 loop, stage = [%x]> {
  loop.for %i (i = 16 parallel) {
    %0 = loop.reduce %k (k = 20) add : f32 {
      %1 = uop.le %i, %k : index
      %2 = uop.load %x[%k, %i] mask %1 : memref<20x16xf32>
      loop.yield %2 : f32
    }
    uop.store %0, %out[%i] : memref<16xf32>
  }
}
// CHECK-LABEL: uop.kernel @triangle
// CHECK:         loop.for %k (k = 20 loop)
// CHECK-NEXT:      %x_s = tile.stage %x[%k, %{{.*}}] buffers 1 : memref<20x16xf32> -> memref<1x16xf32, "shared">
// CHECK-NEXT:      %[[OK:.*]] = uop.le %ti, %k : index
// CHECK-NEXT:      tile.read %x_s[%{{.*}}, %ti] mask %[[OK]] :

// -----

// Indices that run backwards and begin in front of the buffer: the origin is the least index, and the zeros of the slab are
// those of the mask.
uop.kernel @reversed(%out: memref<8xf32>, %x: memref<16xf32>) schedule #tile.schedule<i = 8 thread, k = 4 loop * 2 loop, stage = [%x]> {
  %0 = uop.const 5 : index
  %1 = uop.const 0 : index
  loop.for %i (i = 8 parallel) {
    %2 = loop.reduce %k (k = 8) add : f32 {
      %3 = uop.sub %i, %k : index
      %4 = uop.add %3, %0 : index
      %5 = uop.ge %4, %1 : index
      %6 = uop.load %x[%4] mask %5 : memref<16xf32>
      loop.yield %6 : f32
    }
    uop.store %2, %out[%i] : memref<8xf32>
  }
}
// k = 2 ko + ki, so that i − k + 5 = 4 − 2 ko + (i − ki + 1).
// CHECK-LABEL: uop.kernel @reversed
// CHECK:         loop.for %ko (k = 4 loop)
// CHECK-DAG:       %[[M2:.*]] = uop.mul %ko, %{{.*}} : index
// CHECK:           %x_s = tile.stage %x[%[[ORIGIN:.*]]] buffers 1 : memref<16xf32> -> memref<9xf32, "shared">
// CHECK:           loop.for %ki (k = 2 loop)
// CHECK:             tile.read %x_s[%{{.*}}] : memref<9xf32, "shared">(index) -> f32

// -----

// A read whose index is loaded is left alone.
// expected-remark@+1 {{%x is not staged here: index 0 is not linear in axes and loops}}
uop.kernel @gather(%out: memref<8xf32>, %x: memref<100xf32>, %places: memref<12xi64>)
    schedule #tile.schedule<i = 8 thread, k = 12 loop, stage = [%x]> {
  loop.for %i (i = 8 parallel) {
    %0 = loop.reduce %k (k = 12) add : f32 {
      %1 = uop.load %places[%k] : memref<12xi64>
      %2 = uop.cast %1 : i64 -> index
      %3 = uop.load %x[%2] : memref<100xf32>
      loop.yield %3 : f32
    }
    uop.store %0, %out[%i] : memref<8xf32>
  }
}
// CHECK-LABEL: uop.kernel @gather
// CHECK-NOT:     tile.stage
// CHECK:         tile.read %x[

// -----

// What is only read behind a reduction is staged in front of its loop: all that a block reads of it.
// CHECK-LABEL: uop.kernel @bias
// CHECK:         %[[ORIGIN:.*]] = uop.mul %bj, %{{.*}} : index
// CHECK:         %bias_s = tile.stage %bias[%[[ORIGIN]]] buffers 1 async : memref<32xf32> -> memref<16xf32, "shared">
// CHECK:         loop.for %k
// CHECK:         tile.read %bias_s[%tj] : memref<16xf32, "shared">(index) -> f32
uop.kernel @bias(%out: memref<8x32xf32>, %x: memref<8x64xf32>, %bias: memref<32xf32>) schedule #tile.schedule<i = 8 thread, j = 2 block * 16 thread, k = 4 loop * 16 loop, stage = [%bias async]> {
  loop.for %i (i = 8 parallel) {
    loop.for %j (j = 32 parallel) {
      %0 = loop.reduce %k (k = 64) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<8x64xf32>
        loop.yield %1 : f32
      }
      %2 = uop.load %bias[%j] : memref<32xf32>
      %3 = uop.add %0, %2 : f32
      uop.store %3, %out[%i, %j] : memref<8x32xf32>
    }
  }
}

// -----

// What is also read inside of one is staged there alone.
// expected-remark@+1 {{%x is not staged here: the read is in no serial loop of a reduction}}
uop.kernel @twice(%out: memref<8xf32>, %x: memref<8x64xf32>) schedule #tile.schedule<i = 8 thread, k = 4 loop * 16 loop, stage = [%x]> {
  %zero = uop.const 0 : index
  loop.for %i (i = 8 parallel) {
    %0 = loop.reduce %k (k = 64) add : f32 {
      %1 = uop.load %x[%i, %k] : memref<8x64xf32>
      loop.yield %1 : f32
    }
    %2 = uop.load %x[%i, %zero] : memref<8x64xf32>
    %3 = uop.add %0, %2 : f32
    uop.store %3, %out[%i] : memref<8xf32>
  }
}
// CHECK-LABEL: uop.kernel @twice
// CHECK:         loop.for %k
// CHECK:           tile.stage %x
// CHECK:         tile.read %x[

// -----

// A read outside a serial reduction, and behind none, stays.
// expected-remark@+1 {{%x is not staged here: the read is in no serial loop of a reduction}}
uop.kernel @copy(%out: memref<8xf32>, %x: memref<8xf32>) schedule #tile.schedule<i = 8 thread, stage = [%x]> {
  loop.for %i (i = 8 parallel) {
    %0 = uop.load %x[%i] : memref<8xf32>
    uop.store %0, %out[%i] : memref<8xf32>
  }
}
// CHECK-LABEL: uop.kernel @copy
// CHECK-NOT:     tile.stage

// -----

// expected-error@+1 {{the schedule stages %y, but the kernel's buffers are %out, %x}}
uop.kernel @unknown(%out: memref<8xf32>, %x: memref<8xf32>) schedule #tile.schedule<i = 8 thread, stage = [%y]> {
  loop.for %i (i = 8 parallel) {
    %0 = uop.load %x[%i] : memref<8xf32>
    uop.store %0, %out[%i] : memref<8xf32>
  }
}

// -----

// Rows of a slab may go along another dimension than those of the buffer, if it has it.
// CHECK-LABEL: uop.kernel @transposed
// CHECK:         tile.stage %x[%{{.*}}, %{{.*}}] buffers 1 : memref<8x64xf32> -> memref<4x16xf32, strided<[1, 6]>, "shared">
// expected-remark@+1 {{%w is not staged here: a slab of 1 dimensions has no dimension 1}}
uop.kernel @transposed(%out: memref<8xf32>, %x: memref<8x64xf32>, %w: memref<64xf32>)
    schedule #tile.schedule<i = 2 block * 4 thread, k = 4 loop * 16 loop, stage = [%x along 0 pad 2, %w along 1]> {
  loop.for %i (i = 8 parallel) {
    %0 = loop.reduce %k (k = 64) add : f32 {
      %1 = uop.load %x[%i, %k] : memref<8x64xf32>
      %2 = uop.load %w[%k] : memref<64xf32>
      %3 = uop.mul %1, %2 : f32
      loop.yield %3 : f32
    }
    uop.store %0, %out[%i] : memref<8xf32>
  }
}
