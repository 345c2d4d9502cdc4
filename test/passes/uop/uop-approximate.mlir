// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-approximate)' --split-input-file | filecheck %s

// A softmax: one multiply-add and one power of 2 for an element, and one reciprocal for a row. Of a row of huge numbers
// they are powers of 2 whose exponents are what eᵗ has.
// CHECK-LABEL: uop.kernel @softmax
// CHECK:         %[[MAX:.*]] = uop.reduce max %[[X:.*]] over %j : f32
// CHECK-NEXT:    %[[SIZE:.*]] = uop.abs %[[MAX]] : f32
// CHECK-NEXT:    %[[MOST:.*]] = uop.const 1.07374182e+09 : f32
// CHECK-NEXT:    %[[SMALL:.*]] = uop.le %[[SIZE]], %[[MOST]] : f32
// CHECK-NEXT:    %[[LOG:.*]] = uop.const 1.44269502 : f32
// CHECK-NEXT:    %[[ONE:.*]] = uop.const 1.000000e+00 : f32
// CHECK-NEXT:    %[[FACTOR:.*]] = uop.where %[[SMALL]], %[[LOG]], %[[ONE]] : f32
// CHECK-NEXT:    %[[MINUS:.*]] = uop.neg %[[FACTOR]] : f32
// CHECK-NEXT:    %[[BASE:.*]] = uop.mul %[[MAX]], %[[MINUS]] : f32
// CHECK-NEXT:    %[[EXPONENT:.*]] = uop.fma %[[X]], %[[FACTOR]], %[[BASE]] : f32
// CHECK-NEXT:    %[[POWER:.*]] = uop.exp2 %[[EXPONENT]] : f32
// CHECK-NEXT:    %[[SUM:.*]] = uop.reduce add %[[POWER]] over %j : f32
// CHECK-NEXT:    %[[ONCE:.*]] = uop.reciprocal %[[SUM]] : f32
// CHECK-NEXT:    %[[RESULT:.*]] = uop.mul %[[POWER]], %[[ONCE]] : f32
// CHECK-NEXT:    uop.store %[[RESULT]], %out[%i, %j] : memref<4x200xf32>
uop.kernel @softmax(%out: memref<4x200xf32>, %x: memref<4x200xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 200
  %0 = uop.load %x[%i, %j] : memref<4x200xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.exp %2 : f32
  %4 = uop.reduce add %3 over %j : f32
  %5 = uop.div %3, %4 : f32
  uop.store %5, %out[%i, %j] : memref<4x200xf32>
}

// -----

// Short rows, of which a lane has a few elements: what is computed for a row is not made up for.
// CHECK-LABEL: uop.kernel @short
// CHECK:         %[[LESS:.*]] = uop.sub
// CHECK:         uop.mul %[[LESS]]
// CHECK-NOT:     uop.fma
uop.kernel @short(%out: memref<4x191xf32>, %x: memref<4x191xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 191
  %0 = uop.load %x[%i, %j] : memref<4x191xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.exp %2 : f32
  %4 = uop.reduce add %3 over %j : f32
  %5 = uop.div %3, %4 : f32
  uop.store %5, %out[%i, %j] : memref<4x191xf32>
}

// -----

// Quotients that are chosen from, rounded and multiplied on: the exponentials are only divided by their sum.
// CHECK-LABEL: uop.kernel @more
// CHECK:         uop.fma
// CHECK-NOT:     uop.sub
uop.kernel @more(%out: memref<4x200xf16>, %x: memref<4x200xf32>, %y: memref<4x200xf32>, %z: memref<4x200xi1>) {
  %i = uop.range i = 4
  %j = uop.range j = 200
  %0 = uop.load %x[%i, %j] : memref<4x200xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.exp %2 : f32
  %4 = uop.reduce add %3 over %j : f32
  %5 = uop.load %z[%i, %j] : memref<4x200xi1>
  %6 = uop.const 0.0 : f32
  %7 = uop.where %5, %3, %6 : f32
  %8 = uop.div %7, %4 : f32
  %9 = uop.load %y[%i, %j] : memref<4x200xf32>
  %10 = uop.mul %8, %9 : f32
  %11 = uop.cast %10 : f32 -> f16
  uop.store %11, %out[%i, %j] : memref<4x200xf16>
}

// -----

