// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-partition)' --split-input-file --verify-diagnostics | filecheck %s

// A matrix product, what goes in and what follows it are one kernel. Reshapes that add axes of extent 1 stay in it.
func.func @linear(%x: tensor<16x64xf32>, %bias: tensor<16xf32>, %w: tensor<64x16xf32>) -> tensor<16x16xf32> {
  %0 = uop.reshape %x : tensor<16x64xf32> -> tensor<16x1x64xf32>
  %1 = uop.expand %0 : tensor<16x1x64xf32> -> tensor<16x16x64xf32>
  %2 = uop.permute %w order [1, 0] : tensor<64x16xf32> -> tensor<16x64xf32>
  %3 = uop.reshape %2 : tensor<16x64xf32> -> tensor<1x16x64xf32>
  %4 = uop.expand %3 : tensor<1x16x64xf32> -> tensor<16x16x64xf32>
  %5 = uop.mul %1, %4 : tensor<16x16x64xf32>
  %6 = uop.reduce_axis add %5 axes [2] : (tensor<16x16x64xf32>) -> tensor<16x16x1xf32>
  %7 = uop.reshape %6 : tensor<16x16x1xf32> -> tensor<16x16xf32>
  %8 = uop.reshape %bias : tensor<16xf32> -> tensor<1x16xf32>
  %9 = uop.expand %8 : tensor<1x16xf32> -> tensor<16x16xf32>
  %10 = uop.add %7, %9 : tensor<16x16xf32>
  %dead = uop.exp %10 : tensor<16x16xf32>
  func.return %10 : tensor<16x16xf32>
}
// CHECK-LABEL: uop.kernel @linear_0(%x: tensor<16x64xf32>, %bias: tensor<16xf32>, %w: tensor<64x16xf32>) -> (tensor<16x16xf32>) {
// CHECK:         uop.reduce_axis
// CHECK:         %[[R:.*]] = uop.add
// CHECK-NEXT:    uop.yield %[[R]] : tensor<16x16xf32>
// CHECK-NEXT:  }
// CHECK-NEXT:  func.func @linear(%x: tensor<16x64xf32>, %bias: tensor<16xf32>, %w: tensor<64x16xf32>) -> tensor<16x16xf32> {
// CHECK-NEXT:    %0 = uop.launch @linear_0(%x, %bias, %w) : (tensor<16x64xf32>, tensor<16xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
// CHECK-NEXT:    func.return %0 : tensor<16x16xf32>

// -----

// A norm and the product of its rows: each tile of the product computes the norm of its rows again, which takes less than
// a kernel of its own.
func.func @norm_linear(%x: tensor<8x64xf32>, %w: tensor<32x64xf32>) -> tensor<8x32xf32> {
  %0 = uop.mul %x, %x : tensor<8x64xf32>
  // expected-remark@+1 {{in the kernel of a product of its rows: its tiles would compute 327,680 operations again, a kernel of its own takes about as long as 134,258,688; joined 1 launch, 11,264 bytes, 344,064 operations: 5.01 µs; cut at uop.mul, which writes 2048 bytes, 2 launches, 15,360 bytes, 17,984 operations: 10 µs}}
  %1 = uop.reduce_axis add %0 axes [1] : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %2 = uop.rsqrt %1 : tensor<8x1xf32>
  %3 = uop.expand %2 : tensor<8x1xf32> -> tensor<8x64xf32>
  // expected-remark@+1 {{uop.mul, which writes 2048 bytes in no kernel of its own: joined 1 launch, 11,264 bytes, 344,064 operations: 5.01 µs; cut 2 launches, 15,360 bytes, 17,984 operations: 10 µs}}
  %4 = uop.mul %x, %3 : tensor<8x64xf32>
  %5 = uop.reshape %4 : tensor<8x64xf32> -> tensor<8x1x64xf32>
  %6 = uop.expand %5 : tensor<8x1x64xf32> -> tensor<8x32x64xf32>
  %7 = uop.reshape %w : tensor<32x64xf32> -> tensor<1x32x64xf32>
  %8 = uop.expand %7 : tensor<1x32x64xf32> -> tensor<8x32x64xf32>
  %9 = uop.mul %6, %8 : tensor<8x32x64xf32>
  %10 = uop.reduce_axis add %9 axes [2] : (tensor<8x32x64xf32>) -> tensor<8x32x1xf32>
  %11 = uop.reshape %10 : tensor<8x32x1xf32> -> tensor<8x32xf32>
  func.return %11 : tensor<8x32xf32>
}
// CHECK-LABEL: uop.kernel @norm_linear_0(%x: tensor<8x64xf32>, %w: tensor<32x64xf32>) -> (tensor<8x32xf32>) {
// CHECK-LABEL: func.func @norm_linear
// CHECK-NEXT:    %0 = uop.launch @norm_linear_0(%x, %w)
// CHECK-NEXT:    func.return %0

