// Functions in tensor form, interpreted before and after each pass by test_uop_levels.py.

func.func @seed(%x: tensor<5x7xf32>, %bias: tensor<7xf32>, %w: tensor<7x6xf32>) -> tensor<5x6xf32> {
  %0 = uop.reshape %bias : tensor<7xf32> -> tensor<1x7xf32>
  %1 = uop.expand %0 : tensor<1x7xf32> -> tensor<5x7xf32>
  %2 = uop.add %x, %1 : tensor<5x7xf32>
  %3 = uop.reshape %2 : tensor<5x7xf32> -> tensor<5x1x7xf32>
  %4 = uop.expand %3 : tensor<5x1x7xf32> -> tensor<5x6x7xf32>
  %5 = uop.permute %w order [1, 0] : tensor<7x6xf32> -> tensor<6x7xf32>
  %6 = uop.reshape %5 : tensor<6x7xf32> -> tensor<1x6x7xf32>
  %7 = uop.expand %6 : tensor<1x6x7xf32> -> tensor<5x6x7xf32>
  %8 = uop.mul %4, %7 : tensor<5x6x7xf32>
  %9 = uop.reduce_axis add %8 axes [2] : (tensor<5x6x7xf32>) -> tensor<5x6x1xf32>
  %10 = uop.reshape %9 : tensor<5x6x1xf32> -> tensor<5x6xf32>
  %11 = uop.const 0.0 : f32
  %12 = uop.expand %11 : f32 -> tensor<5x6xf32>
  %13 = uop.max %10, %12 : tensor<5x6xf32>
  func.return %13 : tensor<5x6xf32>
}

func.func @softmax_0(%x: tensor<3x4x5xf32>) -> tensor<3x4x5xf32> {
  %0 = uop.reduce_axis max %x axes [0] : (tensor<3x4x5xf32>) -> tensor<1x4x5xf32>
  %1 = uop.expand %0 : tensor<1x4x5xf32> -> tensor<3x4x5xf32>
  %2 = uop.sub %x, %1 : tensor<3x4x5xf32>
  %3 = uop.exp %2 : tensor<3x4x5xf32>
  %4 = uop.reduce_axis add %3 axes [0] : (tensor<3x4x5xf32>) -> tensor<1x4x5xf32>
  %5 = uop.expand %4 : tensor<1x4x5xf32> -> tensor<3x4x5xf32>
  %6 = uop.div %3, %5 : tensor<3x4x5xf32>
  func.return %6 : tensor<3x4x5xf32>
}

func.func @softmax_1(%x: tensor<3x4x5xf32>) -> tensor<3x4x5xf32> {
  %0 = uop.reduce_axis max %x axes [1] : (tensor<3x4x5xf32>) -> tensor<3x1x5xf32>
  %1 = uop.expand %0 : tensor<3x1x5xf32> -> tensor<3x4x5xf32>
  %2 = uop.sub %x, %1 : tensor<3x4x5xf32>
  %3 = uop.exp %2 : tensor<3x4x5xf32>
  %4 = uop.reduce_axis add %3 axes [1] : (tensor<3x4x5xf32>) -> tensor<3x1x5xf32>
  %5 = uop.expand %4 : tensor<3x1x5xf32> -> tensor<3x4x5xf32>
  %6 = uop.div %3, %5 : tensor<3x4x5xf32>
  func.return %6 : tensor<3x4x5xf32>
}

func.func @softmax_2(%x: tensor<3x4x5xf32>) -> tensor<3x4x5xf32> {
  %0 = uop.reduce_axis max %x axes [2] : (tensor<3x4x5xf32>) -> tensor<3x4x1xf32>
  %1 = uop.expand %0 : tensor<3x4x1xf32> -> tensor<3x4x5xf32>
  %2 = uop.sub %x, %1 : tensor<3x4x5xf32>
  %3 = uop.exp %2 : tensor<3x4x5xf32>
  %4 = uop.reduce_axis add %3 axes [2] : (tensor<3x4x5xf32>) -> tensor<3x4x1xf32>
  %5 = uop.expand %4 : tensor<3x4x1xf32> -> tensor<3x4x5xf32>
  %6 = uop.div %3, %5 : tensor<3x4x5xf32>
  func.return %6 : tensor<3x4x5xf32>
}

