// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-loop-to-tile)' --split-input-file --verify-diagnostics | filecheck %s

// The axes are bound to threads and registers, the sum runs in two serial loops, of which the inner continues the outer.
uop.kernel @matmul(%out: memref<16x16xf32>, %x: memref<16x64xf32>, %w: memref<64x16xf32>)
    schedule #tile.schedule<i = 1 block * 8 thread * 2 register, j = 1 block * 8 thread * 2 register, k = 2 loop * 32 unroll> {
  %0 = uop.const 0.0 : f32
  loop.for %i (i = 16 parallel) {
    loop.for %j (j = 16 parallel) {
      %1 = loop.reduce %k (k = 64) add : f32 {
        %2 = uop.load %x[%i, %k] : memref<16x64xf32>
        %3 = uop.load %w[%k, %j] : memref<64x16xf32>
        %4 = uop.mul %2, %3 : f32
        loop.yield %4 : f32
      }
      %5 = uop.max %1, %0 : f32
      uop.store %5, %out[%i, %j] : memref<16x16xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @matmul
// CHECK-NEXT:    %ti = tile.axis i = 8 thread : index
// CHECK-NEXT:    %ri = tile.axis i = 2 register : vector<2x1xindex>
// CHECK-NEXT:    %tj = tile.axis j = 8 thread : index
// CHECK-NEXT:    %rj = tile.axis j = 2 register : vector<1x2xindex>
// CHECK-NEXT:    %[[ZERO:.*]] = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %[[TWO:.*]] = uop.const 2 : index
// CHECK-NEXT:    %[[TI:.*]] = uop.mul %ti, %[[TWO]] : index
// CHECK-NEXT:    %[[TIV:.*]] = uop.expand %[[TI]] : index -> vector<2x1xindex>
// CHECK-NEXT:    %[[I:.*]] = uop.add %[[TIV]], %ri : vector<2x1xindex>
// CHECK-NEXT:    %[[TJ:.*]] = uop.mul %tj, %[[TWO]] : index
// CHECK-NEXT:    %[[TJV:.*]] = uop.expand %[[TJ]] : index -> vector<1x2xindex>
// CHECK-NEXT:    %[[J:.*]] = uop.add %[[TJV]], %rj : vector<1x2xindex>
// CHECK-NEXT:    %[[C32:.*]] = uop.const 32 : index
// CHECK-NEXT:    %[[SUM:.*]] = loop.for %ko (k = 2 loop) carry (%acc = add : vector<2x2xf32>) {
// CHECK-NEXT:      %[[KO:.*]] = uop.mul %ko, %[[C32]] : index
// CHECK-NEXT:      %[[INNER:.*]] = loop.for %ki (k = 32 unroll) carry (%acc_1 = add from %acc : vector<2x2xf32>) {
// CHECK-NEXT:        %[[K:.*]] = uop.add %[[KO]], %ki : index
// CHECK-NEXT:        %[[X:.*]] = tile.read %x[%[[I]], %[[K]]] : memref<16x64xf32>(vector<2x1xindex>, index) -> vector<2x1xf32>
// CHECK-NEXT:        %[[W:.*]] = tile.read %w[%[[K]], %[[J]]] : memref<64x16xf32>(index, vector<1x2xindex>) -> vector<1x2xf32>
// CHECK-NEXT:        %[[XV:.*]] = uop.expand %[[X]] : vector<2x1xf32> -> vector<2x2xf32>
// CHECK-NEXT:        %[[WV:.*]] = uop.expand %[[W]] : vector<1x2xf32> -> vector<2x2xf32>
// CHECK-NEXT:        %[[PRODUCT:.*]] = uop.mul %[[XV]], %[[WV]] : vector<2x2xf32>
// CHECK-NEXT:        %[[NEW:.*]] = uop.add %acc_1, %[[PRODUCT]] : vector<2x2xf32>
// CHECK-NEXT:        loop.yield %[[NEW]] : vector<2x2xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      loop.yield %[[INNER]] : vector<2x2xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[ZEROS:.*]] = uop.expand %[[ZERO]] : f32 -> vector<2x2xf32>
// CHECK-NEXT:    %[[RELU:.*]] = uop.max %[[SUM]], %[[ZEROS]] : vector<2x2xf32>
// CHECK-NEXT:    tile.write %[[RELU]], %out[%[[I]], %[[J]]] : vector<2x2xf32> -> memref<16x16xf32>(vector<2x1xindex>, vector<1x2xindex>)

// -----

// Rows and columns of a matrix instruction: the lanes and registers of its accumulators, whose dimensions stand last;
// the lanes are the fastest threads whatever stands behind. The reduced axis is a loop, of which tile-mma makes one.
// CHECK-LABEL: uop.kernel @mma
// CHECK:         %wi = tile.axis i = 2 warp : index
// CHECK-NEXT:    %ri = tile.axis i = 2 register : vector<2x1x1x1xindex>
// CHECK-NEXT:    %ri_1 = tile.axis i = 2 register : vector<1x1x2x1xindex>
// CHECK-NEXT:    %li = tile.axis i = 8 lane : index
// CHECK-NEXT:    %wj = tile.axis j = 2 warp : index
// CHECK-NEXT:    %rj = tile.axis j = 4 register : vector<1x4x1x1xindex>
// CHECK-NEXT:    %lj = tile.axis j = 4 lane : index
// CHECK-NEXT:    %rj_1 = tile.axis j = 2 register : vector<1x1x1x2xindex>
// CHECK:         loop.for %ko (k = 4 loop) carry (%acc = add : vector<2x4x2x2xf32>) {
// CHECK:           loop.for %ki (k = 16 mma) carry (%acc_1 = add from %acc : vector<2x4x2x2xf32>) {
uop.kernel @mma(%out: memref<64x64xf32>, %a: memref<64x64xf16>, %b: memref<64x64xf16>)
    schedule #tile.schedule<i = 2 warp * 2 register * 16 mma, j = 2 warp * 4 register * 8 mma, k = 4 loop * 16 mma> {
  loop.for %i (i = 64 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = loop.reduce %k (k = 64) add : f32 {
        %1 = uop.load %a[%i, %k] : memref<64x64xf16>
        %2 = uop.cast %1 : f16 -> f32
        %3 = uop.load %b[%k, %j] : memref<64x64xf16>
        %4 = uop.cast %3 : f16 -> f32
        %5 = uop.mul %2, %4 : f32
        loop.yield %5 : f32
      }
      uop.store %0, %out[%i, %j] : memref<64x64xf32>
    }
  }
}

