// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-loop-to-tile)' --split-input-file | filecheck %s
// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-loop-to-tile)' --split-input-file | uop-opt - --split-input-file | filecheck %s

// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-loop-to-tile)' --split-input-file --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// A limit is rounded outwards to the steps of the outermost loop, of 16 positions each; of the positions of the threads
// it takes the least or the greatest: those of i go from 8 · bi on as far as 8 · bi + 7.
uop.kernel @window(%out: memref<64xf32>, %x: memref<64x64xf32>) schedule #tile.schedule<i = 8 block * 8 thread, k = 4 loop * 16 loop> {
  %c1 = uop.const 1 : index
  loop.for %i (i = 64 parallel) {
    %hi = uop.add %i, %c1 : index
    %0 = loop.reduce %k (k = 64) from %i to %hi add : f32 {
      %1 = uop.load %x[%i, %k] : memref<64x64xf32>
      loop.yield %1 : f32
    }
    uop.store %0, %out[%i] : memref<64xf32>
  }
}
// CHECK-LABEL: uop.kernel @window
// CHECK-DAG:   %[[C16:.*]] = uop.const 16 : index
// CHECK-DAG:   %[[C7:.*]] = uop.const 7 : index
// CHECK-DAG:   %[[C15:.*]] = uop.const 15 : index
// CHECK-DAG:   %[[LEAST:.*]] = uop.mul %bi, %{{.*}} : index
// CHECK-DAG:   %[[LO:.*]] = uop.floordiv %[[LEAST]], %[[C16]] : index
// CHECK-DAG:   %[[MOST:.*]] = uop.add %[[LEAST]], %[[C7]] : index
// CHECK-DAG:   %[[END:.*]] = uop.add %[[MOST]], %{{.*}} : index
// CHECK-DAG:   %[[UP:.*]] = uop.add %[[END]], %[[C15]] : index
// CHECK-DAG:   %[[HI:.*]] = uop.floordiv %[[UP]], %[[C16]] : index
// CHECK:       loop.for %ko (k = 4 loop) from %[[LO]] to %[[HI]] carry
// CHECK:         loop.for %ki (k = 16 loop) carry

// -----

// Blocks of rows that nobody asks for leave. Threads do not.
uop.kernel @rows(%out: memref<64x8xf32>, %x: memref<64x8xf32>, %n: memref<i64>) schedule #tile.schedule<i = 8 block * 8 thread, j = 8 block> {
  %length = uop.load %n[] : memref<i64>
  %hi = uop.cast %length : i64 -> index
  loop.for %i (i = 64 parallel) to %hi {
    loop.for %j (j = 8 parallel) {
      %0 = uop.load %x[%i, %j] : memref<64x8xf32>
      uop.store %0, %out[%i, %j] : memref<64x8xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @rows
// CHECK:       %[[LEAST:.*]] = uop.mul %bi, %{{.*}} : index
// CHECK:       %[[N:.*]] = tile.read %n[]
// CHECK:       %[[HI:.*]] = uop.cast %[[N]] : i64 -> index
// CHECK:       %[[NEEDED:.*]] = uop.lt %[[LEAST]], %[[HI]] : index
// CHECK:       tile.leave_unless %[[NEEDED]]
// CHECK:       tile.write

// -----

// The sums of rows are written whatever i is, by the first of its blocks: no block leaves.
uop.kernel @two(%out: memref<64xf32>, %out1: memref<8xf32>, %x: memref<64xf32>, %y: memref<8xf32>, %n: memref<i64>) schedule #tile.schedule<i = 8 block * 8 thread, j = 8 block> {
  %length = uop.load %n[] : memref<i64>
  %hi = uop.cast %length : i64 -> index
  loop.for %i (i = 64 parallel) to %hi {
    %0 = uop.load %x[%i] : memref<64xf32>
    uop.store %0, %out[%i] : memref<64xf32>
  }
  loop.for %j (j = 8 parallel) {
    %1 = uop.load %y[%j] : memref<8xf32>
    uop.store %1, %out1[%j] : memref<8xf32>
  }
}
// CHECK-LABEL: uop.kernel @two
// CHECK-NOT:   tile.leave_unless
// CHECK:       tile.write

// -----

// No loop is left of k, whose positions are threads: it is carried out where any is inside, which is not in block 0.
uop.kernel @across(%out: memref<8xf32>, %x: memref<8x64xf32>) schedule #tile.schedule<i = 8 block, k = 64 thread> {
  loop.for %i (i = 8 parallel) {
    %0 = loop.reduce %k (k = 64) to %i add : f32 {
      %1 = uop.load %x[%i, %k] : memref<8x64xf32>
      loop.yield %1 : f32
    }
    uop.store %0, %out[%i] : memref<8xf32>
  }
}
// CHECK-LABEL: uop.kernel @across
// CHECK:       loop.for %k (k = 1 loop) to %{{.*}} carry
// CHECK:       tile.reduce_across

// -----

// Where it is alike for all blocks, some position is inside: nothing to limit.
uop.kernel @alike(%out: memref<8xf32>, %x: memref<8x64xf32>, %n: memref<i64>) schedule #tile.schedule<i = 8 block, k = 64 thread> {
  %length = uop.load %n[] : memref<i64>
  %hi = uop.cast %length : i64 -> index
  loop.for %i (i = 8 parallel) {
    %0 = loop.reduce %k (k = 64) to %hi add : f32 {
      %1 = uop.load %x[%i, %k] : memref<8x64xf32>
      loop.yield %1 : f32
    }
    uop.store %0, %out[%i] : memref<8xf32>
  }
}
// CHECK-LABEL: uop.kernel @alike
// CHECK-NOT:   loop.for
// CHECK:       tile.reduce_across
// REMARK:      remark: the limits of axis k are dropped: each block takes it in one step
