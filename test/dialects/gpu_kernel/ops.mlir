// RUN: UOP_ROUNDTRIP
// RUN: UOP_GENERIC_ROUNDTRIP

// CHECK: gpu_kernel.kernel @f(%out: memref<256xf32>, %x: memref<1024xf32>, %h: memref<1024xf16>) outputs 1 grid [4, 1, 1] block 64 arch "sm_90" index_bits 32 min_blocks 2 attributes {test.note} {
// GENERIC: "gpu_kernel.kernel"() <{sym_name = "f", outputs = 1 : i64, grid = array<i64: 4, 1, 1>, block = 64 : i64, arch = "sm_90", index_bits = 32 : i64, min_blocks = 2 : i64}> ({
gpu_kernel.kernel @f(%out: memref<256xf32>, %x: memref<1024xf32>, %h: memref<1024xf16>) outputs 1 grid [4, 1, 1] block 64 arch "sm_90" index_bits 32 min_blocks 2 attributes {test.note} {
  // CHECK-NEXT: %t = gpu_kernel.thread_id
  %t = gpu_kernel.thread_id
  // CHECK-NEXT: %l = gpu_kernel.lane_id
  %l = gpu_kernel.lane_id
  // CHECK-NEXT: %b = gpu_kernel.block_id y
  %b = gpu_kernel.block_id y
  // CHECK-NEXT: %s = gpu_kernel.alloc : memref<128xf32, "shared">
  %s = gpu_kernel.alloc : memref<128xf32, "shared">
  // CHECK-NEXT: %sh = gpu_kernel.alloc : memref<1024xf16, "shared">
  %sh = gpu_kernel.alloc : memref<1024xf16, "shared">
  // CHECK-NEXT: %r = gpu_kernel.alloc : memref<2x4xf32, "register">
  %r = gpu_kernel.alloc : memref<2x4xf32, "register">
  %c0 = uop.const 0 : index
  // CHECK: gpu_kernel.for %e = %t to 128 step 64 {
  gpu_kernel.for %e = %t to 128 step 64 {
    // CHECK-NEXT: gpu_kernel.async_copy %x[%e] to %s[%e] width 1 : memref<1024xf32> to memref<128xf32, "shared">
    gpu_kernel.async_copy %x[%e] to %s[%e] width 1 : memref<1024xf32> to memref<128xf32, "shared">
  }
  // CHECK: %{{.*}} = gpu_kernel.pin %t
  %pinned = gpu_kernel.pin %t
  // CHECK: gpu_kernel.async_commit
  gpu_kernel.async_commit
  // CHECK-NEXT: gpu_kernel.async_wait 0
  // GENERIC: "gpu_kernel.async_wait"() <{pending = 0 : i64}>
  gpu_kernel.async_wait 0
  // CHECK-NEXT: gpu_kernel.barrier
  gpu_kernel.barrier
  %ok = uop.lt %t, %c0 : index
  // CHECK: gpu_kernel.async_copy %h[%t] offset -16 to %sh[%t] offset 512 width 8 : memref<1024xf16> to memref<1024xf16, "shared">
  gpu_kernel.async_copy %h[%t] offset -16 to %sh[%t] offset 512 width 8 : memref<1024xf16> to memref<1024xf16, "shared">
  // CHECK-NEXT: gpu_kernel.async_copy %h[%t] to %sh[%t] width 8 mask %ok : memref<1024xf16> to memref<1024xf16, "shared">
  gpu_kernel.async_copy %h[%t] to %sh[%t] width 8 mask %ok : memref<1024xf16> to memref<1024xf16, "shared">
  // CHECK-NEXT: gpu_kernel.async_copy %h[%t] to %sh[%t] width 8 count %c0 mask %ok : memref<1024xf16> to memref<1024xf16, "shared">
  gpu_kernel.async_copy %h[%t] to %sh[%t] width 8 count %c0 mask %ok : memref<1024xf16> to memref<1024xf16, "shared">
  // CHECK-NEXT: gpu_kernel.for %i = %c0 to 2 step 1 unroll {
  gpu_kernel.for %i = %c0 to 2 step 1 unroll {
    // CHECK-NEXT: %v = gpu_kernel.load %s[%i] : memref<128xf32, "shared"> -> vector<4xf32>
    %v = gpu_kernel.load %s[%i] : memref<128xf32, "shared"> -> vector<4xf32>
    // CHECK-NEXT: gpu_kernel.store %v, %r[%i, %c0] : vector<4xf32> -> memref<2x4xf32, "register">
    gpu_kernel.store %v, %r[%i, %c0] : vector<4xf32> -> memref<2x4xf32, "register">
  }
  // CHECK: gpu_kernel.for %i_1 = %c0 to 8 step 1 unroll 4 {
  gpu_kernel.for %i = %c0 to 8 step 1 unroll 4 {
  }
  // CHECK: gpu_kernel.for %i_2 = %c0 to %t step 1 {
  gpu_kernel.for %i = %c0 to %t step 1 {
  }
  // CHECK: gpu_kernel.if %ok {
  gpu_kernel.if %ok {
    // CHECK-NEXT: gpu_kernel.warp_barrier
    gpu_kernel.warp_barrier
  // CHECK-NEXT: } else {
  } else {
  }
  // CHECK: %q = gpu_kernel.load %x[%t] mask %ok : memref<1024xf32> -> f32
  %q = gpu_kernel.load %x[%t] mask %ok : memref<1024xf32> -> f32
  // CHECK-NEXT: gpu_kernel.shuffle xor %q, %c0 : f32
  %q2 = gpu_kernel.shuffle xor %q, %c0 : f32
  // CHECK-NEXT: gpu_kernel.shuffle idx %q, %l : f32
  %q3 = gpu_kernel.shuffle idx %q, %l : f32
  // CHECK-NEXT: gpu_kernel.atomic add %{{.*}}, %out[%t] mask %ok : f32 -> memref<256xf32>
  gpu_kernel.atomic add %q2, %out[%t] mask %ok : f32 -> memref<256xf32>
  // CHECK-NEXT: gpu_kernel.store %{{.*}}, %out[%t] mask %ok : f32 -> memref<256xf32>
  gpu_kernel.store %q3, %out[%t] mask %ok : f32 -> memref<256xf32>
  // CHECK-NEXT: %[[A:.*]] = gpu_kernel.ldmatrix %sh[%t] : memref<1024xf16, "shared"> -> vector<8xf16>
  %a = gpu_kernel.ldmatrix %sh[%t] : memref<1024xf16, "shared"> -> vector<8xf16>
  // CHECK-NEXT: gpu_kernel.ldmatrix %s[%t] offset 4 : memref<128xf32, "shared"> -> vector<4xf32>
  %words = gpu_kernel.ldmatrix %s[%t] offset 4 : memref<128xf32, "shared"> -> vector<4xf32>
  // CHECK-NEXT: %[[B:.*]] = gpu_kernel.ldmatrix %sh[%t] trans : memref<1024xf16, "shared"> -> vector<4xf16>
  %m = gpu_kernel.ldmatrix %sh[%t] trans : memref<1024xf16, "shared"> -> vector<4xf16>
  // CHECK-NEXT: %{{.*}} = gpu_kernel.ldmatrix %sh[%t] offset 512 trans : memref<1024xf16, "shared"> -> vector<4xf16>
  %n = gpu_kernel.ldmatrix %sh[%t] offset 512 trans : memref<1024xf16, "shared"> -> vector<4xf16>
  // CHECK-NEXT: %{{.*}} = gpu_kernel.pack %q, %q : vector<2xbf16>
  %packed = gpu_kernel.pack %q, %q : vector<2xbf16>
  %c = gpu_kernel.load %r[%c0, %c0] : memref<2x4xf32, "register"> -> vector<4xf32>
  // CHECK: gpu_kernel.mma m16n8k16 %{{.*}}, %[[A]], %[[B]] : vector<4xf32>, vector<8xf16>, vector<4xf16>
  %d = gpu_kernel.mma m16n8k16 %c, %a, %m : vector<4xf32>, vector<8xf16>, vector<4xf16>
}
