// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-rangeify)' --split-input-file --verify-diagnostics | filecheck %s

// Movement becomes index arithmetic: no op of it is left. The reduction binds %k.
uop.kernel @matmul(%x: tensor<16x64xf32>, %bias: tensor<64xf32>, %w: tensor<64x16xf32>) -> (tensor<16x16xf32>) {
  %0 = uop.reshape %bias : tensor<64xf32> -> tensor<1x64xf32>
  %1 = uop.expand %0 : tensor<1x64xf32> -> tensor<16x64xf32>
  %2 = uop.add %x, %1 : tensor<16x64xf32>
  %3 = uop.reshape %2 : tensor<16x64xf32> -> tensor<16x1x64xf32>
  %4 = uop.expand %3 : tensor<16x1x64xf32> -> tensor<16x16x64xf32>
  %5 = uop.permute %w order [1, 0] : tensor<64x16xf32> -> tensor<16x64xf32>
  %6 = uop.reshape %5 : tensor<16x64xf32> -> tensor<1x16x64xf32>
  %7 = uop.expand %6 : tensor<1x16x64xf32> -> tensor<16x16x64xf32>
  %8 = uop.mul %4, %7 : tensor<16x16x64xf32>
  %9 = uop.reduce_axis add %8 axes [2] : (tensor<16x16x64xf32>) -> tensor<16x16x1xf32>
  %10 = uop.reshape %9 : tensor<16x16x1xf32> -> tensor<16x16xf32>
  uop.yield %10 : tensor<16x16xf32>
}
// CHECK-LABEL: uop.kernel @matmul(%out: memref<16x16xf32>, %x: memref<16x64xf32>, %bias: memref<64xf32>, %w: memref<64x16xf32>) {
// CHECK-NEXT:    %i = uop.range i = 16
// CHECK-NEXT:    %j = uop.range j = 16
// CHECK-NEXT:    %k = uop.range k = 64
// CHECK-NEXT:    %[[X:.*]] = uop.load %x[%i, %k] : memref<16x64xf32>
// CHECK-NEXT:    %[[B:.*]] = uop.load %bias[%k] : memref<64xf32>
// CHECK-NEXT:    %[[S:.*]] = uop.add %[[X]], %[[B]] : f32
// CHECK-NEXT:    %[[W:.*]] = uop.load %w[%k, %j] : memref<64x16xf32>
// CHECK-NEXT:    %[[P:.*]] = uop.mul %[[S]], %[[W]] : f32
// CHECK-NEXT:    %[[R:.*]] = uop.reduce add %[[P]] over %k : f32
// CHECK-NEXT:    uop.store %[[R]], %out[%i, %j] : memref<16x16xf32>
// CHECK-NEXT:  }

// -----

// One range serves the maximum, the sum and the store; the load and the exponential are shared.
uop.kernel @softmax(%x: tensor<64x1000xf32>) -> (tensor<64x1000xf32>) {
  %0 = uop.reduce_axis max %x axes [1] : (tensor<64x1000xf32>) -> tensor<64x1xf32>
  %1 = uop.expand %0 : tensor<64x1xf32> -> tensor<64x1000xf32>
  %2 = uop.sub %x, %1 : tensor<64x1000xf32>
  %3 = uop.exp %2 : tensor<64x1000xf32>
  %4 = uop.reduce_axis add %3 axes [1] : (tensor<64x1000xf32>) -> tensor<64x1xf32>
  %5 = uop.expand %4 : tensor<64x1xf32> -> tensor<64x1000xf32>
  %6 = uop.div %3, %5 : tensor<64x1000xf32>
  uop.yield %6 : tensor<64x1000xf32>
}
// CHECK-LABEL: uop.kernel @softmax
// CHECK:         %j = uop.range j = 1000
// CHECK-NEXT:    %[[X:.*]] = uop.load %x[%i, %j]
// CHECK-NEXT:    %[[M:.*]] = uop.reduce max %[[X]] over %j : f32
// CHECK-NEXT:    %[[D:.*]] = uop.sub %[[X]], %[[M]] : f32
// CHECK-NEXT:    %[[E:.*]] = uop.exp %[[D]] : f32
// CHECK-NEXT:    %[[S:.*]] = uop.reduce add %[[E]] over %j : f32
// CHECK-NEXT:    %[[Q:.*]] = uop.div %[[E]], %[[S]] : f32
// CHECK-NEXT:    uop.store %[[Q]], %out[%i, %j]

// -----

