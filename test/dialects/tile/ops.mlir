// RUN: UOP_ROUNDTRIP
// RUN: UOP_GENERIC_ROUNDTRIP

// CHECK-LABEL: uop.kernel @seed
// CHECK-SAME: schedule #tile.schedule<i = 1 block * 8 thread * 2 register, j = 8 thread * 2 register, k = 2 loop * 32 loop, stage = [%x buffers 2 async pad 4, %w]>
// GENERIC: schedule = #tile.schedule<i = 1 block * 8 thread * 2 register, j = 8 thread * 2 register, k = 2 loop * 32 loop, stage = [%x buffers 2 async pad 4, %w]>
uop.kernel @seed(%out: memref<16x16xf32>, %x: memref<16x64xf32>, %w: memref<64x16xf32>) schedule #tile.schedule<i = 1 block * 8 thread * 2 register, j = 8 thread * 2 register, k = 2 loop * 32 loop, stage = [%x buffers 2 async pad 4, %w]> {
  // CHECK: %ti = tile.axis i = 8 thread : index
  // GENERIC: "tile.axis"() <{axis = #uop.axis<i = 8 thread>}> : () -> index
  %ti = tile.axis i = 8 thread : index
  // CHECK-NEXT: %ri = tile.axis i = 2 register : vector<2x1xindex>
  %ri = tile.axis i = 2 register : vector<2x1xindex>
  // CHECK-NEXT: %rj = tile.axis j = 2 register : vector<1x2xindex>
  %rj = tile.axis j = 2 register : vector<1x2xindex>
  %c0 = uop.const 0 : index
  // CHECK: %x_s = tile.stage %x[%c0, %ti] buffers 2 async : memref<16x64xf32> -> memref<16x32xf32, strided<[36, 1]>, "shared">
  // GENERIC: "tile.stage"(%{{.*}}, %{{.*}}, %{{.*}}) <{buffers = 2 : i64, operandSegmentSizes = array<i32: 1, 2, 0>, async}>
  %x_s = tile.stage %x[%c0, %ti] buffers 2 async : memref<16x64xf32> -> memref<16x32xf32, strided<[36, 1]>, "shared">
  // CHECK-NEXT: tile.stage %w[%c0, %c0] buffers 1 : memref<64x16xf32> -> memref<32x16xf32, #tile.swizzle<unit 4, chunks 4>, "shared">
  %w_s = tile.stage %w[%c0, %c0] buffers 1 : memref<64x16xf32> -> memref<32x16xf32, #tile.swizzle<unit 4, chunks 4>, "shared">
  // CHECK-NEXT: tile.stage %x[%c0, %c0] to %ti along 1 buffers 2 async : memref<16x64xf32> -> memref<16x32xf32, "shared">
  // GENERIC: "tile.stage"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) <{buffers = 2 : i64, operandSegmentSizes = array<i32: 1, 2, 1>, along = 1 : i64, async}>
  %limited = tile.stage %x[%c0, %c0] to %ti along 1 buffers 2 async : memref<16x64xf32> -> memref<16x32xf32, "shared">
  // CHECK-NEXT: %[[A:.*]] = tile.read %x_s[%ri, %c0] : memref<16x32xf32, strided<[36, 1]>, "shared">(vector<2x1xindex>, index) -> vector<2x1xf32>
  %0 = tile.read %x_s[%ri, %c0] : memref<16x32xf32, strided<[36, 1]>, "shared">(vector<2x1xindex>, index) -> vector<2x1xf32>
  %ok = uop.lt %ti, %c0 : index
  // CHECK: tile.leave_unless %{{.*}}
  // GENERIC: "tile.leave_unless"(%{{.*}}) : (i1) -> ()
  tile.leave_unless %ok
  %mask = uop.expand %ok : i1 -> vector<2x2xi1>
  // CHECK: %[[B:.*]] = tile.read %x[%ri, %rj] mask %{{.*}} vector 2 : memref<16x64xf32>(vector<2x1xindex>, vector<1x2xindex>) -> vector<2x2xf32>
  %1 = tile.read %x[%ri, %rj] mask %mask vector 2 : memref<16x64xf32>(vector<2x1xindex>, vector<1x2xindex>) -> vector<2x2xf32>
  // CHECK-NEXT: tile.read %x[%rj, %ri] vector 2 along 0 : memref<16x64xf32>(vector<1x2xindex>, vector<2x1xindex>) -> vector<2x2xf32>
  %along = tile.read %x[%rj, %ri] vector 2 along 0 : memref<16x64xf32>(vector<1x2xindex>, vector<2x1xindex>) -> vector<2x2xf32>
  // CHECK-NEXT: tile.read %x[%ti, %c0] : memref<16x64xf32>(index, index) -> f32
  %2 = tile.read %x[%ti, %c0] : memref<16x64xf32>(index, index) -> f32
  // CHECK-NEXT: tile.reduce_across max %[[B]] over %ti : vector<2x2xf32>
  %3 = tile.reduce_across max %1 over %ti : vector<2x2xf32>
  // CHECK-NEXT: tile.write %{{.*}}, %out[%ri, %rj] mask %{{.*}} vector 2 : vector<2x2xf32> -> memref<16x16xf32>(vector<2x1xindex>, vector<1x2xindex>)
  tile.write %3, %out[%ri, %rj] mask %mask vector 2 : vector<2x2xf32> -> memref<16x16xf32>(vector<2x1xindex>, vector<1x2xindex>)
}

