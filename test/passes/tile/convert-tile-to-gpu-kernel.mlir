// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-tile-to-gpu-kernel)' --split-input-file --verify-diagnostics | filecheck %s

// Two slabs of each buffer: the first is copied in front of the loop, the next while one is used. Threads move vectors of 4;
// the 32 rows of %w lie one after the other on both sides, those of %x are padded. State stays in registers, also from the outer
// loop to the inner one.
uop.kernel @matmul(%out: memref<16x16xf32>, %x: memref<16x64xf32>, %w: memref<64x16xf32>)
    schedule #tile.schedule<i = 8 thread * 2 register, j = 8 thread * 2 register, k = 2 loop * 32 loop,
                            stage = [%x buffers 2 async pad 4, %w buffers 2 async]> {
  %ti = tile.axis i = 8 thread : index
  %ri = tile.axis i = 2 register : vector<2x1xindex>
  %tj = tile.axis j = 8 thread : index
  %rj = tile.axis j = 2 register : vector<1x2xindex>
  %zero = uop.const 0.0 : f32
  %c0 = uop.const 0 : index
  %c2 = uop.const 2 : index
  %c32 = uop.const 32 : index
  %i0 = uop.mul %ti, %c2 : index
  %i1 = uop.expand %i0 : index -> vector<2x1xindex>
  %i = uop.add %i1, %ri : vector<2x1xindex>
  %j0 = uop.mul %tj, %c2 : index
  %j1 = uop.expand %j0 : index -> vector<1x2xindex>
  %j = uop.add %j1, %rj : vector<1x2xindex>
  %sum = loop.for %ko (k = 2 loop) carry (%acc = add : vector<2x2xf32>) {
    %k = uop.mul %ko, %c32 : index
    %x_s = tile.stage %x[%c0, %k] buffers 2 async : memref<16x64xf32> -> memref<16x32xf32, strided<[36, 1]>, "shared">
    %w_s = tile.stage %w[%k, %c0] buffers 2 async : memref<64x16xf32> -> memref<32x16xf32, "shared">
    %inner = loop.for %ki (k = 32 loop) carry (%acc_1 = add from %acc : vector<2x2xf32>) {
      %xv = tile.read %x_s[%i, %ki] : memref<16x32xf32, strided<[36, 1]>, "shared">(vector<2x1xindex>, index) -> vector<2x1xf32>
      %wv = tile.read %w_s[%ki, %j] vector 2 : memref<32x16xf32, "shared">(index, vector<1x2xindex>) -> vector<1x2xf32>
      %xe = uop.expand %xv : vector<2x1xf32> -> vector<2x2xf32>
      %we = uop.expand %wv : vector<1x2xf32> -> vector<2x2xf32>
      %product = uop.mul %xe, %we : vector<2x2xf32>
      %new = uop.add %acc_1, %product : vector<2x2xf32>
      loop.yield %new : vector<2x2xf32>
    }
    loop.yield %inner : vector<2x2xf32>
  }
  %zeros = uop.expand %zero : f32 -> vector<2x2xf32>
  %relu = uop.max %sum, %zeros : vector<2x2xf32>
  tile.write %relu, %out[%i, %j] : vector<2x2xf32> -> memref<16x16xf32>(vector<2x1xindex>, vector<1x2xindex>)
}
// CHECK-LABEL: gpu_kernel.kernel @matmul(%out: memref<256xf32>, %x: memref<1024xf32>, %w: memref<1024xf32>)
// CHECK-SAME:      outputs 1 grid [1, 1, 1] block 64 arch "sm_90" index_bits 32
// CHECK-NEXT:    %tid = gpu_kernel.thread_id
// CHECK-NEXT:    %[[C8:.*]] = uop.const 8 : index
// CHECK-NEXT:    %ti = uop.truncdiv %tid, %[[C8]] : index
// CHECK-NEXT:    %tj = uop.truncmod %tid, %[[C8]] : index
// CHECK-NEXT:    %acc = gpu_kernel.alloc : memref<2x2xf32, "register">
// CHECK:         gpu_kernel.for %ri = %{{.*}} to 2 step 1 unroll
// CHECK-NEXT:      gpu_kernel.for %rj = %{{.*}} to 2 step 1 unroll
// CHECK-NEXT:        gpu_kernel.store %{{.*}}, %acc[%ri, %rj]
// CHECK:         %x_s = gpu_kernel.alloc : memref<1144xf32, "shared">
// CHECK-NEXT:    %w_s = gpu_kernel.alloc : memref<1024xf32, "shared">
// CHECK:         gpu_kernel.async_copy %x[%{{.*}}] to %x_s[%{{.*}}] width 4 :
// CHECK:         gpu_kernel.async_copy %w[%[[E:.*]]] to %w_s[%[[E]]] width 4 :
// CHECK:         gpu_kernel.async_commit
// CHECK:         gpu_kernel.for %ko = %{{.*}} to 2 step 1 {
// CHECK-NEXT:      gpu_kernel.async_wait 0
// CHECK-NEXT:      gpu_kernel.barrier
// CHECK:           gpu_kernel.if
// CHECK:             gpu_kernel.async_copy %x
// CHECK:             gpu_kernel.async_copy %w
// CHECK:           gpu_kernel.async_commit
// CHECK-NOT:       gpu_kernel.barrier
// CHECK:           gpu_kernel.for %ki = %{{.*}} to 32 step 1 {
// CHECK-NEXT:        %xv = gpu_kernel.alloc : memref<2xf32, "register">
// CHECK:             gpu_kernel.load %x_s
// CHECK:             %wv = gpu_kernel.alloc : memref<2xf32, "register">
// CHECK:             gpu_kernel.load %w_s[%{{.*}}] : memref<1024xf32, "shared"> -> vector<2xf32>
// CHECK:             gpu_kernel.load %acc[
// CHECK:             gpu_kernel.store %{{.*}}, %acc[
// CHECK:         gpu_kernel.load %acc[
// CHECK-NEXT:    uop.max
// CHECK:         gpu_kernel.store %{{.*}}, %out[

