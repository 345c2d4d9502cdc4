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

// Another divisor: a product and a shift, of 64 bits where the product needs them.
// CHECK-LABEL: gpu_kernel.kernel @products
// CHECK:         %[[P:.*]] = uop.mul %tid, %{{.*}} : index
// CHECK:         %[[Q:.*]] = uop.shr %[[P]], %{{.*}} : index
// CHECK:         gpu_kernel.load %x[%[[Q]]]
// CHECK:         %[[WIDE:.*]] = uop.cast %bid : index -> i64
// CHECK:         %[[P64:.*]] = uop.mul %[[WIDE]], %{{.*}} : i64
// CHECK:         %[[S64:.*]] = uop.shr %[[P64]], %{{.*}} : i64
// CHECK:         %[[Q64:.*]] = uop.cast %[[S64]] : i64 -> index
// CHECK:         gpu_kernel.load %x[%[[Q64]]]
// CHECK-NOT:     div
gpu_kernel.kernel @products(%out : memref<64xf32>, %x : memref<200000xf32>) outputs 1 grid [1000000, 1, 1] block 64 arch "sm_90" index_bits 32 {
  %tid = gpu_kernel.thread_id
  %bid = gpu_kernel.block_id x
  %c7 = uop.const 7 : index
  %0 = uop.truncdiv %tid, %c7 : index
  %1 = gpu_kernel.load %x[%0] : memref<200000xf32> -> f32
  %2 = uop.truncdiv %bid, %c7 : index
  %3 = gpu_kernel.load %x[%2] : memref<200000xf32> -> f32
  %4 = uop.add %1, %3 : f32
  gpu_kernel.store %4, %out[%tid] : f32 -> memref<64xf32>
}

// -----

// tid % 14 · 9 + tid ÷ 14 is tid · 9 − tid ÷ 14 · 125: the remainder is not computed.
// CHECK-LABEL: gpu_kernel.kernel @sum
// CHECK:         %[[P:.*]] = uop.mul %tid, %{{.*}} : index
// CHECK:         %[[Q:.*]] = uop.shr %[[P]], %{{.*}} : index
// CHECK:         %[[A:.*]] = uop.mul %tid, %{{.*}} : index
// CHECK:         %[[N:.*]] = uop.const -125 : index
// CHECK:         %[[B:.*]] = uop.mul %[[Q]], %[[N]] : index
// CHECK:         %[[S:.*]] = uop.add %[[A]], %[[B]] : index
// CHECK:         gpu_kernel.load %x[%[[S]]]
gpu_kernel.kernel @sum(%out : memref<126xf32>, %x : memref<126xf32>) outputs 1 grid [1, 1, 1] block 126 arch "sm_90" index_bits 32 {
  %tid = gpu_kernel.thread_id
  %c14 = uop.const 14 : index
  %c9 = uop.const 9 : index
  %0 = uop.truncdiv %tid, %c14 : index
  %1 = uop.truncmod %tid, %c14 : index
  %2 = uop.mul %1, %c9 : index
  %3 = uop.add %2, %0 : index
  %4 = gpu_kernel.load %x[%3] : memref<126xf32> -> f32
  gpu_kernel.store %4, %out[%tid] : f32 -> memref<126xf32>
}

// -----

// Floor division of 3 − tid, which may be negative, is that of 63 − tid, and 10 less.
// CHECK-LABEL: gpu_kernel.kernel @floor
// CHECK:         %[[N:.*]] = uop.sub %{{.*}}, %tid : index
// CHECK:         %[[C:.*]] = uop.const 60 : index
// CHECK:         %[[M:.*]] = uop.add %[[N]], %[[C]] : index
// CHECK:         %[[P:.*]] = uop.mul %[[M]], %{{.*}} : index
// CHECK:         %[[Q:.*]] = uop.shr %[[P]], %{{.*}} : index
// CHECK-NOT:     uop.floor
gpu_kernel.kernel @floor(%out : memref<64xf32>, %x : memref<80xf32>) outputs 1 grid [1, 1, 1] block 64 arch "sm_90" index_bits 32 {
  %tid = gpu_kernel.thread_id
  %c3 = uop.const 3 : index
  %c6 = uop.const 6 : index
  %c10 = uop.const 10 : index
  %0 = uop.sub %c3, %tid : index
  %1 = uop.floordiv %0, %c6 : index
  %2 = uop.add %1, %c10 : index
  %3 = uop.floormod %0, %c6 : index
  %4 = uop.mul %3, %c10 : index
  %5 = uop.add %4, %2 : index
  %6 = gpu_kernel.load %x[%5] : memref<80xf32> -> f32
  gpu_kernel.store %6, %out[%tid] : f32 -> memref<64xf32>
}

// -----

// What goes into one sum with one factor is multiplied once.
// CHECK-LABEL: gpu_kernel.kernel @factored
// CHECK:         %[[Q:.*]] = uop.shr %{{.*}}, %{{.*}} : index
// CHECK:         %[[S:.*]] = uop.add %tid, %bid : index
// CHECK:         %[[P:.*]] = uop.mul %[[S]], %{{.*}} : index
// CHECK:         %[[N:.*]] = uop.mul %[[Q]], %{{.*}} : index
// CHECK:         %[[I:.*]] = uop.add %[[P]], %[[N]] : index
// CHECK:         gpu_kernel.load %x[%[[I]]]
gpu_kernel.kernel @factored(%out : memref<64xf32>, %x : memref<500xf32>) outputs 1 grid [8, 1, 1] block 64 arch "sm_90" index_bits 32 {
  %tid = gpu_kernel.thread_id
  %bid = gpu_kernel.block_id x
  %c7 = uop.const 7 : index
  %c33 = uop.const 33 : index
  %0 = uop.truncmod %tid, %c7 : index
  %1 = uop.mul %0, %c33 : index
  %2 = uop.mul %bid, %c33 : index
  %3 = uop.add %1, %2 : index
  %4 = gpu_kernel.load %x[%3] : memref<500xf32> -> f32
  gpu_kernel.store %4, %out[%tid] : f32 -> memref<64xf32>
}

// -----

// Nothing to do: a number that C's division leaves negative, integers of data.
// CHECK-LABEL: gpu_kernel.kernel @kept
// CHECK:         uop.truncmod %{{.*}}, %{{.*}} : index
// CHECK:         uop.truncdiv %{{.*}}, %{{.*}} : i32
gpu_kernel.kernel @kept(%out : memref<64xi32>, %x : memref<64xi32>) outputs 1 grid [1, 1, 1] block 64 arch "sm_90" index_bits 32 {
  %tid = gpu_kernel.thread_id
  %c8 = uop.const 8 : index
  %0 = uop.sub %tid, %c8 : index
  %1 = uop.truncmod %0, %c8 : index
  %2 = uop.add %1, %c8 : index
  %3 = gpu_kernel.load %x[%2] : memref<64xi32> -> i32
  %eight = uop.const 8 : i32
  %4 = uop.truncdiv %3, %eight : i32
  gpu_kernel.store %4, %out[%tid] : i32 -> memref<64xi32>
}
