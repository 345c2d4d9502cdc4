// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-split-reduce{blocks=8 part=4})' --split-input-file | filecheck %s
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-split-reduce)' --split-input-file | filecheck %s --check-prefix=DEFAULT

// 30 elements over neighbouring axes are four parts of 8, the last of which is padded.
func.func @sums(%x: tensor<5x6xf32>) -> tensor<1x1xf32> {
  %0 = uop.reduce_axis add %x axes [0, 1] : (tensor<5x6xf32>) -> tensor<1x1xf32>
  func.return %0 : tensor<1x1xf32>
}
// CHECK-LABEL: func.func @sums
// CHECK:         %[[FLAT:.*]] = uop.reshape %x : tensor<5x6xf32> -> tensor<30xf32>
// CHECK-NEXT:    %[[PADDED:.*]] = uop.pad %[[FLAT]] low [0] high [2] : tensor<30xf32> -> tensor<32xf32>
// CHECK-NEXT:    %[[PARTS:.*]] = uop.reshape %[[PADDED]] : tensor<32xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %[[PARTIAL:.*]] = uop.reduce_axis add %[[PARTS]] axes [1] : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %[[TOTAL:.*]] = uop.reduce_axis add %[[PARTIAL]] axes [0] : (tensor<4x1xf32>) -> tensor<1x1xf32>
// CHECK-NEXT:    func.return %[[TOTAL]]
// DEFAULT-LABEL: func.func @sums
// DEFAULT-NEXT:    uop.reduce_axis add %x axes [0, 1]
// DEFAULT-NEXT:    func.return

// -----