// The sum of an online softmax is that of exponentials to the last bit of the maximum: what the product with it is rounded
// by is taken out of a row once, with the sum. Powers of the root of e are other numbers.
// CHECK-LABEL: uop.kernel @online
// CHECK:         %[[MAX:.*]], %[[SUM:.*]] = uop.reduce online_softmax %[[X:.*]], %{{.*}} over %j : f32, f32
// CHECK:         %[[FACTOR:.*]] = uop.where
// CHECK:         %[[SHIFT:.*]] = uop.mul %[[MAX]], %{{.*}} : f32
// CHECK-NEXT:    %[[EXPONENT:.*]] = uop.fma %[[X]], %[[FACTOR]], %[[SHIFT]] : f32
// CHECK-NEXT:    %[[POWER:.*]] = uop.exp2 %[[EXPONENT]] : f32
// CHECK-NEXT:    %[[ROUNDED:.*]] = uop.fma %[[MAX]], %[[FACTOR]], %[[SHIFT]] : f32
// CHECK-NEXT:    %[[LESS:.*]] = uop.neg %[[ROUNDED]] : f32
// CHECK-NEXT:    %[[BACK:.*]] = uop.exp2 %[[LESS]] : f32
// CHECK-NEXT:    %[[ONCE:.*]] = uop.reciprocal %[[SUM]] : f32
// CHECK-NEXT:    %[[BY:.*]] = uop.mul %[[BACK]], %[[ONCE]] : f32
// CHECK-NEXT:    %[[RESULT:.*]] = uop.mul %[[POWER]], %[[BY]] : f32
// CHECK-NEXT:    uop.store %[[RESULT]], %out[%i, %j] : memref<4x200xf32>
uop.kernel @online(%out: memref<4x200xf32>, %x: memref<4x200xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 200
  %0 = uop.load %x[%i, %j] : memref<4x200xf32>
  %1 = uop.const 1.0 : f32
  %2, %3 = uop.reduce online_softmax %0, %1 over %j : f32, f32
  %4 = uop.sub %0, %2 : f32
  %5 = uop.exp %4 : f32
  %6 = uop.div %5, %3 : f32
  uop.store %6, %out[%i, %j] : memref<4x200xf32>
}
// CHECK-LABEL: uop.kernel @online_roots
// CHECK-NOT:     uop.fma
uop.kernel @online_roots(%out: memref<4x200xf32>, %x: memref<4x200xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 200
  %0 = uop.load %x[%i, %j] : memref<4x200xf32>
  %1 = uop.const 1.0 : f32
  %2, %3 = uop.reduce online_softmax %0, %1 over %j : f32, f32
  %4 = uop.sub %0, %2 : f32
  %5 = uop.const 0.72134752 : f32
  %6 = uop.mul %4, %5 : f32
  %7 = uop.exp2 %6 : f32
  %8 = uop.div %7, %3 : f32
  uop.store %8, %out[%i, %j] : memref<4x200xf32>
}

// -----

// What else the exponentials and their sums are needed for tells 2^δ: their logarithm, a sum over several rows, a
// quotient by something else, and products with what may be great. There, the difference is exact.
// CHECK-LABEL: uop.kernel @logarithm
// CHECK:         %[[LESS:.*]] = uop.sub
// CHECK:         uop.mul %[[LESS]]
// CHECK-NOT:     uop.fma
uop.kernel @logarithm(%out: memref<4x200xf32>, %sums: memref<4xf32>, %x: memref<4x200xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 200
  %0 = uop.load %x[%i, %j] : memref<4x200xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.exp %2 : f32
  %4 = uop.reduce add %3 over %j : f32
  %5 = uop.div %3, %4 : f32
  uop.store %5, %out[%i, %j] : memref<4x200xf32>
  %6 = uop.log %4 : f32
  uop.store %6, %sums[%i] : memref<4xf32>
}
// CHECK-LABEL: uop.kernel @all_rows
// CHECK:         %[[LESS:.*]] = uop.sub
// CHECK:         uop.mul %[[LESS]]
// CHECK-NOT:     uop.fma
uop.kernel @all_rows(%out: memref<4x200xf32>, %x: memref<4x200xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 200
  %0 = uop.load %x[%i, %j] : memref<4x200xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.exp %2 : f32
  %4 = uop.reduce add %3 over %i, %j : f32
  %5 = uop.div %3, %4 : f32
  uop.store %5, %out[%i, %j] : memref<4x200xf32>
}
// CHECK-LABEL: uop.kernel @weighted
// CHECK:         %[[LESS:.*]] = uop.sub
// CHECK:         uop.mul %[[LESS]]
// CHECK-NOT:     uop.fma
uop.kernel @weighted(%out: memref<4xf32>, %x: memref<4x200xf32>, %y: memref<4x200xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 200
  %0 = uop.load %x[%i, %j] : memref<4x200xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.exp %2 : f32
  %4 = uop.reduce add %3 over %j : f32
  %5 = uop.load %y[%i, %j] : memref<4x200xf32>
  %6 = uop.mul %3, %5 : f32
  %7 = uop.reduce add %6 over %j : f32
  %8 = uop.div %7, %4 : f32
  uop.store %8, %out[%i] : memref<4xf32>
}
// CHECK-LABEL: uop.kernel @more_than_the_sum
// CHECK:         %[[LESS:.*]] = uop.sub
// CHECK:         uop.mul %[[LESS]]
// CHECK-NOT:     uop.fma
uop.kernel @more_than_the_sum(%out: memref<4x200xf32>, %x: memref<4x200xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 200
  %0 = uop.load %x[%i, %j] : memref<4x200xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.exp %2 : f32
  %4 = uop.reduce add %3 over %j : f32
  %5 = uop.const 1.0 : f32
  %6 = uop.add %4, %5 : f32
  %7 = uop.div %3, %6 : f32
  uop.store %7, %out[%i, %j] : memref<4x200xf32>
}

// -----