// x · xᵀ: both dimensions of the result walk the rows of x, at the same time: two ranges.
uop.kernel @gram(%x: tensor<4x8xf32>) -> (tensor<4x4x1xf32>) {
  %0 = uop.reshape %x : tensor<4x8xf32> -> tensor<4x1x8xf32>
  %1 = uop.expand %0 : tensor<4x1x8xf32> -> tensor<4x4x8xf32>
  %2 = uop.reshape %x : tensor<4x8xf32> -> tensor<1x4x8xf32>
  %3 = uop.expand %2 : tensor<1x4x8xf32> -> tensor<4x4x8xf32>
  %4 = uop.mul %1, %3 : tensor<4x4x8xf32>
  %5 = uop.reduce_axis add %4 axes [2] : (tensor<4x4x8xf32>) -> tensor<4x4x1xf32>
  uop.yield %5 : tensor<4x4x1xf32>
}
// CHECK-LABEL: uop.kernel @gram
// CHECK:         uop.load %x[%i, %k]
// CHECK:         uop.load %x[%j, %k]
// CHECK:         %[[ZERO:.*]] = uop.const 0 : index
// CHECK-NEXT:    uop.store %{{.*}}, %out[%i, %j, %[[ZERO]]] : memref<4x4x1xf32>

// -----

// Padding an input masks its load; a mask that is certain is not made (the second axis gets elements behind only).
uop.kernel @pad(%x: tensor<4x5xf32>) -> (tensor<6x7xf32>) {
  %0 = uop.pad %x low [1, 0] high [1, 2] : tensor<4x5xf32> -> tensor<6x7xf32>
  uop.yield %0 : tensor<6x7xf32>
}
// CHECK-LABEL: uop.kernel @pad
// CHECK-DAG:     %[[I:.*]] = uop.add %i, %{{.*}} : index
// CHECK-DAG:     %[[LOW:.*]] = uop.ge %[[I]], %{{.*}} : index
// CHECK-DAG:     %[[HIGH:.*]] = uop.lt %[[I]], %{{.*}} : index
// CHECK-DAG:     %[[RIGHT:.*]] = uop.lt %j, %{{.*}} : index
// CHECK:         %[[V:.*]] = uop.load %x[%[[I]], %j] mask %{{.*}} : memref<4x5xf32>
// CHECK-NEXT:    uop.store %[[V]], %out[%i, %j]

// -----

// Padding a computed value needs a choice: exp(0) is not 0. The load is masked only because it would leave the buffer.
uop.kernel @pad_computed(%x: tensor<4xf32>, %y: tensor<1xf32>) -> (tensor<6xf32>) {
  %0 = uop.expand %y : tensor<1xf32> -> tensor<4xf32>
  %1 = uop.add %x, %0 : tensor<4xf32>
  %2 = uop.exp %1 : tensor<4xf32>
  %3 = uop.pad %2 low [1] high [1] : tensor<4xf32> -> tensor<6xf32>
  uop.yield %3 : tensor<6xf32>
}
// CHECK-LABEL: uop.kernel @pad_computed
// CHECK:         %[[OK:.*]] = uop.and
// CHECK-NEXT:    uop.load %x[%{{.*}}] mask %[[OK]]
// CHECK:         uop.load %y[%{{.*}}] : memref<1xf32>
// CHECK:         %[[E:.*]] = uop.exp
// CHECK:         %[[V:.*]] = uop.where %[[OK]], %[[E]], %{{.*}} : f32
// CHECK-NEXT:    uop.store %[[V]], %out[%i]

// -----

// Merging and splitting axes: 4 × 6 as 8 × 3 is 3 · i + j, whose quotient by 6 is i // 2.
uop.kernel @reshape(%x: tensor<4x6xf32>) -> (tensor<8x3xf32>) {
  %0 = uop.reshape %x : tensor<4x6xf32> -> tensor<8x3xf32>
  uop.yield %0 : tensor<8x3xf32>
}
// CHECK-LABEL: uop.kernel @reshape
// CHECK-DAG:     %[[TWO:.*]] = uop.const 2 : index
// CHECK-DAG:     %[[ROW:.*]] = uop.floordiv %i, %[[TWO]] : index
// CHECK-DAG:     %[[ODD:.*]] = uop.floormod %i, %[[TWO]] : index
// CHECK:         uop.load %x[%[[ROW]], %{{.*}}] : memref<4x6xf32>

// -----