// What is padded is the monoid's identity; values and their places are padded alike. Two rows: at most four
// blocks each; parts of ragged rows are whole sectors.
func.func @places(%x: tensor<2x23xf32>) -> tensor<2x1xi64> {
  %places = uop.iota : tensor<23xi64>
  %row = uop.reshape %places : tensor<23xi64> -> tensor<1x23xi64>
  %wide = uop.expand %row : tensor<1x23xi64> -> tensor<2x23xi64>
  %0, %1 = uop.reduce_axis argmax %x, %wide axes [1] : (tensor<2x23xf32>, tensor<2x23xi64>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
  func.return %1 : tensor<2x1xi64>
}
// CHECK-LABEL: func.func @places
// CHECK:         uop.pad %x low [0, 0] high [0, 1] : tensor<2x23xf32> -> tensor<2x24xf32>
// CHECK:         uop.const 0xff800000 : f32
// CHECK:         uop.where
// CHECK:         uop.const 9223372036854775807 : i64
// CHECK:         uop.reduce_axis argmax %{{.*}}, %{{.*}} axes [2] : (tensor<2x3x8xf32>, tensor<2x3x8xi64>)
// CHECK:         uop.reduce_axis argmax %{{.*}}, %{{.*}} axes [1] : (tensor<2x3x1xf32>, tensor<2x3x1xi64>)

// -----

// Columns side by side are one block; an axis that lies apart is reduced with the parts.
func.func @columns(%x: tensor<2x3x64xf32>, %y: tensor<16x5xf32>) -> (tensor<1x3x1xf32>, tensor<1x5xf32>) {
  %0 = uop.reduce_axis max %x axes [0, 2] : (tensor<2x3x64xf32>) -> tensor<1x3x1xf32>
  %1 = uop.reduce_axis add %y axes [0] : (tensor<16x5xf32>) -> tensor<1x5xf32>
  func.return %0, %1 : tensor<1x3x1xf32>, tensor<1x5xf32>
}
// CHECK-LABEL: func.func @columns
// CHECK:         uop.reduce_axis max %{{.*}} axes [0, 3] : (tensor<2x3x2x32xf32>) -> tensor<1x3x2x1xf32>
// CHECK-NEXT:    uop.reduce_axis max %{{.*}} axes [2] : (tensor<1x3x2x1xf32>) -> tensor<1x3x1x1xf32>
// CHECK:         uop.reduce_axis add %{{.*}} axes [1] : (tensor<8x2x5xf32>) -> tensor<8x1x5xf32>
// CHECK-NEXT:    uop.reduce_axis add %{{.*}} axes [0] : (tensor<8x1x5xf32>) -> tensor<1x1x5xf32>

// -----

// Left alone: enough rows, short rows, a contraction.
func.func @rows(%x: tensor<8x64xf32>, %y: tensor<2x7xf32>) -> (tensor<8x1xf32>, tensor<2x1xf32>) {
  %0 = uop.reduce_axis add %x axes [1] : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %1 = uop.reduce_axis add %y axes [1] : (tensor<2x7xf32>) -> tensor<2x1xf32>
  func.return %0, %1 : tensor<8x1xf32>, tensor<2x1xf32>
}
func.func @contraction(%x: tensor<1x64xf32>, %w: tensor<2x64xf32>) -> tensor<2x1xf32> {
  %0 = uop.expand %x : tensor<1x64xf32> -> tensor<2x64xf32>
  %1 = uop.mul %0, %w : tensor<2x64xf32>
  %2 = uop.reduce_axis add %1 axes [1] : (tensor<2x64xf32>) -> tensor<2x1xf32>
  func.return %2 : tensor<2x1xf32>
}
// CHECK-LABEL: func.func @rows
// CHECK-NEXT:    uop.reduce_axis add %x axes [1]
// CHECK-NEXT:    uop.reduce_axis add %y axes [1]
// CHECK-LABEL: func.func @contraction
// CHECK-NEXT:    uop.expand
// CHECK-NEXT:    uop.mul
// CHECK-NEXT:    uop.reduce_axis add %{{.*}} axes [1] : (tensor<2x64xf32>)

// -----

// Rows that are needed again with the result stay whole where there are many, and are split where there are few.
func.func @norms(%x: tensor<17x65536xf32>, %y: tensor<2x65536xf32>) -> (tensor<17x65536xf32>, tensor<2x65536xf32>) {
  %0 = uop.reduce_axis max %x axes [1] : (tensor<17x65536xf32>) -> tensor<17x1xf32>
  %1 = uop.expand %0 : tensor<17x1xf32> -> tensor<17x65536xf32>
  %2 = uop.sub %x, %1 : tensor<17x65536xf32>
  %3 = uop.reduce_axis max %y axes [1] : (tensor<2x65536xf32>) -> tensor<2x1xf32>
  %4 = uop.expand %3 : tensor<2x1xf32> -> tensor<2x65536xf32>
  %5 = uop.sub %y, %4 : tensor<2x65536xf32>
  func.return %2, %5 : tensor<17x65536xf32>, tensor<2x65536xf32>
}
// DEFAULT-LABEL: func.func @norms
// DEFAULT-NEXT:    uop.reduce_axis max %x axes [1] : (tensor<17x65536xf32>) -> tensor<17x1xf32>
// DEFAULT:         uop.reduce_axis max %{{.*}} axes [2] : (tensor<2x16x4096xf32>) -> tensor<2x16x1xf32>

// -----

// A product of few tiles and many terms: each part is a product, and the parts of the whole result lie one behind the other.
func.func @product(%x: tensor<100x4096xf32>, %w: tensor<72x4096xf32>) -> tensor<100x72x1xf32> {
  %0 = uop.reshape %x : tensor<100x4096xf32> -> tensor<100x1x4096xf32>
  %1 = uop.expand %0 : tensor<100x1x4096xf32> -> tensor<100x72x4096xf32>
  %2 = uop.reshape %w : tensor<72x4096xf32> -> tensor<1x72x4096xf32>
  %3 = uop.expand %2 : tensor<1x72x4096xf32> -> tensor<100x72x4096xf32>
  %4 = uop.mul %1, %3 : tensor<100x72x4096xf32>
  %5 = uop.reduce_axis add %4 axes [2] : (tensor<100x72x4096xf32>) -> tensor<100x72x1xf32>
  func.return %5 : tensor<100x72x1xf32>
}
// DEFAULT-LABEL: func.func @product(
// DEFAULT:         %[[P:.*]] = uop.mul
// DEFAULT-NEXT:    %[[PARTS:.*]] = uop.reshape %[[P]] : tensor<100x72x4096xf32> -> tensor<100x72x8x512xf32>
// DEFAULT-NEXT:    %[[SUMS:.*]] = uop.reduce_axis add %[[PARTS]] axes [3] : (tensor<100x72x8x512xf32>) -> tensor<100x72x8x1xf32>
// DEFAULT-NEXT:    %[[FLAT:.*]] = uop.reshape %[[SUMS]] : tensor<100x72x8x1xf32> -> tensor<100x72x8xf32>
// DEFAULT-NEXT:    %[[FIRST:.*]] = uop.permute %[[FLAT]] order [2, 0, 1] : tensor<100x72x8xf32> -> tensor<8x100x72xf32>
// DEFAULT-NEXT:    uop.reduce_axis add %[[FIRST]] axes [0] : (tensor<8x100x72xf32>) -> tensor<1x100x72xf32>

// -----

// Tiles enough; parts that would be ragged; too short; fewer rows than a tile, which other means serve.
func.func @tiles(%x: tensor<512x8192xf32>, %w: tensor<512x8192xf32>) -> tensor<512x512x1xf32> {
  %0 = uop.reshape %x : tensor<512x8192xf32> -> tensor<512x1x8192xf32>
  %1 = uop.expand %0 : tensor<512x1x8192xf32> -> tensor<512x512x8192xf32>
  %2 = uop.reshape %w : tensor<512x8192xf32> -> tensor<1x512x8192xf32>
  %3 = uop.expand %2 : tensor<1x512x8192xf32> -> tensor<512x512x8192xf32>
  %4 = uop.mul %1, %3 : tensor<512x512x8192xf32>
  %5 = uop.reduce_axis add %4 axes [2] : (tensor<512x512x8192xf32>) -> tensor<512x512x1xf32>
  func.return %5 : tensor<512x512x1xf32>
}
// DEFAULT-LABEL: func.func @tiles(
// DEFAULT-NOT:     permute
func.func @ragged(%x: tensor<128x4099xf32>, %w: tensor<64x4099xf32>) -> tensor<128x64x1xf32> {
  %0 = uop.reshape %x : tensor<128x4099xf32> -> tensor<128x1x4099xf32>
  %1 = uop.expand %0 : tensor<128x1x4099xf32> -> tensor<128x64x4099xf32>
  %2 = uop.reshape %w : tensor<64x4099xf32> -> tensor<1x64x4099xf32>
  %3 = uop.expand %2 : tensor<1x64x4099xf32> -> tensor<128x64x4099xf32>
  %4 = uop.mul %1, %3 : tensor<128x64x4099xf32>
  %5 = uop.reduce_axis add %4 axes [2] : (tensor<128x64x4099xf32>) -> tensor<128x64x1xf32>
  func.return %5 : tensor<128x64x1xf32>
}
// DEFAULT-LABEL: func.func @ragged(
// DEFAULT-NOT:     permute
func.func @short(%x: tensor<64x512xf32>, %w: tensor<64x512xf32>) -> tensor<64x64x1xf32> {
  %0 = uop.reshape %x : tensor<64x512xf32> -> tensor<64x1x512xf32>
  %1 = uop.expand %0 : tensor<64x1x512xf32> -> tensor<64x64x512xf32>
  %2 = uop.reshape %w : tensor<64x512xf32> -> tensor<1x64x512xf32>
  %3 = uop.expand %2 : tensor<1x64x512xf32> -> tensor<64x64x512xf32>
  %4 = uop.mul %1, %3 : tensor<64x64x512xf32>
  %5 = uop.reduce_axis add %4 axes [2] : (tensor<64x64x512xf32>) -> tensor<64x64x1xf32>
  func.return %5 : tensor<64x64x1xf32>
}
// DEFAULT-LABEL: func.func @short(
// DEFAULT-NOT:     permute
func.func @thin(%x: tensor<8x8192xf32>, %w: tensor<64x8192xf32>) -> tensor<8x64x1xf32> {
  %0 = uop.reshape %x : tensor<8x8192xf32> -> tensor<8x1x8192xf32>
  %1 = uop.expand %0 : tensor<8x1x8192xf32> -> tensor<8x64x8192xf32>
  %2 = uop.reshape %w : tensor<64x8192xf32> -> tensor<1x64x8192xf32>
  %3 = uop.expand %2 : tensor<1x64x8192xf32> -> tensor<8x64x8192xf32>
  %4 = uop.mul %1, %3 : tensor<8x64x8192xf32>
  %5 = uop.reduce_axis add %4 axes [2] : (tensor<8x64x8192xf32>) -> tensor<8x64x1xf32>
  func.return %5 : tensor<8x64x1xf32>
}
// DEFAULT-LABEL: func.func @thin(
// DEFAULT-NOT:     permute

// -----

// One query of many keys: the maximum, the sum of exponentials and that of values stay whole, to become one pass.
// CHECK-LABEL: func.func @attention
// CHECK:         uop.reduce_axis add %{{.*}} axes [1] : (tensor<65536x8xf32>) -> tensor<65536x1xf32>
// CHECK:         uop.reduce_axis max %{{.*}} axes [0] : (tensor<65536xf32>) -> tensor<1xf32>
// CHECK:         uop.reduce_axis add %{{.*}} axes [0] : (tensor<65536xf32>) -> tensor<1xf32>
// CHECK:         uop.reduce_axis add %{{.*}} axes [0] : (tensor<65536x8xf32>) -> tensor<1x8xf32>
// CHECK-NOT:     uop.reduce_axis
func.func @attention(%x: tensor<65536x8xf32>, %v: tensor<65536x8xf32>) -> tensor<1x8xf32> {
  %0 = uop.reduce_axis add %x axes [1] : (tensor<65536x8xf32>) -> tensor<65536x1xf32>
  %1 = uop.reshape %0 : tensor<65536x1xf32> -> tensor<65536xf32>
  %2 = uop.reduce_axis max %1 axes [0] : (tensor<65536xf32>) -> tensor<1xf32>
  %3 = uop.expand %2 : tensor<1xf32> -> tensor<65536xf32>
  %4 = uop.sub %1, %3 : tensor<65536xf32>
  %5 = uop.exp %4 : tensor<65536xf32>
  %6 = uop.reduce_axis add %5 axes [0] : (tensor<65536xf32>) -> tensor<1xf32>
  %7 = uop.expand %6 : tensor<1xf32> -> tensor<65536xf32>
  %8 = uop.div %5, %7 : tensor<65536xf32>
  %9 = uop.reshape %8 : tensor<65536xf32> -> tensor<65536x1xf32>
  %10 = uop.expand %9 : tensor<65536x1xf32> -> tensor<65536x8xf32>
  %11 = uop.mul %10, %v : tensor<65536x8xf32>
  %12 = uop.reduce_axis add %11 axes [0] : (tensor<65536x8xf32>) -> tensor<1x8xf32>
  func.return %12 : tensor<1x8xf32>
}
