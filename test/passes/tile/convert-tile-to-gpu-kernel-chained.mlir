// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-drop-masks,tile-stage,tile-mma,uop-simplify,convert-tile-to-gpu-kernel)' | filecheck %s

// Two products in a chain. The first keys and values are on their way before the queries have arrived, of which each warp
// copies its own; warps leave the steps in which their rows see no key, and only where some see none is anything masked.
// Results go out through the slab of the queries, which nobody reads any more.
// CHECK-LABEL: gpu_kernel.kernel @causal
// CHECK:         gpu_kernel.async_copy %q
// CHECK-NEXT:    gpu_kernel.async_commit
// CHECK:         gpu_kernel.async_copy %key
// CHECK:         gpu_kernel.async_copy %v
// CHECK:         gpu_kernel.async_commit
// CHECK-NEXT:    gpu_kernel.async_wait 1
// CHECK-NEXT:    gpu_kernel.warp_barrier
// CHECK:         gpu_kernel.ldmatrix %q_s[
// CHECK:         gpu_kernel.for %k =
// CHECK-NEXT:      gpu_kernel.async_wait 0
// CHECK-NEXT:      gpu_kernel.barrier
// CHECK:           %[[MASKED:.*]] = uop.not %{{.*}} : i1
// CHECK-NEXT:      gpu_kernel.if %{{.*}} {
// CHECK:             %[[K:.*]] = gpu_kernel.ldmatrix %key_s[
// CHECK:             gpu_kernel.mma m16n8k16
// CHECK:             gpu_kernel.if %[[MASKED]] {
// CHECK:               uop.where
// CHECK-NEXT:          gpu_kernel.store
// CHECK:             %max_r = gpu_kernel.alloc
// CHECK-NOT:         uop.lt
// CHECK:             gpu_kernel.shuffle xor
// CHECK:             gpu_kernel.pack
// CHECK:             gpu_kernel.ldmatrix %v_s[{{.*}}trans
// CHECK:             gpu_kernel.mma m16n8k16
// CHECK:         uop.div
// CHECK-NOT:     gpu_kernel.barrier
// CHECK:         gpu_kernel.store %{{.*}}, %q_s[
// CHECK:         gpu_kernel.warp_barrier
// CHECK:         gpu_kernel.load %q_s[
uop.kernel @causal(%out: memref<64x16xf16>, %q: memref<64x16xf16>, %key: memref<64x16xf16>, %v: memref<64x16xf16>)
    schedule #tile.schedule<i = 4 warp * 16 mma, l = 2 register * 8 mma, k = 4 loop * 16 mma, k1 = 16 mma,
                            stage = [%q async swizzle 8, %key buffers 2 async swizzle 8, %v buffers 2 async swizzle 8]> {
  %one = uop.const 1.0 : f32
  %next = uop.const 1 : index
  %nothing = uop.const 0xff800000 : f32
  loop.for %i (i = 64 parallel) {
    %end = uop.add %i, %next : index
    loop.for %l (l = 16 parallel) {
      %max, %sum, %acc = loop.reduce %k (k = 64) to %end online_attention : f32, f32, f32 {
        %0 = loop.reduce %k1 (k1 = 16) add : f32 {
          %1 = uop.load %q[%i, %k1] : memref<64x16xf16>
          %2 = uop.cast %1 : f16 -> f32
          %3 = uop.load %key[%k, %k1] : memref<64x16xf16>
          %4 = uop.cast %3 : f16 -> f32
          %5 = uop.mul %2, %4 : f32
          loop.yield %5 : f32
        }
        %6 = uop.le %k, %i : index
        %7 = uop.where %6, %0, %nothing : f32
        %8 = uop.load %v[%k, %l] : memref<64x16xf16>
        %9 = uop.cast %8 : f16 -> f32
        loop.yield %7, %one, %9 : f32, f32, f32
      }
      %10 = uop.div %acc, %sum : f32
      %11 = uop.cast %10 : f32 -> f16
      uop.store %11, %out[%i, %l] : memref<64x16xf16>
    }
  }
}
