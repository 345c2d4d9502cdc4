// RUN: uop-opt %s --print-uop-tree --split-input-file --verify-diagnostics | filecheck %s --match-full-lines --strict-whitespace
// RUN: uop-opt %s -t uop-tree --split-input-file --verify-diagnostics | filecheck %s --match-full-lines --strict-whitespace

// Range form: shared nodes are written once; arguments stand in the line of the op that uses them.
//      CHECK:uop.kernel @softmax(%out: memref<64x1000xf32>, %x: memref<64x1000xf32>)
// CHECK-NEXT:[0] uop.store [1], %out{{\[\[5\], \[6\]\]}} : memref<64x1000xf32>
// CHECK-NEXT:├── [1] uop.div [2], [8] : f32
// CHECK-NEXT:│   ├── [2] uop.exp [3] : f32
// CHECK-NEXT:│   │   └── [3] uop.sub [4], [7] : f32
// CHECK-NEXT:│   │       ├── [4] uop.load %x{{\[\[5\], \[6\]\]}} : memref<64x1000xf32>
// CHECK-NEXT:│   │       │   ├── [5] uop.range i = 64
// CHECK-NEXT:│   │       │   └── [6] uop.range j = 1000
// CHECK-NEXT:│   │       └── [7] uop.reduce max [4] over [6] : f32
// CHECK-NEXT:│   │           ├── [4] → (same as above)
// CHECK-NEXT:│   │           └── [6] → (same as above)
// CHECK-NEXT:│   └── [8] uop.reduce add [2] over [6] : f32
// CHECK-NEXT:│       ├── [2] → (same as above)
// CHECK-NEXT:│       └── [6] → (same as above)
// CHECK-NEXT:├── [5] → (same as above)
// CHECK-NEXT:└── [6] → (same as above)
uop.kernel @softmax(%out: memref<64x1000xf32>, %x: memref<64x1000xf32>) {
  %i = uop.range i = 64
  %j = uop.range j = 1000
  %0 = uop.load %x[%i, %j] : memref<64x1000xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.exp %2 : f32
  %4 = uop.reduce add %3 over %j : f32
  %5 = uop.div %3, %4 : f32
  uop.store %5, %out[%i, %j] : memref<64x1000xf32>
}

// -----

// Tensor form, one of several results, an operand used twice, and a result that nothing uses.
//      CHECK:uop.kernel @best(%x: tensor<4x5xf32>, %i: tensor<4x5xi64>)
// CHECK-NEXT:[0] uop.yield [1] : tensor<4x1xi64>
// CHECK-NEXT:└── [1] uop.mul [2]#1, [2]#1 : tensor<4x1xi64>
// CHECK-NEXT:    └── [2] uop.reduce_axis argmax %x, %i axes [1] : (tensor<4x5xf32>, tensor<4x5xi64>) -> (tensor<4x1xf32>, tensor<4x1xi64>)
uop.kernel @best(%x: tensor<4x5xf32>, %i: tensor<4x5xi64>) -> (tensor<4x1xi64>) {
  %0, %1 = uop.reduce_axis argmax %x, %i axes [1] : (tensor<4x5xf32>, tensor<4x5xi64>) -> (tensor<4x1xf32>, tensor<4x1xi64>)
  %2 = uop.mul %1, %1 : tensor<4x1xi64>
  uop.yield %2 : tensor<4x1xi64>
}

// A program; the trees of a file follow each other.
//      CHECK:func.func @forward(%x: tensor<4xf32>)
// CHECK-NEXT:[0] torch.aten "relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:[1] func.return [2] : tensor<4xf32>
// CHECK-NEXT:└── [2] uop.launch @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = uop.launch @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = torch.aten "relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

uop.kernel @loops(%x: memref<4xf32>) {
  // expected-error@+1 {{loop.for holds ops of its own, which a tree does not show (print the range form)}}
  loop.for %i (i = 4 parallel) {
  }
}

// -----

// expected-error@+1 {{gpu_kernel.kernel has no tree (trees are of functions and of uop.kernel)}}
gpu_kernel.kernel @f() outputs 0 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
}