// -----

// A warp for each row of 1000: the last vectors of a row are masked as a whole, and shuffles alone combine.
uop.kernel @warp(%out: memref<64x1000xf32>, %x: memref<64x1000xf32>)
    schedule #tile.schedule<i = 16 block * 4 warp, j = 8 register * 32 lane * 4 register> {
  %bi = tile.axis i = 16 block : index
  %wi = tile.axis i = 4 warp : index
  %rj = tile.axis j = 8 register : vector<8x1xindex>
  %lj = tile.axis j = 32 lane : index
  %rj1 = tile.axis j = 4 register : vector<1x4xindex>
  %c4 = uop.const 4 : index
  %c128 = uop.const 128 : index
  %c1000 = uop.const 1000 : index
  %none = uop.const 0xff800000 : f32
  %i0 = uop.mul %bi, %c4 : index
  %i = uop.add %i0, %wi : index
  %l = uop.mul %lj, %c4 : index
  %c128e = uop.expand %c128 : index -> vector<8x1xindex>
  %j0 = uop.mul %rj, %c128e : vector<8x1xindex>
  %le = uop.expand %l : index -> vector<8x1xindex>
  %j1 = uop.add %le, %j0 : vector<8x1xindex>
  %j1e = uop.expand %j1 : vector<8x1xindex> -> vector<8x4xindex>
  %rj1e = uop.expand %rj1 : vector<1x4xindex> -> vector<8x4xindex>
  %j = uop.add %j1e, %rj1e : vector<8x4xindex>
  %end = uop.expand %c1000 : index -> vector<8x4xindex>
  %ok = uop.lt %j, %end : vector<8x4xindex>
  %v = tile.read %x[%i, %j] mask %ok vector 4 : memref<64x1000xf32>(index, vector<8x4xindex>) -> vector<8x4xf32>
  %nones = uop.expand %none : f32 -> vector<8x4xf32>
  %masked = uop.where %ok, %v, %nones : vector<8x4xf32>
  %m0 = uop.reduce_axis max %masked axes [0, 1] : (vector<8x4xf32>) -> vector<1x1xf32>
  %m = tile.reduce_across max %m0 over %lj : vector<1x1xf32>
  %me = uop.expand %m : vector<1x1xf32> -> vector<8x4xf32>
  %d = uop.sub %v, %me : vector<8x4xf32>
  tile.write %d, %out[%i, %j] mask %ok vector 4 : vector<8x4xf32> -> memref<64x1000xf32>(index, vector<8x4xindex>)
}
// CHECK-LABEL: gpu_kernel.kernel @warp
// CHECK-SAME:      grid [16, 1, 1] block 128
// CHECK:         %bi = gpu_kernel.block_id x
// CHECK:         %v = gpu_kernel.alloc : memref<8x4xf32, "register">
// CHECK:         gpu_kernel.for %rj = %{{.*}} to 8 step 1 unroll {
// CHECK-NEXT:      %[[J:.*]] = uop.mul %rj, %{{.*}} : index
// CHECK-NEXT:      %[[P:.*]] = uop.add %{{.*}}, %[[J]] : index
// CHECK-NEXT:      %[[OK:.*]] = uop.lt %[[P]], %{{.*}} : index
// CHECK-NEXT:      %[[A:.*]] = uop.add %{{.*}}, %[[J]] : index
// CHECK-NEXT:      %[[V:.*]] = gpu_kernel.load %x[%[[A]]] mask %[[OK]] : memref<64000xf32> -> vector<4xf32>
// CHECK-NEXT:      gpu_kernel.store %[[V]], %v[%rj, %{{.*}}] : vector<4xf32> -> memref<8x4xf32, "register">
// CHECK:         %m0 = gpu_kernel.alloc : memref<f32, "register">
// CHECK:         gpu_kernel.load %m0[]
// CHECK-COUNT-5: gpu_kernel.shuffle xor
// CHECK-NOT:     gpu_kernel.barrier
// CHECK:         %m = uop.max
// CHECK:         gpu_kernel.store %{{.*}}, %out[%{{.*}}] mask %{{.*}} : vector<4xf32> -> memref<64000xf32>

