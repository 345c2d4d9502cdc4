// RUN: UOP_ROUNDTRIP
// RUN: UOP_GENERIC_ROUNDTRIP
// GENERIC: "cpu_kernel.kernel"() <{
// GENERIC: "cpu_kernel.for"(%{{.*}}) <{step = 16 : i64, unroll = 4 : i64}>

// A sum of rows of 1000: vectors of 16, and 8 lanes of a last one.

// CHECK-LABEL: cpu_kernel.kernel @rows(%out: memref<64xf32>, %x: memref<64000xf32>) outputs 1 tasks 64 grain 8 vector_bytes 64 index_bits 32 {
cpu_kernel.kernel @rows(%out: memref<64xf32>, %x: memref<64000xf32>) outputs 1 tasks 64 grain 8 vector_bytes 64 index_bits 32 {
  // CHECK: %i = cpu_kernel.task_id
  %i = cpu_kernel.task_id
  %c0 = uop.const 0 : index
  %c1000 = uop.const 1000 : index
  %c992 = uop.const 992 : index
  %zero = uop.const 0.0 : f32
  // CHECK: %zeros = cpu_kernel.splat %zero : f32 -> vector<16xf32>
  %zeros = cpu_kernel.splat %zero : f32 -> vector<16xf32>
  %row = uop.mul %i, %c1000 : index
  // CHECK: %sum = cpu_kernel.for %j = %c0 to %c992 step 16 unroll 4 carry (%acc = %zeros : vector<16xf32>) {
  %sum = cpu_kernel.for %j = %c0 to %c992 step 16 unroll 4 carry (%acc = %zeros : vector<16xf32>) {
    %at = uop.add %row, %j : index
    // CHECK: %v = cpu_kernel.load %x[%at] : memref<64000xf32> -> vector<16xf32>
    %v = cpu_kernel.load %x[%at] : memref<64000xf32> -> vector<16xf32>
    %new = uop.add %acc, %v : vector<16xf32>
    // CHECK: cpu_kernel.yield %new : vector<16xf32>
    cpu_kernel.yield %new : vector<16xf32>
  }
  %end = uop.add %row, %c992 : index
  // CHECK: %tail = cpu_kernel.load %x[%end] count 8 : memref<64000xf32> -> vector<16xf32>
  %tail = cpu_kernel.load %x[%end] count 8 : memref<64000xf32> -> vector<16xf32>
  %all = uop.add %sum, %tail : vector<16xf32>
  // CHECK: %{{.*}} = cpu_kernel.shuffle %all, %all [8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7] : vector<16xf32>
  %8 = cpu_kernel.shuffle %all, %all [8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7] : vector<16xf32>
  %half = uop.add %all, %8 : vector<16xf32>
  // CHECK: %first = cpu_kernel.extract %half [0] : vector<16xf32> -> f32
  %first = cpu_kernel.extract %half [0] : vector<16xf32> -> f32
  %c32 = uop.const 32 : index
  %ok = uop.lt %i, %c32 : index
  // CHECK: cpu_kernel.if %ok {
  cpu_kernel.if %ok {
    // CHECK: cpu_kernel.store %first, %out[%i] mask %ok : f32 -> memref<64xf32>
    cpu_kernel.store %first, %out[%i] mask %ok : f32 -> memref<64xf32>
  } else {
    // CHECK: cpu_kernel.store %zero, %out[%i] : f32 -> memref<64xf32>
    cpu_kernel.store %zero, %out[%i] : f32 -> memref<64xf32>
  }
}

// CHECK-LABEL: cpu_kernel.kernel @gather(%out: memref<64xf32>, %x: memref<64xf32>) outputs 1 tasks 1 grain 1 vector_bytes 32 index_bits 32 {
cpu_kernel.kernel @gather(%out: memref<64xf32>, %x: memref<64xf32>) outputs 1 tasks 1 grain 1 vector_bytes 32 index_bits 32 {
  %c0 = uop.const 0 : index
  // CHECK: %copy = cpu_kernel.alloc : memref<64xf32, "local">
  %copy = cpu_kernel.alloc : memref<64xf32, "local">
  // CHECK: %lanes = cpu_kernel.lanes : vector<8xindex>
  %lanes = cpu_kernel.lanes : vector<8xindex>
  %c7 = uop.const 7 : index
  // CHECK: %sevens = cpu_kernel.splat %c7 : index -> vector<8xindex>
  %sevens = cpu_kernel.splat %c7 : index -> vector<8xindex>
  %places = uop.mul %lanes, %sevens : vector<8xindex>
  %c40 = uop.const 40 : index
  // CHECK: %forties = cpu_kernel.splat %c40 : index -> vector<8xindex>
  %forties = cpu_kernel.splat %c40 : index -> vector<8xindex>
  %ok = uop.lt %places, %forties : vector<8xindex>
  // CHECK: %v = cpu_kernel.load %x[%places] mask %ok : memref<64xf32> -> vector<8xf32> each lanewise
  %v = cpu_kernel.load %x[%places] mask %ok : memref<64xf32> -> vector<8xf32> each lanewise
  // CHECK: cpu_kernel.store %v, %out[%places] mask %ok : vector<8xf32> -> memref<64xf32> each lanewise
  cpu_kernel.store %v, %out[%places] mask %ok : vector<8xf32> -> memref<64xf32> each lanewise
  // CHECK: cpu_kernel.store %v, %copy[%c0] : vector<8xf32> -> memref<64xf32, "local">
  cpu_kernel.store %v, %copy[%c0] : vector<8xf32> -> memref<64xf32, "local">
  // CHECK: cpu_kernel.store %v, %out[%c0] stream : vector<8xf32> -> memref<64xf32>
  cpu_kernel.store %v, %out[%c0] stream : vector<8xf32> -> memref<64xf32>
  // CHECK: cpu_kernel.transpose %x[%c0] rows 8, %copy[%c7] rows 9 lanes 4 : memref<64xf32> -> memref<64xf32, "local">
  cpu_kernel.transpose %x[%c0] rows 8, %copy[%c7] rows 9 lanes 4 : memref<64xf32> -> memref<64xf32, "local">
}
