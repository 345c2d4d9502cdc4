// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-fuse-deviations)' --split-input-file | filecheck %s
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-fuse-deviations{row=99})' --split-input-file | filecheck %s --check-prefix ROW

// A variance of rows that do not fit in registers: mean and squared deviations in one walk. The mean, rounded, is put
// right by the deviations from it; where they are NaN it may be infinite.
// CHECK-LABEL: func.func @layer_norm
// CHECK:         %[[ONE:.*]] = uop.const 1.000000e+00 : f32
// CHECK:         %[[ONES:.*]] = uop.expand %[[ONE]] : f32 -> tensor<4x40000xf32>
// CHECK:         %[[ZERO:.*]] = uop.const -0.000000e+00 : f32
// CHECK:         %[[ZEROS:.*]] = uop.expand %[[ZERO]] : f32 -> tensor<4x40000xf32>
// CHECK:         %{{.*}}, %[[POINT:.*]], %[[REST:.*]], %[[SQUARES:.*]] = uop.reduce_axis welford %[[ONES]], %x, %[[ZEROS]], %[[ZEROS]] axes [1]
// CHECK:         %[[SHARE:.*]] = uop.mul %[[REST]], %{{.*}} : tensor<4x1xf32>
// CHECK-NEXT:    %[[IS_NAN:.*]] = uop.isnan %[[REST]] : tensor<4x1xf32>
// CHECK-NEXT:    %[[SUM:.*]] = uop.add %[[POINT]], %[[SHARE]] : tensor<4x1xf32>
// CHECK-NEXT:    %[[MEAN:.*]] = uop.where %[[IS_NAN]], %[[POINT]], %[[SUM]] : tensor<4x1xf32>
// CHECK-NOT:     uop.reduce_axis
// CHECK:         %[[MEANS:.*]] = uop.expand %[[MEAN]] : tensor<4x1xf32> -> tensor<4x40000xf32>
// CHECK:         uop.sub %x, %[[MEANS]] : tensor<4x40000xf32>
// CHECK:         %[[EXCESS:.*]] = uop.mul %[[REST]], %[[SHARE]] : tensor<4x1xf32>
// CHECK:         %[[RIGHT:.*]] = uop.sub %[[SQUARES]], %[[EXCESS]] : tensor<4x1xf32>
// CHECK:         %[[POSITIVE:.*]] = uop.max %[[RIGHT]], %{{.*}} : tensor<4x1xf32>
// CHECK:         uop.div %[[POSITIVE]], %{{.*}} : tensor<4x1xf32>
func.func @layer_norm(%x: tensor<4x40000xf32>) -> tensor<4x40000xf32> {
  %n = uop.const 40000.0 : f32
  %count = uop.expand %n : f32 -> tensor<4x1xf32>
  %sum = uop.reduce_axis add %x axes [1] : (tensor<4x40000xf32>) -> tensor<4x1xf32>
  %mean = uop.div %sum, %count : tensor<4x1xf32>
  %means = uop.expand %mean : tensor<4x1xf32> -> tensor<4x40000xf32>
  %d = uop.sub %x, %means : tensor<4x40000xf32>
  %square = uop.mul %d, %d : tensor<4x40000xf32>
  %squares = uop.reduce_axis add %square axes [1] : (tensor<4x40000xf32>) -> tensor<4x1xf32>
  %variance = uop.div %squares, %count : tensor<4x1xf32>
  %scale = uop.rsqrt %variance : tensor<4x1xf32>
  %scales = uop.expand %scale : tensor<4x1xf32> -> tensor<4x40000xf32>
  %result = uop.mul %d, %scales : tensor<4x40000xf32>
  func.return %result : tensor<4x40000xf32>
}

// -----

// Rows that fit are read once and held; but for columns there are fewer threads.
// CHECK-LABEL: func.func @short
// CHECK-NOT:     welford
// ROW-LABEL:   func.func @short
// ROW:           uop.reduce_axis welford
// ROW-NOT:       uop.reduce_axis
func.func @short(%x: tensor<4x100xf64>) -> tensor<4x1xf64> {
  %n = uop.const 100.0 : f64
  %count = uop.expand %n : f64 -> tensor<4x1xf64>
  %sum = uop.reduce_axis add %x axes [1] : (tensor<4x100xf64>) -> tensor<4x1xf64>
  %mean = uop.div %sum, %count : tensor<4x1xf64>
  %means = uop.expand %mean : tensor<4x1xf64> -> tensor<4x100xf64>
  %d = uop.sub %x, %means : tensor<4x100xf64>
  %square = uop.mul %d, %d : tensor<4x100xf64>
  %squares = uop.reduce_axis add %square axes [1] : (tensor<4x100xf64>) -> tensor<4x1xf64>
  func.return %squares : tensor<4x1xf64>
}

// -----