// -----

// Three warps: shuffles within each, then one partial result from each in shared memory. The barrier in front of the write keeps
// the step before's readers apart from it.
uop.kernel @block(%out: memref<2x96xf32>, %x: memref<2x96xf32>) schedule #tile.schedule<i = 2 loop, j = 96 thread> {
  %tj = tile.axis j = 96 thread : index
  loop.for %i (i = 2 loop) {
    %v = tile.read %x[%i, %tj] : memref<2x96xf32>(index, index) -> f32
    %m = tile.reduce_across max %v over %tj : f32
    %d = uop.sub %v, %m : f32
    tile.write %d, %out[%i, %tj] : f32 -> memref<2x96xf32>(index, index)
  }
}
// CHECK-LABEL: gpu_kernel.kernel @block
// CHECK:         %partial = gpu_kernel.alloc : memref<4xf32, "shared">
// CHECK:         gpu_kernel.for %i = %{{.*}} to 2 step 1 {
// CHECK:           %v = gpu_kernel.load %x
// CHECK-COUNT-5:   gpu_kernel.shuffle xor
// CHECK:           gpu_kernel.barrier
// CHECK-NEXT:      gpu_kernel.store %{{.*}}, %partial[%{{.*}}] mask %{{.*}} : f32
// CHECK-NEXT:      gpu_kernel.barrier
// CHECK-NEXT:      %[[P:.*]] = gpu_kernel.load %partial[%{{.*}}] mask %[[HAS:.*]] :
// CHECK-NEXT:      uop.where %[[HAS]], %[[P]], %{{.*}} : f32
// CHECK-COUNT-2:   gpu_kernel.shuffle xor
// CHECK-NOT:       gpu_kernel.barrier
// CHECK:           gpu_kernel.store %{{.*}}, %out

// -----