// Splitting and merging again is nothing; flips and strides are linear.
uop.kernel @linear(%x: tensor<12xf32>) -> (tensor<6xf32>) {
  %0 = uop.reshape %x : tensor<12xf32> -> tensor<3x4xf32>
  %1 = uop.reshape %0 : tensor<3x4xf32> -> tensor<12xf32>
  %2 = uop.shrink %1 offsets [1] strides [2] : tensor<12xf32> -> tensor<6xf32>
  %3 = uop.flip %2 axes [0] : tensor<6xf32> -> tensor<6xf32>
  uop.yield %3 : tensor<6xf32>
}
// CHECK-LABEL: uop.kernel @linear
// CHECK:         %[[C11:.*]] = uop.const 11 : index
// CHECK-NEXT:    %[[C2:.*]] = uop.const 2 : index
// CHECK-NEXT:    %[[I2:.*]] = uop.mul %i, %[[C2]] : index
// CHECK-NEXT:    %[[I:.*]] = uop.sub %[[C11]], %[[I2]] : index
// CHECK-NEXT:    uop.load %x[%[[I]]] : memref<12xf32>

// -----

// A gather is a load at a loaded index; one that lies outside the buffer reads nothing.
uop.kernel @embedding(%table: tensor<100x8xf32>, %tokens: tensor<5xi64>) -> (tensor<5x8xf32>) {
  %0 = uop.reshape %tokens : tensor<5xi64> -> tensor<5x1xi64>
  %1 = uop.expand %0 : tensor<5x1xi64> -> tensor<5x8xi64>
  %2 = uop.gather %table, %1 axis 0 : (tensor<100x8xf32>, tensor<5x8xi64>) -> tensor<5x8xf32>
  uop.yield %2 : tensor<5x8xf32>
}
// CHECK-LABEL: uop.kernel @embedding
// CHECK:         %[[T:.*]] = uop.load %tokens[%i] : memref<5xi64>
// CHECK-NEXT:    %[[I:.*]] = uop.cast %[[T]] : i64 -> index
// CHECK-NEXT:    %[[C0:.*]] = uop.const 0 : index
// CHECK-NEXT:    %[[LOW:.*]] = uop.ge %[[I]], %[[C0]] : index
// CHECK-NEXT:    %[[C100:.*]] = uop.const 100 : index
// CHECK-NEXT:    %[[HIGH:.*]] = uop.lt %[[I]], %[[C100]] : index
// CHECK-NEXT:    %[[INSIDE:.*]] = uop.and %[[LOW]], %[[HIGH]] : i1
// CHECK-NEXT:    uop.load %table[%[[I]], %j] mask %[[INSIDE]] : memref<100x8xf32>

// -----

// Two results, of a reduction of two values over two axes; an iota is its range.
uop.kernel @argmax(%x: tensor<4x2x3xf32>) -> (tensor<4x1x1xf32>, tensor<4x1x1xi64>) {
  %0 = uop.iota : tensor<6xi64>
  %1 = uop.reshape %0 : tensor<6xi64> -> tensor<1x2x3xi64>
  %2 = uop.expand %1 : tensor<1x2x3xi64> -> tensor<4x2x3xi64>
  %3, %4 = uop.reduce_axis argmax %x, %2 axes [1, 2] : (tensor<4x2x3xf32>, tensor<4x2x3xi64>) -> (tensor<4x1x1xf32>, tensor<4x1x1xi64>)
  uop.yield %3, %4 : tensor<4x1x1xf32>, tensor<4x1x1xi64>
}
// CHECK-LABEL: uop.kernel @argmax(%out0: memref<4x1x1xf32>, %out1: memref<4x1x1xi64>, %x: memref<4x2x3xf32>) {
// CHECK-NEXT:    %i = uop.range i = 4
// CHECK-NEXT:    %k = uop.range k = 2
// CHECK-NEXT:    %k1 = uop.range k1 = 3
// CHECK:         %[[R:.*]], %[[A:.*]] = uop.reduce argmax %{{.*}}, %{{.*}} over %k, %k1 : f32, i64
// CHECK:         uop.store %[[R]], %out0[%i, %{{.*}}, %{{.*}}]
// CHECK:         uop.store %[[A]], %out1[%i, %{{.*}}, %{{.*}}]

// -----