// A scan over the factors of an axis, the outermost first; of several values, from what stands before.
// CHECK-LABEL: uop.kernel @scans
uop.kernel @scans(%out: memref<f32>) {
  %rj = tile.axis j = 8 register : vector<8x1xindex>
  %lj = tile.axis j = 32 lane : index
  %rk = tile.axis j = 4 register : vector<1x4xindex>
  %x, %n, %x1, %n1 = "test.op"() : () -> (vector<8x4xf32>, vector<8x4xi64>, vector<1x1xf32>, vector<1x1xi64>)
  // CHECK: %{{.*}}, %{{.*}} = tile.scan_across add %x from %x1 over %rj, %lj, %rk : vector<8x4xf32> from vector<1x1xf32>(vector<8x1xindex>, index, vector<1x4xindex>)
  // GENERIC: "tile.scan_across"(%x, %x1, %rj, %lj, %rk) <{monoid = #uop.monoid<add>, operandSegmentSizes = array<i32: 1, 1, 3>, resultSegmentSizes = array<i32: 1, 1>}>
  %0, %1 = tile.scan_across add %x from %x1 over %rj, %lj, %rk : vector<8x4xf32> from vector<1x1xf32>(vector<8x1xindex>, index, vector<1x4xindex>)
  // CHECK: tile.scan_across argmax_last %x, %n from %{{.*}}, %{{.*}} over %lj, %rk : vector<8x4xf32>, vector<8x4xi64> from vector<8x1xf32>, vector<8x1xi64>(index, vector<1x4xindex>)
  %x8, %n8 = "test.op"() : () -> (vector<8x1xf32>, vector<8x1xi64>)
  %2, %3, %4, %5 = tile.scan_across argmax_last %x, %n from %x8, %n8 over %lj, %rk : vector<8x4xf32>, vector<8x4xi64> from vector<8x1xf32>, vector<8x1xi64>(index, vector<1x4xindex>)
}

// One place of an axis that registers and lanes share; a product over several steps along K, which the accumulator lacks.
// CHECK-LABEL: uop.kernel @chained
uop.kernel @chained(%out: memref<f32>) schedule #tile.schedule<i = 16 mma, l = 2 register * 8 mma, k = 2 register * 16 mma, d = 16 mma> {
  %rk = tile.axis k = 2 register : vector<1x2x1x1x1xindex>
  %rk_1 = tile.axis k = 2 register : vector<1x1x2x1x1xindex>
  %ll = tile.axis l = 4 lane : index
  %rl = tile.axis l = 2 register : vector<1x1x1x1x2xindex>
  %p, %v, %acc, %k = "test.op"() : () -> (vector<1x2x2x2x2xf16>, vector<2x2x2x2xf16>, vector<2x1x1x2x2xf32>, index)
  // CHECK: tile.take_across %p at %k over %rk, %rk_1, %ll, %rl : vector<1x2x2x2x2xf16>(vector<1x2x1x1x1xindex>, vector<1x1x2x1x1xindex>, index, vector<1x1x1x1x2xindex>)
  // GENERIC: "tile.take_across"(%p, %k, %rk, %rk_1, %ll, %rl) : (vector<1x2x2x2x2xf16>, index, vector<1x2x1x1x1xindex>, vector<1x1x2x1x1xindex>, index, vector<1x1x1x1x2xindex>) -> vector<1x1x1x2x1xf16>
  %0 = tile.take_across %p at %k over %rk, %rk_1, %ll, %rl : vector<1x2x2x2x2xf16>(vector<1x2x1x1x1xindex>, vector<1x1x2x1x1xindex>, index, vector<1x1x1x1x2xindex>)
  // CHECK: tile.mma m16n8k16 %acc, %p, %v : vector<2x1x1x2x2xf32>, vector<1x2x2x2x2xf16>, vector<2x2x2x2xf16>
  %1 = tile.mma m16n8k16 %acc, %p, %v : vector<2x1x1x2x2xf32>, vector<1x2x2x2x2xf16>, vector<2x2x2x2xf16>
}

// A schedule may have no axis: one thread.
// CHECK: uop.kernel @scalar(%out: memref<f32>) schedule #tile.schedule<> {
uop.kernel @scalar(%out: memref<f32>) schedule #tile.schedule<> {
}

// CHECK: uop.kernel @resident(%x: memref<8xf32>) schedule #tile.schedule<i = 8 thread, min_blocks = 4> {
uop.kernel @resident(%x: memref<8xf32>) schedule #tile.schedule<min_blocks = 4, i = 8 thread> {
}