// Columns whose threads are in different warps: no shuffles. Nothing behind the barrier but a write by the first of each
// column's threads: their warp goes on alone, and the write needs no mask.
uop.kernel @first_warp(%out: memref<32xf32>, %x: memref<4x32xf32>) schedule #tile.schedule<k = 4 thread, j = 32 thread> {
  %tk = tile.axis k = 4 thread : index
  %tj = tile.axis j = 32 thread : index
  %c0 = uop.const 0 : index
  %v = tile.read %x[%tk, %tj] : memref<4x32xf32>(index, index) -> f32
  %s = tile.reduce_across add %v over %tk : f32
  %root = uop.sqrt %s : f32
  %first = uop.eq %tk, %c0 : index
  tile.write %root, %out[%tj] mask %first : f32 -> memref<32xf32>(index)
}
// CHECK-LABEL: gpu_kernel.kernel @first_warp
// CHECK-NOT:     gpu_kernel.shuffle
// CHECK:         gpu_kernel.barrier
// CHECK:         %[[FIRST:.*]] = uop.eq %tk
// CHECK:         gpu_kernel.if %[[FIRST]] {
// CHECK:           gpu_kernel.for %part = %{{.*}} to 4 step 1 unroll {
// CHECK:           uop.sqrt
// CHECK-NEXT:      gpu_kernel.store %{{.*}}, %out[%tj] : f32
// CHECK-NEXT:    }

// -----

// Four lanes have the sums of 8 columns: each writes two of them, so that the warp's store is of whole sectors.
uop.kernel @spread(%out: memref<64xf32>, %x: memref<4x64xf32>) schedule #tile.schedule<k = 4 thread, j = 8 thread * 8 register> {
  %tk = tile.axis k = 4 thread : index
  %tj = tile.axis j = 8 thread : index
  %rj = tile.axis j = 8 register : vector<8xindex>
  %c0 = uop.const 0 : index
  %c8 = uop.const 8 : index
  %j0 = uop.mul %tj, %c8 : index
  %j1 = uop.expand %j0 : index -> vector<8xindex>
  %j = uop.add %j1, %rj : vector<8xindex>
  %v = tile.read %x[%tk, %j] vector 4 : memref<4x64xf32>(index, vector<8xindex>) -> vector<8xf32>
  %s = tile.reduce_across add %v over %tk : vector<8xf32>
  %first = uop.eq %tk, %c0 : index
  %mask = uop.expand %first : i1 -> vector<8xi1>
  tile.write %s, %out[%j] mask %mask vector 4 : vector<8xf32> -> memref<64xf32>(vector<8xindex>)
}
// CHECK-LABEL: gpu_kernel.kernel @spread
// CHECK-COUNT-2: gpu_kernel.shuffle xor
// CHECK:         %part = gpu_kernel.alloc : memref<2xf32, "register">
// CHECK-COUNT-6: uop.where
// CHECK:         %[[PAIR:.*]] = gpu_kernel.load %part[%{{.*}}] : memref<2xf32, "register"> -> vector<2xf32>
// CHECK:         gpu_kernel.store %[[PAIR]], %out[%{{.*}}] : vector<2xf32> -> memref<64xf32>
// CHECK-NEXT:  }

// -----

// A block of 48 threads has half a warp: no shuffles, all 48 values go through shared memory.
uop.kernel @half_a_warp(%out: memref<48xi8>, %x: memref<48xi8>) schedule #tile.schedule<j = 48 thread> {
  %tj = tile.axis j = 48 thread : index
  %v = tile.read %x[%tj] : memref<48xi8>(index) -> i8
  %s = tile.reduce_across add %v over %tj : i8
  tile.write %s, %out[%tj] : i8 -> memref<48xi8>(index)
}
// CHECK-LABEL: gpu_kernel.kernel @half_a_warp
// CHECK:         %partial = gpu_kernel.alloc : memref<48xi8, "shared">
// CHECK-NOT:     gpu_kernel.shuffle
// CHECK:         gpu_kernel.for %part = %tj to 48 step 32 {
// CHECK:         gpu_kernel.for %{{.*}} = %{{.*}} to 32 step 1 unroll {

