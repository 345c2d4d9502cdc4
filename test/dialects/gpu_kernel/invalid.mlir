// RUN: uop-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{sm_42 is no known architecture: sm_80, sm_90, sm_100}}
gpu_kernel.kernel @arch() outputs 0 grid [1, 1, 1] block 32 arch "sm_42" index_bits 32 {
}

// -----

// expected-error@+1 {{a block of 2048 threads: sm_90 has at most 1024}}
gpu_kernel.kernel @threads() outputs 0 grid [1, 1, 1] block 2048 arch "sm_90" index_bits 32 {
}

// -----

// expected-error@+1 {{min_blocks 5: a multiprocessor of sm_90 holds at most 4 blocks of 512 threads}}
gpu_kernel.kernel @resident() outputs 0 grid [1, 1, 1] block 512 arch "sm_90" index_bits 32 min_blocks 5 {
}

// -----

// expected-error@+1 {{a grid of [1, 70000, 1] blocks is no launch of sm_90}}
gpu_kernel.kernel @grid() outputs 0 grid [1, 70000, 1] block 32 arch "sm_90" index_bits 32 {
}

// -----

// expected-error@+1 {{262144 bytes of shared arrays: a block of sm_80 has at most 166912}}
gpu_kernel.kernel @dynamic() outputs 0 grid [1, 1, 1] block 32 arch "sm_80" index_bits 32 {
  %s = gpu_kernel.alloc dynamic : memref<65536xf32, "shared">
}

// -----

// expected-error@+1 {{a kernel has one dynamic array}}
gpu_kernel.kernel @two() outputs 0 grid [1, 1, 1] block 32 arch "sm_80" index_bits 32 {
  %s = gpu_kernel.alloc dynamic : memref<64xf32, "shared">
  %s2 = gpu_kernel.alloc dynamic : memref<64xf32, "shared">
}

// -----

gpu_kernel.kernel @of_registers() outputs 0 grid [1, 1, 1] block 32 arch "sm_80" index_bits 32 {
  // expected-error@+1 {{only an array in shared memory is dynamic}}
  %s = gpu_kernel.alloc dynamic : memref<64xf32, "register">
}

// -----

// expected-error@+1 {{65536 bytes of shared arrays: a kernel declares at most 49152}}
gpu_kernel.kernel @shared() outputs 0 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %s = gpu_kernel.alloc : memref<16384xf32, "shared">
}

// -----

// expected-error@+1 {{a buffer of 2147483648 elements needs index_bits 64}}
gpu_kernel.kernel @large(%x: memref<2147483648xi8>) outputs 1 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
}

// -----

// expected-error@+1 {{a kernel takes flat buffers}}
gpu_kernel.kernel @flat(%x: memref<4x4xf32>) outputs 1 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
}

// -----

gpu_kernel.kernel @wide(%x: memref<64xf32>) outputs 1 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %t = gpu_kernel.thread_id
  // expected-error@+1 {{vector<8xf32> is not moved by one instruction}}
  %0 = gpu_kernel.load %x[%t] : memref<64xf32> -> vector<8xf32>
}

// -----

gpu_kernel.kernel @element(%x: memref<64xf32>) outputs 1 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %t = gpu_kernel.thread_id
  // expected-error@+1 {{a buffer of f32 does not hold f16}}
  %0 = gpu_kernel.load %x[%t] : memref<64xf32> -> f16
}

// -----

gpu_kernel.kernel @copy(%x: memref<64xf16>) outputs 1 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %t = gpu_kernel.thread_id
  %s = gpu_kernel.alloc : memref<64xf16, "shared">
  // expected-error@+1 {{an asynchronous copy moves 4, 8 or 16 bytes, not 2}}
  gpu_kernel.async_copy %x[%t] to %s[%t] width 1 : memref<64xf16> to memref<64xf16, "shared">
}

// -----

gpu_kernel.kernel @atomic(%x: memref<64xf32>) outputs 1 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %t = gpu_kernel.thread_id
  %0 = gpu_kernel.load %x[%t] : memref<64xf32> -> f32
  // expected-error@+1 {{the hardware has no atomic max of f32}}
  gpu_kernel.atomic max %0, %x[%t] : f32 -> memref<64xf32>
}

// -----

gpu_kernel.kernel @space() outputs 0 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  // expected-error@+1 {{an array is in "register" or "shared"}}
  %s = gpu_kernel.alloc : memref<64xf16>
}

// -----

gpu_kernel.kernel @shuffle(%x: memref<64xf32>) outputs 1 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %t = gpu_kernel.thread_id
  // expected-error@+1 {{expected one of xor, down, up, idx}}
  %0 = gpu_kernel.shuffle sideways %t, %t : index
}

// -----

gpu_kernel.kernel @ldmatrix(%x: memref<64xf32>) outputs 1 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %t = gpu_kernel.thread_id
  // expected-error@+1 {{ldmatrix reads a flat buffer in "shared"}}
  %0 = gpu_kernel.ldmatrix %x[%t] : memref<64xf32> -> vector<8xf32>
}

// -----

gpu_kernel.kernel @transposed() outputs 0 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %t = gpu_kernel.thread_id
  %s = gpu_kernel.alloc : memref<512xf32, "shared">
  // expected-error@+1 {{ldmatrix transposes elements of 16 bits}}
  %0 = gpu_kernel.ldmatrix %s[%t] trans : memref<512xf32, "shared"> -> vector<4xf32>
}

// -----

gpu_kernel.kernel @matrix_offset() outputs 0 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %t = gpu_kernel.thread_id
  %s = gpu_kernel.alloc : memref<512xf16, "shared">
  // expected-error@+1 {{an offset of 4 elements is no multiple of the 8 that are moved}}
  %0 = gpu_kernel.ldmatrix %s[%t] offset 4 : memref<512xf16, "shared"> -> vector<8xf16>
}

// -----

gpu_kernel.kernel @copy_offset(%x: memref<64xf32>) outputs 0 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %t = gpu_kernel.thread_id
  %s = gpu_kernel.alloc : memref<64xf32, "shared">
  // expected-error@+1 {{an offset of -6 elements is no multiple of the 4 that are moved}}
  gpu_kernel.async_copy %x[%t] to %s[%t] offset -6 width 4 : memref<64xf32> to memref<64xf32, "shared">
}

// -----

gpu_kernel.kernel @far_offset(%x: memref<64xf32>) outputs 0 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %t = gpu_kernel.thread_id
  %s = gpu_kernel.alloc : memref<64xf32, "shared">
  // expected-error@+1 {{an offset of 536870912 elements does not fit the 32 bits that an instruction adds}}
  gpu_kernel.async_copy %x[%t] offset 536870912 to %s[%t] width 4 : memref<64xf32> to memref<64xf32, "shared">
}

// -----

gpu_kernel.kernel @packed() outputs 0 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %x = uop.const 1.0 : f32
  // expected-error@+1 {{two f32 are packed as f16 or bf16, not vector<2xf32>}}
  %0 = gpu_kernel.pack %x, %x : vector<2xf32>
}

// -----

gpu_kernel.kernel @unknown() outputs 0 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  // expected-error@+1 {{memref<?xf16, "shared"> is no array of elements of uop}}
  %s = gpu_kernel.alloc : memref<?xf16, "shared">
}

// -----

gpu_kernel.kernel @no_end() outputs 0 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %t = gpu_kernel.thread_id
  // expected-error@+1 {{a loop ends at a number or at an index}}
  "gpu_kernel.for"(%t) <{step = 1 : i64}> ({
  ^step(%i: index):
  }) : (index) -> ()
}