// -----

// A row in the registers of a block: no loop is left, the phases read it once. The axis is ragged: reads and writes are
// masked, and each reduction combines its identity behind the end.
uop.kernel @softmax(%out: memref<64x1000xf32>, %x: memref<64x1000xf32>)
    schedule #tile.schedule<i = 64 block, j = 1 register * 256 thread * 4 register> {
  loop.for %i (i = 64 parallel) {
    %0 = loop.reduce %j (j = 1000) max : f32 {
      %1 = uop.load %x[%i, %j] : memref<64x1000xf32>
      loop.yield %1 : f32
    }
    %2 = loop.reduce %j (j = 1000) add : f32 {
      %3 = uop.load %x[%i, %j] : memref<64x1000xf32>
      %4 = uop.sub %3, %0 : f32
      %5 = uop.exp %4 : f32
      loop.yield %5 : f32
    }
    loop.for %j (j = 1000 parallel) {
      %6 = uop.load %x[%i, %j] : memref<64x1000xf32>
      %7 = uop.sub %6, %0 : f32
      %8 = uop.exp %7 : f32
      %9 = uop.div %8, %2 : f32
      uop.store %9, %out[%i, %j] : memref<64x1000xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @softmax
// CHECK:         %[[J:.*]] = uop.add %{{.*}}, %rj : vector<4xindex>
// CHECK:         %[[OK:.*]] = uop.lt %[[J]], %{{.*}} : vector<4xindex>
// CHECK-NEXT:    %[[X:.*]] = tile.read %x[%bi, %[[J]]] mask %[[OK]] : memref<64x1000xf32>(index, vector<4xindex>) -> vector<4xf32>
// CHECK-NEXT:    %[[LEAST:.*]] = uop.const 0xff800000 : f32
// CHECK-NEXT:    %[[LEASTV:.*]] = uop.expand %[[LEAST]] : f32 -> vector<4xf32>
// CHECK-NEXT:    %[[M0:.*]] = uop.where %[[OK]], %[[X]], %[[LEASTV]] : vector<4xf32>
// CHECK-NEXT:    %[[M1:.*]] = uop.reduce_axis max %[[M0]] axes [0] : (vector<4xf32>) -> vector<1xf32>
// CHECK-NEXT:    %[[M2:.*]] = tile.reduce_across max %[[M1]] over %tj : vector<1xf32>
// CHECK-NEXT:    %[[M3:.*]] = uop.expand %[[M2]] : vector<1xf32> -> vector<4xf32>
// CHECK-NEXT:    %[[D:.*]] = uop.sub %[[X]], %[[M3]] : vector<4xf32>
// CHECK-NEXT:    %[[E:.*]] = uop.exp %[[D]] : vector<4xf32>
// CHECK:         uop.where %[[OK]], %[[E]], %{{.*}} : vector<4xf32>
// CHECK:         tile.reduce_across add
// CHECK-NOT:     tile.read
// CHECK:         tile.write %{{.*}}, %out[%bi, %[[J]]] mask %[[OK]] :

// -----

// A sum over two axes is one reduction: all registers together, all threads together, after both loops.
uop.kernel @sum(%out: memref<3xf32>, %x: memref<3x8x20xf32>)
    schedule #tile.schedule<i = 3 block, k = 2 loop * 4 thread, k1 = 5 loop * 4 register> {
  loop.for %i (i = 3 parallel) {
    %0 = loop.reduce %k (k = 8) add : f32 {
      %1 = loop.reduce %k1 (k1 = 20) add : f32 {
        %2 = uop.load %x[%i, %k, %k1] : memref<3x8x20xf32>
        loop.yield %2 : f32
      }
      loop.yield %1 : f32
    }
    uop.store %0, %out[%i] : memref<3xf32>
  }
}
// What does not vary with the threads is written by the first.
// CHECK-LABEL: uop.kernel @sum
// CHECK:         %[[S0:.*]] = loop.for %k (k = 2 loop) carry (%acc = add : vector<4xf32>) {
// CHECK:           loop.for %k1 (k1 = 5 loop) carry (%acc_1 = add from %acc : vector<4xf32>) {
// CHECK:         %[[S1:.*]] = uop.reduce_axis add %[[S0]] axes [0] : (vector<4xf32>) -> vector<1xf32>
// CHECK-NEXT:    %[[S2:.*]] = tile.reduce_across add %[[S1]] over %tk : vector<1xf32>
// CHECK-NEXT:    %[[C0:.*]] = uop.const 0 : index
// CHECK-NEXT:    %[[FIRST:.*]] = uop.eq %tk, %[[C0]] : index
// CHECK-NEXT:    %[[MASK:.*]] = uop.expand %[[FIRST]] : i1 -> vector<1xi1>
// CHECK-NEXT:    tile.write %[[S2]], %out[%bi] mask %[[MASK]] : vector<1xf32> -> memref<3xf32>(index)

// -----

// Several values are carried and combined at once.
uop.kernel @argmax(%out: memref<4xi64>, %x: memref<4x30xf32>) schedule #tile.schedule<i = 4 thread, k = 4 loop * 8 loop> {
  loop.for %i (i = 4 parallel) {
    %0, %1 = loop.reduce %k (k = 30) argmax : f32, i64 {
      %2 = uop.load %x[%i, %k] : memref<4x30xf32>
      %3 = uop.cast %k : index -> i64
      loop.yield %2, %3 : f32, i64
    }
    uop.store %1, %out[%i] : memref<4xi64>
  }
}
// CHECK-LABEL: uop.kernel @argmax
// CHECK:         %[[BEST:.*]], %[[PLACE:.*]] = loop.for %ko (k = 4 loop) carry (%acc, %acc_1 = argmax : f32, i64) {
// CHECK:           loop.for %ki (k = 8 loop) carry (%acc_2, %acc_3 = argmax from %acc, %acc_1 : f32, i64) {
// CHECK:             %[[OK:.*]] = uop.lt
// CHECK:             uop.where %[[OK]], %{{.*}}, %{{.*}} : f32
// CHECK:             uop.where %[[OK]], %{{.*}}, %{{.*}} : i64
// CHECK:         tile.write %[[PLACE]], %out[%ti]