// -----

// Shuffles move 32 bits: smaller types are widened for them.
uop.kernel @small(%out: memref<32xi8>, %x: memref<32xi8>) schedule #tile.schedule<j = 32 lane> {
  %lj = tile.axis j = 32 lane : index
  %v = tile.read %x[%lj] : memref<32xi8>(index) -> i8
  %s = tile.reduce_across add %v over %lj : i8
  tile.write %s, %out[%lj] : i8 -> memref<32xi8>(index)
}
// CHECK-LABEL: gpu_kernel.kernel @small
// CHECK:         %[[WIDE:.*]] = uop.cast %v : i8 -> i32
// CHECK:         %[[OTHER:.*]] = gpu_kernel.shuffle xor %[[WIDE]], %{{.*}} : i32
// CHECK-NEXT:    %[[NARROW:.*]] = uop.cast %[[OTHER]] : i32 -> i8
// CHECK-NEXT:    uop.add %v, %[[NARROW]] : i8

// -----

// What the bounds of indices decide: the row is the block, the column the thread; divisions truncate where the dividend is not
// negative, after a multiple of the divisor is taken out; an index from memory may be anything.
uop.kernel @divisions(%out: memref<64xf32>, %x: memref<9xf32>, %n: memref<64xi64>) schedule #tile.schedule<i = 8 block * 8 thread> {
  %bi = tile.axis i = 8 block : index
  %ti = tile.axis i = 8 thread : index
  %c0 = uop.const 0 : index
  %c1 = uop.const 1 : index
  %c3 = uop.const 3 : index
  %c8 = uop.const 8 : index
  %b = uop.mul %bi, %c8 : index
  %i = uop.add %b, %ti : index
  %row = uop.floordiv %i, %c8 : index
  %column = uop.floormod %i, %c8 : index
  %before = uop.sub %column, %c1 : index
  %third = uop.floordiv %before, %c3 : index
  %ok = uop.ge %third, %c0 : index
  %below = uop.lt %row, %c8 : index
  %u = tile.read %x[%row] mask %below : memref<9xf32>(index) -> f32
  %v = tile.read %x[%third] mask %ok : memref<9xf32>(index) -> f32
  %m = tile.read %n[%i] : memref<64xi64>(index) -> i64
  %mi = uop.cast %m : i64 -> index
  %md = uop.floordiv %mi, %c3 : index
  %w = tile.read %x[%md] : memref<9xf32>(index) -> f32
  %s = uop.add %u, %v : f32
  %t = uop.add %s, %w : f32
  tile.write %t, %out[%i] : f32 -> memref<64xf32>(index)
}
// CHECK-LABEL: gpu_kernel.kernel @divisions
// CHECK:         %u = gpu_kernel.load %x[%bi] : memref<9xf32> -> f32
// CHECK:         %[[T:.*]] = uop.add %ti, %{{.*}} : index
// CHECK:         %[[D:.*]] = uop.truncdiv %[[T]], %{{.*}} : index
// CHECK:         %[[OK:.*]] = uop.ge %[[D]], %{{.*}} : index
// CHECK-NEXT:    %[[AT:.*]] = uop.sub %[[D]], %{{.*}} : index
// CHECK-NEXT:    %v = gpu_kernel.load %x[%[[AT]]] mask %[[OK]] : memref<9xf32> -> f32
// CHECK:         %[[M:.*]] = uop.cast %m : i64 -> index
// CHECK:         uop.floordiv %[[M]], %{{.*}} : index

// -----

