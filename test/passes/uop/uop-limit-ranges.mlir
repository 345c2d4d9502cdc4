// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-limit-ranges)' --split-input-file | filecheck %s
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-limit-ranges{finite=true})' --split-input-file | filecheck %s --check-prefix=FINITE
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-limit-ranges)' --split-input-file --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// A sum of what is 0 above the diagonal goes to the diagonal.
uop.kernel @triangle(%out: memref<64xf32>, %x: memref<64x64xf32>) {
  %j = uop.range j = 64
  %k = uop.range k = 64
  %0 = uop.load %x[%j, %k] : memref<64x64xf32>
  %row = uop.cast %j : index -> i64
  %column = uop.cast %k : index -> i64
  %inside = uop.le %column, %row : i64
  %zero = uop.const 0.0 : f32
  %1 = uop.where %inside, %0, %zero : f32
  %2 = uop.reduce add %1 over %k : f32
  uop.store %2, %out[%j] : memref<64xf32>
}
// CHECK-LABEL: uop.kernel @triangle
// CHECK:       %[[C1:.*]] = uop.const 1 : index
// CHECK:       %[[HI:.*]] = uop.add %j, %[[C1]] : index
// CHECK:       %[[K:.*]] = uop.range k = 64 to %[[HI]]
// CHECK-NEXT:  %[[X:.*]] = uop.load %x[%j, %[[K]]]
// CHECK:       uop.where
// CHECK-NEXT:  uop.reduce add %{{.*}} over %[[K]] : f32
// CHECK-NOT:   uop.range k = 64{{$}}

// -----

// A window of an online softmax, at a position that is data: `k ≤ p` and `k > p − 16`, under not and or.
uop.kernel @window(%max: memref<8xf32>, %sum: memref<8xf32>, %x: memref<8x64xf32>, %position: memref<i64>) {
  %i = uop.range i = 8
  %p = uop.load %position[] : memref<i64>
  %k = uop.range k = 64
  %0 = uop.load %x[%i, %k] : memref<8x64xf32>
  %column = uop.cast %k : index -> i64
  %c16 = uop.const 16 : i64
  %start = uop.sub %p, %c16 : i64
  %late = uop.gt %column, %p : i64
  %early = uop.le %column, %start : i64
  %outside = uop.or %late, %early : i1
  %never = uop.const 0xFF800000 : f32
  %1 = uop.where %outside, %never, %0 : f32
  %one = uop.const 1.0 : f32
  %2, %3 = uop.reduce online_softmax %1, %one over %k : f32, f32
  uop.store %2, %max[%i] : memref<8xf32>
  uop.store %3, %sum[%i] : memref<8xf32>
}
// CHECK-LABEL: uop.kernel @window
// CHECK:       %[[P:.*]] = uop.cast %p : i64 -> index
// CHECK:       uop.range k = 64 from %[[LO:.*]] to %[[HI:.*]]
// CHECK:       uop.reduce online_softmax

// -----

// A softmax that is stored everywhere: its maximum and its sum go over a range of their own, and at least one element.
uop.kernel @softmax(%out: memref<64x64xf32>, %x: memref<64x64xf32>, %n: memref<i64>) {
  %j = uop.range j = 64
  %k = uop.range k = 64
  %length = uop.load %n[] : memref<i64>
  %0 = uop.load %x[%j, %k] : memref<64x64xf32>
  %column = uop.cast %k : index -> i64
  %inside = uop.lt %column, %length : i64
  %never = uop.const 0xFF800000 : f32
  %1 = uop.where %inside, %0, %never : f32
  %2 = uop.reduce max %1 over %k : f32
  %3 = uop.sub %1, %2 : f32
  %4 = uop.exp %3 : f32
  %5 = uop.reduce add %4 over %k : f32
  %6 = uop.div %4, %5 : f32
  uop.store %6, %out[%j, %k] : memref<64x64xf32>
}
// CHECK-LABEL: uop.kernel @softmax
// CHECK:       uop.range k = 64{{$}}
// CHECK:       %[[N:.*]] = uop.cast %length : i64 -> index
// CHECK:       %[[HI:.*]] = uop.max %[[N]], %{{.*}} : index
// CHECK:       %[[K:.*]] = uop.range k = 64 to %[[HI]]
// CHECK:       uop.reduce max %{{.*}} over %[[K]] : f32
// CHECK:       uop.reduce add %{{.*}} over %[[K]] : f32
// CHECK-NOT:   uop.range
// CHECK:       uop.store %{{.*}}, %out[%j, %k]