// -----

// Of so many rows and columns, the tiles together would do so much that the norm is cut behind its rows.
func.func @wide_norm_linear(%x: tensor<4096x4096xf32>, %w: tensor<8192x4096xf32>) -> tensor<4096x8192xf32> {
  %0 = uop.mul %x, %x : tensor<4096x4096xf32>
  // expected-remark@+1 {{its kernel ends at uop.mul, which writes 67108864 bytes; further on, uop.reduce_axis of tensor<4096x1xf32> would be computed 8192 times for each of its elements; cut 2 launches, 469,762,048 bytes and 1.7e+10 again, 1.37e+11 operations: 5.18e+03 µs; joined 1 launch, 335,544,320 bytes and 1.7e+10 again, 1.5e+11 operations: 5.6e+03 µs}}
  %1 = uop.reduce_axis add %0 axes [1] : (tensor<4096x4096xf32>) -> tensor<4096x1xf32>
  %2 = uop.rsqrt %1 : tensor<4096x1xf32>
  %3 = uop.expand %2 : tensor<4096x1xf32> -> tensor<4096x4096xf32>
  %4 = uop.mul %x, %3 : tensor<4096x4096xf32>
  %5 = uop.reshape %4 : tensor<4096x4096xf32> -> tensor<4096x1x4096xf32>
  %6 = uop.expand %5 : tensor<4096x1x4096xf32> -> tensor<4096x8192x4096xf32>
  %7 = uop.reshape %w : tensor<8192x4096xf32> -> tensor<1x8192x4096xf32>
  %8 = uop.expand %7 : tensor<1x8192x4096xf32> -> tensor<4096x8192x4096xf32>
  %9 = uop.mul %6, %8 : tensor<4096x8192x4096xf32>
  %10 = uop.reduce_axis add %9 axes [2] : (tensor<4096x8192x4096xf32>) -> tensor<4096x8192x1xf32>
  %11 = uop.reshape %10 : tensor<4096x8192x1xf32> -> tensor<4096x8192xf32>
  func.return %11 : tensor<4096x8192xf32>
}
// CHECK-LABEL: uop.kernel @wide_norm_linear_0(
// CHECK-LABEL: uop.kernel @wide_norm_linear_1(
// CHECK-LABEL: func.func @wide_norm_linear
// CHECK-NEXT:    %0 = uop.launch @wide_norm_linear_0(%x)
// CHECK-NEXT:    %1 = uop.launch @wide_norm_linear_1(%w, %0)
// CHECK-NEXT:    func.return %1

// -----

// A kernel ends before elements are only made wider, or cut to TF32: the next one reads fewer bytes, and sees what its matrix
// instructions multiply.
func.func @layers(%x: tensor<4096x4096xf32>, %w: tensor<4096x4096xf16>) -> tensor<4096x4096xf32> {
  // expected-remark@+1 {{its kernel ends at uop.cast, which writes 33554432 bytes; further on, uop.reduce_axis of}}
  %0 = uop.reduce_axis add %x axes [1] : (tensor<4096x4096xf32>) -> tensor<4096x1xf32>
  %1 = uop.expand %0 : tensor<4096x1xf32> -> tensor<4096x4096xf32>
  %2 = uop.mul %x, %1 : tensor<4096x4096xf32>
  %3 = uop.cast %2 : tensor<4096x4096xf32> -> tensor<4096x4096xf16>
  %4 = uop.cast %3 : tensor<4096x4096xf16> -> tensor<4096x4096xf32>
  %5 = uop.to_tf32 %4 : tensor<4096x4096xf32>
  %6 = uop.reshape %5 : tensor<4096x4096xf32> -> tensor<4096x1x4096xf32>
  %7 = uop.expand %6 : tensor<4096x1x4096xf32> -> tensor<4096x4096x4096xf32>
  %8 = uop.cast %w : tensor<4096x4096xf16> -> tensor<4096x4096xf32>
  %9 = uop.reshape %8 : tensor<4096x4096xf32> -> tensor<1x4096x4096xf32>
  %10 = uop.expand %9 : tensor<1x4096x4096xf32> -> tensor<4096x4096x4096xf32>
  %11 = uop.mul %7, %10 : tensor<4096x4096x4096xf32>
  %12 = uop.reduce_axis add %11 axes [2] : (tensor<4096x4096x4096xf32>) -> tensor<4096x4096x1xf32>
  %13 = uop.reshape %12 : tensor<4096x4096x1xf32> -> tensor<4096x4096xf32>
  func.return %13 : tensor<4096x4096xf32>
}
// CHECK-LABEL: uop.kernel @layers_0(%x: tensor<4096x4096xf32>) -> (tensor<4096x4096xf16>) {
// CHECK-NOT:     to_tf32
// CHECK-LABEL: uop.kernel @layers_1(
// CHECK:         uop.cast %{{.*}} : tensor<4096x4096xf16> -> tensor<4096x4096xf32>
// CHECK:         uop.to_tf32