// A kernel without a schedule and the program stay as they are.
uop.kernel @unscheduled(%out: memref<4xf32>) {
  %zero = uop.const 0.0 : f32
  loop.for %i (i = 4 parallel) {
    uop.store %zero, %out[%i] : memref<4xf32>
  }
}
func.func @program() -> tensor<4xf32> {
  %0 = uop.launch @unscheduled() : () -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// CHECK-LABEL: uop.kernel @unscheduled
// CHECK:         uop.launch @unscheduled() : () -> tensor<4xf32>

// -----

// Rows of three 16-bit elements are no whole number of 4-byte pieces.
uop.kernel @odd(%out: memref<3xf16>, %x: memref<2x3xf16>) schedule #tile.schedule<j = 3 thread> {
  %tj = tile.axis j = 3 thread : index
  %c0 = uop.const 0 : index
  // expected-remark@+1 {{copied through registers, not asynchronously: sm_90 copies 4, 8, 16 bytes at once}}
  %x_s = tile.stage %x[%c0, %c0] buffers 1 async : memref<2x3xf16> -> memref<1x3xf16, "shared">
  %v = tile.read %x_s[%c0, %tj] : memref<1x3xf16, "shared">(index, index) -> f16
  tile.write %v, %out[%tj] : f16 -> memref<3xf16>(index)
}
// CHECK-LABEL: gpu_kernel.kernel @odd
// CHECK:         %[[V:.*]] = gpu_kernel.load %x[%tj] : memref<6xf16> -> f16
// CHECK-NEXT:    gpu_kernel.store %[[V]], %x_s[%tj] : f16 -> memref<8xf16, "shared">
// CHECK-NEXT:    gpu_kernel.barrier

// -----

uop.kernel @loop_form(%out: memref<4xf32>, %x: memref<4xf32>) schedule #tile.schedule<i = 4 thread> {
  loop.for %i (i = 4 parallel) {
    // expected-error@+1 {{uop.load is no op of tile form}}
    %0 = uop.load %x[%i] : memref<4xf32>
    uop.store %0, %out[%i] : memref<4xf32>
  }
}

// -----

uop.kernel @matrix_instructions(%out: memref<8x4xf32>, %a: memref<8xf16>) schedule #tile.schedule<i = 1 loop> {
  %r = tile.axis i = 8 register : vector<8x1xindex>
  %zero = uop.const 0.0 : f32
  %zero16 = uop.const 0.0 : f16
  %acc = uop.expand %zero : f32 -> vector<4xf32>
  %x = uop.expand %zero16 : f16 -> vector<8xf16>
  %w = uop.expand %zero16 : f16 -> vector<4xf16>
  // expected-error@+1 {{tile.mma is of a warp, whose lanes are 8 along rows and 4 along columns}}
  %d = tile.mma m16n8k16 %acc, %x, %w : vector<4xf32>, vector<8xf16>, vector<4xf16>
}

// -----

// expected-error@+1 {{the schedule asks for 2048 threads in a block, sm_90 has at most 1024}}
uop.kernel @threads(%out: memref<2048xf32>) schedule #tile.schedule<i = 2048 thread> {
  %ti = tile.axis i = 2048 thread : index
}

// -----

// expected-error@+1 {{the schedule asks for 3 blocks of 1024 threads on a multiprocessor, sm_90 has room for 2}}
uop.kernel @blocks(%out: memref<1024xf32>) schedule #tile.schedule<i = 1024 thread, min_blocks = 3> {
  %ti = tile.axis i = 1024 thread : index
}

// -----

// CHECK-LABEL: gpu_kernel.kernel @resident(
// CHECK-SAME:      block 512 arch "sm_90" index_bits 32 min_blocks 3 {
uop.kernel @resident(%out: memref<512xf32>) schedule #tile.schedule<i = 512 thread, min_blocks = 3> {
  %ti = tile.axis i = 512 thread : index
}

// -----