// -----

// The same as uop-approximate leaves it: the exponent is a multiple of the difference, in one multiply-add.
uop.kernel @softmax_by_powers(%out: memref<64x64xf32>, %x: memref<64x64xf32>, %n: memref<i64>) {
  %j = uop.range j = 64
  %k = uop.range k = 64
  %length = uop.load %n[] : memref<i64>
  %0 = uop.load %x[%j, %k] : memref<64x64xf32>
  %column = uop.cast %k : index -> i64
  %inside = uop.lt %column, %length : i64
  %never = uop.const 0xFF800000 : f32
  %one = uop.const 1.0 : f32
  %log2e = uop.const 1.44269502 : f32
  %large = uop.const 1.07374182e+09 : f32
  %1 = uop.where %inside, %0, %never : f32
  %2 = uop.reduce max %1 over %k : f32
  %3 = uop.abs %2 : f32
  %4 = uop.le %3, %large : f32
  %5 = uop.where %4, %log2e, %one : f32
  %6 = uop.neg %5 : f32
  %7 = uop.mul %2, %6 : f32
  %8 = uop.fma %1, %5, %7 : f32
  %9 = uop.exp2 %8 : f32
  %10 = uop.reduce add %9 over %k : f32
  %11 = uop.div %9, %10 : f32
  uop.store %11, %out[%j, %k] : memref<64x64xf32>
}
// CHECK-LABEL: uop.kernel @softmax_by_powers
// CHECK:       uop.range k = 64{{$}}
// CHECK:       %[[N:.*]] = uop.cast %length : i64 -> index
// CHECK:       %[[HI:.*]] = uop.max %[[N]], %{{.*}} : index
// CHECK:       %[[K:.*]] = uop.range k = 64 to %[[HI]]
// CHECK:       uop.reduce max %{{.*}} over %[[K]] : f32
// CHECK:       uop.reduce add %{{.*}} over %[[K]] : f32
// CHECK-NOT:   uop.range
// CHECK:       uop.store %{{.*}}, %out[%j, %k]

// -----

// One row is stored.
uop.kernel @row(%out: memref<64x8xf32>, %x: memref<8xf32>, %position: memref<i64>) {
  %i = uop.range i = 64
  %j = uop.range j = 8
  %p = uop.load %position[] : memref<i64>
  %0 = uop.load %x[%j] : memref<8xf32>
  %row = uop.cast %i : index -> i64
  %here = uop.eq %row, %p : i64
  uop.store %0, %out[%i, %j] mask %here : memref<64x8xf32>
}
// CHECK-LABEL: uop.kernel @row
// CHECK:       %[[LO:.*]] = uop.cast %p : i64 -> index
// CHECK:       %[[HI:.*]] = uop.add %[[LO]], %{{.*}} : index
// CHECK:       %[[I:.*]] = uop.range i = 64 from %[[LO]] to %[[HI]]
// CHECK:       uop.store %{{.*}}, %out[%[[I]], %j] mask

// -----