// -----

// A serial loop over a parallel axis carries nothing. A load's own mask and that of its axis hold both.
uop.kernel @shifted(%out: memref<30xf32>, %x: memref<30xf32>) schedule #tile.schedule<i = 4 loop * 8 thread> {
  %0 = uop.const -1 : index
  %1 = uop.const 0 : index
  loop.for %i (i = 30 parallel) {
    %2 = uop.add %i, %0 : index
    %3 = uop.ge %2, %1 : index
    %4 = uop.load %x[%2] mask %3 : memref<30xf32>
    uop.store %4, %out[%i] : memref<30xf32>
  }
}
// CHECK-LABEL: uop.kernel @shifted
// CHECK:         loop.for %i (i = 4 loop) {
// CHECK:           %[[I0:.*]] = uop.mul %i, %{{.*}} : index
// CHECK-NEXT:      %[[I:.*]] = uop.add %ti, %[[I0]] : index
// CHECK-NEXT:      %[[OK:.*]] = uop.lt %[[I]], %{{.*}} : index
// CHECK-NEXT:      %[[BEFORE:.*]] = uop.add %[[I]], %{{.*}} : index
// CHECK-NEXT:      %[[INSIDE:.*]] = uop.ge %[[BEFORE]], %{{.*}} : index
// CHECK-NEXT:      %[[BOTH:.*]] = uop.and %[[OK]], %[[INSIDE]] : i1
// CHECK-NEXT:      %[[X:.*]] = tile.read %x[%[[BEFORE]]] mask %[[BOTH]] :
// CHECK-NEXT:      tile.write %[[X]], %out[%[[I]]] mask %[[OK]] :

