// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-partition{one-pass=false machine=cpu})' --split-input-file --verify-diagnostics | filecheck %s

// Attention of heads of one tensor. Scores, softmax and the product with the values are three kernels. Splitting the heads is a
// view; swapping heads and rows is index arithmetic of the kernel that reads, and of the last kernel, whose result then only
// needs a view.
func.func @attention(%q: tensor<16x32xf32>, %k: tensor<16x32xf32>, %v: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = uop.reshape %q : tensor<16x32xf32> -> tensor<16x4x8xf32>
  %1 = uop.permute %0 order [1, 0, 2] : tensor<16x4x8xf32> -> tensor<4x16x8xf32>
  %2 = uop.reshape %1 : tensor<4x16x8xf32> -> tensor<4x16x1x8xf32>
  %3 = uop.expand %2 : tensor<4x16x1x8xf32> -> tensor<4x16x16x8xf32>
  %4 = uop.reshape %k : tensor<16x32xf32> -> tensor<16x4x8xf32>
  %5 = uop.permute %4 order [1, 0, 2] : tensor<16x4x8xf32> -> tensor<4x16x8xf32>
  %6 = uop.reshape %5 : tensor<4x16x8xf32> -> tensor<4x1x16x8xf32>
  %7 = uop.expand %6 : tensor<4x1x16x8xf32> -> tensor<4x16x16x8xf32>
  %8 = uop.mul %3, %7 : tensor<4x16x16x8xf32>
  // expected-remark@+1 {{its kernel ends at uop.mul, which writes 4096 bytes; further on, uop.reduce_axis of tensor<4x16x16x1xf32> feeds a max over other axes}}
  %9 = uop.reduce_axis add %8 axes [3] : (tensor<4x16x16x8xf32>) -> tensor<4x16x16x1xf32>
  %10 = uop.reshape %9 : tensor<4x16x16x1xf32> -> tensor<4x16x16xf32>
  %11 = uop.const 0.35 : f32
  %12 = uop.expand %11 : f32 -> tensor<4x16x16xf32>
  %13 = uop.mul %10, %12 : tensor<4x16x16xf32>
  // expected-remark@+1 {{its kernel ends at uop.div, which writes 4096 bytes; further on, uop.reduce_axis of tensor<4x16x1xf32> would be computed 8 times for each of its elements}}
  %14 = uop.reduce_axis max %13 axes [2] : (tensor<4x16x16xf32>) -> tensor<4x16x1xf32>
  %15 = uop.expand %14 : tensor<4x16x1xf32> -> tensor<4x16x16xf32>
  %16 = uop.sub %13, %15 : tensor<4x16x16xf32>
  %17 = uop.exp %16 : tensor<4x16x16xf32>
  %18 = uop.reduce_axis add %17 axes [2] : (tensor<4x16x16xf32>) -> tensor<4x16x1xf32>
  %19 = uop.expand %18 : tensor<4x16x1xf32> -> tensor<4x16x16xf32>
  %20 = uop.div %17, %19 : tensor<4x16x16xf32>
  %21 = uop.reshape %v : tensor<16x32xf32> -> tensor<16x4x8xf32>
  %22 = uop.permute %21 order [1, 2, 0] : tensor<16x4x8xf32> -> tensor<4x8x16xf32>
  %23 = uop.reshape %22 : tensor<4x8x16xf32> -> tensor<4x1x8x16xf32>
  %24 = uop.expand %23 : tensor<4x1x8x16xf32> -> tensor<4x16x8x16xf32>
  %25 = uop.reshape %20 : tensor<4x16x16xf32> -> tensor<4x16x1x16xf32>
  %26 = uop.expand %25 : tensor<4x16x1x16xf32> -> tensor<4x16x8x16xf32>
  %27 = uop.mul %26, %24 : tensor<4x16x8x16xf32>
  %28 = uop.reduce_axis add %27 axes [3] : (tensor<4x16x8x16xf32>) -> tensor<4x16x8x1xf32>
  %29 = uop.reshape %28 : tensor<4x16x8x1xf32> -> tensor<4x16x8xf32>
  %30 = uop.permute %29 order [1, 0, 2] : tensor<4x16x8xf32> -> tensor<16x4x8xf32>
  %31 = uop.reshape %30 : tensor<16x4x8xf32> -> tensor<16x32xf32>
  func.return %31 : tensor<16x32xf32>
}
// CHECK-LABEL: uop.kernel @attention_0(%q: tensor<16x4x8xf32>, %k: tensor<16x4x8xf32>) -> (tensor<4x16x16xf32>) {
// CHECK:         %[[SCALED:.*]] = uop.mul %{{.*}} : tensor<4x16x16xf32>
// CHECK-NEXT:    uop.yield %[[SCALED]]
// CHECK-LABEL: uop.kernel @attention_1(%x: tensor<4x16x16xf32>) -> (tensor<4x16x16xf32>) {
// CHECK:         uop.reduce_axis max
// CHECK:         uop.reduce_axis add
// CHECK-LABEL: uop.kernel @attention_2(%v: tensor<16x4x8xf32>, %x: tensor<4x16x16xf32>) -> (tensor<16x4x8xf32>) {
// CHECK-LABEL: func.func @attention
// CHECK-NEXT:    %[[Q:.*]] = uop.reshape %q : tensor<16x32xf32> -> tensor<16x4x8xf32>
// CHECK-NEXT:    %[[K:.*]] = uop.reshape %k : tensor<16x32xf32> -> tensor<16x4x8xf32>
// CHECK-NEXT:    %[[S:.*]] = uop.launch @attention_0(%[[Q]], %[[K]])
// CHECK-NEXT:    %[[P:.*]] = uop.launch @attention_1(%[[S]])
// CHECK-NEXT:    %[[V:.*]] = uop.reshape %v : tensor<16x32xf32> -> tensor<16x4x8xf32>
// CHECK-NEXT:    %[[O:.*]] = uop.launch @attention_2(%[[V]], %[[P]])
// CHECK-NEXT:    %[[R:.*]] = uop.reshape %[[O]] : tensor<16x4x8xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    func.return %[[R]]

