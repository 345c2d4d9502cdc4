// RUN: uop-opt %s --pass-pipeline 'builtin.module(tile-drop-masks)' --split-input-file | filecheck %s

// Masked reads are 0 behind the end, and so is the product: the identity of the sum. The reads keep their masks.
uop.kernel @dot(%out: memref<1xf32>, %x: memref<30xf32>, %w: memref<30xf32>) {
  %tk = tile.axis k = 32 thread : index
  %0 = uop.const 0 : index
  %1 = uop.const 30 : index
  %2 = uop.lt %tk, %1 : index
  %3 = tile.read %x[%tk] mask %2 : memref<30xf32>(index) -> f32
  %4 = tile.read %w[%tk] mask %2 : memref<30xf32>(index) -> f32
  %5 = uop.mul %3, %4 : f32
  %6 = uop.const 0.0 : f32
  %7 = uop.where %2, %5, %6 : f32
  %8 = tile.reduce_across add %7 over %tk : f32
  tile.write %8, %out[%0] : f32 -> memref<1xf32>(index)
}
// CHECK-LABEL: uop.kernel @dot
// CHECK:         %[[OK:.*]] = uop.lt
// CHECK-NEXT:    %[[X:.*]] = tile.read %x[%tk] mask %[[OK]]
// CHECK-NEXT:    %[[W:.*]] = tile.read %w[%tk] mask %[[OK]]
// CHECK-NEXT:    %[[PRODUCT:.*]] = uop.mul %[[X]], %[[W]] : f32
// CHECK-NEXT:    tile.reduce_across add %[[PRODUCT]] over %tk : f32

// -----

// exp(0) is 1: no identity of the sum, but that of the product.
uop.kernel @exponentials(%out: memref<1xf32>, %out1: memref<1xf32>, %x: memref<30xf32>) {
  %tk = tile.axis k = 32 thread : index
  %0 = uop.const 0 : index
  %1 = uop.const 30 : index
  %2 = uop.lt %tk, %1 : index
  %3 = tile.read %x[%tk] mask %2 : memref<30xf32>(index) -> f32
  %4 = uop.exp %3 : f32
  %5 = uop.const 0.0 : f32
  %6 = uop.where %2, %4, %5 : f32
  %7 = tile.reduce_across add %6 over %tk : f32
  tile.write %7, %out[%0] : f32 -> memref<1xf32>(index)
  %8 = uop.const 1.0 : f32
  %9 = uop.where %2, %4, %8 : f32
  %10 = tile.reduce_across mul %9 over %tk : f32
  tile.write %10, %out1[%0] : f32 -> memref<1xf32>(index)
}
// CHECK-LABEL: uop.kernel @exponentials
// CHECK:         %[[E:.*]] = uop.exp
// CHECK:         %[[MASKED:.*]] = uop.where %{{.*}}, %[[E]], %{{.*}} : f32
// CHECK-NEXT:    tile.reduce_across add %[[MASKED]]
// CHECK:         tile.reduce_across mul %[[E]]

// -----

// %y is read without this mask and could be infinite, and 0 · ∞ is NaN: the mask stays. Integers have no infinity.
uop.kernel @unknown_factor(%out: memref<1xf32>, %out1: memref<1xi64>, %x: memref<30xf32>, %y: memref<32xf32>, %m: memref<30xi64>, %n: memref<32xi64>) {
  %tk = tile.axis k = 32 thread : index
  %0 = uop.const 0 : index
  %1 = uop.const 30 : index
  %2 = uop.lt %tk, %1 : index
  %3 = tile.read %x[%tk] mask %2 : memref<30xf32>(index) -> f32
  %4 = tile.read %y[%tk] : memref<32xf32>(index) -> f32
  %5 = uop.mul %3, %4 : f32
  %6 = uop.const 0.0 : f32
  %7 = uop.where %2, %5, %6 : f32
  %8 = tile.reduce_across add %7 over %tk : f32
  tile.write %8, %out[%0] : f32 -> memref<1xf32>(index)
  %9 = tile.read %m[%tk] mask %2 : memref<30xi64>(index) -> i64
  %10 = tile.read %n[%tk] : memref<32xi64>(index) -> i64
  %11 = uop.mul %9, %10 : i64
  %12 = uop.const 0 : i64
  %13 = uop.where %2, %11, %12 : i64
  %14 = tile.reduce_across add %13 over %tk : i64
  tile.write %14, %out1[%0] : i64 -> memref<1xi64>(index)
}
// CHECK-LABEL: uop.kernel @unknown_factor
// CHECK:         uop.where %{{.*}} : f32
// CHECK-NOT:     uop.where
// CHECK:         }

