// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify)' --split-input-file | filecheck %s

// An axis of one element, or of none, has no steps; a sum of floats begins at +0, so −0 becomes 0.
// CHECK-LABEL: func.func @one_element
// CHECK:         %[[SUM:.*]] = uop.add %x, %{{.*}} : tensor<1x4xf32>
// CHECK-NEXT:    func.return %[[SUM]], %x, %n, %e
func.func @one_element(%x: tensor<1x4xf32>, %n: tensor<1x4xi64>, %e: tensor<0x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xi64>, tensor<0x4xf32>) {
  %0 = uop.scan_axis add %x axis 0 : tensor<1x4xf32>
  %1, %2 = uop.scan_axis argmax_last %x, %n axis 0 : tensor<1x4xf32>, tensor<1x4xi64>
  %3 = uop.scan_axis mul %e axis 0 : tensor<0x4xf32>
  func.return %0, %1, %2, %3 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xi64>, tensor<0x4xf32>
}

// -----

// A range of one step.
// CHECK-LABEL: uop.kernel @one_step
// CHECK-NOT:     uop.scan
uop.kernel @one_step(%out: memref<1xf32>, %x: memref<1xf32>) {
  %i = uop.range i = 1
  %0 = uop.load %x[%i] : memref<1xf32>
  %1 = uop.scan add %0 over %i : f32
  uop.store %1, %out[%i] : memref<1xf32>
}

// -----

// What no step changes is its own maximum; integers add up to its multiples.
// CHECK-LABEL: uop.kernel @invariants
// CHECK:         %[[X:.*]] = uop.load %x[%i] : memref<4xi64>
// CHECK-NEXT:    uop.store %[[X]], %out0[%i, %j] : memref<4x8xi64>
// CHECK:         %[[STEPS:.*]] = uop.add %j, %{{.*}} : index
// CHECK-NEXT:    %[[COUNT:.*]] = uop.cast %[[STEPS]] : index -> i64
// CHECK-NEXT:    %[[SUM:.*]] = uop.mul %[[COUNT]], %[[X]] : i64
// CHECK-NEXT:    uop.store %[[SUM]], %out1[%i, %j] : memref<4x8xi64>
uop.kernel @invariants(%out0: memref<4x8xi64>, %out1: memref<4x8xi64>, %x: memref<4xi64>) {
  %i = uop.range i = 4
  %j = uop.range j = 8
  %0 = uop.load %x[%i] : memref<4xi64>
  %1 = uop.scan max %0 over %j : i64
  uop.store %1, %out0[%i, %j] : memref<4x8xi64>
  %2 = uop.scan add %0 over %j : i64
  uop.store %2, %out1[%i, %j] : memref<4x8xi64>
}

// -----

// Sums of equal floats are rounded at each step, products overflow: they stay. So does what changes.
// CHECK-LABEL: uop.kernel @stays
// CHECK:         uop.scan add %{{.*}} over %j : f32
// CHECK:         uop.scan mul %{{.*}} over %j : f32
// CHECK:         uop.scan max %{{.*}} over %i : f32
uop.kernel @stays(%out0: memref<4x8xf32>, %out1: memref<4x8xf32>, %out2: memref<4x8xf32>, %x: memref<4xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 8
  %0 = uop.load %x[%i] : memref<4xf32>
  %1 = uop.scan add %0 over %j : f32
  uop.store %1, %out0[%i, %j] : memref<4x8xf32>
  %2 = uop.scan mul %0 over %j : f32
  uop.store %2, %out1[%i, %j] : memref<4x8xf32>
  %3 = uop.scan max %0 over %i : f32
  uop.store %3, %out2[%i, %j] : memref<4x8xf32>
}

// -----

// Rules of reductions see that a scan changes with its range: nothing goes out of the sum over it, and no element is
// selected by position, whose scan would need those before.
// CHECK-LABEL: uop.kernel @reduced
// CHECK:         %[[S:.*]] = uop.scan max %{{.*}} over %k : f32
// CHECK:         uop.reduce add %[[S]] over %k : f32
// CHECK:         uop.reduce add %{{.*}} over %k : f32
uop.kernel @reduced(%out0: memref<4xf32>, %out1: memref<4xf32>, %x: memref<8xf32>, %p: memref<4xi64>) {
  %i = uop.range i = 4
  %k = uop.range k = 8
  %0 = uop.load %x[%k] : memref<8xf32>
  %1 = uop.scan max %0 over %k : f32
  %2 = uop.reduce add %1 over %k : f32
  uop.store %2, %out0[%i] : memref<4xf32>
  %3 = uop.load %p[%i] : memref<4xi64>
  %4 = uop.cast %k : index -> i64
  %5 = uop.eq %4, %3 : i64
  %zero = uop.const 0.0 : f32
  %6 = uop.where %5, %1, %zero : f32
  %7 = uop.reduce add %6 over %k : f32
  uop.store %7, %out1[%i] : memref<4xf32>
}
