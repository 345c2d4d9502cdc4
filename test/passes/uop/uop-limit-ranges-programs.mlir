// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-limit-ranges)' --split-input-file | filecheck %s

// The result has s rows: the rows behind them are not stored, nor those of what is read for them, by the kernel in front.
// Both get the symbol as an argument; what is read along k, where all counts, stays as it is.
uop.kernel @first(%out: memref<64x8xf32>, %x: memref<64x8xf32>) {
  %i = uop.range i = 64
  %j = uop.range j = 8
  %0 = uop.load %x[%i, %j] : memref<64x8xf32>
  %1 = uop.exp %0 : f32
  uop.store %1, %out[%i, %j] : memref<64x8xf32>
}
uop.kernel @second(%out: memref<64xf32>, %y: memref<512xf32>) {
  %i = uop.range i = 64
  %k = uop.range k = 8
  %c8 = uop.const 8 : index
  %0 = uop.mul %i, %c8 : index
  %1 = uop.add %0, %k : index
  %2 = uop.load %y[%1] : memref<512xf32>
  %3 = uop.reduce add %2 over %k : f32
  uop.store %3, %out[%i] : memref<64xf32>
}
func.func @flat(%s: tensor<i64> {uop.symbol = #uop.symbol<s, 1 to 64>}, %x: tensor<64x8xf32> {uop.extents = #uop.extents<s, 8>}) -> (tensor<64xf32> {uop.extents = #uop.extents<s>}) {
  %0 = uop.launch @first(%x) : (tensor<64x8xf32>) -> tensor<64x8xf32>
  %1 = uop.reshape %0 : tensor<64x8xf32> -> tensor<512xf32>
  %2 = uop.launch @second(%1) : (tensor<512xf32>) -> tensor<64xf32>
  func.return %2 : tensor<64xf32>
}
// CHECK-LABEL: uop.kernel @first(%out: memref<64x8xf32>, %x: memref<64x8xf32>, %s: memref<i64>)
// CHECK:         uop.range i = 64 to %
// CHECK-LABEL: uop.kernel @second(%out: memref<64xf32>, %y: memref<512xf32>, %s: memref<i64>)
// CHECK:         %[[N:.*]] = uop.load %s[] : memref<i64>
// CHECK:         %[[ABOVE:.*]] = uop.max %[[N]], %{{.*}} : i64
// CHECK:         %[[BOTH:.*]] = uop.min %[[ABOVE]], %{{.*}} : i64
// CHECK:         %[[S:.*]] = uop.cast %[[BOTH]] : i64 -> index
// CHECK:         uop.range i = 64 to %[[S]]
// CHECK:       func.func @flat
// CHECK:         uop.launch @first(%x, %s)
// CHECK:         uop.launch @second(%1, %s)

// -----

// One kernel launched twice stores what either launch needs. The last needs s rows, the first what the last reads: a
// sum over k < s, and so s rows, too.
uop.kernel @each(%out: memref<64xf32>, %x: memref<64xf32>) {
  %i = uop.range i = 64
  %0 = uop.load %x[%i] : memref<64xf32>
  %1 = uop.exp %0 : f32
  uop.store %1, %out[%i] : memref<64xf32>
}
uop.kernel @total(%out: memref<f32>, %x: memref<64xf32>, %n: memref<i64>) {
  %k = uop.range k = 64
  %0 = uop.load %x[%k] : memref<64xf32>
  %n0 = uop.load %n[] : memref<i64>
  %place = uop.cast %k : index -> i64
  %inside = uop.lt %place, %n0 : i64
  %zero = uop.const 0.0 : f32
  %1 = uop.where %inside, %0, %zero : f32
  %2 = uop.reduce add %1 over %k : f32
  uop.store %2, %out[] : memref<f32>
}
func.func @twice(%s: tensor<i64> {uop.symbol = #uop.symbol<s, 1 to 64>}, %x: tensor<64xf32> {uop.extents = #uop.extents<s>}) -> (tensor<64xf32> {uop.extents = #uop.extents<s>}, tensor<f32>) {
  %0 = uop.launch @each(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = uop.launch @total(%0, %s) : (tensor<64xf32>, tensor<i64>) -> tensor<f32>
  %2 = uop.launch @each(%0) : (tensor<64xf32>) -> tensor<64xf32>
  func.return %2, %1 : tensor<64xf32>, tensor<f32>
}
// CHECK-LABEL: uop.kernel @each(%out: memref<64xf32>, %x: memref<64xf32>, %s: memref<i64>)
// CHECK:         uop.range i = 64 to %
// CHECK-LABEL: uop.kernel @total(%out: memref<f32>, %x: memref<64xf32>, %n: memref<i64>)
// CHECK:         uop.range k = 64 to %
// CHECK:       func.func @twice
// CHECK:         uop.launch @each(%x, %s)
// CHECK:         uop.launch @each(%0, %s)

// -----

// Of the last row, which is read alone, all in front of it are needed, as far as is known.
uop.kernel @each(%out: memref<64x8xf32>, %x: memref<64x8xf32>) {
  %i = uop.range i = 64
  %j = uop.range j = 8
  %0 = uop.load %x[%i, %j] : memref<64x8xf32>
  %1 = uop.exp %0 : f32
  uop.store %1, %out[%i, %j] : memref<64x8xf32>
}
uop.kernel @last(%out: memref<8xf32>, %s: memref<i64>, %x: memref<64x8xf32>) {
  %i = uop.range i = 8
  %n = uop.load %s[] : memref<i64>
  %c1 = uop.const 1 : i64
  %least = uop.max %n, %c1 : i64
  %c64 = uop.const 64 : i64
  %length = uop.min %least, %c64 : i64
  %before = uop.sub %length, %c1 : i64
  %row = uop.cast %before : i64 -> index
  %0 = uop.load %x[%row, %i] : memref<64x8xf32>
  uop.store %0, %out[%i] : memref<8xf32>
}
func.func @last_row(%s: tensor<i64> {uop.symbol = #uop.symbol<s, 1 to 64>}, %x: tensor<64x8xf32> {uop.extents = #uop.extents<s, 8>}) -> tensor<8xf32> {
  %0 = uop.launch @each(%x) : (tensor<64x8xf32>) -> tensor<64x8xf32>
  %1 = uop.launch @last(%s, %0) : (tensor<i64>, tensor<64x8xf32>) -> tensor<8xf32>
  func.return %1 : tensor<8xf32>
}
// CHECK-LABEL: uop.kernel @each(%out: memref<64x8xf32>, %x: memref<64x8xf32>, %s: memref<i64>)
// CHECK:         uop.range i = 64 to %

// -----

// Rows that are put into a state from a position on: s of them are read, for no more are stored.
uop.kernel @each(%out: memref<64x8xf32>, %x: memref<64x8xf32>) {
  %i = uop.range i = 64
  %j = uop.range j = 8
  %0 = uop.load %x[%i, %j] : memref<64x8xf32>
  %1 = uop.exp %0 : f32
  uop.store %1, %out[%i, %j] : memref<64x8xf32>
}
uop.kernel @put(%out: memref<64x8xf32>, %s: memref<i64>, %old: memref<64x8xf32>, %position: memref<i64>, %x: memref<64x8xf32>) {
  %i = uop.range i = 64
  %j = uop.range j = 8
  %row = uop.cast %i : index -> i64
  %p = uop.load %position[] : memref<i64>
  %from = uop.sub %row, %p : i64
  %c0 = uop.const 0 : i64
  %behind = uop.ge %from, %c0 : i64
  %length = uop.load %s[] : memref<i64>
  %c64 = uop.const 64 : i64
  %least = uop.min %length, %c64 : i64
  %before = uop.lt %from, %least : i64
  %inside = uop.and %behind, %before : i1
  %safe = uop.where %inside, %from, %c0 : i64
  %at = uop.cast %safe : i64 -> index
  %0 = uop.load %x[%at, %j] : memref<64x8xf32>
  uop.store %0, %out[%i, %j] mask %inside : memref<64x8xf32>
}
func.func @state(%s: tensor<i64> {uop.symbol = #uop.symbol<s, 1 to 64>}, %x: tensor<64x8xf32> {uop.extents = #uop.extents<s, 8>}, %old: tensor<64x8xf32> {uop.mutated = 0 : i64}, %position: tensor<i64>) -> tensor<64x8xf32> {
  %0 = uop.launch @each(%x) : (tensor<64x8xf32>) -> tensor<64x8xf32>
  %1 = uop.launch @put(%s, %old, %position, %0) reuse [1] : (tensor<i64>, tensor<64x8xf32>, tensor<i64>, tensor<64x8xf32>) -> tensor<64x8xf32>
  func.return %1 : tensor<64x8xf32>
}
// CHECK-LABEL: uop.kernel @each(%out: memref<64x8xf32>, %x: memref<64x8xf32>, %s: memref<i64>)
// CHECK:         uop.range i = 64 to %
// CHECK-LABEL: uop.kernel @put
// CHECK:         uop.range i = 64 from %{{.*}} to %

// -----

// The second launch's result is needed whole: so is the first's.
uop.kernel @each(%out: memref<64xf32>, %x: memref<64xf32>) {
  %i = uop.range i = 64
  %0 = uop.load %x[%i] : memref<64xf32>
  %1 = uop.exp %0 : f32
  uop.store %1, %out[%i] : memref<64xf32>
}
func.func @whole(%s: tensor<i64> {uop.symbol = #uop.symbol<s, 1 to 64>}, %x: tensor<64xf32> {uop.extents = #uop.extents<s>}, %y: tensor<64xf32>) -> (tensor<64xf32> {uop.extents = #uop.extents<s>}, tensor<64xf32>) {
  %0 = uop.launch @each(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = uop.launch @each(%y) : (tensor<64xf32>) -> tensor<64xf32>
  func.return %0, %1 : tensor<64xf32>, tensor<64xf32>
}
// CHECK-LABEL: uop.kernel @each(%out: memref<64xf32>, %x: memref<64xf32>) {
// CHECK:         uop.range i = 64{{$}}

// -----

// Rows of batches: 16 b of them, of which one reader needs 16 (b - 1) + s, which are no more. Where they are parted again, b
// batches are needed, of which the last may be in part.
uop.kernel @each(%out: memref<4x16x8xf32>, %x: memref<4x16x8xf32>) {
  %i = uop.range i = 4
  %k = uop.range k = 16
  %j = uop.range j = 8
  %0 = uop.load %x[%i, %k, %j] : memref<4x16x8xf32>
  %1 = uop.exp %0 : f32
  uop.store %1, %out[%i, %k, %j] : memref<4x16x8xf32>
}
uop.kernel @merge(%out: memref<64x8xf32>, %x: memref<4x16x8xf32>) {
  %i = uop.range i = 64
  %j = uop.range j = 8
  %c16 = uop.const 16 : index
  %batch = uop.floordiv %i, %c16 : index
  %row = uop.floormod %i, %c16 : index
  %0 = uop.load %x[%batch, %row, %j] : memref<4x16x8xf32>
  uop.store %0, %out[%i, %j] : memref<64x8xf32>
}
uop.kernel @sum(%out: memref<8xf32>, %b: memref<i64>, %s: memref<i64>, %x: memref<64x8xf32>) {
  %c16 = uop.const 16 : index
  %0 = uop.load %b[] : memref<i64>
  %batches = uop.cast %0 : i64 -> index
  %1 = uop.load %s[] : memref<i64>
  %rows = uop.cast %1 : i64 -> index
  %i = uop.range i = 4 to %batches
  %k = uop.range k = 16 to %rows
  %j = uop.range j = 8
  %first = uop.mul %i, %c16 : index
  %row = uop.add %first, %k : index
  %2 = uop.load %x[%row, %j] : memref<64x8xf32>
  %3 = uop.reduce add %2 over %i, %k : f32
  uop.store %3, %out[%j] : memref<8xf32>
}
uop.kernel @firsts(%out: memref<4x8xf32>, %b: memref<i64>, %x: memref<64x8xf32>) {
  %c16 = uop.const 16 : index
  %0 = uop.load %b[] : memref<i64>
  %batches = uop.cast %0 : i64 -> index
  %i = uop.range i = 4 to %batches
  %k = uop.range k = 16
  %j = uop.range j = 8
  %first = uop.mul %i, %c16 : index
  %row = uop.add %first, %k : index
  %1 = uop.load %x[%row, %j] : memref<64x8xf32>
  %2 = uop.reduce add %1 over %k : f32
  uop.store %2, %out[%i, %j] : memref<4x8xf32>
}
func.func @batches(%b: tensor<i64> {uop.symbol = #uop.symbol<b, 1 to 4>}, %s: tensor<i64> {uop.symbol = #uop.symbol<s, 1 to 16>}, %x: tensor<4x16x8xf32> {uop.extents = #uop.extents<b, s, 8>}) -> (tensor<8xf32>, tensor<4x8xf32> {uop.extents = #uop.extents<b, 8>}) {
  %0 = uop.launch @each(%x) : (tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %1 = uop.launch @merge(%0) : (tensor<4x16x8xf32>) -> tensor<64x8xf32>
  %2 = uop.launch @sum(%b, %s, %1) : (tensor<i64>, tensor<i64>, tensor<64x8xf32>) -> tensor<8xf32>
  %3 = uop.launch @firsts(%b, %1) : (tensor<i64>, tensor<64x8xf32>) -> tensor<4x8xf32>
  func.return %2, %3 : tensor<8xf32>, tensor<4x8xf32>
}
// CHECK-LABEL: uop.kernel @each
// CHECK:         uop.range i = 4 to %
// CHECK-LABEL: uop.kernel @merge
// CHECK:         %[[B:.*]] = uop.cast %{{.*}} : i64 -> index
// CHECK:         %[[ROWS:.*]] = uop.mul %[[B]], %{{.*}} : index
// CHECK:         uop.range i = 64 to %[[ROWS]]