// -----

// A kernel in tile form is left alone.
uop.kernel @done(%out: memref<4xf32>, %x: memref<4xf32>) schedule #tile.schedule<i = 4 thread> {
  %ti = tile.axis i = 4 thread : index
  %0 = tile.read %x[%ti] : memref<4xf32>(index) -> f32
  tile.write %0, %out[%ti] : f32 -> memref<4xf32>(index)
}
// CHECK-LABEL: uop.kernel @done
// CHECK-NEXT:    %ti = tile.axis i = 4 thread : index
// CHECK-NEXT:    %0 = tile.read %x[%ti] : memref<4xf32>(index) -> f32
// CHECK-NEXT:    tile.write %0, %out[%ti] : f32 -> memref<4xf32>(index)

// -----

// Scans: the loops of their axis carry their states, an inner loop continues the outer's; other axes are threads and
// registers. Steps behind the end of a ragged axis come last: only what is read and written is masked.
uop.kernel @scans(%out0: memref<4x7xf32>, %out1: memref<4x7xi64>, %x: memref<4x7xf32>)
    schedule #tile.schedule<i = 2 thread * 2 register, j = 2 loop * 4 unroll> {
  loop.for %i (i = 4 parallel) {
    loop.for %j (j = 7 parallel) {
      %0 = uop.load %x[%i, %j] : memref<4x7xf32>
      %1 = loop.scan add %0 over %j : f32
      %2 = uop.cast %j : index -> i64
      %3, %4 = loop.scan argmax_last %1, %2 over %j : f32, i64
      uop.store %1, %out0[%i, %j] : memref<4x7xf32>
      uop.store %4, %out1[%i, %j] : memref<4x7xi64>
    }
  }
}
// CHECK-LABEL: uop.kernel @scans
// CHECK:         %[[O:.*]], %[[P:.*]], %[[Q:.*]] = loop.for %jo (j = 2 loop) carry (%acc = add : vector<2xf32>), (%acc_1, %acc_2 = argmax_last : vector<2xf32>, vector<2xi64>) {
// CHECK:           %{{.*}}, %{{.*}}, %{{.*}} = loop.for %ji (j = 4 unroll) carry (%acc_3 = add from %acc : vector<2xf32>), (%acc_4, %acc_5 = argmax_last from %acc_1, %acc_2 : vector<2xf32>, vector<2xi64>) {
// CHECK:             %[[INSIDE:.*]] = uop.lt %{{.*}}, %{{.*}} : index
// CHECK:             %[[X:.*]] = tile.read %x[%{{.*}}, %{{.*}}] mask %{{.*}} : memref<4x7xf32>(vector<2xindex>, index) -> vector<2xf32>
// CHECK-NEXT:        %[[SUM:.*]] = uop.add %acc_3, %[[X]] : vector<2xf32>
// CHECK:             tile.write %[[SUM]], %out0[%{{.*}}, %{{.*}}] mask
// CHECK:             loop.yield %[[SUM]], %{{.*}}, %{{.*}} : vector<2xf32>, vector<2xf32>, vector<2xi64>

// -----

