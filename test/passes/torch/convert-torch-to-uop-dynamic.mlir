// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-torch-to-uop)' --split-input-file --verify-diagnostics | filecheck %s

// Types have room for the greatest size; arguments and results say what is meant of them.
// CHECK-LABEL: func.func @elementwise
// CHECK-SAME:    %s: tensor<i64> {uop.symbol = #uop.symbol<s, 1 to 8>}
// CHECK-SAME:    %x: tensor<8x3xf32> {uop.extents = #uop.extents<s, 3>}
// CHECK-SAME:    -> (tensor<8x3xf32> {uop.extents = #uop.extents<s, 3>})
// CHECK-NEXT:    %0 = uop.exp %x : tensor<8x3xf32>
// CHECK-NEXT:    func.return %0 : tensor<8x3xf32>
func.func @elementwise(%s: tensor<i64> {uop.symbol = #uop.symbol<s, 1 to 8>}, %x: tensor<?x3xf32, #uop.extents<s, 3>>) -> tensor<?x3xf32, #uop.extents<s, 3>> {
  %0 = torch.aten "exp"(%x) : (tensor<?x3xf32, #uop.extents<s, 3>>) -> tensor<?x3xf32, #uop.extents<s, 3>>
  func.return %0 : tensor<?x3xf32, #uop.extents<s, 3>>
}

// -----

// What is not meant does not count: it is the identity. The symbol is read within its bounds.
// CHECK-LABEL: func.func @sum
// CHECK:         %[[LOW:.*]] = uop.max %s, %{{.*}} : tensor<i64>
// CHECK:         %[[S:.*]] = uop.min %[[LOW]], %{{.*}} : tensor<i64>
// CHECK:         %[[MEANT:.*]] = uop.lt %{{.*}}, %{{.*}} : tensor<8xi64>
// CHECK:         %[[X:.*]] = uop.where %{{.*}}, %x, %{{.*}} : tensor<8x3xf32>
// CHECK-NEXT:    uop.reduce_axis add %[[X]] axes [0]
// CHECK-NOT:     uop.where
// CHECK:         uop.reduce_axis add %x axes [1]
func.func @sum(%s: tensor<i64> {uop.symbol = #uop.symbol<s, 1 to 8>}, %x: tensor<?x3xf32, #uop.extents<s, 3>>) -> (tensor<3xf32>, tensor<?xf32, #uop.extents<s>>) {
  %0 = torch.aten "sum.dim_IntList"(%x) {dim = [0 : i64]} : (tensor<?x3xf32, #uop.extents<s, 3>>) -> tensor<3xf32>
  %1 = torch.aten "sum.dim_IntList"(%x) {dim = [1 : i64]} : (tensor<?x3xf32, #uop.extents<s, 3>>) -> tensor<?xf32, #uop.extents<s>>
  func.return %0, %1 : tensor<3xf32>, tensor<?xf32, #uop.extents<s>>
}

// -----

// Axes that a view merges and parts again move no element, although the inner one is symbolic.
// CHECK-LABEL: func.func @merged
// CHECK:         %0 = uop.reshape %x : tensor<4x8x3xf32> -> tensor<32x3xf32>
// CHECK-NEXT:    %1 = uop.exp %0 : tensor<32x3xf32>
// CHECK-NEXT:    %2 = uop.reshape %1 : tensor<32x3xf32> -> tensor<4x8x3xf32>
// CHECK-NEXT:    func.return %2
func.func @merged(%b: tensor<i64> {uop.symbol = #uop.symbol<b, 1 to 4>}, %s: tensor<i64> {uop.symbol = #uop.symbol<s, 1 to 8>}, %x: tensor<?x?x3xf32, #uop.extents<b, s, 3>>) -> tensor<?x?x3xf32, #uop.extents<b, s, 3>> {
  %0 = torch.aten "view"(%x) {size = [#uop.extent<b * s>, 3 : i64]} : (tensor<?x?x3xf32, #uop.extents<b, s, 3>>) -> tensor<?x3xf32, #uop.extents<b * s, 3>>
  %1 = torch.aten "exp"(%0) : (tensor<?x3xf32, #uop.extents<b * s, 3>>) -> tensor<?x3xf32, #uop.extents<b * s, 3>>
  %2 = torch.aten "view"(%1) {size = [#uop.extent<b>, #uop.extent<s>, 3 : i64]} : (tensor<?x3xf32, #uop.extents<b * s, 3>>) -> tensor<?x?x3xf32, #uop.extents<b, s, 3>>
  func.return %2 : tensor<?x?x3xf32, #uop.extents<b, s, 3>>
}

// -----

// Merged as a result, they are read from where they lie: what is meant comes first.
// CHECK-LABEL: func.func @merged_result
// CHECK:         uop.gather %{{.*}} axis 0 : (tensor<32xf32>, tensor<32xi64>) -> tensor<32xf32>
func.func @merged_result(%b: tensor<i64> {uop.symbol = #uop.symbol<b, 1 to 4>}, %s: tensor<i64> {uop.symbol = #uop.symbol<s, 1 to 8>}, %x: tensor<?x?xf32, #uop.extents<b, s>>) -> tensor<?xf32, #uop.extents<b * s>> {
  %0 = torch.aten "view"(%x) {size = [#uop.extent<b * s>]} : (tensor<?x?xf32, #uop.extents<b, s>>) -> tensor<?xf32, #uop.extents<b * s>>
  func.return %0 : tensor<?xf32, #uop.extents<b * s>>
}

// -----

// The last row: read at a place that the symbol tells.
// CHECK-LABEL: func.func @last
// CHECK:         uop.gather %x, %{{.*}} axis 0 : (tensor<8x3xf32>, tensor<1x3xi64>) -> tensor<1x3xf32>
func.func @last(%s: tensor<i64> {uop.symbol = #uop.symbol<s, 1 to 8>}, %x: tensor<?x3xf32, #uop.extents<s, 3>>) -> tensor<1x3xf32> {
  %0 = torch.aten "slice.Tensor"(%x) {dim = 0 : i64, start = -1 : i64, end = 9223372036854775807 : i64} : (tensor<?x3xf32, #uop.extents<s, 3>>) -> tensor<1x3xf32>
  func.return %0 : tensor<1x3xf32>
}

// -----

// Functions without symbols are as they were.
// CHECK-LABEL: func.func @static
// CHECK-NEXT:    %0 = uop.exp %x : tensor<8x3xf32>
func.func @static(%x: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %0 = torch.aten "exp"(%x) : (tensor<8x3xf32>) -> tensor<8x3xf32>
  func.return %0 : tensor<8x3xf32>
}

// -----

func.func @refused(%s: tensor<i64> {uop.symbol = #uop.symbol<s, 2 to 8>}, %x: tensor<?xf32, #uop.extents<s>>) -> tensor<?x2xf32, #uop.extents<s - 1, 2>> {
  // expected-error@+1 {{`unfold` on tensor<?xf32, #uop.extents<s>>: it is not supported where sizes are known only when the program runs (dimension 0 is s); export with static sizes}}
  %0 = torch.aten "unfold"(%x) {dimension = 0 : i64, size = 2 : i64, step = 1 : i64} : (tensor<?xf32, #uop.extents<s>>) -> tensor<?x2xf32, #uop.extents<s - 1, 2>>
  func.return %0 : tensor<?x2xf32, #uop.extents<s - 1, 2>>
}

// -----

func.func @not_told(%s: tensor<i64> {uop.symbol = #uop.symbol<s, 1 to 8>}, %x: tensor<?xf32, #uop.extents<s>>) -> tensor<2xf32> {
  // expected-error@+1 {{whether s < 2 is not known before the program runs; give torch.export.Dim a `min` and a `max` that tell}}
  %0 = torch.aten "slice.Tensor"(%x) {dim = 0 : i64, start = -2 : i64, end = 9223372036854775807 : i64} : (tensor<?xf32, #uop.extents<s>>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

func.func @contradiction(%s: tensor<i64> {uop.symbol = #uop.symbol<s, 1 to 8>}, %x: tensor<?xf32, #uop.extents<s>>) -> tensor<?xf32, #uop.extents<s + 1>> {
  // expected-error@+1 {{result 0 of these operands and arguments is [s] of f32, not tensor<?xf32, #uop.extents<s + 1>>}}
  %0 = torch.aten "exp"(%x) : (tensor<?xf32, #uop.extents<s>>) -> tensor<?xf32, #uop.extents<s + 1>>
  func.return %0 : tensor<?xf32, #uop.extents<s + 1>>
}