func.func @softmax_all(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = uop.reduce_axis max %x axes [0, 1] : (tensor<4x5xf32>) -> tensor<1x1xf32>
  %1 = uop.expand %0 : tensor<1x1xf32> -> tensor<4x5xf32>
  %2 = uop.sub %x, %1 : tensor<4x5xf32>
  %3 = uop.exp %2 : tensor<4x5xf32>
  %4 = uop.reduce_axis add %3 axes [0, 1] : (tensor<4x5xf32>) -> tensor<1x1xf32>
  %5 = uop.expand %4 : tensor<1x1xf32> -> tensor<4x5xf32>
  %6 = uop.div %3, %5 : tensor<4x5xf32>
  func.return %6 : tensor<4x5xf32>
}

func.func @rms_norm(%x: tensor<2x3x8xf32>, %w: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %0 = uop.mul %x, %x : tensor<2x3x8xf32>
  %1 = uop.reduce_axis add %0 axes [2] : (tensor<2x3x8xf32>) -> tensor<2x3x1xf32>
  %2 = uop.const 8.0 : f32
  %3 = uop.expand %2 : f32 -> tensor<2x3x1xf32>
  %4 = uop.div %1, %3 : tensor<2x3x1xf32>
  %5 = uop.rsqrt %4 : tensor<2x3x1xf32>
  %6 = uop.expand %5 : tensor<2x3x1xf32> -> tensor<2x3x8xf32>
  %7 = uop.mul %x, %6 : tensor<2x3x8xf32>
  %8 = uop.reshape %w : tensor<8xf32> -> tensor<1x1x8xf32>
  %9 = uop.expand %8 : tensor<1x1x8xf32> -> tensor<2x3x8xf32>
  %10 = uop.mul %7, %9 : tensor<2x3x8xf32>
  func.return %10 : tensor<2x3x8xf32>
}

func.func @layer_norm(%x: tensor<4x3x5xf32>) -> (tensor<4x3x5xf32>, tensor<4x1x1xf32>) {
  %0 = uop.reduce_axis add %x axes [1, 2] : (tensor<4x3x5xf32>) -> tensor<4x1x1xf32>
  %1 = uop.const 15.0 : f32
  %2 = uop.expand %1 : f32 -> tensor<4x1x1xf32>
  %3 = uop.div %0, %2 : tensor<4x1x1xf32>
  %4 = uop.expand %3 : tensor<4x1x1xf32> -> tensor<4x3x5xf32>
  %5 = uop.sub %x, %4 : tensor<4x3x5xf32>
  %6 = uop.mul %5, %5 : tensor<4x3x5xf32>
  %7 = uop.reduce_axis add %6 axes [1, 2] : (tensor<4x3x5xf32>) -> tensor<4x1x1xf32>
  %8 = uop.div %7, %2 : tensor<4x1x1xf32>
  %9 = uop.rsqrt %8 : tensor<4x1x1xf32>
  %10 = uop.expand %9 : tensor<4x1x1xf32> -> tensor<4x3x5xf32>
  %11 = uop.mul %5, %10 : tensor<4x3x5xf32>
  func.return %11, %9 : tensor<4x3x5xf32>, tensor<4x1x1xf32>
}

func.func @norm_linear(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) -> tensor<4x6xf32> {
  %0 = uop.mul %x, %x : tensor<4x8xf32>
  %1 = uop.reduce_axis add %0 axes [1] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %2 = uop.rsqrt %1 : tensor<4x1xf32>
  %3 = uop.expand %2 : tensor<4x1xf32> -> tensor<4x8xf32>
  %4 = uop.mul %x, %3 : tensor<4x8xf32>
  %5 = uop.reshape %4 : tensor<4x8xf32> -> tensor<4x1x8xf32>
  %6 = uop.expand %5 : tensor<4x1x8xf32> -> tensor<4x6x8xf32>
  %7 = uop.reshape %w : tensor<6x8xf32> -> tensor<1x6x8xf32>
  %8 = uop.expand %7 : tensor<1x6x8xf32> -> tensor<4x6x8xf32>
  %9 = uop.mul %6, %8 : tensor<4x6x8xf32>
  %10 = uop.reduce_axis add %9 axes [2] : (tensor<4x6x8xf32>) -> tensor<4x6x1xf32>
  %11 = uop.reshape %10 : tensor<4x6x1xf32> -> tensor<4x6xf32>
  func.return %11 : tensor<4x6xf32>
}