// A part of a register tile may lie in shared memory.
// CHECK: uop.kernel @slotted(%x: memref<8xf32>) schedule #tile.schedule<i = 8 block, j = 4 register * 32 lane, slots = j 2> {
uop.kernel @slotted(%x: memref<8xf32>) schedule #tile.schedule<slots = j 2, i = 8 block, j = 4 register * 32 lane> {
}

// Positions along an axis may begin in front of its rows.
// CHECK: uop.kernel @aligned(%x: memref<8xf32>) schedule #tile.schedule<i = 8 block, j = 2 register * 32 lane, align = j 8> {
uop.kernel @aligned(%x: memref<8xf32>) schedule #tile.schedule<align = j 8, i = 8 block, j = 2 register * 32 lane> {
}

// Two axes may share threads.
// CHECK: uop.kernel @shared(%x: memref<8xf32>) schedule #tile.schedule<i = 8 lane * 2 register, j = 4 lane, k = 8 lane of i> {
uop.kernel @shared(%x: memref<8xf32>) schedule #tile.schedule<i = 8 lane * 2 register, j = 4 lane, k = 8 lane of i> {
}

// A slab whose rows go along another dimension than the buffer's.
// CHECK: uop.kernel @transposed(%x: memref<4x16x8xf16>) schedule #tile.schedule<i = 8 thread, stage = [%x over k buffers 2 along 1 pad 8]> {
uop.kernel @transposed(%x: memref<4x16x8xf16>) schedule #tile.schedule<i = 8 thread, stage = [%x over k buffers 2 along 1 pad 8]> {
}

// Matrices of a slab whose units of 16 bytes are permuted.
// CHECK: uop.kernel @grouped(%x: memref<8xf32>) schedule #tile.schedule<i = 8 block, j = 4 block, stage = [%x], group = i 2> {
uop.kernel @grouped(%x: memref<8xf32>) schedule #tile.schedule<group = i 2, i = 8 block, j = 4 block, stage = [%x]> {
}

// CHECK: uop.kernel @matrices(%x: memref<16x64xf16>) schedule #tile.schedule<i = 8 lane, stage = [%x buffers 2 async swizzle 8]> {
uop.kernel @matrices(%x: memref<16x64xf16>) schedule #tile.schedule<i = 8 lane, stage = [%x buffers 2 async swizzle 8]> {
  %i = tile.axis i = 8 lane : index
  %k = tile.axis k = 2 register : vector<2xindex>
  %x_s = tile.stage %x[%i, %i] buffers 2 async : memref<16x64xf16> -> memref<16x32xf16, #tile.swizzle<unit 8, chunks 4>, "shared">
  // CHECK: tile.read %x_s[%i, %k] ldmatrix : memref<16x32xf16, #tile.swizzle<unit 8, chunks 4>, "shared">(index, vector<2xindex>) -> vector<2xf16>
  %0 = tile.read %x_s[%i, %k] ldmatrix : memref<16x32xf16, #tile.swizzle<unit 8, chunks 4>, "shared">(index, vector<2xindex>) -> vector<2xf16>
  // CHECK-NEXT: tile.read %x_s[%k, %i] ldmatrix trans : memref<16x32xf16, #tile.swizzle<unit 8, chunks 4>, "shared">(vector<2xindex>, index) -> vector<2xf16>
  %1 = tile.read %x_s[%k, %i] ldmatrix trans : memref<16x32xf16, #tile.swizzle<unit 8, chunks 4>, "shared">(vector<2xindex>, index) -> vector<2xf16>
}

// CHECK-LABEL: func.func @matrix
func.func @matrix(%c: vector<2x2x2xf32>, %a: vector<2x2x2xf16>, %b: vector<2x2x2xbf16>, %t: vector<4xf32>, %u: vector<2xf32>) {
  // CHECK: tile.mma m16n8k16 %{{.*}}, %{{.*}}, %{{.*}} : vector<2x2x2xf32>, vector<2x2x2xf16>, vector<2x2x2xf16>
  %0 = tile.mma m16n8k16 %c, %a, %a : vector<2x2x2xf32>, vector<2x2x2xf16>, vector<2x2x2xf16>
  // CHECK-NEXT: tile.mma m16n8k16 %{{.*}}, %{{.*}}, %{{.*}} : vector<2x2x2xf32>, vector<2x2x2xbf16>, vector<2x2x2xbf16>
  %1 = tile.mma m16n8k16 %c, %b, %b : vector<2x2x2xf32>, vector<2x2x2xbf16>, vector<2x2x2xbf16>
  // CHECK-NEXT: tile.mma m16n8k8 %{{.*}}, %{{.*}}, %{{.*}} : vector<4xf32>, vector<4xf32>, vector<2xf32>
  %2 = tile.mma m16n8k8 %t, %t, %u : vector<4xf32>, vector<4xf32>, vector<2xf32>
  func.return
}
