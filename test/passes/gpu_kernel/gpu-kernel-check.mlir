// RUN: uop-opt %s --pass-pipeline 'builtin.module(gpu-kernel-check)' --split-input-file --verify-diagnostics | filecheck %s

// Proved: 4 · tid + 16 is a multiple of 4, and so is what steps by 256 from there; rows of 36 elements keep it so.
// CHECK-LABEL: @aligned
gpu_kernel.kernel @aligned(%out : memref<8192xf32>, %x : memref<8192xf32>) outputs 1 grid [8, 1, 1] block 64 arch "sm_90" index_bits 32 {
  %block = gpu_kernel.block_id x
  %tid = gpu_kernel.thread_id
  %c4 = uop.const 4 : index
  %c16 = uop.const 16 : index
  %c36 = uop.const 36 : index
  %0 = uop.mul %tid, %c4 : index
  %1 = uop.add %0, %c16 : index
  %2 = uop.truncdiv %tid, %c16 : index
  %3 = uop.truncmod %0, %c16 : index
  %4 = uop.mul %2, %c36 : index
  %5 = uop.add %4, %3 : index
  %s = gpu_kernel.alloc : memref<144xf32, "shared">
  gpu_kernel.for %i = %1 to 8192 step 256 {
    gpu_kernel.async_copy %x[%i] to %s[%5] width 4 : memref<8192xf32> to memref<144xf32, "shared">
    %v = gpu_kernel.load %x[%i] : memref<8192xf32> -> vector<4xf32>
    gpu_kernel.store %v, %out[%i] : vector<4xf32> -> memref<8192xf32>
  }
  // One element, wherever it is.
  %6 = gpu_kernel.load %x[%tid] : memref<8192xf32> -> f32
  gpu_kernel.store %6, %out[%tid] : f32 -> memref<8192xf32>
}

// -----

// Two dimensions of registers: rows of 4 elements, read in pairs.
// CHECK-LABEL: @registers
gpu_kernel.kernel @registers(%out : memref<64xf32>) outputs 1 grid [1, 1, 1] block 1 arch "sm_90" index_bits 32 {
  %c0 = uop.const 0 : index
  %a = gpu_kernel.alloc : memref<2x4xf32, "register">
  gpu_kernel.for %i = %c0 to 2 step 1 unroll {
    gpu_kernel.for %j = %c0 to 4 step 2 unroll {
      %v = gpu_kernel.load %a[%i, %j] : memref<2x4xf32, "register"> -> vector<2xf32>
      gpu_kernel.store %v, %out[%j] : vector<2xf32> -> memref<64xf32>
    }
  }
}

// -----

gpu_kernel.kernel @misaligned_load(%out : memref<64xf32>, %x : memref<128xf32>) outputs 1 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %tid = gpu_kernel.thread_id
  %c2 = uop.const 2 : index
  %0 = uop.mul %tid, %c2 : index
  // expected-error@below {{reads 4 elements of %x at 2 * tid, which is not proved to be a multiple of 4}}
  %v = gpu_kernel.load %x[%0] : memref<128xf32> -> vector<4xf32>
}

// -----

// Rows of 33 elements: every other one begins at an odd place.
gpu_kernel.kernel @misaligned_rows(%out : memref<330xf16>) outputs 1 grid [10, 1, 1] block 16 arch "sm_90" index_bits 32 {
  %block = gpu_kernel.block_id x
  %tid = gpu_kernel.thread_id
  %c2 = uop.const 2 : index
  %c33 = uop.const 33 : index
  %0 = uop.mul %block, %c33 : index
  %1 = uop.mul %tid, %c2 : index
  %2 = uop.add %0, %1 : index
  %c0 = uop.const 0 : index
  %a = gpu_kernel.alloc : memref<2xf16, "register">
  %v = gpu_kernel.load %a[%c0] : memref<2xf16, "register"> -> vector<2xf16>
  // expected-error@below {{writes 2 elements of %out at 33 * block + 2 * tid, which is not proved to be a multiple of 2}}
  gpu_kernel.store %v, %out[%2] : vector<2xf16> -> memref<330xf16>
}

// -----

// The source is aligned, the target is not.
gpu_kernel.kernel @misaligned_copy(%x : memref<128xf32>) outputs 0 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %tid = gpu_kernel.thread_id
  %c4 = uop.const 4 : index
  %c1 = uop.const 1 : index
  %0 = uop.mul %tid, %c4 : index
  %1 = uop.add %0, %c1 : index
  %s = gpu_kernel.alloc : memref<132xf32, "shared">
  // expected-error@below {{writes 4 elements of %s at 4 * tid + 1, which is not proved to be a multiple of 4}}
  gpu_kernel.async_copy %x[%0] to %s[%1] width 4 : memref<128xf32> to memref<132xf32, "shared">
}

// -----

// ldmatrix: every row of 8 halves is 16 bytes from a multiple of 16.
gpu_kernel.kernel @misaligned_matrix(%x : memref<128xf16>) outputs 0 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %lane = gpu_kernel.lane_id
  %c4 = uop.const 4 : index
  %0 = uop.mul %lane, %c4 : index
  %s = gpu_kernel.alloc : memref<132xf16, "shared">
  // expected-error@below {{reads 8 elements of %s at 4 * lane, which is not proved to be a multiple of 8}}
  %v = gpu_kernel.ldmatrix %s[%0] : memref<132xf16, "shared"> -> vector<8xf16>
}

// -----

// An index is shifted by less than 32: C leaves other counts open.
gpu_kernel.kernel @shift(%out : memref<64xi32>, %x : memref<64xi64>) outputs 1 grid [1, 1, 1] block 32 arch "sm_90" index_bits 64 {
  %tid = gpu_kernel.thread_id
  %0 = gpu_kernel.load %x[%tid] : memref<64xi64> -> i64
  %count = uop.cast %0 : i64 -> index
  %c5 = uop.const 5 : index
  %1 = uop.shr %tid, %c5 : index
  // expected-error@below {{uop.shr shifts an index by a count that is not proved to be in [0, 32)}}
  %2 = uop.shr %tid, %count : index
  %3 = uop.add %1, %2 : index
  %4 = uop.cast %3 : index -> i32
  gpu_kernel.store %4, %out[%tid] : i32 -> memref<64xi32>
}
