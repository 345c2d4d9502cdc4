// RUN: uop-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{vector_bytes is one of 16, 32, 64}}
cpu_kernel.kernel @f(%out: memref<64xf32>) outputs 1 tasks 1 grain 1 vector_bytes 48 index_bits 32 {
}

// -----

// expected-error@+1 {{vector<16xf32> is no vector of at most 32 bytes}}
cpu_kernel.kernel @f(%out: memref<64xf32>) outputs 1 tasks 1 grain 1 vector_bytes 32 index_bits 32 {
  %zero = uop.const 0.0 : f32
  %v = cpu_kernel.splat %zero : f32 -> vector<16xf32>
}

// -----

cpu_kernel.kernel @f(%out: memref<64xf32>, %x: memref<64xf32>) outputs 1 tasks 1 grain 1 vector_bytes 64 index_bits 32 {
  %c0 = uop.const 0 : index
  // expected-error@+1 {{of 16 lanes, `count` is at least 1 and not all}}
  %v = cpu_kernel.load %x[%c0] count 16 : memref<64xf32> -> vector<16xf32>
}

// -----

cpu_kernel.kernel @f(%out: memref<64xf32>, %x: memref<64xf32>) outputs 1 tasks 1 grain 1 vector_bytes 64 index_bits 32 {
  %c0 = uop.const 0 : index
  %v = cpu_kernel.load %x[%c0] : memref<64xf32> -> vector<4xf32>
  // expected-error@+1 {{a shuffle of 4 lanes names 4 of the 8 that it has}}
  %s = cpu_kernel.shuffle %v, %v [0, 1, 2, 8] : vector<4xf32>
}

// -----

cpu_kernel.kernel @f(%out: memref<64xf32>, %x: memref<64xf16>) outputs 1 tasks 1 grain 1 vector_bytes 64 index_bits 32 {
  %c0 = uop.const 0 : index
  // expected-error@+1 {{f16 cannot be copied to a buffer of f32}}
  cpu_kernel.transpose %x[%c0] rows 4, %out[%c0] rows 4 lanes 4 : memref<64xf16> -> memref<64xf32>
}

// -----

cpu_kernel.kernel @f(%out: memref<64xf32>, %x: memref<64xf32>) outputs 1 tasks 1 grain 1 vector_bytes 64 index_bits 32 {
  %c0 = uop.const 0 : index
  // expected-error@+1 {{the side of a square is the power of two that a vector has, not 6}}
  cpu_kernel.transpose %x[%c0] rows 8, %out[%c0] rows 8 lanes 6 : memref<64xf32> -> memref<64xf32>
}

// -----

cpu_kernel.kernel @f(%out: memref<64xf32>) outputs 1 tasks 1 grain 1 vector_bytes 64 index_bits 32 {
  %c0 = uop.const 0 : index
  %zero = uop.const 0.0 : f32
  // expected-error@+1 {{a loop begins with, yields and gives values of the same types}}
  %r = cpu_kernel.for %i = %c0 to %c0 step 1 carry (%a = %zero : f32) {
    cpu_kernel.yield %i : index
  }
}

// -----

// expected-error@+1 {{4194304 bytes of arrays: a task has room for 1048576}}
cpu_kernel.kernel @f(%out: memref<64xf32>) outputs 1 tasks 1 grain 1 vector_bytes 64 index_bits 32 {
  %a = cpu_kernel.alloc : memref<1048576xf32, "local">
}
