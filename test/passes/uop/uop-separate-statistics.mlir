// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-separate-statistics)' --split-input-file | filecheck %s

// The mean and the variance of a row, which the product with a matrix needs, walk the row over a range of their own.
uop.kernel @norm_linear(%out: memref<16x8xf32>, %x: memref<16x64xf32>, %w: memref<8x64xf32>) {
  %i = uop.range i = 16
  %j = uop.range j = 8
  %k = uop.range k = 64
  %n = uop.const 0.015625 : f32
  %0 = uop.load %x[%i, %k] : memref<16x64xf32>
  %sum = uop.reduce add %0 over %k : f32
  %mean = uop.mul %sum, %n : f32
  %1 = uop.sub %0, %mean : f32
  %2 = uop.mul %1, %1 : f32
  %squares = uop.reduce add %2 over %k : f32
  %r = uop.rsqrt %squares : f32
  %3 = uop.mul %1, %r : f32
  %4 = uop.load %w[%j, %k] : memref<8x64xf32>
  %5 = uop.mul %3, %4 : f32
  %6 = uop.reduce add %5 over %k : f32
  uop.store %6, %out[%i, %j] : memref<16x8xf32>
}
// CHECK-LABEL: uop.kernel @norm_linear
// CHECK:         %k1 = uop.range k1 = 64
// CHECK:         %sum = uop.reduce add %{{.*}} over %k1 : f32
// CHECK:         %[[D:.*]] = uop.sub %{{.*}}, %mean : f32
// CHECK:         %squares = uop.reduce add %{{.*}} over %k1 : f32
// CHECK:         uop.mul %[[D]], %r
// CHECK:         uop.reduce add %{{.*}} over %k : f32

// -----

// A softmax walks a row three times, of which it keeps what it reads: one range. So does a sum of squares beside a product that
// does not need it.
uop.kernel @softmax(%out: memref<16x64xf32>, %x: memref<16x64xf32>) {
  %i = uop.range i = 16
  %j = uop.range j = 64
  %0 = uop.load %x[%i, %j] : memref<16x64xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.exp %2 : f32
  %4 = uop.reduce add %3 over %j : f32
  %5 = uop.div %3, %4 : f32
  uop.store %5, %out[%i, %j] : memref<16x64xf32>
}
uop.kernel @beside(%out: memref<16x8xf32>, %x: memref<16x64xf32>, %w: memref<8x64xf32>) {
  %i = uop.range i = 16
  %j = uop.range j = 8
  %k = uop.range k = 64
  %0 = uop.load %x[%i, %k] : memref<16x64xf32>
  %1 = uop.mul %0, %0 : f32
  %2 = uop.reduce add %1 over %k : f32
  %3 = uop.rsqrt %2 : f32
  %4 = uop.load %w[%j, %k] : memref<8x64xf32>
  %5 = uop.mul %0, %4 : f32
  %6 = uop.reduce add %5 over %k : f32
  %7 = uop.mul %6, %3 : f32
  uop.store %7, %out[%i, %j] : memref<16x8xf32>
}
// CHECK-LABEL: uop.kernel @softmax
// CHECK-COUNT-2: uop.range
// CHECK-NOT:     uop.range
// CHECK-LABEL: uop.kernel @beside
// CHECK-COUNT-3: uop.range
// CHECK-NOT:     uop.range
