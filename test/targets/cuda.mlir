// RUN: uop-opt %s -t cuda | filecheck %s

// Headers and device functions come first, those that are used.
// CHECK:      #include <cuda_bf16.h>
// CHECK-NEXT: #include <cuda_fp16.h>
// CHECK:      void async_commit()
// CHECK:      void async_copy(void* to, const void* from)
// CHECK:      void async_copy_or_zero(void* to, const void* from, bool keep)
// CHECK:      void async_wait()
// CHECK:      T floor_div(T x, T y)
// CHECK:      uint2 ldmatrix_x2_trans(const void* from)
// CHECK:      uint4 ldmatrix_x4(const void* from)
// CHECK:      float4 ldmatrix_x4_f32(const void* from)
// CHECK:      float max_nan(float x, float y)
// CHECK:      float4 mma_m16n8k16_f16(float4 c, uint4 a, uint2 b)
// CHECK:      unsigned pack_f16(float x, float y)
// CHECK:      float shuffle_xor_f32(float x)
// CHECK-NOT:  floor_mod

// CHECK:      // everything: grid 4 x 2 x 1, block 64, 68096 bytes shared
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(64, 2) everything(
// CHECK-NEXT:     float* __restrict__ out,
// CHECK-NEXT:     const float* __restrict__ x,
// CHECK-NEXT:     const __half* __restrict__ h) {
gpu_kernel.kernel @everything(%out: memref<256xf32>, %x: memref<1024xf32>, %h: memref<1024xf16>) outputs 1 grid [4, 2, 1] block 64 arch "sm_90" index_bits 32 min_blocks 2 {
  // CHECK-NEXT: const int t = threadIdx.x;
  // CHECK-NEXT: __builtin_assume(threadIdx.x < 64);
  %t = gpu_kernel.thread_id
  // CHECK-NEXT: const int l = threadIdx.x % 32;
  %l = gpu_kernel.lane_id
  // CHECK-NEXT: const int b = blockIdx.y;
  %b = gpu_kernel.block_id y
  // CHECK-NEXT: __shared__ __align__(16) float s[128];
  %s = gpu_kernel.alloc : memref<128xf32, "shared">
  // CHECK-NEXT: extern __shared__ __align__(16) int large[];
  %large = gpu_kernel.alloc dynamic : memref<16384xi32, "shared">
  // CHECK-NEXT: __shared__ __align__(16) __half sh[1024];
  %sh = gpu_kernel.alloc : memref<1024xf16, "shared">
  // CHECK-NEXT: __align__(16) float r[2][4];
  %r = gpu_kernel.alloc : memref<2x4xf32, "register">
  %c0 = uop.const 0 : index
  %c16 = uop.const 16 : index
  // CHECK-NEXT: for (int e = t; e < 128; e += 64) {
  gpu_kernel.for %e = %t to 128 step 64 {
    // CHECK-NEXT: async_copy<4>(&s[e], &x[e]);
    gpu_kernel.async_copy %x[%e] to %s[%e] width 1 : memref<1024xf32> to memref<128xf32, "shared">
  }
  // CHECK:      async_commit();
  gpu_kernel.async_commit
  // CHECK-NEXT: async_wait<0>();
  gpu_kernel.async_wait 0
  // CHECK-NEXT: __syncthreads();
  gpu_kernel.barrier
  // CHECK-NEXT: const bool ok = t < 16;
  %ok = uop.lt %t, %c16 : index
  // CHECK-NEXT: async_copy<16, 1024, -32>(&sh[t], &h[t]);
  gpu_kernel.async_copy %h[%t] offset -16 to %sh[%t] offset 512 width 8 : memref<1024xf16> to memref<1024xf16, "shared">
  // CHECK-NEXT: async_copy_or_zero<16>(&sh[t], &h[t], ok);
  gpu_kernel.async_copy %h[%t] to %sh[%t] width 8 mask %ok : memref<1024xf16> to memref<1024xf16, "shared">
  // CHECK-NEXT: #pragma unroll
  // CHECK-NEXT: for (int i = 0; i < 2; ++i) {
  gpu_kernel.for %i = %c0 to 2 step 1 unroll {
    // CHECK-NEXT: const float4 v = *(const float4*)&s[i];
    %v = gpu_kernel.load %s[%i] : memref<128xf32, "shared"> -> vector<4xf32>
    // CHECK-NEXT: *(float4*)&r[i][0] = v;
    gpu_kernel.store %v, %r[%i, %c0] : vector<4xf32> -> memref<2x4xf32, "register">
  }
  // The second of one name is told apart.
  // CHECK:      #pragma unroll 4
  // CHECK-NEXT: for (int i_1 = 0; i_1 < 8; ++i_1) {
  gpu_kernel.for %i = %c0 to 8 step 1 unroll 4 {
  }
  // CHECK:      for (int i_2 = 0; i_2 < t; ++i_2) {
  gpu_kernel.for %i = %c0 to %t step 1 {
  }
  // CHECK:      if (ok) {
  // CHECK-NEXT:   __syncwarp();
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   __syncthreads();
  // CHECK-NEXT: }
  gpu_kernel.if %ok {
    gpu_kernel.warp_barrier
  } else {
    gpu_kernel.barrier
  }
  // CHECK-NEXT: const float q = ok ? x[t] : 0.0f;
  %q = gpu_kernel.load %x[%t] mask %ok : memref<1024xf32> -> f32
  // CHECK-NEXT: const uint4 wide = ok ? *(const uint4*)&h[t] : make_uint4(0, 0, 0, 0);
  %wide = gpu_kernel.load %h[%t] mask %ok : memref<1024xf16> -> vector<8xf16>
  // CHECK-NEXT: const float q2 = shuffle_xor_f32<16>(q);
  %q2 = gpu_kernel.shuffle xor %q, %c16 : f32
  // CHECK-NEXT: const float q3 = __shfl_sync(0xffffffffu, q, l);
  %q3 = gpu_kernel.shuffle idx %q, %l : f32
  // CHECK-NEXT: if (ok) atomicAdd(&out[t], q2);
  gpu_kernel.atomic add %q2, %out[%t] mask %ok : f32 -> memref<256xf32>
  // CHECK-NEXT: const uint4 a = ldmatrix_x4(&sh[t]);
  %a = gpu_kernel.ldmatrix %sh[%t] : memref<1024xf16, "shared"> -> vector<8xf16>
  // CHECK-NEXT: const float4 words = ldmatrix_x4_f32(&s[t]);
  %words = gpu_kernel.ldmatrix %s[%t] : memref<128xf32, "shared"> -> vector<4xf32>
  // CHECK-NEXT: const uint2 m = ldmatrix_x2_trans(&sh[t]);
  %m = gpu_kernel.ldmatrix %sh[%t] trans : memref<1024xf16, "shared"> -> vector<4xf16>
  // CHECK-NEXT: const uint2 n = ldmatrix_x2_trans<1024>(&sh[t]);
  %n = gpu_kernel.ldmatrix %sh[%t] offset 512 trans : memref<1024xf16, "shared"> -> vector<4xf16>
  // CHECK-NEXT: const unsigned packed = pack_f16(q, q);
  %packed = gpu_kernel.pack %q, %q : vector<2xf16>
  // CHECK-NEXT: const float4 c = *(const float4*)&r[0][0];
  %c = gpu_kernel.load %r[%c0, %c0] : memref<2x4xf32, "register"> -> vector<4xf32>
  // CHECK-NEXT: const float4 d = mma_m16n8k16_f16(c, a, m);
  %d = gpu_kernel.mma m16n8k16 %c, %a, %m : vector<4xf32>, vector<8xf16>, vector<4xf16>

  // What an op means is spelled by its type: floats keep NaN, integers wrap, 16-bit floats round once.
  // CHECK-NEXT: const float big = max_nan(q, (-2.0f));
  %minus2 = uop.const -2.0 : f32
  %big = uop.max %q, %minus2 : f32
  // CHECK-NEXT: const int ti = (int)t;
  %ti = uop.cast %t : index -> i32
  // CHECK-NEXT: const int wrap = (int)((unsigned int)ti + (unsigned int)ti);
  %wrap = uop.add %ti, %ti : i32
  // CHECK-NEXT: const int fd = floor_div<int>(ti, wrap);
  %fd = uop.floordiv %ti, %wrap : i32
  // CHECK-NEXT: const __nv_bfloat16 bf = __float2bfloat16_rn(big);
  %bf = uop.cast %big : f32 -> bf16
  // CHECK-NEXT: const __nv_bfloat16 be = __float2bfloat16_rn(expf(__bfloat162float(bf)));
  %be = uop.exp %bf : bf16
  // CHECK-NEXT: const __half hw = ok ? __ushort_as_half(0x7e00) : __ushort_as_half(0x8000);
  %hnan = uop.const 0x7e00 : f16
  %hzero = uop.const -0.0 : f16
  %hw = uop.where %ok, %hnan, %hzero : f16
  // CHECK-NEXT: if (ok) out[t] = __int_as_float(0xff800000);      // model.py:7
  %ninf = uop.const 0xff800000 : f32
  gpu_kernel.store %ninf, %out[%t] mask %ok : f32 -> memref<256xf32> loc("model.py":7:0)
}

// A name that C keeps for itself is changed; 64-bit indices are long long.
// CHECK:      void __launch_bounds__(32) large(
// CHECK-NEXT: signed char* __restrict__ int_1,
// CHECK-NEXT: const bool* __restrict__ x) {
// CHECK-NEXT: const long long v0 = threadIdx.x;
// CHECK-NEXT: __builtin_assume(threadIdx.x < 32);
// CHECK-NEXT: const long long v1 = v0 + 4294967296ll;
gpu_kernel.kernel @large(%int: memref<4294967296xi8>, %x: memref<16xi1>) outputs 1 grid [1, 1, 1] block 32 arch "sm_90" index_bits 64 {
  %0 = gpu_kernel.thread_id
  %1 = uop.const 4294967296 : index
  %2 = uop.add %0, %1 : index
}

// So is the name of a kernel, and one that would hide a function that the text calls.
// CHECK:      void __launch_bounds__(32) double_(float* __restrict__ expf_1) {
gpu_kernel.kernel @double(%expf: memref<32xf32>) outputs 1 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
}

// The program stands below as a comment.
// CHECK:      // program forward(x):
// CHECK-NEXT: //   t0 = reshape(x) to 1024
// CHECK-NEXT: //   t1 = everything(t0)
// CHECK-NEXT: //   return t1
func.func @forward(%x: tensor<4x256xf32>) -> tensor<256xf32> {
  %0 = uop.reshape %x : tensor<4x256xf32> -> tensor<1024xf32>
  %1 = uop.launch @everything(%0) : (tensor<1024xf32>) -> tensor<256xf32>
  func.return %1 : tensor<256xf32>
}