// Of 128 elements the mean is a product, with the inverse of their number.
// CHECK-LABEL: func.func @columns
// ROW-LABEL:   func.func @columns
// CHECK:         uop.reduce_axis welford
// CHECK:         %[[MEAN:.*]] = uop.where
// CHECK-NEXT:    uop.expand %[[MEAN]]
// CHECK-NOT:     uop.reduce_axis
// CHECK:         %[[SQUARES:.*]] = uop.max
// CHECK-NEXT:    func.return %{{.*}}, %[[SQUARES]]
func.func @columns(%x: tensor<128x4xf32>) -> (tensor<128x4xf32>, tensor<1x4xf32>) {
  %n = uop.const 0.0078125 : f32
  %inverse = uop.expand %n : f32 -> tensor<1x4xf32>
  %sum = uop.reduce_axis add %x axes [0] : (tensor<128x4xf32>) -> tensor<1x4xf32>
  %mean = uop.mul %sum, %inverse : tensor<1x4xf32>
  %means = uop.expand %mean : tensor<1x4xf32> -> tensor<128x4xf32>
  %d = uop.sub %x, %means : tensor<128x4xf32>
  %square = uop.mul %d, %d : tensor<128x4xf32>
  %squares = uop.reduce_axis add %square axes [0] : (tensor<128x4xf32>) -> tensor<1x4xf32>
  func.return %d, %squares : tensor<128x4xf32>, tensor<1x4xf32>
}

// -----

// The mean is a result of its own, which takes a launch more: it pays where much is read.
// CHECK-LABEL: func.func @mean_of_few
// CHECK-NOT:     welford
func.func @mean_of_few(%x: tensor<128x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %n = uop.const 0.0078125 : f32
  %inverse = uop.expand %n : f32 -> tensor<1x4xf32>
  %sum = uop.reduce_axis add %x axes [0] : (tensor<128x4xf32>) -> tensor<1x4xf32>
  %mean = uop.mul %sum, %inverse : tensor<1x4xf32>
  %means = uop.expand %mean : tensor<1x4xf32> -> tensor<128x4xf32>
  %d = uop.sub %x, %means : tensor<128x4xf32>
  %square = uop.mul %d, %d : tensor<128x4xf32>
  %squares = uop.reduce_axis add %square axes [0] : (tensor<128x4xf32>) -> tensor<1x4xf32>
  func.return %mean, %squares : tensor<1x4xf32>, tensor<1x4xf32>
}

// -----

// CHECK-LABEL: func.func @mean_of_many
// CHECK:         uop.reduce_axis welford
func.func @mean_of_many(%x: tensor<1024x1024xf32>) -> (tensor<1x1024xf32>, tensor<1x1024xf32>) {
  %n = uop.const 0.0009765625 : f32
  %inverse = uop.expand %n : f32 -> tensor<1x1024xf32>
  %sum = uop.reduce_axis add %x axes [0] : (tensor<1024x1024xf32>) -> tensor<1x1024xf32>
  %mean = uop.mul %sum, %inverse : tensor<1x1024xf32>
  %means = uop.expand %mean : tensor<1x1024xf32> -> tensor<1024x1024xf32>
  %d = uop.sub %x, %means : tensor<1024x1024xf32>
  %square = uop.mul %d, %d : tensor<1024x1024xf32>
  %squares = uop.reduce_axis add %square axes [0] : (tensor<1024x1024xf32>) -> tensor<1x1024xf32>
  func.return %mean, %squares : tensor<1x1024xf32>, tensor<1x1024xf32>
}

// -----

// Left alone: deviations from data; from a sum, of these or other elements; products of two deviations; sums in f16.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     welford
func.func @others(%x: tensor<500x4xf32>, %y: tensor<500x4xf32>, %point: tensor<1x4xf32>)
    -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf16>) {
  %points = uop.expand %point : tensor<1x4xf32> -> tensor<500x4xf32>
  %d0 = uop.sub %x, %points : tensor<500x4xf32>
  %square0 = uop.mul %d0, %d0 : tensor<500x4xf32>
  %0 = uop.reduce_axis add %square0 axes [0] : (tensor<500x4xf32>) -> tensor<1x4xf32>
  %sum_y = uop.reduce_axis add %y axes [0] : (tensor<500x4xf32>) -> tensor<1x4xf32>
  %sums_y = uop.expand %sum_y : tensor<1x4xf32> -> tensor<500x4xf32>
  %d1 = uop.sub %x, %sums_y : tensor<500x4xf32>
  %square1 = uop.mul %d1, %d1 : tensor<500x4xf32>
  %1 = uop.reduce_axis add %square1 axes [0] : (tensor<500x4xf32>) -> tensor<1x4xf32>
  %d2 = uop.sub %y, %sums_y : tensor<500x4xf32>
  %product = uop.mul %d1, %d2 : tensor<500x4xf32>
  %2 = uop.reduce_axis add %product axes [0] : (tensor<500x4xf32>) -> tensor<1x4xf32>
  %h = uop.cast %x : tensor<500x4xf32> -> tensor<500x4xf16>
  %sum_h = uop.reduce_axis add %h axes [0] : (tensor<500x4xf16>) -> tensor<1x4xf16>
  %sums_h = uop.expand %sum_h : tensor<1x4xf16> -> tensor<500x4xf16>
  %d3 = uop.sub %h, %sums_h : tensor<500x4xf16>
  %square3 = uop.mul %d3, %d3 : tensor<500x4xf16>
  %3 = uop.reduce_axis add %square3 axes [0] : (tensor<500x4xf16>) -> tensor<1x4xf16>
  func.return %0, %1, %2, %3 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf16>
}