// -----

// The negative of a masked read is −0, and a sum of it and 0 would be another zero: the mask stays.
uop.kernel @negative_zero(%out: memref<1xf32>, %x: memref<30xf32>) {
  %tk = tile.axis k = 32 thread : index
  %0 = uop.const 0 : index
  %1 = uop.const 30 : index
  %2 = uop.lt %tk, %1 : index
  %3 = tile.read %x[%tk] mask %2 : memref<30xf32>(index) -> f32
  %4 = uop.neg %3 : f32
  %5 = uop.const 0.0 : f32
  %6 = uop.where %2, %4, %5 : f32
  %7 = tile.reduce_across add %6 over %tk : f32
  tile.write %7, %out[%0] : f32 -> memref<1xf32>(index)
}
// CHECK-LABEL: uop.kernel @negative_zero
// CHECK:         uop.where

// -----

// Of two conditions either may fail. Where only one masks a read, the product is not known when the other fails.
uop.kernel @two_conditions(%out: memref<1xf32>, %out1: memref<1xf32>, %x: memref<7x30xf32>, %w: memref<7x30xf32>, %y: memref<30xf32>) {
  %tj = tile.axis j = 8 thread : index
  %tk = tile.axis k = 32 thread : index
  %0 = uop.const 0 : index
  %1 = uop.const 7 : index
  %2 = uop.const 30 : index
  %3 = uop.lt %tj, %1 : index
  %4 = uop.lt %tk, %2 : index
  %5 = uop.and %3, %4 : i1
  %6 = tile.read %x[%tj, %tk] mask %5 : memref<7x30xf32>(index, index) -> f32
  %7 = tile.read %w[%tj, %tk] mask %5 : memref<7x30xf32>(index, index) -> f32
  %8 = tile.read %y[%tk] mask %4 : memref<30xf32>(index) -> f32
  %9 = uop.const 0.0 : f32
  %10 = uop.mul %6, %7 : f32
  %11 = uop.where %5, %10, %9 : f32
  %12 = tile.reduce_across add %11 over %tj, %tk : f32
  tile.write %12, %out[%0] : f32 -> memref<1xf32>(index)
  %13 = uop.mul %6, %8 : f32
  %14 = uop.where %5, %13, %9 : f32
  %15 = tile.reduce_across add %14 over %tj, %tk : f32
  tile.write %15, %out1[%0] : f32 -> memref<1xf32>(index)
}
// CHECK-LABEL: uop.kernel @two_conditions
// CHECK:         %[[XW:.*]] = uop.mul
// CHECK-NEXT:    tile.reduce_across add %[[XW]]
// CHECK:         %[[XY:.*]] = uop.mul
// CHECK-NEXT:    uop.where %{{.*}}, %[[XY]], %{{.*}} : f32

// -----

// Conditions that the extents prove are dropped; the one that may fail stays.
uop.kernel @proved(%out: memref<32x30xf32>) {
  %bi = tile.axis i = 4 block : index
  %ti = tile.axis i = 8 thread : index
  %tj = tile.axis j = 32 thread : index
  %0 = uop.const 8 : index
  %1 = uop.mul %bi, %0 : index
  %2 = uop.add %1, %ti : index
  %3 = uop.const 32 : index
  %4 = uop.lt %2, %3 : index
  %5 = uop.const 30 : index
  %6 = uop.lt %tj, %5 : index
  %7 = uop.and %4, %6 : i1
  %8 = uop.const 1.0 : f32
  tile.write %8, %out[%2, %tj] mask %7 : f32 -> memref<32x30xf32>(index, index)
}
// CHECK-LABEL: uop.kernel @proved
// CHECK:         %[[OK:.*]] = uop.lt %tj, %{{.*}} : index
// CHECK-NOT:     uop.and
// CHECK:         tile.write %{{.*}}, %out[%{{.*}}, %tj] mask %[[OK]] :

// -----

// Nothing to do: the greatest of a row is masked with −∞, which no masked read is.
uop.kernel @maximum(%out: memref<1xf32>, %x: memref<30xf32>) {
  %tk = tile.axis k = 32 thread : index
  %0 = uop.const 0 : index
  %1 = uop.const 30 : index
  %2 = uop.lt %tk, %1 : index
  %3 = tile.read %x[%tk] mask %2 : memref<30xf32>(index) -> f32
  %4 = uop.const 0xff800000 : f32
  %5 = uop.where %2, %3, %4 : f32
  %6 = tile.reduce_across max %5 over %tk : f32
  tile.write %6, %out[%0] : f32 -> memref<1xf32>(index)
}
// CHECK-LABEL: uop.kernel @maximum
// CHECK:         uop.where
