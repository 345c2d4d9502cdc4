// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-factor-rows)' --split-input-file --verify-diagnostics | filecheck %s
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-factor-rows,uop-simplify,uop-partition)' --split-input-file | filecheck %s --check-prefix KERNELS
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-factor-rows{narrow=false})' --split-input-file | filecheck %s --check-prefix WIDE

// RMSNorm and a product: the scale of the row goes behind the product, and the gain of each k to the other operand. Then one
// kernel computes the sum of squares beside the product.
// CHECK-LABEL: func.func @rms_norm
// CHECK:         %[[SCALE:.*]] = uop.rsqrt
// CHECK:         %[[W:.*]] = uop.expand %{{.*}} : tensor<1x32x64xf32> -> tensor<8x32x64xf32>
// CHECK:         %[[GW:.*]] = uop.mul %[[W]], %{{.*}} : tensor<8x32x64xf32>
// CHECK:         %[[PRODUCT:.*]] = uop.mul %{{.*}}, %[[GW]] : tensor<8x32x64xf32>
// CHECK-NEXT:    %[[SUM:.*]] = uop.reduce_axis add %[[PRODUCT]] axes [2]
// CHECK:         %[[ROWS:.*]] = uop.shrink %{{.*}} offsets [0, 0, 0] : tensor<8x32x64xf32> -> tensor<8x32x1xf32>
// CHECK-NEXT:    uop.mul %[[SUM]], %[[ROWS]] : tensor<8x32x1xf32>
// KERNELS-LABEL: func.func @rms_norm
// KERNELS-NEXT:    uop.launch @rms_norm_0(%x, %g, %w)
// KERNELS-NEXT:    func.return
func.func @rms_norm(%x: tensor<8x64xf32>, %g: tensor<64xf32>, %w: tensor<32x64xf32>) -> tensor<8x32xf32> {
  %0 = uop.mul %x, %x : tensor<8x64xf32>
  %1 = uop.reduce_axis add %0 axes [1] : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %2 = uop.rsqrt %1 : tensor<8x1xf32>
  %3 = uop.expand %2 : tensor<8x1xf32> -> tensor<8x64xf32>
  %4 = uop.mul %x, %3 : tensor<8x64xf32>
  %5 = uop.reshape %g : tensor<64xf32> -> tensor<1x64xf32>
  %6 = uop.expand %5 : tensor<1x64xf32> -> tensor<8x64xf32>
  %7 = uop.mul %4, %6 : tensor<8x64xf32>
  %8 = uop.reshape %7 : tensor<8x64xf32> -> tensor<8x1x64xf32>
  %9 = uop.expand %8 : tensor<8x1x64xf32> -> tensor<8x32x64xf32>
  %10 = uop.reshape %w : tensor<32x64xf32> -> tensor<1x32x64xf32>
  %11 = uop.expand %10 : tensor<1x32x64xf32> -> tensor<8x32x64xf32>
  %12 = uop.mul %9, %11 : tensor<8x32x64xf32>
  %13 = uop.reduce_axis add %12 axes [2] : (tensor<8x32x64xf32>) -> tensor<8x32x1xf32>
  %14 = uop.reshape %13 : tensor<8x32x1xf32> -> tensor<8x32xf32>
  func.return %14 : tensor<8x32xf32>
}

// -----

// Rounded to f16: the gain times the other operand is rounded instead, and x is multiplied as it is.
// CHECK-LABEL: func.func @narrow
// CHECK:         %[[GW:.*]] = uop.mul %{{.*}}, %{{.*}} : tensor<8x32x64xf32>
// CHECK-NEXT:    %[[ROUNDED:.*]] = uop.cast %[[GW]] : tensor<8x32x64xf32> -> tensor<8x32x64xf16>
// CHECK-NEXT:    uop.cast %[[ROUNDED]] : tensor<8x32x64xf16> -> tensor<8x32x64xf32>
// KERNELS-LABEL: func.func @narrow
// KERNELS-NEXT:    uop.launch @narrow_0(%x, %g, %w)
// KERNELS-NEXT:    func.return
// WIDE-LABEL: func.func @narrow
// WIDE:         uop.cast %{{.*}} : tensor<8x64xf32> -> tensor<8x64xf16>
func.func @narrow(%x: tensor<8x64xf16>, %g: tensor<64xf16>, %w: tensor<32x64xf16>) -> tensor<8x32xf32> {
  %x32 = uop.cast %x : tensor<8x64xf16> -> tensor<8x64xf32>
  %0 = uop.mul %x32, %x32 : tensor<8x64xf32>
  %1 = uop.reduce_axis add %0 axes [1] : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %2 = uop.rsqrt %1 : tensor<8x1xf32>
  %3 = uop.expand %2 : tensor<8x1xf32> -> tensor<8x64xf32>
  %4 = uop.mul %x32, %3 : tensor<8x64xf32>
  %g32 = uop.cast %g : tensor<64xf16> -> tensor<64xf32>
  %5 = uop.reshape %g32 : tensor<64xf32> -> tensor<1x64xf32>
  %6 = uop.expand %5 : tensor<1x64xf32> -> tensor<8x64xf32>
  %7 = uop.mul %4, %6 : tensor<8x64xf32>
  %h = uop.cast %7 : tensor<8x64xf32> -> tensor<8x64xf16>
  %h32 = uop.cast %h : tensor<8x64xf16> -> tensor<8x64xf32>
  %8 = uop.reshape %h32 : tensor<8x64xf32> -> tensor<8x1x64xf32>
  %9 = uop.expand %8 : tensor<8x1x64xf32> -> tensor<8x32x64xf32>
  %w32 = uop.cast %w : tensor<32x64xf16> -> tensor<32x64xf32>
  %10 = uop.reshape %w32 : tensor<32x64xf32> -> tensor<1x32x64xf32>
  %11 = uop.expand %10 : tensor<1x32x64xf32> -> tensor<8x32x64xf32>
  %12 = uop.mul %9, %11 : tensor<8x32x64xf32>
  %13 = uop.reduce_axis add %12 axes [2] : (tensor<8x32x64xf32>) -> tensor<8x32x1xf32>
  %14 = uop.reshape %13 : tensor<8x32x1xf32> -> tensor<8x32xf32>
  func.return %14 : tensor<8x32xf32>
}