// An axis of one step has no loop: the state is the identity.
uop.kernel @one_step(%out: memref<4x1xf32>, %x: memref<4x1xf32>) schedule #tile.schedule<i = 4 thread, j = 1 loop> {
  loop.for %i (i = 4 parallel) {
    loop.for %j (j = 1 parallel) {
      %0 = uop.load %x[%i, %j] : memref<4x1xf32>
      %1 = loop.scan add %0 over %j : f32
      uop.store %1, %out[%i, %j] : memref<4x1xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @one_step
// CHECK:         %[[X:.*]] = tile.read %x[%ti, %{{.*}}]
// CHECK:         %[[SUM:.*]] = uop.add %{{.*}}, %[[X]] : f32
// CHECK:         tile.write %[[SUM]], %out

// -----

// Registers and threads scan together; a loop around them carries what stands before.
uop.kernel @scan_of_threads(%out: memref<4x900xf32>, %x: memref<4x900xf32>)
    schedule #tile.schedule<i = 4 warp, j = 2 loop * 4 register * 32 lane * 4 register> {
  loop.for %i (i = 4 parallel) {
    loop.for %j (j = 900 parallel) {
      %0 = uop.load %x[%i, %j] : memref<4x900xf32>
      %1 = loop.scan add %0 over %j : f32
      uop.store %1, %out[%i, %j] : memref<4x900xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @scan_of_threads
// CHECK:         %rj = tile.axis j = 4 register : vector<4x1xindex>
// CHECK-NEXT:    %lj = tile.axis j = 32 lane : index
// CHECK-NEXT:    %rj_1 = tile.axis j = 4 register : vector<1x4xindex>
// CHECK:         loop.for %j (j = 2 loop) carry (%acc = add : vector<1x1xf32>) {
// CHECK:           %[[X:.*]] = tile.read %x[%{{.*}}, %{{.*}}] mask %{{.*}} : memref<4x900xf32>(index, vector<4x4xindex>) -> vector<4x4xf32>
// CHECK-NEXT:      %[[SCANNED:.*]], %[[LAST:.*]] = tile.scan_across add %[[X]] from %acc over %rj, %lj, %rj_1 : vector<4x4xf32> from vector<1x1xf32>(vector<4x1xindex>, index, vector<1x4xindex>)
// CHECK-NEXT:      tile.write %[[SCANNED]], %out[%{{.*}}, %{{.*}}] mask
// CHECK-NEXT:      loop.yield %[[LAST]] : vector<1x1xf32>

// -----

uop.kernel @scan_of_blocks(%out: memref<8xf32>, %x: memref<8xf32>) schedule #tile.schedule<i = 2 loop * 4 block> {
  loop.for %i (i = 8 parallel) {
    %0 = uop.load %x[%i] : memref<8xf32>
    // expected-error@+1 {{axis i is scanned and bound to `4 block`, but only the threads of one block scan together}}
    %1 = loop.scan add %0 over %i : f32
    uop.store %1, %out[%i] : memref<8xf32>
  }
}

// -----

uop.kernel @scan_loop_inside(%out: memref<8xf32>, %x: memref<8xf32>) schedule #tile.schedule<i = 4 thread * 2 loop> {
  loop.for %i (i = 8 parallel) {
    %0 = uop.load %x[%i] : memref<8xf32>
    // expected-error@+1 {{axis i is scanned and has `2 loop` inside of `4 thread`: the steps of a loop are no neighbours}}
    %1 = loop.scan add %0 over %i : f32
    uop.store %1, %out[%i] : memref<8xf32>
  }
}

// -----

uop.kernel @scan_in_a_reduction(%out: memref<f32>, %x: memref<8xf32>) schedule #tile.schedule<k = 8 loop> {
  %0 = loop.reduce %k (k = 8) max : f32 {
    %1 = uop.load %x[%k] : memref<8xf32>
    // expected-error@+1 {{a scan over axis k stands in a loop inside of it, or in a reduction}}
    %2 = loop.scan add %1 over %k : f32
    loop.yield %2 : f32
  }
  uop.store %0, %out[] : memref<f32>
}

// -----

// expected-error@+1 {{kernel @unscheduled has no schedule}}
uop.kernel @unscheduled(%out: memref<4xf32>) {
  %0 = uop.const 0.0 : f32
  loop.for %i (i = 4 parallel) {
    uop.store %0, %out[%i] : memref<4xf32>
  }
}

// -----

uop.kernel @unbound(%out: memref<4xf32>) schedule #tile.schedule<> {
  %0 = uop.const 0.0 : f32
  // expected-error@+1 {{the schedule does not bind axis i}}
  loop.for %i (i = 4 parallel) {
    uop.store %0, %out[%i] : memref<4xf32>
  }
}

// -----

// expected-error@+1 {{kernel @unknown_axis: the schedule binds axis j, but the kernel's axes are: i (4)}}
uop.kernel @unknown_axis(%out: memref<4xf32>) schedule #tile.schedule<i = 4 thread, j = 2 thread> {
  %0 = uop.const 0.0 : f32
  loop.for %i (i = 4 parallel) {
    uop.store %0, %out[%i] : memref<4xf32>
  }
}

// -----

uop.kernel @uncovered(%out: memref<10xf32>) schedule #tile.schedule<i = 3 block * 3 thread> {
  %0 = uop.const 0.0 : f32
  // expected-error@+1 {{axis i has extent 10, but its factors 3 block * 3 thread cover 9}}
  loop.for %i (i = 10 parallel) {
    uop.store %0, %out[%i] : memref<10xf32>
  }
}

// -----

uop.kernel @blocks_do_not_combine(%out: memref<f32>, %x: memref<10xf32>) schedule #tile.schedule<k = 2 block * 5 loop> {
  // expected-error@+1 {{axis k is reduced and bound to `2 block`, but blocks do not combine their values}}
  %0 = loop.reduce %k (k = 10) add : f32 {
    %1 = uop.load %x[%k] : memref<10xf32>
    loop.yield %1 : f32
  }
  uop.store %0, %out[] : memref<f32>
}

// -----

// expected-error@+1 {{the schedule has 2048 threads in a block; at most 1024 fit}}
uop.kernel @too_many_threads(%out: memref<2048xf32>) schedule #tile.schedule<i = 64 thread * 32 thread> {
  %0 = uop.const 0.0 : f32
  loop.for %i (i = 2048 parallel) {
    uop.store %0, %out[%i] : memref<2048xf32>
  }
}

// -----

