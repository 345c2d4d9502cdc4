// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-plan-buffers)' --split-input-file --verify-diagnostics | filecheck %s

// A chain needs two buffers at once. The third lies where the first was; the fourth outlives the program.
// expected-remark@+1 {{the 3 buffers between the kernels of @chain take 512 bytes, 768 without reuse (512 are needed at once)}}
func.func @chain(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = uop.launch @a(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = uop.launch @b(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = uop.launch @c(%1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = uop.launch @d(%2) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %3 : tensor<8x8xf32>
}
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    uop.launch @a(%x) arena [0] :
// CHECK-NEXT:    uop.launch @b(%0) arena [256] :
// CHECK-NEXT:    uop.launch @c(%1) arena [0] :
// CHECK-NEXT:    uop.launch @d(%2) : (tensor<8x8xf32>) -> tensor<8x8xf32>

// -----

// A view is the buffer that it shows: @a's result is needed until @d. Offsets are multiples of 256 bytes.
// expected-remark@+1 {{take 768 bytes, 768 without reuse}}
func.func @views(%x: tensor<2x5xf16>) -> tensor<10xf16> {
  %0 = uop.launch @a(%x) : (tensor<2x5xf16>) -> tensor<2x5xf16>
  %1 = uop.reshape %0 : tensor<2x5xf16> -> tensor<10xf16>
  %2 = uop.launch @b(%x) : (tensor<2x5xf16>) -> tensor<10xf16>
  %3 = uop.launch @c(%2) : (tensor<10xf16>) -> tensor<10xf16>
  %4 = uop.launch @d(%1, %3) : (tensor<10xf16>, tensor<10xf16>) -> tensor<10xf16>
  func.return %4 : tensor<10xf16>
}
// CHECK-LABEL: func.func @views
// CHECK:         uop.launch @a(%x) arena [0] :
// CHECK:         uop.launch @b(%x) arena [256] :
// CHECK:         uop.launch @c(%2) arena [512] :
// CHECK:         uop.launch @d(%1, %3) : (tensor<10xf16>, tensor<10xf16>) -> tensor<10xf16>

// -----

// What is returned, as it is or as a view, has memory of its own; so of two results only the other is planned. One
// that nobody reads needs memory while its kernel runs.
// expected-remark@+1 {{the 2 buffers}}
func.func @returned(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<8x8xf32>) {
  %0, %1 = uop.launch @a(%x) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  %2, %3 = uop.launch @b(%0, %1) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  %4 = uop.reshape %2 : tensor<64xf32> -> tensor<8x8xf32>
  func.return %0, %4 : tensor<64xf32>, tensor<8x8xf32>
}
// CHECK-LABEL: func.func @returned
// CHECK-NEXT:    uop.launch @a(%x) arena [own, 0] :
// CHECK-NEXT:    uop.launch @b(%0, %1) arena [own, 256] :

// -----

// A plan that is there stays: a person's, or this pass's.
func.func @planned(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = uop.launch @a(%x) arena [1024] : (tensor<64xf32>) -> tensor<64xf32>
  %1 = uop.launch @b(%0) : (tensor<64xf32>) -> tensor<64xf32>
  func.return %1 : tensor<64xf32>
}
// CHECK-LABEL: func.func @planned
// CHECK-NEXT:    uop.launch @a(%x) arena [1024] :
// CHECK-NEXT:    uop.launch @b(%0) : (tensor<64xf32>) -> tensor<64xf32>

// -----

// Nothing between kernels, nothing to plan; nor in a function of tensor ops.
func.func @alone(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = uop.launch @a(%x) : (tensor<64xf32>) -> tensor<64xf32>
  func.return %0 : tensor<64xf32>
}
func.func @tensors(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = uop.exp %x : tensor<64xf32>
  func.return %0 : tensor<64xf32>
}
// CHECK-LABEL: func.func @alone
// CHECK-NEXT:    uop.launch @a(%x) : (tensor<64xf32>) -> tensor<64xf32>
// CHECK-LABEL: func.func @tensors
// CHECK-NEXT:    uop.exp
