// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-expand-scatter)' --split-input-file | filecheck %s
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-expand-scatter,uop-partition,uop-rangeify,uop-simplify)' --split-input-file --check-bounds-strict | filecheck %s --check-prefix=RANGE

// The last update that names a place is found by a maximum, and gathered.
func.func @put(%x: tensor<8xf32>, %i: tensor<5xi64>, %u: tensor<5xf32>) -> tensor<8xf32> {
  %0 = uop.scatter %x, %i, %u axis 0 : (tensor<8xf32>, tensor<5xi64>, tensor<5xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}
// CHECK-LABEL: func.func @put
// CHECK-NEXT:    %0 = uop.reshape %i : tensor<5xi64> -> tensor<1x5xi64>
// CHECK-NEXT:    %1 = uop.expand %0 : tensor<1x5xi64> -> tensor<8x5xi64>
// CHECK-NEXT:    %2 = uop.iota : tensor<8xi64>
// CHECK-NEXT:    %3 = uop.reshape %2 : tensor<8xi64> -> tensor<8x1xi64>
// CHECK-NEXT:    %4 = uop.expand %3 : tensor<8x1xi64> -> tensor<8x5xi64>
// CHECK-NEXT:    %5 = uop.eq %1, %4 : tensor<8x5xi64>
// CHECK:         %[[LAST:.*]] = uop.reduce_axis max %{{.*}} axes [1] : (tensor<8x5xi32>) -> tensor<8x1xi32>
// CHECK:         %[[NAMED:.*]] = uop.ge
// CHECK:         %[[U:.*]] = uop.gather %u, %{{.*}} axis 0 : (tensor<5xf32>, tensor<8xi32>) -> tensor<8xf32>
// CHECK-NEXT:    %[[R:.*]] = uop.where %[[NAMED]], %[[U]], %x : tensor<8xf32>
// CHECK-NEXT:    func.return %[[R]] : tensor<8xf32>

// One kernel, which reads within the updates whatever the indices are: the gather needs no mask.
// RANGE-LABEL: uop.kernel @put_0
// RANGE:         uop.reduce max %{{.*}} over %k : i32
// RANGE:         %[[U:.*]] = uop.load %u[%{{.*}}] : memref<5xf32>
// RANGE-NOT:     uop.kernel

// -----

// A single update, the position of a KV cache: no reduction. Its index is the same in the other axes.
func.func @one(%x: tensor<4x16xf32>, %i: tensor<1x1xi64>, %u: tensor<4x1xf32>) -> tensor<4x16xf32> {
  %0 = uop.expand %i : tensor<1x1xi64> -> tensor<4x1xi64>
  %1 = uop.scatter %x, %0, %u axis 1 : (tensor<4x16xf32>, tensor<4x1xi64>, tensor<4x1xf32>) -> tensor<4x16xf32>
  func.return %1 : tensor<4x16xf32>
}
// CHECK-LABEL: func.func @one
// CHECK:         %[[I:.*]] = uop.expand %i : tensor<1x1xi64> -> tensor<4x16xi64>
// CHECK-NOT:     uop.reduce_axis
// CHECK:         %[[HERE:.*]] = uop.eq %[[I]], %{{.*}} : tensor<4x16xi64>
// CHECK-NEXT:    %[[U:.*]] = uop.expand %u : tensor<4x1xf32> -> tensor<4x16xf32>
// CHECK-NEXT:    uop.where %[[HERE]], %[[U]], %x : tensor<4x16xf32>

// RANGE-LABEL: uop.kernel @one_0
// RANGE-NOT:     uop.reduce

// -----

// Sums of rows: the indices are compared once for all columns; what nothing is added to stays, −0 too.
func.func @add(%x: tensor<8x3xf32>, %i: tensor<5x1xi64>, %u: tensor<5x3xf32>) -> tensor<8x3xf32> {
  %0 = uop.expand %i : tensor<5x1xi64> -> tensor<5x3xi64>
  %1 = uop.scatter add %x, %0, %u axis 0 : (tensor<8x3xf32>, tensor<5x3xi64>, tensor<5x3xf32>) -> tensor<8x3xf32>
  func.return %1 : tensor<8x3xf32>
}
// CHECK-LABEL: func.func @add
// CHECK:         uop.eq %{{.*}}, %{{.*}} : tensor<8x1x5xi64>
// CHECK:         %[[M:.*]] = uop.expand %{{.*}} : tensor<8x1x5xi1> -> tensor<8x3x5xi1>
// CHECK:         %[[V:.*]] = uop.where %[[M]], %{{.*}}, %{{.*}} : tensor<8x3x5xf32>
// CHECK-NEXT:    uop.reduce_axis add %[[V]] axes [2] : (tensor<8x3x5xf32>) -> tensor<8x3x1xf32>
// CHECK:         %[[SUM:.*]] = uop.add %x, %[[T:.*]] : tensor<8x3xf32>
// CHECK:         %[[NOTHING:.*]] = uop.eq %[[T]], %{{.*}} : tensor<8x3xf32>
// CHECK-NEXT:    uop.where %[[NOTHING]], %x, %[[SUM]] : tensor<8x3xf32>

// RANGE-LABEL: uop.kernel @add_0
// RANGE:         uop.reduce add %{{.*}} over %k : f32

// -----

// One value for all updates: whether a place is named is enough. The rest of the input stays.
func.func @fill(%x: tensor<8x3xf32>, %i: tensor<5x2xi64>) -> tensor<8x3xf32> {
  %0 = uop.const 2.5 : f32
  %1 = uop.expand %0 : f32 -> tensor<5x2xf32>
  %2 = uop.scatter %x, %i, %1 axis 0 : (tensor<8x3xf32>, tensor<5x2xi64>, tensor<5x2xf32>) -> tensor<8x3xf32>
  func.return %2 : tensor<8x3xf32>
}
// CHECK-LABEL: func.func @fill
// CHECK:         %[[X:.*]] = uop.shrink %x
// CHECK:         uop.reduce_axis or %{{.*}} axes [2] : (tensor<8x2x5xi1>) -> tensor<8x2x1xi1>
// CHECK-NOT:     uop.gather
// CHECK:         %[[PART:.*]] = uop.where %{{.*}}, %{{.*}}, %[[X]] : tensor<8x2xf32>
// CHECK:         %[[PADDED:.*]] = uop.pad %[[PART]]
// CHECK-NEXT:    uop.where %{{.*}}, %[[PADDED]], %x : tensor<8x3xf32>

// -----

// Indices of 8 bits do not hold the number of every place.
func.func @narrow_indices(%x: tensor<300xi32>, %i: tensor<9xi8>, %u: tensor<9xi32>) -> tensor<300xi32> {
  %0 = uop.scatter max %x, %i, %u axis 0 : (tensor<300xi32>, tensor<9xi8>, tensor<9xi32>) -> tensor<300xi32>
  func.return %0 : tensor<300xi32>
}
// CHECK-LABEL: func.func @narrow_indices
// CHECK-NEXT:    uop.cast %i : tensor<9xi8> -> tensor<9xi64>
// CHECK:         %[[T:.*]] = uop.reduce_axis max %{{.*}} axes [1] : (tensor<300x9xi32>) -> tensor<300x1xi32>
// CHECK:         uop.max %x, %{{.*}} : tensor<300xi32>

// -----

// No updates, nothing changes; what is no scatter is left alone.
func.func @none(%x: tensor<8xf32>, %i: tensor<0xi64>, %u: tensor<0xf32>) -> tensor<8xf32> {
  %0 = uop.exp %x : tensor<8xf32>
  %1 = uop.scatter %0, %i, %u axis 0 : (tensor<8xf32>, tensor<0xi64>, tensor<0xf32>) -> tensor<8xf32>
  func.return %1 : tensor<8xf32>
}
// CHECK-LABEL: func.func @none
// CHECK-NEXT:    %0 = uop.exp %x : tensor<8xf32>
// CHECK-NEXT:    func.return %0 : tensor<8xf32>

// -----

// Indices that go up in steps: each place computes which update is its own.
func.func @steps(%x: tensor<20xf32>, %u: tensor<6xf32>) -> tensor<20xf32> {
  %0 = uop.iota : tensor<6xi64>
  %1 = uop.const 3 : i64
  %2 = uop.expand %1 : i64 -> tensor<6xi64>
  %3 = uop.mul %0, %2 : tensor<6xi64>
  %4 = uop.scatter %x, %3, %u axis 0 : (tensor<20xf32>, tensor<6xi64>, tensor<6xf32>) -> tensor<20xf32>
  func.return %4 : tensor<20xf32>
}
// CHECK-LABEL: func.func @steps
// CHECK-NOT:     uop.reduce_axis
// CHECK:         uop.floordiv
// CHECK:         uop.gather %u, %{{.*}} axis 0 : (tensor<6xf32>, tensor<20xi64>) -> tensor<20xf32>

// -----

// Several positions of a KV cache, from one that is data on; of those, the first %s. Each row finds its update.
func.func @positions(%x: tensor<16x8xf32>, %start: tensor<i64>, %s: tensor<i64>, %u: tensor<6x8xf32>) -> tensor<16x8xf32> {
  %0 = uop.iota : tensor<6xi64>
  %1 = uop.reshape %start : tensor<i64> -> tensor<1xi64>
  %2 = uop.expand %1 : tensor<1xi64> -> tensor<6xi64>
  %3 = uop.add %0, %2 : tensor<6xi64>
  %4 = uop.reshape %s : tensor<i64> -> tensor<1xi64>
  %5 = uop.expand %4 : tensor<1xi64> -> tensor<6xi64>
  %6 = uop.lt %0, %5 : tensor<6xi64>
  %7 = uop.const -1 : i64
  %8 = uop.expand %7 : i64 -> tensor<6xi64>
  %9 = uop.where %6, %3, %8 : tensor<6xi64>
  %10 = uop.reshape %9 : tensor<6xi64> -> tensor<6x1xi64>
  %11 = uop.expand %10 : tensor<6x1xi64> -> tensor<6x8xi64>
  %12 = uop.scatter %x, %11, %u axis 0 : (tensor<16x8xf32>, tensor<6x8xi64>, tensor<6x8xf32>) -> tensor<16x8xf32>
  func.return %12 : tensor<16x8xf32>
}
// CHECK-LABEL: func.func @positions
// CHECK-NOT:     uop.reduce_axis
// CHECK:         %[[D:.*]] = uop.sub %{{.*}}, %{{.*}} : tensor<16x1xi64>
// CHECK:         uop.ge %[[D]], %{{.*}} : tensor<16x1xi64>
// CHECK:         uop.lt %[[D]], %{{.*}} : tensor<16x1xi64>
// CHECK:         uop.lt %[[D]], %{{.*}} : tensor<16x1xi64>
// CHECK:         uop.gather %u, %{{.*}} axis 0

// RANGE-LABEL: uop.kernel @positions_0
// RANGE-NOT:     uop.reduce