// expected-error@+1 {{the schedule has 16 lanes; a warp has 32}}
uop.kernel @half_a_warp(%out: memref<16xf32>) schedule #tile.schedule<i = 16 lane> {
  %0 = uop.const 0.0 : f32
  loop.for %i (i = 16 parallel) {
    uop.store %0, %out[%i] : memref<16xf32>
  }
}

// -----

// expected-error@+1 {{the lanes of a warp are its fastest threads, but the schedule numbers them i = 32 lane, i = 2 thread}}
uop.kernel @slow_lanes(%out: memref<64xf32>) schedule #tile.schedule<i = 32 lane * 2 thread> {
  %0 = uop.const 0.0 : f32
  loop.for %i (i = 64 parallel) {
    uop.store %0, %out[%i] : memref<64xf32>
  }
}

// -----

// expected-error@+1 {{axis i is bound to `4 warp`, but 16 threads stand behind it: not whole warps of 32}}
uop.kernel @no_whole_warps(%out: memref<64xf32>) schedule #tile.schedule<i = 4 warp * 16 thread> {
  %0 = uop.const 0.0 : f32
  loop.for %i (i = 64 parallel) {
    uop.store %0, %out[%i] : memref<64xf32>
  }
}

// -----

// expected-error@+1 {{the mma factors i = 16 mma are those of no matrix instruction}}
uop.kernel @one_mma_factor(%out: memref<64xf32>) schedule #tile.schedule<i = 4 warp * 16 mma> {
  %0 = uop.const 0.0 : f32
  loop.for %i (i = 64 parallel) {
    uop.store %0, %out[%i] : memref<64xf32>
  }
}

// -----

// expected-error@+1 {{the schedule asks for m16n8k16 over rows i, columns j and k: a factor is neither a 16-bit float that was cast to f32 nor f32 cut to TF32}}
uop.kernel @mma_of_f32(%out: memref<64x64xf32>, %a: memref<64x64xf32>, %b: memref<64x64xf32>)
    schedule #tile.schedule<i = 4 register * 16 mma, j = 8 register * 8 mma, k = 4 loop * 16 mma> {
  loop.for %i (i = 64 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = loop.reduce %k (k = 64) add : f32 {
        %1 = uop.load %a[%i, %k] : memref<64x64xf32>
        %2 = uop.load %b[%k, %j] : memref<64x64xf32>
        %3 = uop.mul %1, %2 : f32
        loop.yield %3 : f32
      }
      uop.store %0, %out[%i, %j] : memref<64x64xf32>
    }
  }
}

// -----

// expected-error@+1 {{axis k has factors behind `16 mma`: one instruction computes neighbours}}
uop.kernel @mma_outside(%out: memref<64x64xf32>, %a: memref<64x64xf16>, %b: memref<64x64xf16>)
    schedule #tile.schedule<i = 4 register * 16 mma, j = 8 register * 8 mma, k = 16 mma * 4 loop> {
  loop.for %i (i = 64 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = loop.reduce %k (k = 64) add : f32 {
        %1 = uop.load %a[%i, %k] : memref<64x64xf16>
        %2 = uop.cast %1 : f16 -> f32
        %3 = uop.load %b[%k, %j] : memref<64x64xf16>
        %4 = uop.cast %3 : f16 -> f32
        %5 = uop.mul %2, %4 : f32
        loop.yield %5 : f32
      }
      uop.store %0, %out[%i, %j] : memref<64x64xf32>
    }
  }
}

// -----

// expected-error@+1 {{the schedule asks for m16n8k8 over rows i, columns j and k: its factors are multiplied by m16n8k16}}
uop.kernel @another_instruction(%out: memref<64x64xf32>, %a: memref<64x64xf16>, %b: memref<64x64xf16>)
    schedule #tile.schedule<i = 4 register * 16 mma, j = 8 register * 8 mma, k = 8 loop * 8 mma> {
  loop.for %i (i = 64 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = loop.reduce %k (k = 64) add : f32 {
        %1 = uop.load %a[%i, %k] : memref<64x64xf16>
        %2 = uop.cast %1 : f16 -> f32
        %3 = uop.load %b[%k, %j] : memref<64x64xf16>
        %4 = uop.cast %3 : f16 -> f32
        %5 = uop.mul %2, %4 : f32
        loop.yield %5 : f32
      }
      uop.store %0, %out[%i, %j] : memref<64x64xf32>
    }
  }
}

// -----

uop.kernel @twice(%out: memref<4x4xf32>) schedule #tile.schedule<i = 4 thread> {
  %0 = uop.const 0.0 : f32
  loop.for %i (i = 4 parallel) {
    // expected-error@+1 {{a loop over axis i stands inside another}}
    loop.for %j (i = 4 parallel) {
      uop.store %0, %out[%i, %j] : memref<4x4xf32>
    }
  }
}

