// RUN: uop-opt %s --pass-pipeline 'builtin.module(gpu-kernel-strength-reduce)' --split-input-file | filecheck %s

// A thread id is not negative.
// CHECK-LABEL: gpu_kernel.kernel @powers
// CHECK:         %[[FIVE:.*]] = uop.const 5 : index
// CHECK-NEXT:    %[[W:.*]] = uop.shr %tid, %[[FIVE]] : index
// CHECK:         %[[MASK:.*]] = uop.const 31 : index
// CHECK-NEXT:    %[[L:.*]] = uop.and %tid, %[[MASK]] : index
// CHECK-NEXT:    %[[P:.*]] = uop.add %[[W]], %[[L]] : index
gpu_kernel.kernel @powers(%out : memref<64xf32>, %x : memref<64xf32>) outputs 1 grid [1, 1, 1] block 64 arch "sm_90" index_bits 32 {
  %tid = gpu_kernel.thread_id
  %c32 = uop.const 32 : index
  %0 = uop.truncdiv %tid, %c32 : index
  %1 = uop.truncmod %tid, %c32 : index
  %2 = uop.add %0, %1 : index
  %3 = gpu_kernel.load %x[%2] : memref<64xf32> -> f32
  gpu_kernel.store %3, %out[%tid] : f32 -> memref<64xf32>
}

// -----

// Nothing to do: a divisor that is no power of two, a number that may be negative, integers of data.
// CHECK-LABEL: gpu_kernel.kernel @kept
// CHECK:         uop.truncdiv %tid, %{{.*}} : index
// CHECK:         uop.truncmod %{{.*}}, %{{.*}} : index
// CHECK:         uop.truncdiv %{{.*}}, %{{.*}} : i32
gpu_kernel.kernel @kept(%out : memref<64xi32>, %x : memref<64xi32>) outputs 1 grid [1, 1, 1] block 64 arch "sm_90" index_bits 32 {
  %tid = gpu_kernel.thread_id
  %c3 = uop.const 3 : index
  %c8 = uop.const 8 : index
  %0 = uop.truncdiv %tid, %c3 : index
  %1 = uop.sub %0, %c8 : index
  %2 = uop.truncmod %1, %c8 : index
  %3 = uop.add %2, %c8 : index
  %4 = gpu_kernel.load %x[%3] : memref<64xi32> -> i32
  %eight = uop.const 8 : i32
  %5 = uop.truncdiv %4, %eight : i32
  gpu_kernel.store %5, %out[%tid] : i32 -> memref<64xi32>
}