// f32 that are rounded to 16 bits side by side go into one register at once.
// CHECK-LABEL: gpu_kernel.kernel @rounded(
// CHECK:         %out_r = gpu_kernel.alloc : memref<8xf16, "register">
// CHECK:         gpu_kernel.for %[[R:.*]] = %{{.*}} to 8 step 2 unroll {
// CHECK:           %[[FIRST:.*]] = uop.mul
// CHECK:           %[[SECOND:.*]] = uop.mul
// CHECK-NEXT:      %[[PAIR:.*]] = gpu_kernel.pack %[[FIRST]], %[[SECOND]] : vector<2xf16>
// CHECK-NEXT:      gpu_kernel.store %[[PAIR]], %out_r[%[[R]]] : vector<2xf16> -> memref<8xf16, "register">
// CHECK:         gpu_kernel.store %{{.*}}, %out[%{{.*}}] : vector<8xf16> -> memref<256xf16>
uop.kernel @rounded(%out: memref<256xf16>, %x: memref<256xf32>) schedule #tile.schedule<i = 32 thread * 8 register> {
  %ti = tile.axis i = 32 thread : index
  %ri = tile.axis i = 8 register : vector<8xindex>
  %c8 = uop.const 8 : index
  %0 = uop.mul %ti, %c8 : index
  %1 = uop.expand %0 : index -> vector<8xindex>
  %2 = uop.add %1, %ri : vector<8xindex>
  %3 = tile.read %x[%2] vector 4 : memref<256xf32>(vector<8xindex>) -> vector<8xf32>
  %4 = uop.mul %3, %3 : vector<8xf32>
  %5 = uop.cast %4 : vector<8xf32> -> vector<8xf16>
  tile.write %5, %out[%2] vector 8 : vector<8xf16> -> memref<256xf16>(vector<8xindex>)
}

// -----

// Two neighbours along i follow each other, for each block along j; the third dimension stays what it is.
// CHECK-LABEL: gpu_kernel.kernel @grouped(
// CHECK-SAME:      grid [6, 2, 5] block 1
// CHECK:         %[[X:.*]] = gpu_kernel.block_id x
// CHECK:         uop.truncdiv %[[X]], %{{.*}} : index
uop.kernel @grouped(%out: memref<5x4x3xf32>) schedule #tile.schedule<n = 5 block, i = 4 block, j = 3 block, group = i 2> {
  %n = tile.axis n = 5 block : index
  %i = tile.axis i = 4 block : index
  %j = tile.axis j = 3 block : index
  %c = uop.const 1.0 : f32
  tile.write %c, %out[%n, %i, %j] : f32 -> memref<5x4x3xf32>(index, index, index)
}

// -----

// expected-error@+1 {{the schedule groups the blocks of `i 3`, which are no whole groups}}
uop.kernel @parts_of_groups(%out: memref<4x3xf32>) schedule #tile.schedule<i = 4 block, j = 3 block, group = i 3> {
  %i = tile.axis i = 4 block : index
}

// -----

