// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-store-in-place)' --split-input-file --verify-diagnostics | filecheck %s
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-store-in-place)' --split-input-file --interpret-each --verify-diagnostics -o /dev/null

// One position of a cache: the row is stored, and nothing of the old value is read.
uop.kernel @update(%out: memref<4x2xf32>, %cache: memref<4x2xf32>, %x: memref<2xf32>, %p: memref<i64>) {
  %i = uop.range i = 4
  %j = uop.range j = 2
  %0 = uop.load %p[] : memref<i64>
  %1 = uop.cast %i : index -> i64
  %2 = uop.eq %0, %1 : i64
  %3 = uop.load %x[%j] : memref<2xf32>
  %4 = uop.load %cache[%i, %j] : memref<4x2xf32>
  %5 = uop.where %2, %3, %4 : f32
  uop.store %5, %out[%i, %j] : memref<4x2xf32>
}
func.func @decode(%cache: tensor<4x2xf32> {uop.mutated = 0 : i64}, %x: tensor<2xf32>, %p: tensor<i64>) -> tensor<4x2xf32> {
  %0 = uop.launch @update(%cache, %x, %p) : (tensor<4x2xf32>, tensor<2xf32>, tensor<i64>) -> tensor<4x2xf32>
  func.return %0 : tensor<4x2xf32>
}
// CHECK-LABEL: uop.kernel @update
// CHECK:         %[[here:.*]] = uop.eq
// CHECK-NEXT:    %[[new:.*]] = uop.load %x[%j]
// CHECK-NEXT:    uop.store %[[new]], %out[%i, %j] mask %[[here]] : memref<4x2xf32>
// CHECK-LABEL: func.func @decode
// CHECK-NEXT:    uop.launch @update(%cache, %x, %p) reuse [0] :

// -----

