// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-torch-to-uop)' --split-input-file --verify-diagnostics | filecheck %s
// RUN: not uop-opt %s --pass-pipeline 'builtin.module(convert-torch-to-uop)' --split-input-file --print-debuginfo >%t.out 2>%t.err
// RUN: filecheck %s --check-prefix=LOC --input-file %t.out
// RUN: filecheck %s --check-prefix=ERROR --input-file %t.err

// A product and its epilogue: broadcasting is explicit, the product is multiplication and addition over the last axis.
func.func @seed(%x: tensor<16x64xf32>, %bias: tensor<64xf32>, %w: tensor<64x16xf32>) -> tensor<16x16xf32> {
  %0 = torch.aten "add.Tensor"(%x, %bias) : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  %1 = torch.aten "mm"(%0, %w) : (tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
  %2 = torch.aten "relu"(%1) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  func.return %2 : tensor<16x16xf32>
}
// CHECK-LABEL: func.func @seed(
// CHECK-NEXT:    %0 = uop.reshape %bias : tensor<64xf32> -> tensor<1x64xf32>
// CHECK-NEXT:    %1 = uop.expand %0 : tensor<1x64xf32> -> tensor<16x64xf32>
// CHECK-NEXT:    %2 = uop.add %x, %1 : tensor<16x64xf32>
// CHECK-NEXT:    %3 = uop.permute %w order [1, 0] : tensor<64x16xf32> -> tensor<16x64xf32>
// CHECK-NEXT:    %4 = uop.reshape %2 : tensor<16x64xf32> -> tensor<16x1x64xf32>
// CHECK-NEXT:    %5 = uop.expand %4 : tensor<16x1x64xf32> -> tensor<16x16x64xf32>
// CHECK-NEXT:    %6 = uop.reshape %3 : tensor<16x64xf32> -> tensor<1x16x64xf32>
// CHECK-NEXT:    %7 = uop.expand %6 : tensor<1x16x64xf32> -> tensor<16x16x64xf32>
// CHECK-NEXT:    %8 = uop.mul %5, %7 : tensor<16x16x64xf32>
// CHECK-NEXT:    %9 = uop.reduce_axis add %8 axes [2] : (tensor<16x16x64xf32>) -> tensor<16x16x1xf32>
// CHECK-NEXT:    %10 = uop.reshape %9 : tensor<16x16x1xf32> -> tensor<16x16xf32>
// CHECK-NEXT:    %11 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %12 = uop.expand %11 : f32 -> tensor<16x16xf32>
// CHECK-NEXT:    %13 = uop.max %10, %12 : tensor<16x16xf32>
// CHECK-NEXT:    func.return %13 : tensor<16x16xf32>

// -----

// Where TF32 is allowed, what is multiplied is cut to it; what is added is not. Other types have no use for it.
func.func @tf32(%c: tensor<4x4xf32>, %x: tensor<4x8xf32>, %w: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = torch.aten "addmm"(%c, %x, %w) allow_tf32 : (tensor<4x4xf32>, tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  func.return %0 : tensor<4x4xf32>
}
// CHECK-LABEL: func.func @tf32(
// CHECK-NEXT:    %0 = uop.to_tf32 %x : tensor<4x8xf32>
// CHECK-NEXT:    %1 = uop.to_tf32 %w : tensor<8x4xf32>
// CHECK-NOT:     to_tf32
// CHECK:         uop.add %c, %{{.*}} : tensor<4x4xf32>
func.func @wider(%x: tensor<4x8xf64>, %w: tensor<8x4xf64>) -> tensor<4x4xf64> {
  %0 = torch.aten "mm"(%x, %w) allow_tf32 : (tensor<4x8xf64>, tensor<8x4xf64>) -> tensor<4x4xf64>
  func.return %0 : tensor<4x4xf64>
}
// CHECK-LABEL: func.func @wider(
// CHECK-NOT:     to_tf32

// -----

// The greatest element is subtracted, so that nothing overflows.
func.func @softmax(%x: tensor<4x10xf32>) -> tensor<4x10xf32> {
  %0 = torch.aten "_softmax"(%x) {dim = -1 : i64, half_to_float = false} : (tensor<4x10xf32>) -> tensor<4x10xf32>
  func.return %0 : tensor<4x10xf32>
}
// CHECK-LABEL: func.func @softmax(
// CHECK-NEXT:    %0 = uop.reduce_axis max %x axes [1] : (tensor<4x10xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %1 = uop.expand %0 : tensor<4x1xf32> -> tensor<4x10xf32>
// CHECK-NEXT:    %2 = uop.sub %x, %1 : tensor<4x10xf32>
// CHECK-NEXT:    %3 = uop.exp %2 : tensor<4x10xf32>
// CHECK-NEXT:    %4 = uop.reduce_axis add %3 axes [1] : (tensor<4x10xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %5 = uop.expand %4 : tensor<4x1xf32> -> tensor<4x10xf32>
// CHECK-NEXT:    %6 = uop.div %3, %5 : tensor<4x10xf32>
// CHECK-NEXT:    func.return %6 : tensor<4x10xf32>

// -----

// Floats of 16 bits: one op is left as it is, it rounds once; a composite is computed in f32 and rounded at its end.
func.func @half(%x: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf16>) {
  %0 = torch.aten "exp"(%x) : (tensor<4xf16>) -> tensor<4xf16>
  %1 = torch.aten "silu"(%x) : (tensor<4xf16>) -> tensor<4xf16>
  func.return %0, %1 : tensor<4xf16>, tensor<4xf16>
}
// CHECK-LABEL: func.func @half(
// CHECK-NEXT:    %0 = uop.exp %x : tensor<4xf16>
// CHECK-NEXT:    %1 = uop.cast %x : tensor<4xf16> -> tensor<4xf32>
// CHECK-NEXT:    %2 = uop.neg %1 : tensor<4xf32>
// CHECK-NEXT:    %3 = uop.exp %2 : tensor<4xf32>
// CHECK-NEXT:    %4 = uop.const 1.000000e+00 : f32
// CHECK-NEXT:    %5 = uop.expand %4 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %6 = uop.add %3, %5 : tensor<4xf32>
// CHECK-NEXT:    %7 = uop.div %5, %6 : tensor<4xf32>
// CHECK-NEXT:    %8 = uop.mul %1, %7 : tensor<4xf32>
// CHECK-NEXT:    %9 = uop.cast %8 : tensor<4xf32> -> tensor<4xf16>
// CHECK-NEXT:    func.return %0, %9 : tensor<4xf16>, tensor<4xf16>

// -----

// A number that 16 bits do not hold stays in f32, as in PyTorch; one that they hold needs no f32.
func.func @numbers(%x: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  %0 = torch.aten "mul.Tensor"(%x) {other = 0.1 : f64} : (tensor<4xbf16>) -> tensor<4xbf16>
  %1 = torch.aten "mul.Tensor"(%x) {other = 2 : i64} : (tensor<4xbf16>) -> tensor<4xbf16>
  func.return %0, %1 : tensor<4xbf16>, tensor<4xbf16>
}
// CHECK-LABEL: func.func @numbers(
// CHECK-NEXT:    %0 = uop.cast %x : tensor<4xbf16> -> tensor<4xf32>
// CHECK-NEXT:    %1 = uop.const 1.000000e-01 : f32
// CHECK-NEXT:    %2 = uop.expand %1 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %3 = uop.mul %0, %2 : tensor<4xf32>
// CHECK-NEXT:    %4 = uop.cast %3 : tensor<4xf32> -> tensor<4xbf16>
// CHECK-NEXT:    %5 = uop.const 2.000000e+00 : bf16
// CHECK-NEXT:    %6 = uop.expand %5 : bf16 -> tensor<4xbf16>
// CHECK-NEXT:    %7 = uop.mul %x, %6 : tensor<4xbf16>
// CHECK-NEXT:    func.return %4, %7 : tensor<4xbf16>, tensor<4xbf16>

// -----

// Sums of bools and integers are i64; operands of a comparison meet in their common type.
func.func @types(%m: tensor<3x4xi1>, %n: tensor<3x4xi32>, %x: tensor<4xf32>) -> (tensor<3xi64>, tensor<3x4xi1>) {
  %0 = torch.aten "sum.dim_IntList"(%m) {dim = [1 : i64]} : (tensor<3x4xi1>) -> tensor<3xi64>
  %1 = torch.aten "lt.Tensor"(%n, %x) : (tensor<3x4xi32>, tensor<4xf32>) -> tensor<3x4xi1>
  func.return %0, %1 : tensor<3xi64>, tensor<3x4xi1>
}
// CHECK-LABEL: func.func @types(
// CHECK-NEXT:    %0 = uop.cast %m : tensor<3x4xi1> -> tensor<3x4xi64>
// CHECK-NEXT:    %1 = uop.reduce_axis add %0 axes [1] : (tensor<3x4xi64>) -> tensor<3x1xi64>
// CHECK-NEXT:    %2 = uop.reshape %1 : tensor<3x1xi64> -> tensor<3xi64>
// CHECK-NEXT:    %3 = uop.cast %n : tensor<3x4xi32> -> tensor<3x4xf32>
// CHECK-NEXT:    %4 = uop.reshape %x : tensor<4xf32> -> tensor<1x4xf32>
// CHECK-NEXT:    %5 = uop.expand %4 : tensor<1x4xf32> -> tensor<3x4xf32>
// CHECK-NEXT:    %6 = uop.lt %3, %5 : tensor<3x4xf32>
// CHECK-NEXT:    func.return %2, %6 : tensor<3xi64>, tensor<3x4xi1>

// -----

// Joining chooses by the place: adding padded parts would lose −0 and the NaN rule.
func.func @cat(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>) -> tensor<2x4xf32> {
  %0 = torch.aten "cat"(%x, %y) {tensors = 2 : i64, dim = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  func.return %0 : tensor<2x4xf32>
}
// CHECK-LABEL: func.func @cat(
// CHECK-NEXT:    %0 = uop.pad %x low [0, 0] high [0, 1] : tensor<2x3xf32> -> tensor<2x4xf32>
// CHECK-NEXT:    %1 = uop.pad %y low [0, 3] high [0, 0] : tensor<2x1xf32> -> tensor<2x4xf32>
// CHECK-NEXT:    %2 = uop.iota : tensor<4xi64>
// CHECK-NEXT:    %3 = uop.reshape %2 : tensor<4xi64> -> tensor<1x4xi64>
// CHECK-NEXT:    %4 = uop.expand %3 : tensor<1x4xi64> -> tensor<2x4xi64>
// CHECK-NEXT:    %5 = uop.const 3 : i64
// CHECK-NEXT:    %6 = uop.expand %5 : i64 -> tensor<2x4xi64>
// CHECK-NEXT:    %7 = uop.lt %4, %6 : tensor<2x4xi64>
// CHECK-NEXT:    %8 = uop.where %7, %0, %1 : tensor<2x4xf32>
// CHECK-NEXT:    func.return %8 : tensor<2x4xf32>

// -----

// Results that nothing uses are not computed, and an absent tensor has a place in the arguments.
func.func @layer_norm(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0, %1, %2 = torch.aten "native_layer_norm"(%x, %b) {normalized_shape = [8 : i64], weight, eps = 1.000000e-05 : f64} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
  func.return %0 : tensor<4x8xf32>
}
// CHECK-LABEL: func.func @layer_norm(
// CHECK-NEXT:    %0 = uop.reduce_axis add %x axes [1] : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %1 = uop.const 8.000000e+00 : f32
// CHECK-NEXT:    %2 = uop.expand %1 : f32 -> tensor<4x1xf32>
// CHECK-NEXT:    %3 = uop.div %0, %2 : tensor<4x1xf32>
// CHECK-NEXT:    %4 = uop.expand %3 : tensor<4x1xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %5 = uop.sub %x, %4 : tensor<4x8xf32>
// CHECK-NEXT:    %6 = uop.mul %5, %5 : tensor<4x8xf32>
// CHECK-NEXT:    %7 = uop.reduce_axis add %6 axes [1] : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %8 = uop.div %7, %2 : tensor<4x1xf32>
// CHECK-NEXT:    %9 = uop.const 1.000000e-05 : f32
// CHECK-NEXT:    %10 = uop.expand %9 : f32 -> tensor<4x1xf32>
// CHECK-NEXT:    %11 = uop.add %8, %10 : tensor<4x1xf32>
// CHECK-NEXT:    %12 = uop.rsqrt %11 : tensor<4x1xf32>
// CHECK-NEXT:    %13 = uop.expand %12 : tensor<4x1xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %14 = uop.mul %5, %13 : tensor<4x8xf32>
// CHECK-NEXT:    %15 = uop.reshape %b : tensor<8xf32> -> tensor<1x8xf32>
// CHECK-NEXT:    %16 = uop.expand %15 : tensor<1x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %17 = uop.add %14, %16 : tensor<4x8xf32>
// CHECK-NEXT:    func.return %17 : tensor<4x8xf32>

// -----

// The place of the greatest element: a monoid of two values, the place in 32 bits as the extent allows.
func.func @argmax(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  %0 = torch.aten "argmax"(%x) {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xi64>
  func.return %0 : tensor<4xi64>
}
// CHECK-LABEL: func.func @argmax(
// CHECK-NEXT:    %0 = uop.iota : tensor<8xi32>
// CHECK-NEXT:    %1 = uop.reshape %0 : tensor<8xi32> -> tensor<1x8xi32>
// CHECK-NEXT:    %2 = uop.expand %1 : tensor<1x8xi32> -> tensor<4x8xi32>
// CHECK-NEXT:    %3, %4 = uop.reduce_axis argmax %x, %2 axes [1] : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4x1xf32>, tensor<4x1xi32>)
// CHECK-NEXT:    %5 = uop.cast %4 : tensor<4x1xi32> -> tensor<4x1xi64>
// CHECK-NEXT:    %6 = uop.reshape %5 : tensor<4x1xi64> -> tensor<4xi64>
// CHECK-NEXT:    func.return %6 : tensor<4xi64>

// -----

// Every op has the location of its ATen op, and what two of them share has both.
func.func @locations(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = torch.aten "add.Tensor"(%x) {other = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":3:0)
  %1 = torch.aten "add.Tensor"(%x) {other = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":4:0)
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func @locations(
// CHECK-NEXT:    %0 = uop.const 1.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.expand %0 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %2 = uop.add %x, %1 : tensor<4xf32>
// CHECK-NEXT:    func.return %2, %2 : tensor<4xf32>, tensor<4xf32>
// LOC-LABEL: func.func @locations(
// LOC:         uop.add %x, %{{.*}} : tensor<4xf32> loc(fused["model.py":3:0, "model.py":4:0])

// -----

// A function without ATen ops stays, and so does what a view of the same shape changes nothing of.
func.func @nothing(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = uop.exp %x : tensor<4xf32>
  func.return %0, %x : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func @nothing(
// CHECK-NEXT:    %0 = uop.exp %x : tensor<4xf32>
// CHECK-NEXT:    func.return %0, %x : tensor<4xf32>, tensor<4xf32>

// -----

func.func @identity(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = torch.aten "clone"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = torch.aten "view"(%0) {size = [4 : i64]} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @identity(
// CHECK-NEXT:    func.return %x : tensor<4xf32>

// -----

// Refused, all of a function at once: which op on what, the line of the program, why, what to do.
// ERROR:      error: cannot lower 3 operations of @refused:
// ERROR-NEXT:   model.py:3: `qr` on tensor<4x4xf32>: no lowering for this overload; write it with other operations
// ERROR-NEXT:   model.py:4: `amx` on tensor<4x4xf32>: no lowering for this overload; there is one for `amax`
// ERROR-NEXT:   model.py:5: `div.Tensor_mode` on tensor<4x4xf32>, tensor<4x4xf32>: rounding_mode 'up' is not
func.func @refused(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{`qr` on tensor<4x4xf32>: no lowering for this overload; write it with other operations, or add a lowering}}
  %0, %1 = torch.aten "qr"(%x) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) loc("model.py":3:0)
  %2 = torch.aten "amx"(%0) {dim = [1 : i64], keepdim = true} : (tensor<4x4xf32>) -> tensor<4x1xf32> loc("model.py":4:0)
  %3 = torch.aten "div.Tensor_mode"(%0, %x) {rounding_mode = "up"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("model.py":5:0)
  func.return %3 : tensor<4x4xf32>
}

// -----

// An argument that the lowering does not know is no detail to pass over.
func.func @argument(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{model.py:3: `relu` on tensor<4xf32>: its argument `beta` is not supported}}
  %0 = torch.aten "relu"(%x) {beta = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":3:0)
  func.return %0 : tensor<4xf32>
}

// -----

func.func @missing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{its argument `other` is missing}}
  %0 = torch.aten "mul.Tensor"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @kind(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{its argument `dim` is "last"}}
  %0 = torch.aten "_softmax"(%x) {dim = "last", half_to_float = false} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @axis(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{a tensor of rank 1 has no axis 2}}
  %0 = torch.aten "_softmax"(%x) {dim = 2 : i64, half_to_float = false} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @result(%x: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error@+1 {{result 0 of these operands and arguments is tensor<4xf32>, not tensor<4xf64>}}
  %0 = torch.aten "relu"(%x) : (tensor<4xf32>) -> tensor<4xf64>
  func.return %0 : tensor<4xf64>
}

// -----

func.func @dropout(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{dropout in training is random; call .eval() before exporting}}
  %0, %1 = torch.aten "native_dropout"(%x) {p = 0.5 : f64, train = true} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>)
  func.return %0 : tensor<4xf32>
}

// -----

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{the shape of tensor<?xf32> is not known; export with static shapes}}
  %0 = torch.aten "relu"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// -----

func.func @element(%x: tensor<4xi4>) -> tensor<4xi4> {
  // expected-error@+1 {{element type i4 is not supported}}
  %0 = torch.aten "relu"(%x) : (tensor<4xi4>) -> tensor<4xi4>
  func.return %0 : tensor<4xi4>
}

// -----

// What only checks is dropped, and said to be.
func.func @assertion(%x: tensor<i1>) -> tensor<i1> {
  // expected-remark@+1 {{`_assert_async.msg` is dropped: a compiled program does not check it}}
  torch.aten "_assert_async.msg"(%x) {assert_msg = "no"} : (tensor<i1>) -> ()
  func.return %x : tensor<i1>
}
// CHECK-LABEL: func.func @assertion(
// CHECK-NEXT:    func.return %x : tensor<i1>

// -----

// PyTorch raises at integers divided by zero, where a kernel would give some number.
func.func @zero_divisor(%x: tensor<4xi64>) -> tensor<4xi64> {
  // expected-error@+1 {{`remainder.Scalar` on tensor<4xi64>: integers are divided by zero, at which PyTorch raises}}
  %0 = torch.aten "remainder.Scalar"(%x) {other = 0 : i64} : (tensor<4xi64>) -> tensor<4xi64>
  func.return %0 : tensor<4xi64>
}

// -----

func.func @zero_tensor(%x: tensor<4xi64>) -> tensor<4xi64> {
  %zero = torch.aten "full"() {size = [], fill_value = 0 : i64} : () -> tensor<i64>
  // expected-error@+1 {{on tensor<4xi64>, tensor<i64>: integers are divided by zero}}
  %0 = torch.aten "div.Tensor_mode"(%x, %zero) {rounding_mode = "trunc"} : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  func.return %0 : tensor<4xi64>
}