// -----

// Attention of heads of one tensor is one kernel: uop-fuse-reductions makes one pass of its four reductions. Splitting the
// heads is a view; swapping heads and rows is index arithmetic.
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
  %9 = uop.reduce_axis add %8 axes [3] : (tensor<4x16x16x8xf32>) -> tensor<4x16x16x1xf32>
  %10 = uop.reshape %9 : tensor<4x16x16x1xf32> -> tensor<4x16x16xf32>
  %11 = uop.const 0.35 : f32
  %12 = uop.expand %11 : f32 -> tensor<4x16x16xf32>
  %13 = uop.mul %10, %12 : tensor<4x16x16xf32>
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
// CHECK-LABEL: uop.kernel @attention_0(%q: tensor<16x4x8xf32>, %k: tensor<16x4x8xf32>, %v: tensor<16x4x8xf32>) -> (tensor<16x4x8xf32>) {
// CHECK:         uop.reduce_axis add
// CHECK:         uop.reduce_axis max
// CHECK:         uop.reduce_axis add
// CHECK:         uop.reduce_axis add
// CHECK-LABEL: func.func @attention
// CHECK-NEXT:    %[[Q:.*]] = uop.reshape %q : tensor<16x32xf32> -> tensor<16x4x8xf32>
// CHECK-NEXT:    %[[K:.*]] = uop.reshape %k : tensor<16x32xf32> -> tensor<16x4x8xf32>
// CHECK-NEXT:    %[[V:.*]] = uop.reshape %v : tensor<16x32xf32> -> tensor<16x4x8xf32>
// CHECK-NEXT:    %[[O:.*]] = uop.launch @attention_0(%[[Q]], %[[K]], %[[V]])
// CHECK-NEXT:    %[[R:.*]] = uop.reshape %[[O]] : tensor<16x4x8xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    func.return %[[R]]

// -----

// No block holds the sums of so many channels for its queries: in parts, all scores would be computed for each.
func.func @wide(%q: tensor<16x8xf32>, %k: tensor<24x8xf32>, %v: tensor<24x512xf32>) -> tensor<16x512xf32> {
  %0 = uop.reshape %q : tensor<16x8xf32> -> tensor<16x1x8xf32>
  %1 = uop.expand %0 : tensor<16x1x8xf32> -> tensor<16x24x8xf32>
  %2 = uop.reshape %k : tensor<24x8xf32> -> tensor<1x24x8xf32>
  %3 = uop.expand %2 : tensor<1x24x8xf32> -> tensor<16x24x8xf32>
  %4 = uop.mul %1, %3 : tensor<16x24x8xf32>
  // expected-remark@+2 {{does not become one pass with what follows: uop.reduce_axis of tensor<16x24x1xf32> would be one pass with that of its softmax, but 512 channels are more than 256}}
  // expected-remark@+1 {{its kernel ends at uop.reduce_axis, which writes 1536 bytes; further on, uop.reduce_axis of tensor<16x24x1xf32> feeds a max over other axes}}
  %5 = uop.reduce_axis add %4 axes [2] : (tensor<16x24x8xf32>) -> tensor<16x24x1xf32>
  %6 = uop.reshape %5 : tensor<16x24x1xf32> -> tensor<16x24xf32>
  // expected-remark@+1 {{in the kernel of a product of its rows: }}
  %7 = uop.reduce_axis max %6 axes [1] : (tensor<16x24xf32>) -> tensor<16x1xf32>
  %8 = uop.expand %7 : tensor<16x1xf32> -> tensor<16x24xf32>
  %9 = uop.sub %6, %8 : tensor<16x24xf32>
  %10 = uop.exp %9 : tensor<16x24xf32>
  %11 = uop.reduce_axis add %10 axes [1] : (tensor<16x24xf32>) -> tensor<16x1xf32>
  %12 = uop.expand %11 : tensor<16x1xf32> -> tensor<16x24xf32>
  %13 = uop.div %10, %12 : tensor<16x24xf32>
  %14 = uop.reshape %13 : tensor<16x24xf32> -> tensor<16x24x1xf32>
  %15 = uop.expand %14 : tensor<16x24x1xf32> -> tensor<16x24x512xf32>
  %16 = uop.reshape %v : tensor<24x512xf32> -> tensor<1x24x512xf32>
  %17 = uop.expand %16 : tensor<1x24x512xf32> -> tensor<16x24x512xf32>
  %18 = uop.mul %15, %17 : tensor<16x24x512xf32>
  %19 = uop.reduce_axis add %18 axes [1] : (tensor<16x24x512xf32>) -> tensor<16x1x512xf32>
  %20 = uop.reshape %19 : tensor<16x1x512xf32> -> tensor<16x512xf32>
  func.return %20 : tensor<16x512xf32>
}
// CHECK-LABEL: uop.kernel @wide_0
// CHECK-LABEL: uop.kernel @wide_1

