// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-stage,tile-mma,uop-simplify,convert-tile-to-gpu-kernel)' --split-input-file | filecheck %s

// Around matrix instructions, what differs between the copies of a slab and between the matrices of a tile is an offset
// of an instruction: they have their registers in common. The steps that use different slots are written out, as are
// those that are left over.
// CHECK-LABEL: gpu_kernel.kernel @product
// CHECK:         %a_s = gpu_kernel.alloc : memref<4096xf16, "shared">
// CHECK:         %b_s = gpu_kernel.alloc : memref<4096xf16, "shared">
// CHECK:         gpu_kernel.async_copy %a[%[[A:.*]]] to %a_s[%[[A_S:.*]]] width 8 :
// CHECK-NEXT:    gpu_kernel.async_copy %a[%[[A]]] offset 5120 to %a_s[%[[A_S]]] offset 1024 width 8 :
// CHECK:         gpu_kernel.async_copy %b[%[[B:.*]]] to %b_s[%[[B_S:.*]]] width 8 :
// CHECK-NEXT:    gpu_kernel.async_copy %b[%[[B]]] offset 1024 to %b_s[%[[B_S]]] offset 1024 width 8 :
// CHECK:         %[[X:.*]] = gpu_kernel.pin
// CHECK:         gpu_kernel.for %k = %{{.*}} to 2 step 1 unroll 1 {
// CHECK:           gpu_kernel.async_copy %a[%[[AK:.*]]] offset 32 to %a_s[%[[A_S]]] offset 2048 width 8 :
// CHECK-NEXT:      gpu_kernel.async_copy %a[%[[AK]]] offset 5152 to %a_s[%[[A_S]]] offset 3072 width 8 :
// CHECK:           gpu_kernel.ldmatrix %a_s[%[[M:.*]]] :
// CHECK:           gpu_kernel.ldmatrix %a_s[%[[M]]] offset 512 :
// CHECK:           gpu_kernel.ldmatrix %b_s[%[[N:.*]]] trans :
// CHECK:           gpu_kernel.mma
// CHECK:           gpu_kernel.ldmatrix %b_s[%[[N]]] offset 1024 trans :
// CHECK:           gpu_kernel.async_copy %a[%[[AK]]] offset 64 to %a_s[%[[A_S]]] width 8 :
// CHECK:           gpu_kernel.ldmatrix %a_s[%[[M]]] offset 2048 :
// CHECK:           gpu_kernel.ldmatrix %b_s[%[[N]]] offset 3072 trans :
// CHECK-NOT:     async_copy
// CHECK:         gpu_kernel.ldmatrix %a_s[%[[M]]] :
uop.kernel @product(%out: memref<64x64xf32>, %a: memref<64x160xf16>, %b: memref<160x64xf16>) schedule #tile.schedule<i = 2 warp * 2 register * 16 mma, j = 2 warp * 4 register * 8 mma, k = 5 loop * 2 unroll * 16 mma, stage = [%a buffers 2 async swizzle 8, %b buffers 2 async swizzle 8]> {
  loop.for %i (i = 64 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = loop.reduce %k (k = 160) add : f32 {
        %1 = uop.load %a[%i, %k] : memref<64x160xf16>
        %2 = uop.cast %1 : f16 -> f32
        %3 = uop.load %b[%k, %j] : memref<160x64xf16>
        %4 = uop.cast %3 : f16 -> f32
        %5 = uop.mul %2, %4 : f32
        loop.yield %5 : f32
      }
      uop.store %0, %out[%i, %j] : memref<64x64xf32>
    }
  }
}

// -----

// What is staged in front of a loop that copies ahead comes with its first slabs, without a wait or a barrier of its own.
// CHECK-LABEL: gpu_kernel.kernel @bias
// CHECK:         gpu_kernel.async_copy %bias
// CHECK-NOT:     gpu_kernel.async_wait
// CHECK-NOT:     gpu_kernel.barrier
// CHECK:         gpu_kernel.async_copy %a
// CHECK:         gpu_kernel.async_copy %b[
// CHECK:         gpu_kernel.async_commit
// CHECK-NEXT:    gpu_kernel.async_wait 0
// CHECK-NEXT:    gpu_kernel.barrier
// CHECK:         gpu_kernel.load %bias_s
uop.kernel @bias(%out: memref<64x64xf32>, %a: memref<64x64xf16>, %b: memref<64x64xf16>, %bias: memref<64xf32>) schedule #tile.schedule<i = 2 warp * 2 register * 16 mma, j = 2 warp * 4 register * 8 mma, k = 2 loop * 2 unroll * 16 mma, stage = [%a buffers 2 async swizzle 8, %b buffers 2 async swizzle 8, %bias async]> {
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
      %6 = uop.load %bias[%j] : memref<64xf32>
      %7 = uop.add %0, %6 : f32
      uop.store %7, %out[%i, %j] : memref<64x64xf32>
    }
  }
}
