// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-drop-masks,tile-vectorize,convert-tile-to-gpu-kernel)' --split-input-file | filecheck %s

// A thread holds 2 of 5 steps in shared memory: what is read is put there, what is computed from it takes its slots, and
// what is written is taken from there, each 16 bytes at once. The weights are read where they are used.
// CHECK-LABEL: gpu_kernel.kernel @softmax
// CHECK:         %x_r = gpu_kernel.alloc : memref<3x4xf32, "register">
// CHECK:         %x_s = gpu_kernel.alloc : memref<512xf32, "shared">
// CHECK-NOT:     alloc : memref<512xf32, "shared">
// CHECK:         gpu_kernel.for %{{.*}} = %{{.*}} to 5 step 1 unroll {
// CHECK:           gpu_kernel.load %x[{{.*}} -> vector<4xf32>
// CHECK:           gpu_kernel.store {{.*}}, %x_s[
// CHECK:         gpu_kernel.for %{{.*}} = %{{.*}} to 3 step 1 unroll {
// CHECK:           gpu_kernel.load %x[{{.*}} -> vector<4xf32>
// CHECK:           gpu_kernel.store {{.*}}, %x_r[
// CHECK:         gpu_kernel.barrier
// CHECK:         %exp_r = gpu_kernel.alloc : memref<3x4xf32, "register">
// CHECK:         gpu_kernel.for %{{.*}} = %{{.*}} to 5 step 1 unroll {
// CHECK:           gpu_kernel.load %x_s[
// CHECK:           uop.exp
// CHECK:           gpu_kernel.store {{.*}}, %x_s[
// CHECK:         gpu_kernel.barrier
// CHECK:         gpu_kernel.for %{{.*}} = %{{.*}} to 5 step 1 unroll {
// CHECK:           gpu_kernel.load %x_s[
// CHECK:           gpu_kernel.load %w[
// CHECK:           gpu_kernel.store {{.*}}, %out[
uop.kernel @softmax(%out: memref<16x1280xf32>, %x: memref<16x1280xf32>, %w: memref<1280xf32>)
    schedule #tile.schedule<i = 16 block, j = 5 register * 64 thread * 4 register, slots = j 2> {
  loop.for %i (i = 16 parallel) {
    %0 = loop.reduce %j (j = 1280) max : f32 {
      %1 = uop.load %x[%i, %j] : memref<16x1280xf32>
      loop.yield %1 : f32
    }
    %2 = loop.reduce %j (j = 1280) add : f32 {
      %3 = uop.load %x[%i, %j] : memref<16x1280xf32>
      %4 = uop.sub %3, %0 : f32
      %5 = uop.exp %4 : f32
      loop.yield %5 : f32
    }
    loop.for %j (j = 1280 parallel) {
      %6 = uop.load %x[%i, %j] : memref<16x1280xf32>
      %7 = uop.sub %6, %0 : f32
      %8 = uop.exp %7 : f32
      %9 = uop.div %8, %2 : f32
      %10 = uop.load %w[%j] : memref<1280xf32>
      %11 = uop.mul %9, %10 : f32
      uop.store %11, %out[%i, %j] : memref<16x1280xf32>
    }
  }
}

// -----

// More than a kernel declares: the launch asks for it.
// CHECK-LABEL: gpu_kernel.kernel @large
// CHECK:         gpu_kernel.alloc dynamic : memref<16384xf32, "shared">
uop.kernel @large(%out: memref<16x65536xf32>, %x: memref<16x65536xf32>)
    schedule #tile.schedule<i = 16 block, j = 32 register * 512 thread * 4 register, slots = j 8> {
  loop.for %i (i = 16 parallel) {
    %0 = loop.reduce %j (j = 65536) max : f32 {
      %1 = uop.load %x[%i, %j] : memref<16x65536xf32>
      loop.yield %1 : f32
    }
    loop.for %j (j = 65536 parallel) {
      %2 = uop.load %x[%i, %j] : memref<16x65536xf32>
      %3 = uop.sub %2, %0 : f32
      uop.store %3, %out[%i, %j] : memref<16x65536xf32>
    }
  }
}