// -----

// Softmax between two products, but the first is needed by itself, too: the scores lie in memory.
func.func @scores_too(%q: tensor<16x8xf32>, %k: tensor<24x8xf32>, %v: tensor<24x4xf32>) -> (tensor<16x4xf32>, tensor<16x24xf32>) {
  %0 = uop.reshape %q : tensor<16x8xf32> -> tensor<16x1x8xf32>
  %1 = uop.expand %0 : tensor<16x1x8xf32> -> tensor<16x24x8xf32>
  %2 = uop.reshape %k : tensor<24x8xf32> -> tensor<1x24x8xf32>
  %3 = uop.expand %2 : tensor<1x24x8xf32> -> tensor<16x24x8xf32>
  %4 = uop.mul %1, %3 : tensor<16x24x8xf32>
  %5 = uop.reduce_axis add %4 axes [2] : (tensor<16x24x8xf32>) -> tensor<16x24x1xf32>
  %6 = uop.reshape %5 : tensor<16x24x1xf32> -> tensor<16x24xf32>
  // expected-remark@+1 {{in the kernel of a product of its rows: }}
  %7 = uop.reduce_axis max %6 axes [1] : (tensor<16x24xf32>) -> tensor<16x1xf32>
  %8 = uop.expand %7 : tensor<16x1xf32> -> tensor<16x24xf32>
  %9 = uop.sub %6, %8 : tensor<16x24xf32>
  %10 = uop.exp %9 : tensor<16x24xf32>
  %11 = uop.reduce_axis add %10 axes [1] : (tensor<16x24xf32>) -> tensor<16x1xf32>
  %12 = uop.expand %11 : tensor<16x1xf32> -> tensor<16x24xf32>
  %13 = uop.div %10, %12 : tensor<16x24xf32>
  %14 = uop.reshape %13 : tensor<16x24xf32> -> tensor<16x24x1xf32>
  %15 = uop.expand %14 : tensor<16x24x1xf32> -> tensor<16x24x4xf32>
  %16 = uop.reshape %v : tensor<24x4xf32> -> tensor<1x24x4xf32>
  %17 = uop.expand %16 : tensor<1x24x4xf32> -> tensor<16x24x4xf32>
  %18 = uop.mul %15, %17 : tensor<16x24x4xf32>
  %19 = uop.reduce_axis add %18 axes [1] : (tensor<16x24x4xf32>) -> tensor<16x1x4xf32>
  %20 = uop.reshape %19 : tensor<16x1x4xf32> -> tensor<16x4xf32>
  func.return %20, %6 : tensor<16x4xf32>, tensor<16x24xf32>
}
// CHECK-LABEL: uop.kernel @scores_too_0
// CHECK-LABEL: uop.kernel @scores_too_1

// -----