// Two steps in one kernel, one with the old value where its condition holds, into a buffer of another shape; then one
// more into the result, which is what the function gives. All lies where the argument does.
uop.kernel @two(%out: memref<8x1xf32>, %b: memref<8xf32>, %x: memref<8xf32>) {
  %i = uop.range i = 8
  %zero = uop.const 0 : index
  %two = uop.const 2 : index
  %five = uop.const 5 : index
  %0 = uop.lt %i, %two : index
  %1 = uop.ge %i, %five : index
  %2 = uop.load %b[%i] : memref<8xf32>
  %3 = uop.load %x[%i] : memref<8xf32>
  %4 = uop.neg %3 : f32
  %5 = uop.where %0, %2, %3 : f32
  %6 = uop.where %1, %4, %5 : f32
  uop.store %6, %out[%i, %zero] : memref<8x1xf32>
}
uop.kernel @more(%out: memref<8xf32>, %b: memref<8xf32>) {
  %i = uop.range i = 8
  %six = uop.const 6 : index
  %one = uop.const 1.0 : f32
  %0 = uop.eq %i, %six : index
  %1 = uop.load %b[%i] : memref<8xf32>
  %2 = uop.where %0, %one, %1 : f32
  uop.store %2, %out[%i] : memref<8xf32>
}
func.func @chain(%b: tensor<8xf32> {uop.mutated = 0 : i64}, %x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = uop.launch @two(%b, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8x1xf32>
  %1 = uop.reshape %0 : tensor<8x1xf32> -> tensor<8xf32>
  %2 = uop.launch @more(%1) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %2 : tensor<8xf32>
}
// CHECK-LABEL: uop.kernel @two
// CHECK:         %[[negative:.*]] = uop.neg
// CHECK-NEXT:    %[[inner:.*]] = uop.not
// CHECK-NEXT:    %[[new:.*]] = uop.where %1, %[[negative]], %2 : f32
// CHECK-NEXT:    %[[any:.*]] = uop.or %1, %[[inner]]
// CHECK-NEXT:    uop.store %[[new]], %out[%i, %zero] mask %[[any]]
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    uop.launch @two(%b, %x) reuse [0] :
// CHECK-NEXT:    uop.reshape
// CHECK-NEXT:    uop.launch @more(%1) reuse [0] :

// -----

// A later launch reads the old value.
uop.kernel @more(%out: memref<8xf32>, %b: memref<8xf32>) {
  %i = uop.range i = 8
  %six = uop.const 6 : index
  %one = uop.const 1.0 : f32
  %0 = uop.eq %i, %six : index
  %1 = uop.load %b[%i] : memref<8xf32>
  %2 = uop.where %0, %one, %1 : f32
  uop.store %2, %out[%i] : memref<8xf32>
}
uop.kernel @read(%out: memref<8xf32>, %b: memref<2x4xf32>) {
  %i = uop.range i = 2
  %j = uop.range j = 4
  %four = uop.const 4 : index
  %0 = uop.mul %i, %four : index
  %1 = uop.add %0, %j : index
  %2 = uop.load %b[%i, %j] : memref<2x4xf32>
  uop.store %2, %out[%1] : memref<8xf32>
}
func.func @later(%b: tensor<8xf32> {uop.mutated = 0 : i64}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = uop.reshape %b : tensor<8xf32> -> tensor<2x4xf32>
  // expected-remark@+1 {{result 0 updates b, of which all is copied: a later operation reads the old value}}
  %1 = uop.launch @more(%b) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = uop.launch @read(%0) : (tensor<2x4xf32>) -> tensor<8xf32>
  func.return %1, %2 : tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: uop.kernel @more
// CHECK:         uop.store {{.*}} : memref<8xf32>
// CHECK-LABEL: func.func @later
// CHECK:         uop.launch @more(%b) : (tensor<8xf32>) -> tensor<8xf32>

// -----

// The caller keeps its argument: nothing is to be told.
uop.kernel @more(%out: memref<8xf32>, %b: memref<8xf32>) {
  %i = uop.range i = 8
  %six = uop.const 6 : index
  %one = uop.const 1.0 : f32
  %0 = uop.eq %i, %six : index
  %1 = uop.load %b[%i] : memref<8xf32>
  %2 = uop.where %0, %one, %1 : f32
  uop.store %2, %out[%i] : memref<8xf32>
}
func.func @kept(%b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = uop.launch @more(%b) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:    uop.launch @more(%b) : (tensor<8xf32>) -> tensor<8xf32>

// -----

// What the function gives as the new value lies elsewhere.
uop.kernel @more(%out: memref<8xf32>, %b: memref<8xf32>) {
  %i = uop.range i = 8
  %six = uop.const 6 : index
  %one = uop.const 1.0 : f32
  %0 = uop.eq %i, %six : index
  %1 = uop.load %b[%i] : memref<8xf32>
  %2 = uop.where %0, %one, %1 : f32
  uop.store %2, %out[%i] : memref<8xf32>
}
func.func @elsewhere(%b: tensor<8xf32> {uop.mutated = 0 : i64}, %c: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // expected-remark@+1 {{what the function gives as its new value lies elsewhere}}
  %0 = uop.launch @more(%b) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %c, %0 : tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: func.func @elsewhere
// CHECK-NEXT:    uop.launch @more(%b) : (tensor<8xf32>) -> tensor<8xf32>

// -----

// The kernel reads the old value at another place.
uop.kernel @shift(%out: memref<8xf32>, %b: memref<8xf32>) {
  %i = uop.range i = 8
  %six = uop.const 6 : index
  %two = uop.const 2 : index
  %0 = uop.eq %i, %six : index
  %1 = uop.load %b[%i] : memref<8xf32>
  %2 = uop.load %b[%two] : memref<8xf32>
  %3 = uop.where %0, %2, %1 : f32
  uop.store %3, %out[%i] : memref<8xf32>
}
func.func @others(%b: tensor<8xf32> {uop.mutated = 0 : i64}) -> tensor<8xf32> {
  // expected-remark@+1 {{the kernel reads the old value for something else too}}
  %0 = uop.launch @shift(%b) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}
// CHECK-LABEL: func.func @others
// CHECK-NEXT:    uop.launch @shift(%b) : (tensor<8xf32>) -> tensor<8xf32>

// -----

// One plane of two is updated, and the old value read at its number.
uop.kernel @plane(%out: memref<2x4xf32>, %b: memref<2x4xf32>) {
  %i = uop.range i = 2
  %j = uop.range j = 4
  %one = uop.const 1 : index
  %three = uop.const 3 : index
  %x = uop.const 5.0 : f32
  %0 = uop.eq %j, %three : index
  %1 = uop.load %b[%one, %j] : memref<2x4xf32>
  %2 = uop.where %0, %x, %1 : f32
  %3 = uop.eq %i, %one : index
  %4 = uop.load %b[%i, %j] : memref<2x4xf32>
  %5 = uop.where %3, %2, %4 : f32
  uop.store %5, %out[%i, %j] : memref<2x4xf32>
}
func.func @of_two(%b: tensor<2x4xf32> {uop.mutated = 0 : i64}) -> tensor<2x4xf32> {
  %0 = uop.launch @plane(%b) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %0 : tensor<2x4xf32>
}
// CHECK-LABEL: uop.kernel @plane
// CHECK:         %[[where:.*]] = uop.and %1, %0 : i1
// CHECK-NEXT:    uop.store %x, %out[%i, %j] mask %[[where]]
// CHECK-LABEL: func.func @of_two
// CHECK-NEXT:    uop.launch @plane(%b) reuse [0] :

// -----

// A dead intermediate is written over.
uop.kernel @more(%out: memref<8xf32>, %b: memref<8xf32>) {
  %i = uop.range i = 8
  %six = uop.const 6 : index
  %one = uop.const 1.0 : f32
  %0 = uop.eq %i, %six : index
  %1 = uop.load %b[%i] : memref<8xf32>
  %2 = uop.where %0, %one, %1 : f32
  uop.store %2, %out[%i] : memref<8xf32>
}
uop.kernel @double(%out: memref<8xf32>, %b: memref<8xf32>) {
  %i = uop.range i = 8
  %0 = uop.load %b[%i] : memref<8xf32>
  %1 = uop.add %0, %0 : f32
  uop.store %1, %out[%i] : memref<8xf32>
}
func.func @between(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = uop.launch @double(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = uop.launch @more(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = uop.launch @double(%1) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %2 : tensor<8xf32>
}
// CHECK-LABEL: func.func @between
// CHECK-NEXT:    uop.launch @double(%x) :
// CHECK-NEXT:    uop.launch @more(%0) reuse [0] :
// CHECK-NEXT:    uop.launch @double(%1) :

// -----

// A kernel that is launched several times stores in place where it can; where not, a copy of it copies.
uop.kernel @more(%out: memref<8xf32>, %b: memref<8xf32>) {
  %i = uop.range i = 8
  %six = uop.const 6 : index
  %one = uop.const 1.0 : f32
  %0 = uop.eq %i, %six : index
  %1 = uop.load %b[%i] : memref<8xf32>
  %2 = uop.where %0, %one, %1 : f32
  uop.store %2, %out[%i] : memref<8xf32>
}
func.func @twice(%b: tensor<8xf32> {uop.mutated = 0 : i64}, %c: tensor<8xf32> {uop.mutated = 1 : i64}, %d: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = uop.launch @more(%b) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = uop.launch @more(%c) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = uop.launch @more(%d) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: uop.kernel @more(
// CHECK:         uop.store {{.*}} mask
// CHECK-LABEL: uop.kernel @more_(
// CHECK:         uop.where
// CHECK-LABEL: func.func @twice
// CHECK-NEXT:    uop.launch @more(%b) reuse [0] : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    uop.launch @more(%c) reuse [0] : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    uop.launch @more_(%d) : (tensor<8xf32>) -> tensor<8xf32>