// -----

uop.kernel @two_extents(%out: memref<4xf32>, %out1: memref<5xf32>) schedule #tile.schedule<i = 5 thread> {
  %0 = uop.const 0.0 : f32
  loop.for %i (i = 4 parallel) {
    uop.store %0, %out[%i] : memref<4xf32>
  }
  // expected-error@+1 {{axis i has extent 4 in one loop and 5 in another}}
  loop.for %j (i = 5 parallel) {
    uop.store %0, %out1[%j] : memref<5xf32>
  }
}

// -----

uop.kernel @range_form(%out: memref<4xf32>) schedule #tile.schedule<i = 4 thread> {
  %0 = uop.const 0.0 : f32
  // expected-error@+1 {{uop.range does not stand in loop form}}
  %i = uop.range i = 4
  uop.store %0, %out[%i] : memref<4xf32>
}

// -----

// expected-error@+1 {{kernel @groups: the schedule groups the blocks of `j 2`, but that axis has no single block factor of whole groups}}
uop.kernel @groups(%out: memref<4x6xf32>) schedule #tile.schedule<i = 4 block, j = 6 thread, group = j 2> {
  loop.for %i (i = 4 parallel) {
    loop.for %j (j = 6 parallel) {
      %0 = uop.const 1.0 : f32
      uop.store %0, %out[%i, %j] : memref<4x6xf32>
    }
  }
}

// -----

uop.kernel @shared(%out: memref<4x8xf32>, %x: memref<4x8xf32>, %y: memref<8x8xf32>) schedule #tile.schedule<i = 4 block, j = 8 lane * 4 thread, k = 8 lane of j> {
  loop.for %i (i = 4 parallel) {
    loop.for %j (j = 8 parallel) {
      %0 = loop.reduce %k (k = 8) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<4x8xf32>
        // expected-error@+1 {{kernel @shared: axis k is bound to `8 lane of j`, but a value varies with both axes}}
        %2 = uop.load %y[%k, %j] : memref<8x8xf32>
        %3 = uop.mul %1, %2 : f32
        loop.yield %3 : f32
      }
      uop.store %0, %out[%i, %j] : memref<4x8xf32>
    }
  }
}

// -----

// expected-error@+1 {{kernel @no_threads: axis k is bound to `8 thread of j`, but axis j has not one factor `8 thread`}}
uop.kernel @no_threads(%out: memref<4x8xf32>, %x: memref<4x8xf32>) schedule #tile.schedule<i = 4 block, j = 8 lane * 4 thread, k = 8 thread of j> {
  loop.for %i (i = 4 parallel) {
    loop.for %j (j = 8 parallel) {
      %0 = loop.reduce %k (k = 8) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<4x8xf32>
        loop.yield %1 : f32
      }
      uop.store %0, %out[%i, %j] : memref<4x8xf32>
    }
  }
}

// -----

// Two products side by side share the loops and what they read of %x; the load between them, which needs neither, moves
// in front.
// CHECK-LABEL: uop.kernel @gate
// CHECK:         %[[BIAS:.*]] = tile.read %b
// CHECK:         %[[SUMS:.*]], %[[SUM2:.*]] = loop.for %k (k = 8 loop) carry (%acc = add : f32), (%acc_1 = add : f32) {
// CHECK-NEXT:      %[[X:.*]] = tile.read %x
// CHECK-NEXT:      %[[V:.*]] = tile.read %v
// CHECK-NEXT:      %[[P1:.*]] = uop.mul %[[X]], %[[V]] : f32
// CHECK-NEXT:      %[[W:.*]] = tile.read %w
// CHECK-NEXT:      %[[P2:.*]] = uop.mul %[[X]], %[[W]] : f32
// CHECK-NEXT:      %[[A1:.*]] = uop.add %acc, %[[P1]] : f32
// CHECK-NEXT:      %[[A2:.*]] = uop.add %acc_1, %[[P2]] : f32
// CHECK-NEXT:      loop.yield %[[A1]], %[[A2]] : f32, f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %{{.*}} = uop.add %[[SUMS]], %[[BIAS]] : f32
uop.kernel @gate(%out: memref<4x4xf32>, %x: memref<4x8xf32>, %v: memref<4x8xf32>, %w: memref<4x8xf32>, %b: memref<4xf32>)
    schedule #tile.schedule<i = 4 thread, j = 4 thread, k = 8 loop> {
  loop.for %i (i = 4 parallel) {
    loop.for %j (j = 4 parallel) {
      %1 = loop.reduce %k (k = 8) add : f32 {
        %2 = uop.load %x[%i, %k] : memref<4x8xf32>
        %3 = uop.load %v[%j, %k] : memref<4x8xf32>
        %4 = uop.mul %2, %3 : f32
        loop.yield %4 : f32
      }
      %5 = uop.load %b[%j] : memref<4xf32>
      %6 = loop.reduce %k (k = 8) add : f32 {
        %7 = uop.load %x[%i, %k] : memref<4x8xf32>
        %8 = uop.load %w[%j, %k] : memref<4x8xf32>
        %9 = uop.mul %7, %8 : f32
        loop.yield %9 : f32
      }
      %10 = uop.add %1, %5 : f32
      %11 = uop.mul %10, %6 : f32
      uop.store %11, %out[%i, %j] : memref<4x4xf32>
    }
  }
}

