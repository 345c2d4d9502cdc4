// RUN: uop-opt %s -t c --split-input-file --verify-diagnostics

// expected-error@+1 {{kernel @early is not in cpu_kernel form}}
uop.kernel @early(%out: memref<4xf32>, %x: memref<4xf32>) {
  %i = uop.range i = 4
  %0 = uop.load %x[%i] : memref<4xf32>
  uop.store %0, %out[%i] : memref<4xf32>
}

// -----

cpu_kernel.kernel @f(%out: memref<4xf32>) outputs 1 tasks 1 grain 1 vector_bytes 64 index_bits 32 {
  // expected-error@+1 {{uop.range has no C text}}
  %i = uop.range i = 4
}

// -----

cpu_kernel.kernel @f(%out: memref<4xf32>, %x: memref<4xf32>) outputs 1 tasks 1 grain 1 vector_bytes 64 index_bits 32 {
}

func.func @forward(%x: tensor<5xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{kernel @f takes other buffers than it is launched on}}
  %r = uop.launch @f(%x) : (tensor<5xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

func.func @forward(%x: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{uop.neg does not stand in a program}}
  %r = uop.neg %x : tensor<5xf32>
  func.return %r : tensor<5xf32>
}