func.func @gram(%x: tensor<4x8xf32>) -> tensor<4x4xf32> {
  %0 = uop.reshape %x : tensor<4x8xf32> -> tensor<4x1x8xf32>
  %1 = uop.expand %0 : tensor<4x1x8xf32> -> tensor<4x4x8xf32>
  %2 = uop.reshape %x : tensor<4x8xf32> -> tensor<1x4x8xf32>
  %3 = uop.expand %2 : tensor<1x4x8xf32> -> tensor<4x4x8xf32>
  %4 = uop.mul %1, %3 : tensor<4x4x8xf32>
  %5 = uop.reduce_axis add %4 axes [2] : (tensor<4x4x8xf32>) -> tensor<4x4x1xf32>
  %6 = uop.reshape %5 : tensor<4x4x1xf32> -> tensor<4x4xf32>
  func.return %6 : tensor<4x4xf32>
}

func.func @attention(%q: tensor<6x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>, %o: tensor<5x8xf32>) -> tensor<6x5xf32> {
  %0 = uop.reshape %q : tensor<6x8xf32> -> tensor<6x2x4xf32>
  %1 = uop.permute %0 order [1, 0, 2] : tensor<6x2x4xf32> -> tensor<2x6x4xf32>
  %2 = uop.reshape %1 : tensor<2x6x4xf32> -> tensor<2x6x1x4xf32>
  %3 = uop.expand %2 : tensor<2x6x1x4xf32> -> tensor<2x6x6x4xf32>
  %4 = uop.reshape %k : tensor<6x8xf32> -> tensor<6x2x4xf32>
  %5 = uop.permute %4 order [1, 0, 2] : tensor<6x2x4xf32> -> tensor<2x6x4xf32>
  %6 = uop.reshape %5 : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %7 = uop.expand %6 : tensor<2x1x6x4xf32> -> tensor<2x6x6x4xf32>
  %8 = uop.mul %3, %7 : tensor<2x6x6x4xf32>
  %9 = uop.reduce_axis add %8 axes [3] : (tensor<2x6x6x4xf32>) -> tensor<2x6x6x1xf32>
  %10 = uop.reshape %9 : tensor<2x6x6x1xf32> -> tensor<2x6x6xf32>
  %i = uop.iota : tensor<6xi32>
  %rows = uop.reshape %i : tensor<6xi32> -> tensor<1x6x1xi32>
  %rows_all = uop.expand %rows : tensor<1x6x1xi32> -> tensor<2x6x6xi32>
  %columns = uop.reshape %i : tensor<6xi32> -> tensor<1x1x6xi32>
  %columns_all = uop.expand %columns : tensor<1x1x6xi32> -> tensor<2x6x6xi32>
  %causal = uop.le %columns_all, %rows_all : tensor<2x6x6xi32>
  %low = uop.const 0xff800000 : f32
  %low_all = uop.expand %low : f32 -> tensor<2x6x6xf32>
  %13 = uop.where %causal, %10, %low_all : tensor<2x6x6xf32>
  %14 = uop.reduce_axis max %13 axes [2] : (tensor<2x6x6xf32>) -> tensor<2x6x1xf32>
  %15 = uop.expand %14 : tensor<2x6x1xf32> -> tensor<2x6x6xf32>
  %16 = uop.sub %13, %15 : tensor<2x6x6xf32>
  %17 = uop.exp %16 : tensor<2x6x6xf32>
  %18 = uop.reduce_axis add %17 axes [2] : (tensor<2x6x6xf32>) -> tensor<2x6x1xf32>
  %19 = uop.expand %18 : tensor<2x6x1xf32> -> tensor<2x6x6xf32>
  %20 = uop.div %17, %19 : tensor<2x6x6xf32>
  %21 = uop.reshape %v : tensor<6x8xf32> -> tensor<6x2x4xf32>
  %22 = uop.permute %21 order [1, 2, 0] : tensor<6x2x4xf32> -> tensor<2x4x6xf32>
  %23 = uop.reshape %22 : tensor<2x4x6xf32> -> tensor<2x1x4x6xf32>
  %24 = uop.expand %23 : tensor<2x1x4x6xf32> -> tensor<2x6x4x6xf32>
  %25 = uop.reshape %20 : tensor<2x6x6xf32> -> tensor<2x6x1x6xf32>
  %26 = uop.expand %25 : tensor<2x6x1x6xf32> -> tensor<2x6x4x6xf32>
  %27 = uop.mul %26, %24 : tensor<2x6x4x6xf32>
  %28 = uop.reduce_axis add %27 axes [3] : (tensor<2x6x4x6xf32>) -> tensor<2x6x4x1xf32>
  %29 = uop.reshape %28 : tensor<2x6x4x1xf32> -> tensor<2x6x4xf32>
  %30 = uop.permute %29 order [1, 0, 2] : tensor<2x6x4xf32> -> tensor<6x2x4xf32>
  %31 = uop.reshape %30 : tensor<6x2x4xf32> -> tensor<6x1x8xf32>
  %32 = uop.expand %31 : tensor<6x1x8xf32> -> tensor<6x5x8xf32>
  %33 = uop.reshape %o : tensor<5x8xf32> -> tensor<1x5x8xf32>
  %34 = uop.expand %33 : tensor<1x5x8xf32> -> tensor<6x5x8xf32>
  %35 = uop.mul %32, %34 : tensor<6x5x8xf32>
  %36 = uop.reduce_axis add %35 axes [2] : (tensor<6x5x8xf32>) -> tensor<6x5x1xf32>
  %37 = uop.reshape %36 : tensor<6x5x1xf32> -> tensor<6x5xf32>
  func.return %37 : tensor<6x5xf32>
}