// The logistic function, of x and of −x.
// CHECK-LABEL: uop.kernel @logistic
// CHECK:         %[[X:.*]] = uop.load %x[%i] : memref<200xf32>
// CHECK:         %[[RISING:.*]] = uop.mul %[[X]], %{{.*}} : f32
// CHECK-NEXT:    uop.exp2 %[[RISING]] : f32
// CHECK:         uop.rcp
// CHECK:         %[[FALLING:.*]] = uop.mul %[[X]], %{{.*}} : f32
// CHECK-NEXT:    uop.exp2 %[[FALLING]] : f32
// CHECK:         uop.rcp
// CHECK-NOT:     uop.exp %
uop.kernel @logistic(%out: memref<200xf32>, %x: memref<200xf32>) {
  %i = uop.range i = 200
  %0 = uop.load %x[%i] : memref<200xf32>
  %1 = uop.const 1.0 : f32
  %2 = uop.neg %0 : f32
  %3 = uop.exp %2 : f32
  %4 = uop.add %1, %3 : f32
  %5 = uop.reciprocal %4 : f32
  %6 = uop.exp %0 : f32
  %7 = uop.add %1, %6 : f32
  %8 = uop.reciprocal %7 : f32
  %9 = uop.sub %5, %8 : f32
  uop.store %9, %out[%i] : memref<200xf32>
}

// -----

// Left alone: an exponential that is not at most 1, the maximum of another value, f64, a quotient by any other sum, and
// one that is computed once for a row anyway.
// CHECK-LABEL: uop.kernel @others
// CHECK-NOT:     {{uop.exp2|uop.rcp|uop.reciprocal}}
// CHECK-COUNT-2: uop.exp %
// CHECK:         uop.div
// CHECK-NOT:     {{uop.exp2|uop.rcp|uop.reciprocal}}
// CHECK:         uop.exp %{{.*}} : f64
// CHECK:         uop.div
uop.kernel @others(%out: memref<4x200xf32>, %sums: memref<4xf32>, %wide: memref<4x200xf64>, %x: memref<4x200xf32>, %y: memref<4x200xf64>) {
  %i = uop.range i = 4
  %j = uop.range j = 200
  %0 = uop.load %x[%i, %j] : memref<4x200xf32>
  %1 = uop.neg %0 : f32
  %2 = uop.reduce max %1 over %j : f32
  %3 = uop.sub %0, %2 : f32
  %4 = uop.exp %3 : f32
  %5 = uop.exp %0 : f32
  %6 = uop.reduce add %5 over %j : f32
  %7 = uop.div %4, %6 : f32
  uop.store %7, %out[%i, %j] : memref<4x200xf32>
  %8 = uop.load %y[%i, %j] : memref<4x200xf64>
  %9 = uop.reduce max %8 over %j : f64
  %10 = uop.sub %8, %9 : f64
  %11 = uop.exp %10 : f64
  uop.store %11, %wide[%i, %j] : memref<4x200xf64>
  %12 = uop.div %2, %6 : f32
  uop.store %12, %sums[%i] : memref<4xf32>
}

// -----

// 1 + erf x: one power of 2, of a polynomial.
// CHECK-LABEL: uop.kernel @gelu
// CHECK:         %[[X:.*]] = uop.load %x[%i] : memref<200xf32>
// CHECK:         %[[SIZE:.*]] = uop.abs %[[X]] : f32
// CHECK-COUNT-9: uop.add
// CHECK:         %[[EXPONENT:.*]] = uop.mul %{{.*}}, %[[SIZE]] : f32
// CHECK-NEXT:    %[[POWER:.*]] = uop.exp2 %[[EXPONENT]] : f32
// CHECK:         %[[NEGATIVE:.*]] = uop.lt %[[X]], %{{.*}} : f32
// CHECK:         %[[REST:.*]] = uop.sub %{{.*}}, %[[POWER]] : f32
// CHECK-NEXT:    uop.where %[[NEGATIVE]], %[[POWER]], %[[REST]] : f32
// CHECK-NOT:     uop.erf
uop.kernel @gelu(%out: memref<200xf32>, %x: memref<200xf32>) {
  %i = uop.range i = 200
  %0 = uop.load %x[%i] : memref<200xf32>
  %one = uop.const 1.0 : f32
  %1 = uop.erf %0 : f32
  %2 = uop.add %1, %one : f32
  uop.store %2, %out[%i] : memref<200xf32>
}

// -----

// erf by itself, and that of f64, stay.
// CHECK-LABEL: uop.kernel @error_functions
// CHECK-COUNT-2: uop.erf
uop.kernel @error_functions(%out: memref<200xf32>, %wide: memref<200xf64>, %x: memref<200xf32>, %y: memref<200xf64>) {
  %i = uop.range i = 200
  %0 = uop.load %x[%i] : memref<200xf32>
  %1 = uop.erf %0 : f32
  uop.store %1, %out[%i] : memref<200xf32>
  %one = uop.const 1.0 : f64
  %2 = uop.load %y[%i] : memref<200xf64>
  %3 = uop.erf %2 : f64
  %4 = uop.add %3, %one : f64
  uop.store %4, %wide[%i] : memref<200xf64>
}