// A view through a permute: heads and batch are merged after rows and columns are swapped; the kernel sees the merged buffer.
func.func @merged(%k: tensor<2x3x16x8xf32>) -> tensor<6x8x16xf32> {
  %0 = uop.permute %k order [0, 1, 3, 2] : tensor<2x3x16x8xf32> -> tensor<2x3x8x16xf32>
  %1 = uop.reshape %0 : tensor<2x3x8x16xf32> -> tensor<6x8x16xf32>
  %2 = uop.exp %1 : tensor<6x8x16xf32>
  func.return %2 : tensor<6x8x16xf32>
}
// CHECK-LABEL: uop.kernel @merged_0(%k: tensor<6x16x8xf32>) -> (tensor<6x8x16xf32>) {
// CHECK-NEXT:    %0 = uop.permute %k order [0, 2, 1]
// CHECK-NEXT:    %1 = uop.exp %0
// CHECK-LABEL: func.func @merged

// -----

// Arguments and views of them need no kernel, a transpose needs one; a value that is returned twice is computed once. All of one
// reduction's results are written by one kernel.
func.func @results(%x: tensor<4x6xf32>, %i: tensor<4x6xi64>) -> (tensor<4x6xf32>, tensor<24xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<4x1xf32>, tensor<4x1xi64>) {
  %0 = uop.reshape %x : tensor<4x6xf32> -> tensor<24xf32>
  %1 = uop.permute %x order [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %2, %3 = uop.reduce_axis argmax %x, %i axes [1] : (tensor<4x6xf32>, tensor<4x6xi64>) -> (tensor<4x1xf32>, tensor<4x1xi64>)
  func.return %x, %0, %1, %1, %2, %3 : tensor<4x6xf32>, tensor<24xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<4x1xf32>, tensor<4x1xi64>
}
// CHECK-LABEL: uop.kernel @results_0
// CHECK:         uop.permute
// CHECK-LABEL: uop.kernel @results_1(%x: tensor<4x6xf32>, %i: tensor<4x6xi64>) -> (tensor<4x1xf32>, tensor<4x1xi64>) {
// CHECK-LABEL: func.func @results
// CHECK-NEXT:    %[[T:.*]] = uop.launch @results_0(%x)
// CHECK-NEXT:    %[[M:.*]], %[[I:.*]] = uop.launch @results_1(%x, %i)
// CHECK-NEXT:    %[[F:.*]] = uop.reshape %x
// CHECK-NEXT:    func.return %x, %[[F]], %[[T]], %[[T]], %[[M]], %[[I]]

// -----

// Of few elements it costs less to compute a sum in both kernels that need it than to launch another; they read the same, so
// that one kernel computes both.
func.func @shared(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = uop.add %x, %y : tensor<8x8xf32>
  // expected-remark@+1 {{uop.reduce_axis, which writes 32 bytes in no kernel of its own: joined 2 launches, 1,536 bytes, 832 operations: 10 µs; cut 3 launches, 2,144 bytes and 64 again, 832 operations: 15 µs}}
  %1 = uop.reduce_axis add %0 axes [1] : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %2 = uop.expand %1 : tensor<8x1xf32> -> tensor<8x8xf32>
  %3 = uop.sub %0, %2 : tensor<8x8xf32>
  // expected-remark@+1 {{are computed in one kernel: joined 1 launch, 1,024 bytes, 704 operations: 5 µs; apart 2 launches, 1,536 bytes, 832 operations: 10 µs}}
  %4 = uop.div %0, %2 : tensor<8x8xf32>
  func.return %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>
}
// CHECK-LABEL: uop.kernel @shared_0(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
// CHECK-LABEL: func.func @shared

// -----

// Of many, the sum is computed once; the elementwise x + y, which both read, is cheaper to compute twice.
func.func @shared_large(%x: tensor<8192x8192xf32>, %y: tensor<8192x8192xf32>) -> (tensor<8192x8192xf32>, tensor<8192x16384xf32>) {
  %0 = uop.add %x, %y : tensor<8192x8192xf32>
  // expected-remark@+1 {{its kernel ends at uop.reduce_axis, which writes 32768 bytes; several kernels use it; cut 3 launches, 1,879,146,496 bytes and 2.01e+08 again, 1.34e+09 operations: 715 µs; joined 2 launches, 1,879,048,192 bytes and 8.8e+12 again, 1.38e+12 operations: 1.64e+06 µs}}
  %1 = uop.reduce_axis add %0 axes [1] : (tensor<8192x8192xf32>) -> tensor<8192x1xf32>
  %2 = uop.expand %1 : tensor<8192x1xf32> -> tensor<8192x8192xf32>
  %3 = uop.sub %0, %2 : tensor<8192x8192xf32>
  %4 = uop.expand %1 : tensor<8192x1xf32> -> tensor<8192x16384xf32>
  %5 = uop.exp %4 : tensor<8192x16384xf32>
  func.return %3, %5 : tensor<8192x8192xf32>, tensor<8192x16384xf32>
}
// CHECK-LABEL: uop.kernel @shared_large_0(
// CHECK-LABEL: uop.kernel @shared_large_1(
// CHECK-LABEL: uop.kernel @shared_large_2(

// -----

// Sums of short rows are computed for each column beside them, in one kernel.
func.func @short_rows(%x: tensor<512x64xf32>, %y: tensor<512x33xf32>) -> tensor<512x33xf32> {
  // expected-remark@+1 {{uop.reduce_axis, which writes 2048 bytes in no kernel of its own}}
  %0 = uop.reduce_axis add %x axes [1] : (tensor<512x64xf32>) -> tensor<512x1xf32>
  %1 = uop.expand %0 : tensor<512x1xf32> -> tensor<512x33xf32>
  %2 = uop.add %1, %y : tensor<512x33xf32>
  func.return %2 : tensor<512x33xf32>
}
// CHECK-LABEL: uop.kernel @short_rows_0(
// CHECK-NOT: uop.kernel

// -----

// Longer ones are not: additions are few beside what is read again for them.
func.func @longer_rows(%x: tensor<512x1024xf32>, %y: tensor<512x33xf32>) -> tensor<512x33xf32> {
  // expected-remark@+1 {{would be computed 33 times for each of its elements; cut 2 launches, 2,236,416 bytes and 16,384 again, 541,184 operations: 10.8 µs; joined 1 launch, 2,232,320 bytes and 6.71e+07 again, 1.73e+07 operations: 17.9 µs}}
  %0 = uop.reduce_axis add %x axes [1] : (tensor<512x1024xf32>) -> tensor<512x1xf32>
  %1 = uop.expand %0 : tensor<512x1xf32> -> tensor<512x33xf32>
  %2 = uop.add %1, %y : tensor<512x33xf32>
  func.return %2 : tensor<512x33xf32>
}
// CHECK-LABEL: uop.kernel @longer_rows_0(
// CHECK-LABEL: uop.kernel @longer_rows_1(

// -----

// What is gathered from lies in memory; the indices may be computed.
func.func @gather(%x: tensor<10x4xf32>, %i: tensor<3x4xi64>) -> tensor<3x4xf32> {
  // expected-remark@+1 {{its kernel ends at uop.exp, which writes 160 bytes; further on, uop.exp of tensor<10x4xf32> would be read at places that data chooses}}
  %0 = uop.exp %x : tensor<10x4xf32>
  %1 = uop.neg %i : tensor<3x4xi64>
  %2 = uop.gather %0, %1 axis 0 : (tensor<10x4xf32>, tensor<3x4xi64>) -> tensor<3x4xf32>
  %3 = uop.neg %2 : tensor<3x4xf32>
  func.return %3 : tensor<3x4xf32>
}
// CHECK-LABEL: uop.kernel @gather_0(%x: tensor<10x4xf32>) -> (tensor<10x4xf32>) {
// CHECK-NEXT:    uop.exp
// CHECK-LABEL: uop.kernel @gather_1(%i: tensor<3x4xi64>, %x: tensor<10x4xf32>) -> (tensor<3x4xf32>) {
// CHECK-NEXT:    uop.neg %i
// CHECK-NEXT:    uop.gather %x

// -----

// What comes before and behind a scan is in its kernel, another scan along the same axis too.
func.func @scans(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = uop.mul %x, %y : tensor<4x8xf32>
  %1 = uop.scan_axis add %0 axis 1 : tensor<4x8xf32>
  %2 = uop.exp %1 : tensor<4x8xf32>
  %3 = uop.scan_axis max %2 axis 1 : tensor<4x8xf32>
  %4 = uop.add %3, %1 : tensor<4x8xf32>
  func.return %4 : tensor<4x8xf32>
}
// CHECK-LABEL: uop.kernel @scans_0(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>) {
// CHECK-NEXT:    uop.mul
// CHECK-NEXT:    uop.scan_axis add
// CHECK-NEXT:    uop.exp
// CHECK-NEXT:    uop.scan_axis max
// CHECK-NEXT:    uop.add
// CHECK-NEXT:    uop.yield

// -----

// One scan along each of two axes.
func.func @two_axes(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark@+1 {{its kernel ends at uop.scan_axis, which writes 128 bytes; further on, uop.scan_axis of tensor<4x8xf32> feeds a add over other axes}}
  %0 = uop.scan_axis add %x axis 1 : tensor<4x8xf32>
  %1 = uop.scan_axis add %0 axis 0 : tensor<4x8xf32>
  func.return %1 : tensor<4x8xf32>
}
// CHECK-LABEL: uop.kernel @two_axes_0(
// CHECK-NEXT:    uop.scan_axis add %x axis 1
// CHECK-LABEL: uop.kernel @two_axes_1(
// CHECK-NEXT:    uop.scan_axis add %x axis 0

// -----

// Reductions are spread over threads, a scan is not: they have their own kernels, in either order and side by side.
func.func @reductions(%x: tensor<4x8x16xf32>) -> tensor<4x1x1xf32> {
  // expected-remark@+1 {{further on, uop.reduce_axis of tensor<4x8x1xf32> feeds a scan}}
  %0 = uop.reduce_axis add %x axes [2] : (tensor<4x8x16xf32>) -> tensor<4x8x1xf32>
  // expected-remark@+1 {{further on, uop.scan_axis of tensor<4x8x1xf32> feeds a max over an axis}}
  %1 = uop.scan_axis add %0 axis 1 : tensor<4x8x1xf32>
  %2 = uop.reduce_axis max %1 axes [1] : (tensor<4x8x1xf32>) -> tensor<4x1x1xf32>
  func.return %2 : tensor<4x1x1xf32>
}
// CHECK-LABEL: uop.kernel @reductions_0(
// CHECK-LABEL: uop.kernel @reductions_1(
// CHECK:         uop.scan_axis add
// CHECK-LABEL: uop.kernel @reductions_2(

// -----

// What is read elsewhere than at the steps of the scan's axis lies in memory: shifted, turned round, repeated.
func.func @shifted(%x: tensor<4x8xf32>) -> tensor<4x7xf32> {
  // expected-remark@+1 {{further on, uop.scan_axis of tensor<4x8xf32> would be read elsewhere than at one step of its axis after the other}}
  %0 = uop.scan_axis add %x axis 1 : tensor<4x8xf32>
  %1 = uop.shrink %0 offsets [0, 1] : tensor<4x8xf32> -> tensor<4x7xf32>
  func.return %1 : tensor<4x7xf32>
}
func.func @turned(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark@+1 {{would be read elsewhere}}
  %0 = uop.scan_axis add %x axis 1 : tensor<4x8xf32>
  %1 = uop.flip %0 axes [1] : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return %1 : tensor<4x8xf32>
}
func.func @repeated(%x: tensor<4x8x1xf32>, %y: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  // expected-remark@+1 {{uop.scan_axis, which writes 128 bytes in no kernel of its own: joined 1 launch, 4,224 bytes and 1,920 again, 1,024 operations: 5 µs; cut 2 launches, 4,480 bytes and 384 again, 544 operations: 10 µs}}
  %0 = uop.scan_axis add %x axis 1 : tensor<4x8x1xf32>
  %1 = uop.expand %0 : tensor<4x8x1xf32> -> tensor<4x8x16xf32>
  %2 = uop.mul %1, %y : tensor<4x8x16xf32>
  func.return %2 : tensor<4x8x16xf32>
}
// CHECK-LABEL: uop.kernel @shifted_1(
// CHECK-LABEL: uop.kernel @turned_1(
// CHECK-LABEL: uop.kernel @repeated_0(

// -----

// A program of launches is left alone.
uop.kernel @k(%x: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = uop.exp %x : tensor<4xf32>
  uop.yield %0 : tensor<4xf32>
}
func.func @program(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  %0 = uop.reshape %x : tensor<2x2xf32> -> tensor<4xf32>
  %1 = uop.launch @k(%0) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
// CHECK-LABEL: uop.kernel @k
// CHECK-LABEL: func.func @program
// CHECK-NEXT:    %0 = uop.reshape %x : tensor<2x2xf32> -> tensor<4xf32>
// CHECK-NEXT:    %1 = uop.launch @k(%0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %1

// -----

func.func @aten(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{torch.aten is no tensor op of uop}}
  %0 = torch.aten "relu"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %0 : tensor<4x8xf32>
}

// -----

func.func @scalar() -> f32 {
  %0 = uop.const 1.0 : f32
  // expected-error@+1 {{a program returns tensors, not f32}}
  func.return %0 : f32
}

// -----

// Queries and keys read one input: one kernel computes both, and reads it once. The values are written at the same ranges
// though their rows are not split into heads.
func.func @heads(%x: tensor<8x32xf32>, %q: tensor<16x32xf32>, %v: tensor<16x32xf32>) -> (tensor<2x8x8xf32>, tensor<8x16xf32>) {
  %0 = uop.reshape %x : tensor<8x32xf32> -> tensor<8x1x32xf32>
  %1 = uop.expand %0 : tensor<8x1x32xf32> -> tensor<8x16x32xf32>
  %2 = uop.reshape %q : tensor<16x32xf32> -> tensor<1x16x32xf32>
  %3 = uop.expand %2 : tensor<1x16x32xf32> -> tensor<8x16x32xf32>
  %4 = uop.mul %1, %3 : tensor<8x16x32xf32>
  %5 = uop.reduce_axis add %4 axes [2] : (tensor<8x16x32xf32>) -> tensor<8x16x1xf32>
  %6 = uop.reshape %5 : tensor<8x16x1xf32> -> tensor<8x2x8xf32>
  %7 = uop.permute %6 order [1, 0, 2] : tensor<8x2x8xf32> -> tensor<2x8x8xf32>
  %8 = uop.reshape %v : tensor<16x32xf32> -> tensor<1x16x32xf32>
  %9 = uop.expand %8 : tensor<1x16x32xf32> -> tensor<8x16x32xf32>
  %10 = uop.mul %1, %9 : tensor<8x16x32xf32>
  %11 = uop.reduce_axis add %10 axes [2] : (tensor<8x16x32xf32>) -> tensor<8x16x1xf32>
  %12 = uop.reshape %11 : tensor<8x16x1xf32> -> tensor<8x16xf32>
  // expected-remark@+1 {{tensor<2x8x8xf32> and tensor<8x16xf32> are computed in one kernel: joined 1 launch, 6,144 bytes and 5,120 again, 9,216 operations: 5 µs; apart 2 launches, 7,168 bytes, 9,216 operations: 10 µs}}
  %13 = uop.exp %12 : tensor<8x16xf32>
  func.return %7, %13 : tensor<2x8x8xf32>, tensor<8x16xf32>
}
// CHECK-LABEL: uop.kernel @heads_0(%x: tensor<8x32xf32>, %q: tensor<16x32xf32>, %v: tensor<16x32xf32>) -> (tensor<2x8x8xf32>, tensor<8x16xf32>) {
// CHECK-LABEL: func.func @heads
// CHECK-NEXT:    %0, %1 = uop.launch @heads_0(%x, %q, %v)

// -----

// The halves of a row change places: both are computed by one thread, which has what it needs of the other, and the product
// is computed once.
func.func @rotated(%x: tensor<8x32xf32>, %w: tensor<16x32xf32>) -> tensor<8x16xf32> {
  %0 = uop.reshape %x : tensor<8x32xf32> -> tensor<8x1x32xf32>
  %1 = uop.expand %0 : tensor<8x1x32xf32> -> tensor<8x16x32xf32>
  %2 = uop.reshape %w : tensor<16x32xf32> -> tensor<1x16x32xf32>
  %3 = uop.expand %2 : tensor<1x16x32xf32> -> tensor<8x16x32xf32>
  %4 = uop.mul %1, %3 : tensor<8x16x32xf32>
  %5 = uop.reduce_axis add %4 axes [2] : (tensor<8x16x32xf32>) -> tensor<8x16x1xf32>
  %6 = uop.reshape %5 : tensor<8x16x1xf32> -> tensor<8x16xf32>
  %7 = uop.shrink %6 offsets [0, 0] : tensor<8x16xf32> -> tensor<8x8xf32>
  %8 = uop.shrink %6 offsets [0, 8] : tensor<8x16xf32> -> tensor<8x8xf32>
  %9 = uop.pad %7 low [0, 8] high [0, 0] : tensor<8x8xf32> -> tensor<8x16xf32>
  %10 = uop.pad %8 low [0, 0] high [0, 8] : tensor<8x8xf32> -> tensor<8x16xf32>
  %11 = uop.add %9, %10 : tensor<8x16xf32>
  %12 = uop.add %11, %6 : tensor<8x16xf32>
  func.return %12 : tensor<8x16xf32>
}
// CHECK-LABEL: uop.kernel @rotated_0(%x: tensor<8x32xf32>, %w: tensor<16x32xf32>) -> (tensor<8x16xf32>) {
// CHECK:         uop.yield %{{.*}} parts [1, 2] : tensor<8x16xf32>
// CHECK-NEXT:  }
// CHECK-NEXT:  func.func @rotated