// What lies in registers is combined from the first element on, the others in two nests; but a sum of what may be -0.0 starts
// from 0.0, as eager PyTorch sums.
uop.kernel @from_first(%out: memref<32x3xf32>, %p_out: memref<32x6xf32>, %x: memref<32x6xf32>) schedule #tile.schedule<i = 32 thread, j = 2 register * 3 register> {
  %ti = tile.axis i = 32 thread : index
  %rj = tile.axis j = 2 register : vector<2x1xindex>
  %rj1 = tile.axis j = 3 register : vector<1x3xindex>
  %c0 = uop.const 0 : index
  %c1 = uop.const 1 : index
  %c2 = uop.const 2 : index
  %c3 = uop.const 3 : index
  %c3e = uop.expand %c3 : index -> vector<2x1xindex>
  %j0 = uop.mul %rj, %c3e : vector<2x1xindex>
  %j0e = uop.expand %j0 : vector<2x1xindex> -> vector<2x3xindex>
  %rj1e = uop.expand %rj1 : vector<1x3xindex> -> vector<2x3xindex>
  %j = uop.add %j0e, %rj1e : vector<2x3xindex>
  %v = tile.read %x[%ti, %j] : memref<32x6xf32>(index, vector<2x3xindex>) -> vector<2x3xf32>
  %max = uop.reduce_axis max %v axes [0, 1] : (vector<2x3xf32>) -> vector<1x1xf32>
  %maxe = uop.expand %max : vector<1x1xf32> -> vector<2x3xf32>
  %d = uop.sub %v, %maxe : vector<2x3xf32>
  %e = uop.exp %d : vector<2x3xf32>
  %sum = uop.reduce_axis add %e axes [0, 1] : (vector<2x3xf32>) -> vector<1x1xf32>
  %any = uop.reduce_axis add %v axes [0, 1] : (vector<2x3xf32>) -> vector<1x1xf32>
  %sume = uop.expand %sum : vector<1x1xf32> -> vector<2x3xf32>
  %p = uop.div %e, %sume : vector<2x3xf32>
  tile.write %p, %p_out[%ti, %j] : vector<2x3xf32> -> memref<32x6xf32>(index, vector<2x3xindex>)
  tile.write %max, %out[%ti, %c0] : vector<1x1xf32> -> memref<32x3xf32>(index, index)
  tile.write %sum, %out[%ti, %c1] : vector<1x1xf32> -> memref<32x3xf32>(index, index)
  tile.write %any, %out[%ti, %c2] : vector<1x1xf32> -> memref<32x3xf32>(index, index)
}
// CHECK-LABEL: gpu_kernel.kernel @from_first
// CHECK:         %max = gpu_kernel.alloc : memref<f32, "register">
// CHECK-NEXT:    %[[FIRST:.*]] = gpu_kernel.load %v[%[[C0:.*]], %[[C0]]]
// CHECK-NEXT:    gpu_kernel.store %[[FIRST]], %max[]
// CHECK-NEXT:    %[[C1:.*]] = uop.const 1 : index
// CHECK-NEXT:    gpu_kernel.for %[[J:.*]] = %[[C1]] to 3 step 1 unroll {
// CHECK-NEXT:      gpu_kernel.load %v[%[[C0]], %[[J]]]
// CHECK:           uop.max
// CHECK:         gpu_kernel.for %[[J:.*]] = %[[C0]] to 3 step 1 unroll {
// CHECK-NEXT:      gpu_kernel.load %v[%[[C1]], %[[J]]]
// CHECK:           uop.max
// CHECK:         %sum = gpu_kernel.alloc
// CHECK-NEXT:    %[[FIRST:.*]] = gpu_kernel.load %e[
// CHECK-NEXT:    gpu_kernel.store %[[FIRST]], %sum[]
// CHECK:         %any = gpu_kernel.alloc
// CHECK-NEXT:    %[[ZERO:.*]] = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    gpu_kernel.store %[[ZERO]], %any[]

// -----

// What threads write to a slab is seen by all behind a barrier; none stands in front, for each writes where it has read.
// CHECK-LABEL: gpu_kernel.kernel @written_slab
// CHECK:         gpu_kernel.barrier
// CHECK-NEXT:    %[[READ:.*]] = gpu_kernel.load %x_s[%ti]
// CHECK-NEXT:    %[[SQUARE:.*]] = uop.mul %[[READ]], %[[READ]] : f32
// CHECK-NEXT:    gpu_kernel.store %[[SQUARE]], %x_s[%ti]
// CHECK-NEXT:    gpu_kernel.barrier
// CHECK:         gpu_kernel.load %x_s[%{{.*}}]
uop.kernel @written_slab(%out: memref<8xf32>, %x: memref<8xf32>) schedule #tile.schedule<i = 8 thread> {
  %ti = tile.axis i = 8 thread : index
  %c0 = uop.const 0 : index
  %c7 = uop.const 7 : index
  %x_s = tile.stage %x[%c0] buffers 1 : memref<8xf32> -> memref<8xf32, "shared">
  %0 = tile.read %x_s[%ti] : memref<8xf32, "shared">(index) -> f32
  %1 = uop.mul %0, %0 : f32
  tile.write %1, %x_s[%ti] : f32 -> memref<8xf32, "shared">(index)
  %2 = uop.sub %c7, %ti : index
  %3 = tile.read %x_s[%2] : memref<8xf32, "shared">(index) -> f32
  tile.write %3, %out[%ti] : f32 -> memref<8xf32>(index)
}