// -----

// Positions begin in front of a row that begins anywhere, at a multiple of 8 elements, and are masked there, too.
// CHECK-LABEL: uop.kernel @aligned
// CHECK:         %[[MASK:.*]] = uop.const 8 : index
// CHECK-NEXT:    %[[SHIFT:.*]] = uop.floormod %bi, %[[MASK]] : index
// CHECK:         %[[BACK:.*]] = uop.mul %[[SHIFT]], %{{.*}} : index
// CHECK-NEXT:    %[[THREAD:.*]] = uop.add %tj, %[[BACK]] : index
// CHECK:         %[[J:.*]] = uop.add %{{.*}}, %{{.*}} : vector<2xindex>
// CHECK:         %[[BEHIND:.*]] = uop.ge %[[J]], %{{.*}} : vector<2xindex>
// CHECK-NEXT:    %[[INSIDE:.*]] = uop.and %[[BEHIND]], %{{.*}} : vector<2xi1>
// CHECK-NEXT:    tile.read %x[%bi, %[[J]]] mask %[[INSIDE]]
uop.kernel @aligned(%out: memref<16x57xf32>, %x: memref<16x57xf32>)
    schedule #tile.schedule<i = 16 block, j = 2 register * 32 thread, align = j 8> {
  loop.for %i (i = 16 parallel) {
    loop.for %j (j = 57 parallel) {
      %0 = uop.load %x[%i, %j] : memref<16x57xf32>
      uop.store %0, %out[%i, %j] : memref<16x57xf32>
    }
  }
}

// -----

// expected-error@+1 {{kernel @unreached: rows along j are aligned to 8 elements, but the factors of that axis cover 64}}
uop.kernel @unreached(%out: memref<16x59xf32>, %x: memref<16x59xf32>)
    schedule #tile.schedule<i = 16 block, j = 2 register * 32 thread, align = j 8> {
  loop.for %i (i = 16 parallel) {
    loop.for %j (j = 59 parallel) {
      %0 = uop.load %x[%i, %j] : memref<16x59xf32>
      uop.store %0, %out[%i, %j] : memref<16x59xf32>
    }
  }
}

// -----

// expected-error@+1 {{kernel @several_rows: rows along j are aligned, but a thread has several rows: i = 2 register}}
uop.kernel @several_rows(%out: memref<16x57xf32>, %x: memref<16x57xf32>)
    schedule #tile.schedule<i = 8 block * 2 register, j = 2 register * 32 thread, align = j 8> {
  loop.for %i (i = 16 parallel) {
    loop.for %j (j = 57 parallel) {
      %0 = uop.load %x[%i, %j] : memref<16x57xf32>
      uop.store %0, %out[%i, %j] : memref<16x57xf32>
    }
  }
}

// -----

// expected-error@+1 {{kernel @no_axis: the schedule aligns rows along k, but the kernel's axes are: i (16)}}
uop.kernel @no_axis(%out: memref<16xf32>) schedule #tile.schedule<i = 16 block, align = k 8> {
  loop.for %i (i = 16 parallel) {
    %0 = uop.const 1.0 : f32
    uop.store %0, %out[%i] : memref<16xf32>
  }
}

// -----

// expected-error@+1 {{kernel @serial: the schedule lets 2 steps of j lie in slots, but there is the serial factor `2 loop`}}
uop.kernel @serial(%out: memref<16x64xf32>, %x: memref<16x64xf32>)
    schedule #tile.schedule<i = 8 block * 2 loop, j = 4 register * 16 thread, slots = j 2> {
  loop.for %i (i = 16 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = uop.load %x[%i, %j] : memref<16x64xf32>
      uop.store %0, %out[%i, %j] : memref<16x64xf32>
    }
  }
}

// -----

// expected-error@+1 {{kernel @all_steps: the schedule lets 4 steps of j lie in slots, but the first factor of j is `4 register`}}
uop.kernel @all_steps(%out: memref<16x64xf32>, %x: memref<16x64xf32>)
    schedule #tile.schedule<i = 16 block, j = 4 register * 16 thread, slots = j 4> {
  loop.for %i (i = 16 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = uop.load %x[%i, %j] : memref<16x64xf32>
      uop.store %0, %out[%i, %j] : memref<16x64xf32>
    }
  }
}