// The five-point stencil of exp(x), with zeros around it.
func.func @stencil(%x: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %0 = uop.exp %x : tensor<5x6xf32>
  %1 = uop.pad %0 low [1, 1] high [1, 1] : tensor<5x6xf32> -> tensor<7x8xf32>
  %2 = uop.shrink %1 offsets [0, 1] : tensor<7x8xf32> -> tensor<5x6xf32>
  %3 = uop.shrink %1 offsets [2, 1] : tensor<7x8xf32> -> tensor<5x6xf32>
  %4 = uop.shrink %1 offsets [1, 0] : tensor<7x8xf32> -> tensor<5x6xf32>
  %5 = uop.shrink %1 offsets [1, 2] : tensor<7x8xf32> -> tensor<5x6xf32>
  %6 = uop.add %2, %3 : tensor<5x6xf32>
  %7 = uop.add %4, %5 : tensor<5x6xf32>
  %8 = uop.add %6, %7 : tensor<5x6xf32>
  %9 = uop.sub %8, %0 : tensor<5x6xf32>
  func.return %9 : tensor<5x6xf32>
}

// Padding around padding around a computed value: each keeps its zeros.
func.func @pads(%x: tensor<3x2xf32>) -> tensor<9x6xf32> {
  %0 = uop.exp %x : tensor<3x2xf32>
  %1 = uop.pad %0 low [1, 0] high [0, 2] : tensor<3x2xf32> -> tensor<4x4xf32>
  %2 = uop.exp %1 : tensor<4x4xf32>
  %3 = uop.flip %2 axes [0, 1] : tensor<4x4xf32> -> tensor<4x4xf32>
  %4 = uop.pad %3 low [2, 1] high [3, 1] : tensor<4x4xf32> -> tensor<9x6xf32>
  func.return %4 : tensor<9x6xf32>
}

// Padding an input and a broadcast input: the latter's load is in bounds, yet what is padded reads 0.
func.func @pad_inputs(%x: tensor<4x6xf32>, %y: tensor<1x6xf32>) -> tensor<6x8xf32> {
  %0 = uop.pad %x low [1, 2] high [1, 0] : tensor<4x6xf32> -> tensor<6x8xf32>
  %1 = uop.expand %y : tensor<1x6xf32> -> tensor<4x6xf32>
  %2 = uop.pad %1 low [1, 2] high [1, 0] : tensor<4x6xf32> -> tensor<6x8xf32>
  %3 = uop.add %0, %2 : tensor<6x8xf32>
  func.return %3 : tensor<6x8xf32>
}