// Windows of a padded axis are a sum of ranges under a mask.
uop.kernel @windows(%x: tensor<9xf32>) -> (tensor<5x1xf32>) {
  %0 = uop.pad %x low [1] high [1] : tensor<9xf32> -> tensor<11xf32>
  %1 = uop.window %0 axis 0 strides [2, 1] : tensor<11xf32> -> tensor<5x3xf32>
  %2 = uop.reduce_axis add %1 axes [1] : (tensor<5x3xf32>) -> tensor<5x1xf32>
  uop.yield %2 : tensor<5x1xf32>
}
// CHECK-LABEL: uop.kernel @windows(
// CHECK:         %[[TWICE:.*]] = uop.mul %i, %{{.*}} : index
// CHECK:         %[[SUM:.*]] = uop.add %[[TWICE]], %k : index
// CHECK:         %[[PLACE:.*]] = uop.add %[[SUM]], %{{.*}} : index
// CHECK:         uop.load %x[%[[PLACE]]] mask %{{.*}} : memref<9xf32>
// CHECK:         uop.reduce add %{{.*}} over %k : f32

// -----

// Taps side by side on one axis with windows: element p of tap k is at 15 · k + p of 3 taps of 16 elements.
uop.kernel @skewed(%x: tensor<3x16xf32>) -> (tensor<14x1xf32>) {
  %0 = uop.reshape %x : tensor<3x16xf32> -> tensor<48xf32>
  %1 = uop.shrink %0 offsets [2] : tensor<48xf32> -> tensor<46xf32>
  %2 = uop.window %1 axis 0 strides [1, 15] : tensor<46xf32> -> tensor<14x3xf32>
  %3 = uop.reduce_axis add %2 axes [1] : (tensor<14x3xf32>) -> tensor<14x1xf32>
  uop.yield %3 : tensor<14x1xf32>
}
// CHECK-LABEL: uop.kernel @skewed(
// CHECK-NOT:     floor
// CHECK:         uop.load %x[%k, %{{.*}}] : memref<3x16xf32>

// -----

// A kernel in range form stays as it is.
uop.kernel @done(%out: memref<4xf32>, %x: memref<4xf32>) {
  %i = uop.range i = 4
  %0 = uop.load %x[%i] : memref<4xf32>
  uop.store %0, %out[%i] : memref<4xf32>
}
// CHECK-LABEL: uop.kernel @done(%out: memref<4xf32>, %x: memref<4xf32>) {
// CHECK-NEXT:    %i = uop.range i = 4
// CHECK-NEXT:    %0 = uop.load %x[%i] : memref<4xf32>
// CHECK-NEXT:    uop.store %0, %out[%i] : memref<4xf32>

// -----