// -----

// The normalised row is a result, too: it is computed anyway, and nothing changes.
// CHECK-LABEL: func.func @returned
// CHECK-NOT:     uop.shrink
// CHECK:         func.return
func.func @returned(%x: tensor<8x64xf32>, %w: tensor<32x64xf32>) -> (tensor<8x32xf32>, tensor<8x64xf32>) {
  %0 = uop.mul %x, %x : tensor<8x64xf32>
  %1 = uop.reduce_axis add %0 axes [1] : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %2 = uop.rsqrt %1 : tensor<8x1xf32>
  %3 = uop.expand %2 : tensor<8x1xf32> -> tensor<8x64xf32>
  %4 = uop.mul %x, %3 : tensor<8x64xf32>
  %8 = uop.reshape %4 : tensor<8x64xf32> -> tensor<8x1x64xf32>
  %9 = uop.expand %8 : tensor<8x1x64xf32> -> tensor<8x32x64xf32>
  %10 = uop.reshape %w : tensor<32x64xf32> -> tensor<1x32x64xf32>
  %11 = uop.expand %10 : tensor<1x32x64xf32> -> tensor<8x32x64xf32>
  %12 = uop.mul %9, %11 : tensor<8x32x64xf32>
  %13 = uop.reduce_axis add %12 axes [2] : (tensor<8x32x64xf32>) -> tensor<8x32x1xf32>
  %14 = uop.reshape %13 : tensor<8x32x1xf32> -> tensor<8x32xf32>
  func.return %14, %4 : tensor<8x32xf32>, tensor<8x64xf32>
}

// -----

// So many rows and columns that tiles would read more for the statistics than a launch costs.
// CHECK-LABEL: func.func @large
// CHECK-NOT:     uop.shrink
// CHECK:         func.return
func.func @large(%x: tensor<4096x1024xf32>, %w: tensor<4096x1024xf32>) -> tensor<4096x4096xf32> {
  %0 = uop.mul %x, %x : tensor<4096x1024xf32>
  %1 = uop.reduce_axis add %0 axes [1] : (tensor<4096x1024xf32>) -> tensor<4096x1xf32>
  %2 = uop.rsqrt %1 : tensor<4096x1xf32>
  %3 = uop.expand %2 : tensor<4096x1xf32> -> tensor<4096x1024xf32>
  %4 = uop.mul %x, %3 : tensor<4096x1024xf32>
  %8 = uop.reshape %4 : tensor<4096x1024xf32> -> tensor<4096x1x1024xf32>
  %9 = uop.expand %8 : tensor<4096x1x1024xf32> -> tensor<4096x4096x1024xf32>
  %10 = uop.reshape %w : tensor<4096x1024xf32> -> tensor<1x4096x1024xf32>
  %11 = uop.expand %10 : tensor<1x4096x1024xf32> -> tensor<4096x4096x1024xf32>
  %12 = uop.mul %9, %11 : tensor<4096x4096x1024xf32>
  // expected-remark@+1 {{its rows are scaled before: to scale them behind it would take its tiles 536,870,912 operations more, a kernel of its own about as long as 134,217,728}}
  %13 = uop.reduce_axis add %12 axes [2] : (tensor<4096x4096x1024xf32>) -> tensor<4096x4096x1xf32>
  %14 = uop.reshape %13 : tensor<4096x4096x1xf32> -> tensor<4096x4096xf32>
  func.return %14 : tensor<4096x4096xf32>
}