// A mask reaches past a reshape, a sum and a gather, as far as what it guards.
func.func @pad_through(%x: tensor<6x4xf32>, %i: tensor<6x2xi64>) -> tensor<8x7xf32> {
  %0 = uop.pad %x low [0, 1] high [0, 0] : tensor<6x4xf32> -> tensor<6x5xf32>
  %1 = uop.reduce_axis add %0 axes [1] : (tensor<6x5xf32>) -> tensor<6x1xf32>
  %2 = uop.expand %1 : tensor<6x1xf32> -> tensor<6x2xf32>
  %3 = uop.gather %x, %i axis 1 : (tensor<6x4xf32>, tensor<6x2xi64>) -> tensor<6x2xf32>
  %4 = uop.add %2, %3 : tensor<6x2xf32>
  %5 = uop.pad %4 low [1, 2] high [1, 3] : tensor<6x2xf32> -> tensor<8x7xf32>
  func.return %5 : tensor<8x7xf32>
}

func.func @pad_everything_away(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %0 = uop.pad %x low [4, 0] high [0, 0] : tensor<2x3xf32> -> tensor<6x3xf32>
  %1 = uop.shrink %0 offsets [1, 1] : tensor<6x3xf32> -> tensor<2x2xf32>
  func.return %1 : tensor<2x2xf32>
}