// A scan goes over the range at which it is read; its inputs share it. It does not bind it.
uop.kernel @cumsum(%x: tensor<4x8xf32>) -> (tensor<8x4xf32>) {
  %0 = uop.flip %x axes [1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = uop.scan_axis add %0 axis 1 : tensor<4x8xf32>
  %2 = uop.add %1, %0 : tensor<4x8xf32>
  %3 = uop.permute %2 order [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  uop.yield %3 : tensor<8x4xf32>
}
// CHECK-LABEL: uop.kernel @cumsum(%out: memref<8x4xf32>, %x: memref<4x8xf32>) {
// CHECK-NEXT:    %i = uop.range i = 8
// CHECK-NEXT:    %j = uop.range j = 4
// CHECK:         %[[BACK:.*]] = uop.sub %{{.*}}, %i : index
// CHECK-NEXT:    %[[X:.*]] = uop.load %x[%j, %[[BACK]]] : memref<4x8xf32>
// CHECK-NEXT:    %[[S:.*]] = uop.scan add %[[X]] over %i : f32
// CHECK-NEXT:    %[[R:.*]] = uop.add %[[S]], %[[X]] : f32
// CHECK-NEXT:    uop.store %[[R]], %out[%i, %j] : memref<8x4xf32>

// -----

// Two values; an axis of one element needs no scan.
uop.kernel @cummax(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xi64>) {
  %0 = uop.iota : tensor<5xi64>
  %1, %2 = uop.scan_axis argmax_last %x, %0 axis 0 : tensor<5xf32>, tensor<5xi64>
  uop.yield %1, %2 : tensor<5xf32>, tensor<5xi64>
}
uop.kernel @one(%x: tensor<1xf32>) -> (tensor<1xf32>) {
  %0 = uop.scan_axis max %x axis 0 : tensor<1xf32>
  uop.yield %0 : tensor<1xf32>
}
// CHECK-LABEL: uop.kernel @cummax(
// CHECK:         %[[V:.*]], %[[P:.*]] = uop.scan argmax_last %{{.*}}, %{{.*}} over %i : f32, i64
// CHECK-NEXT:    uop.store %[[V]], %out0[%i] : memref<5xf32>
// CHECK-NEXT:    uop.store %[[P]], %out1[%i] : memref<5xi64>
// CHECK-LABEL: uop.kernel @one(
// CHECK-NOT:     uop.scan

// -----

uop.kernel @shifted(%x: tensor<8xf32>) -> (tensor<7xf32>) {
  // expected-error@+1 {{uop.scan_axis is read elsewhere than at one step of its axis after the other}}
  %0 = uop.scan_axis add %x axis 0 : tensor<8xf32>
  %1 = uop.shrink %0 offsets [1] : tensor<8xf32> -> tensor<7xf32>
  uop.yield %1 : tensor<7xf32>
}

// -----

uop.kernel @diagonal(%x: tensor<16xf32>) -> (tensor<4xf32>) {
  %0 = uop.reshape %x : tensor<16xf32> -> tensor<4x4xf32>
  // expected-error@+1 {{uop.scan_axis is read elsewhere than at one step of its axis after the other}}
  %1 = uop.scan_axis add %0 axis 1 : tensor<4x4xf32>
  %2 = uop.reshape %1 : tensor<4x4xf32> -> tensor<16xf32>
  %3 = uop.shrink %2 offsets [0] strides [5] : tensor<16xf32> -> tensor<4xf32>
  uop.yield %3 : tensor<4xf32>
}

// -----

uop.kernel @put(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> (tensor<4xf32>) {
  // expected-error@+1 {{uop.scatter is not supported in kernels yet}}
  %0 = uop.scatter %x, %i, %u axis 0 : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
  uop.yield %0 : tensor<4xf32>
}

// -----

// Batch and heads are merged behind a maximum: the axis that the reshape leaves as it is has one range still.
// CHECK-LABEL: uop.kernel @merged_heads(
// CHECK:         %[[I:.*]] = uop.range i = 6
// CHECK-NEXT:    %[[J:.*]] = uop.range j = 8
// CHECK-NOT:     uop.range
// CHECK:         %[[X:.*]] = uop.load %x[%{{.*}}, %{{.*}}, %[[J]]]
// CHECK-NEXT:    %[[MAX:.*]] = uop.reduce max %[[X]] over %[[J]]
// CHECK-NEXT:    uop.sub %[[X]], %[[MAX]]
uop.kernel @merged_heads(%x: tensor<2x3x8xf32>) -> (tensor<6x8xf32>) {
  %0 = uop.reduce_axis max %x axes [2] : (tensor<2x3x8xf32>) -> tensor<2x3x1xf32>
  %1 = uop.expand %0 : tensor<2x3x1xf32> -> tensor<2x3x8xf32>
  %2 = uop.sub %x, %1 : tensor<2x3x8xf32>
  %3 = uop.reshape %2 : tensor<2x3x8xf32> -> tensor<6x8xf32>
  uop.yield %3 : tensor<6x8xf32>
}

// -----

// The halves of a row in two stores: each is what the other was, and nothing says which half an index is in.
// CHECK-LABEL: uop.kernel @rotated
// CHECK:         %i = uop.range i = 4
// CHECK-NEXT:    %j = uop.range j = 8
// CHECK:         %[[EIGHT:.*]] = uop.const 8 : index
// CHECK-NEXT:    %[[SECOND:.*]] = uop.add %j, %[[EIGHT]] : index
// CHECK-NEXT:    uop.load %x[%i, %[[SECOND]]]
// CHECK:         uop.store %{{.*}}, %out[%i, %j]
// CHECK-NEXT:    uop.load %x[%i, %j]
// CHECK:         uop.store %{{.*}}, %out[%i, %[[SECOND]]]
uop.kernel @rotated(%x: tensor<4x16xf32>) -> (tensor<4x16xf32>) {
  %0 = uop.exp %x : tensor<4x16xf32>
  %1 = uop.shrink %0 offsets [0, 0] : tensor<4x16xf32> -> tensor<4x8xf32>
  %2 = uop.shrink %0 offsets [0, 8] : tensor<4x16xf32> -> tensor<4x8xf32>
  %3 = uop.pad %1 low [0, 8] high [0, 0] : tensor<4x8xf32> -> tensor<4x16xf32>
  %4 = uop.pad %2 low [0, 0] high [0, 8] : tensor<4x8xf32> -> tensor<4x16xf32>
  %5 = uop.add %3, %4 : tensor<4x16xf32>
  uop.yield %5 parts [1, 2] : tensor<4x16xf32>
}