// Rows from a position on, which is any number: the difference may wrap around, but not where it is 0 to 15.
uop.kernel @rows(%out: memref<64x8xf32>, %x: memref<16x8xf32>, %position: memref<i64>) {
  %i = uop.range i = 64
  %j = uop.range j = 8
  %p = uop.load %position[] : memref<i64>
  %row = uop.cast %i : index -> i64
  %from = uop.sub %row, %p : i64
  %c0 = uop.const 0 : i64
  %c16 = uop.const 16 : i64
  %behind = uop.ge %from, %c0 : i64
  %before = uop.lt %from, %c16 : i64
  %inside = uop.and %behind, %before : i1
  %at = uop.cast %from : i64 -> index
  %0 = uop.load %x[%at, %j] mask %inside : memref<16x8xf32>
  uop.store %0, %out[%i, %j] mask %inside : memref<64x8xf32>
}
// CHECK-LABEL: uop.kernel @rows
// CHECK:       %[[P:.*]] = uop.cast %p : i64 -> index
// CHECK:       %[[HI:.*]] = uop.add %[[P]], %{{.*}} : index
// CHECK:       uop.range i = 64 from %[[P]] to %[[HI]]

// -----

// One side alone does not tell: 2⁶³ − 1 less a negative number is a negative number.
uop.kernel @wraps(%out: memref<64x8xf32>, %x: memref<8xf32>, %position: memref<i64>) {
  %i = uop.range i = 64
  %j = uop.range j = 8
  %p = uop.load %position[] : memref<i64>
  %row = uop.cast %i : index -> i64
  %from = uop.sub %row, %p : i64
  %c16 = uop.const 16 : i64
  %before = uop.lt %from, %c16 : i64
  %0 = uop.load %x[%j] : memref<8xf32>
  uop.store %0, %out[%i, %j] mask %before : memref<64x8xf32>
}
// CHECK-LABEL: uop.kernel @wraps
// CHECK:       uop.range i = 64{{$}}

// -----

// 0 · ∞ is NaN: the product with a triangular matrix is limited only where that is granted.
uop.kernel @product(%out: memref<64x8xf32>, %x: memref<64x64xf32>, %y: memref<64x8xf32>) {
  %i = uop.range i = 64
  %j = uop.range j = 8
  %k = uop.range k = 64
  %inside = uop.le %k, %i : index
  %0 = uop.load %x[%i, %k] : memref<64x64xf32>
  %zero = uop.const 0.0 : f32
  %1 = uop.where %inside, %0, %zero : f32
  %2 = uop.load %y[%k, %j] : memref<64x8xf32>
  %3 = uop.mul %1, %2 : f32
  %4 = uop.reduce add %3 over %k : f32
  uop.store %4, %out[%i, %j] : memref<64x8xf32>
}
// CHECK-LABEL: uop.kernel @product
// CHECK-NOT:   uop.range k = 64 to
// CHECK:       uop.store
// FINITE-LABEL: uop.kernel @product
// FINITE:       uop.range k = 64 to %
// REMARK: remark: @product: all of k is computed, though much of it is multiplied by 0: 0 · ∞ is NaN

// -----

// No limit: a maximum of what is 0 elsewhere, a scan, and a comparison on which the element does not depend alone.
uop.kernel @none(%out: memref<64xf32>, %scanned: memref<64xf32>, %x: memref<64xf32>) {
  %i = uop.range i = 64
  %k = uop.range k = 64
  %0 = uop.load %x[%k] : memref<64xf32>
  %inside = uop.le %k, %i : index
  %zero = uop.const 0.0 : f32
  %1 = uop.where %inside, %0, %zero : f32
  %2 = uop.reduce max %1 over %k : f32
  uop.store %2, %out[%i] : memref<64xf32>
  %l = uop.range l = 64
  %c9 = uop.const 9 : index
  %early = uop.lt %l, %c9 : index
  %3 = uop.load %x[%l] : memref<64xf32>
  %4 = uop.where %early, %3, %zero : f32
  %5 = uop.scan add %4 over %l : f32
  uop.store %5, %scanned[%l] : memref<64xf32>
}
// CHECK-LABEL: uop.kernel @none
// CHECK-NOT:   uop.range {{.*}} to
// CHECK:       uop.store %{{.*}}, %scanned