func.func @movement(%x: tensor<4x6xf32>) -> (tensor<3x8xf32>, tensor<2x3xf32>, tensor<6x4xf32>, tensor<2x4x6xf32>) {
  %0 = uop.permute %x order [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %1 = uop.reshape %0 : tensor<6x4xf32> -> tensor<3x8xf32>
  %2 = uop.shrink %x offsets [1, 0] strides [2, 2] : tensor<4x6xf32> -> tensor<2x3xf32>
  %3 = uop.flip %0 axes [0] : tensor<6x4xf32> -> tensor<6x4xf32>
  %4 = uop.reshape %x : tensor<4x6xf32> -> tensor<1x4x6xf32>
  %5 = uop.expand %4 : tensor<1x4x6xf32> -> tensor<2x4x6xf32>
  func.return %1, %2, %3, %5 : tensor<3x8xf32>, tensor<2x3xf32>, tensor<6x4xf32>, tensor<2x4x6xf32>
}

// A repeat: axes are split, repeated and merged, so that one element of the sum serves two of the result.
func.func @repeat(%x: tensor<4x3xf32>) -> tensor<8xf32> {
  %0 = uop.reduce_axis add %x axes [1] : (tensor<4x3xf32>) -> tensor<4x1xf32>
  %1 = uop.expand %0 : tensor<4x1xf32> -> tensor<4x2xf32>
  %2 = uop.reshape %1 : tensor<4x2xf32> -> tensor<8xf32>
  func.return %2 : tensor<8xf32>
}

// The reduced axis merges two axes of the input.
func.func @merged_reduction(%x: tensor<3x4x5xf32>, %w: tensor<2x15xf32>) -> tensor<4x2xf32> {
  %0 = uop.permute %x order [1, 0, 2] : tensor<3x4x5xf32> -> tensor<4x3x5xf32>
  %1 = uop.reshape %0 : tensor<4x3x5xf32> -> tensor<4x1x15xf32>
  %2 = uop.expand %1 : tensor<4x1x15xf32> -> tensor<4x2x15xf32>
  %3 = uop.reshape %w : tensor<2x15xf32> -> tensor<1x2x15xf32>
  %4 = uop.expand %3 : tensor<1x2x15xf32> -> tensor<4x2x15xf32>
  %5 = uop.mul %2, %4 : tensor<4x2x15xf32>
  %6 = uop.reduce_axis add %5 axes [2] : (tensor<4x2x15xf32>) -> tensor<4x2x1xf32>
  %7 = uop.reshape %6 : tensor<4x2x1xf32> -> tensor<4x2xf32>
  func.return %7 : tensor<4x2xf32>
}

func.func @embedding(%table: tensor<9x4xf32>, %tokens: tensor<5xi64>) -> tensor<5x4xf32> {
  %0 = uop.reshape %tokens : tensor<5xi64> -> tensor<5x1xi64>
  %1 = uop.expand %0 : tensor<5x1xi64> -> tensor<5x4xi64>
  %2 = uop.gather %table, %1 axis 0 : (tensor<9x4xf32>, tensor<5x4xi64>) -> tensor<5x4xf32>
  %3 = uop.reduce_axis add %2 axes [1] : (tensor<5x4xf32>) -> tensor<5x1xf32>
  %4 = uop.expand %3 : tensor<5x1xf32> -> tensor<5x4xf32>
  %5 = uop.sub %2, %4 : tensor<5x4xf32>
  func.return %5 : tensor<5x4xf32>
}

// A gather of a gather, from a computed value, along the last axis, through a flip and a reshape.
func.func @gathers(%x: tensor<3x6xf32>, %i: tensor<3x6xi64>) -> tensor<3x6xf32> {
  %0 = uop.exp %x : tensor<3x6xf32>
  %1 = uop.flip %0 axes [1] : tensor<3x6xf32> -> tensor<3x6xf32>
  %2 = uop.gather %1, %i axis 1 : (tensor<3x6xf32>, tensor<3x6xi64>) -> tensor<3x6xf32>
  %3 = uop.flip %i axes [0] : tensor<3x6xi64> -> tensor<3x6xi64>
  %4 = uop.gather %2, %3 axis 1 : (tensor<3x6xf32>, tensor<3x6xi64>) -> tensor<3x6xf32>
  func.return %4 : tensor<3x6xf32>
}

func.func @sums(%x: tensor<3x4x5xf32>) -> (tensor<3x1x1xf32>, tensor<f32>, tensor<1x4x1xf32>) {
  %0 = uop.reduce_axis add %x axes [1, 2] : (tensor<3x4x5xf32>) -> tensor<3x1x1xf32>
  %1 = uop.reduce_axis add %x axes [0, 1, 2] : (tensor<3x4x5xf32>) -> tensor<1x1x1xf32>
  %2 = uop.reshape %1 : tensor<1x1x1xf32> -> tensor<f32>
  %3 = uop.reduce_axis max %x axes [0, 2] : (tensor<3x4x5xf32>) -> tensor<1x4x1xf32>
  func.return %0, %2, %3 : tensor<3x1x1xf32>, tensor<f32>, tensor<1x4x1xf32>
}

// A sum of sums, and a sum that depends on another's axis.
func.func @sum_of_sums(%x: tensor<3x4x5xf32>, %y: tensor<3x4xf32>) -> tensor<3xf32> {
  %0 = uop.reduce_axis max %x axes [2] : (tensor<3x4x5xf32>) -> tensor<3x4x1xf32>
  %1 = uop.reshape %0 : tensor<3x4x1xf32> -> tensor<3x4xf32>
  %2 = uop.mul %1, %y : tensor<3x4xf32>
  %3 = uop.reduce_axis add %2 axes [1] : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %4 = uop.reshape %3 : tensor<3x1xf32> -> tensor<3xf32>
  func.return %4 : tensor<3xf32>
}

// One sum read at two places.
func.func @outer(%x: tensor<4x5xf32>) -> tensor<4x4xf32> {
  %0 = uop.reduce_axis add %x axes [1] : (tensor<4x5xf32>) -> tensor<4x1xf32>
  %1 = uop.expand %0 : tensor<4x1xf32> -> tensor<4x4xf32>
  %2 = uop.permute %1 order [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %3 = uop.sub %1, %2 : tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// Rows and columns of one square: the two reductions want each other's loops.
func.func @rows_and_columns(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = uop.reduce_axis add %x axes [0] : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %1 = uop.expand %0 : tensor<1x4xf32> -> tensor<4x4xf32>
  %2 = uop.reduce_axis max %x axes [1] : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %3 = uop.expand %2 : tensor<4x1xf32> -> tensor<4x4xf32>
  %4 = uop.sub %1, %3 : tensor<4x4xf32>
  %5 = uop.permute %x order [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %6 = uop.mul %4, %5 : tensor<4x4xf32>
  func.return %6 : tensor<4x4xf32>
}

func.func @argmax(%x: tensor<3x4x5xf32>) -> (tensor<3x1x1xf32>, tensor<3xi64>) {
  %0 = uop.iota : tensor<20xi64>
  %1 = uop.reshape %0 : tensor<20xi64> -> tensor<1x4x5xi64>
  %2 = uop.expand %1 : tensor<1x4x5xi64> -> tensor<3x4x5xi64>
  %3, %4 = uop.reduce_axis argmax %x, %2 axes [1, 2] : (tensor<3x4x5xf32>, tensor<3x4x5xi64>) -> (tensor<3x1x1xf32>, tensor<3x1x1xi64>)
  %5 = uop.reshape %4 : tensor<3x1x1xi64> -> tensor<3xi64>
  func.return %3, %5 : tensor<3x1x1xf32>, tensor<3xi64>
}

func.func @casts(%x: tensor<4x3xf16>, %y: tensor<4x3xbf16>, %i: tensor<4x3xi32>) -> (tensor<4x1xf16>, tensor<4x3xbf16>, tensor<4x3xf32>, tensor<4x3xi1>) {
  %0 = uop.cast %x : tensor<4x3xf16> -> tensor<4x3xf32>
  %1 = uop.reduce_axis add %0 axes [1] : (tensor<4x3xf32>) -> tensor<4x1xf32>
  %2 = uop.cast %1 : tensor<4x1xf32> -> tensor<4x1xf16>
  %3 = uop.mul %y, %y : tensor<4x3xbf16>
  %4 = uop.bitcast %i : tensor<4x3xi32> -> tensor<4x3xf32>
  %5 = uop.const 1 : i32
  %6 = uop.expand %5 : i32 -> tensor<4x3xi32>
  %7 = uop.gt %i, %6 : tensor<4x3xi32>
  func.return %2, %3, %4, %7 : tensor<4x1xf16>, tensor<4x3xbf16>, tensor<4x3xf32>, tensor<4x3xi1>
}

// Extents of 0 and 1: a sum of nothing is 0, a maximum of nothing is −∞, a result without elements is still written.
func.func @degenerate(%empty: tensor<3x0xf32>, %one: tensor<1x1xf32>) -> (tensor<3x1xf32>, tensor<3x1xf32>, tensor<0x3xf32>, tensor<1x1xf32>, tensor<0xf32>) {
  %0 = uop.reduce_axis add %empty axes [1] : (tensor<3x0xf32>) -> tensor<3x1xf32>
  %1 = uop.reduce_axis max %empty axes [1] : (tensor<3x0xf32>) -> tensor<3x1xf32>
  %2 = uop.permute %empty order [1, 0] : tensor<3x0xf32> -> tensor<0x3xf32>
  %3 = uop.exp %one : tensor<1x1xf32>
  %4 = uop.reduce_axis add %3 axes [0, 1] : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %5 = uop.reshape %empty : tensor<3x0xf32> -> tensor<0xf32>
  %6 = uop.exp %5 : tensor<0xf32>
  func.return %0, %1, %2, %4, %6 : tensor<3x1xf32>, tensor<3x1xf32>, tensor<0x3xf32>, tensor<1x1xf32>, tensor<0xf32>
}

func.func @constants() -> (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) {
  %0 = uop.const 1.5 : f32
  %1 = uop.expand %0 : f32 -> tensor<2x3xf32>
  %2 = uop.iota : tensor<4xi64>
  %3 = uop.expand %0 : f32 -> tensor<f32>
  func.return %1, %2, %3 : tensor<2x3xf32>, tensor<4xi64>, tensor<f32>
}

func.func @nothing(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<6xf32>) {
  %0 = uop.reshape %x : tensor<2x3xf32> -> tensor<6xf32>
  func.return %x, %0 : tensor<2x3xf32>, tensor<6xf32>
}

// A value that several kernels need, cheap and dear to compute again.
func.func @residual(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>, %d: tensor<4x4xf32>) -> (tensor<4x1xf32>, tensor<1x4xf32>, tensor<4x4xf32>) {
  %0 = uop.add %a, %b : tensor<4x4xf32>
  %1 = uop.reduce_axis add %0 axes [1] : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %2 = uop.add %0, %c : tensor<4x4xf32>
  %3 = uop.add %2, %d : tensor<4x4xf32>
  %4 = uop.reduce_axis max %3 axes [0] : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %5 = uop.mul %3, %3 : tensor<4x4xf32>
  func.return %1, %4, %5 : tensor<4x1xf32>, tensor<1x4xf32>, tensor<4x4xf32>
}
