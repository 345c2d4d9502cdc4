// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-fuse-reductions)' --split-input-file | filecheck %s
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-fuse-reductions{row=99 held_row=99})' --split-input-file | filecheck %s --check-prefix ROW

// A softmax whose rows do not fit in registers: maximum and sum in one walk; of nothing but −∞ the sum is NaN.
// CHECK-LABEL: uop.kernel @softmax
// CHECK:         %[[X:.*]] = uop.load %x[%i, %j]
// CHECK-NEXT:    %[[ONE:.*]] = uop.const 1.000000e+00 : f32
// CHECK-NEXT:    %[[MAX:.*]], %[[SUM:.*]] = uop.reduce online_softmax %[[X]], %[[ONE]] over %j : f32, f32
// CHECK-NEXT:    %[[LESS:.*]] = uop.sub %[[X]], %[[MAX]] : f32
// CHECK-NEXT:    %[[POWER:.*]] = uop.exp %[[LESS]] : f32
// CHECK-NEXT:    %[[NOTHING:.*]] = uop.const 0xff800000 : f32
// CHECK-NEXT:    %[[NAN:.*]] = uop.const 0x7fc00000 : f32
// CHECK-NEXT:    %[[IS:.*]] = uop.eq %[[MAX]], %[[NOTHING]] : f32
// CHECK-NEXT:    %[[TOTAL:.*]] = uop.where %[[IS]], %[[NAN]], %[[SUM]] : f32
// CHECK-NEXT:    uop.div %[[POWER]], %[[TOTAL]] : f32
uop.kernel @softmax(%out: memref<4x65537xf32>, %x: memref<4x65537xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 65537
  %0 = uop.load %x[%i, %j] : memref<4x65537xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.exp %2 : f32
  %4 = uop.reduce add %3 over %j : f32
  %5 = uop.div %3, %4 : f32
  uop.store %5, %out[%i, %j] : memref<4x65537xf32>
}

// -----

// A block holds rows of 4-byte elements with the help of shared memory; but not what two values are needed of again.
// CHECK-LABEL: uop.kernel @held
// CHECK:         uop.reduce max
// CHECK:         uop.reduce add
uop.kernel @held(%out: memref<4x65536xf32>, %x: memref<4x65536xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 65536
  %0 = uop.load %x[%i, %j] : memref<4x65536xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.exp %2 : f32
  %4 = uop.reduce add %3 over %j : f32
  %5 = uop.div %3, %4 : f32
  uop.store %5, %out[%i, %j] : memref<4x65536xf32>
}
// CHECK-LABEL: uop.kernel @twice_as_much
// CHECK:         uop.reduce online_softmax
uop.kernel @twice_as_much(%out: memref<4x65536xf32>, %x: memref<4x65536xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 65536
  %0 = uop.load %x[%i, %j] : memref<4x65536xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.exp %2 : f32
  %4 = uop.reduce add %3 over %j : f32
  %5 = uop.div %3, %4 : f32
  %6 = uop.mul %5, %0 : f32
  uop.store %6, %out[%i, %j] : memref<4x65536xf32>
}

// -----

// Rows that fit: each exponential is computed once.
// CHECK-LABEL: uop.kernel @softmax_in_registers
// CHECK:         uop.reduce max
// CHECK:         uop.reduce add
// ROW-LABEL:   uop.kernel @softmax_in_registers
// ROW:           uop.reduce online_softmax
// ROW-NOT:       uop.reduce max
uop.kernel @softmax_in_registers(%out: memref<4x100xf32>, %x: memref<4x100xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 100
  %0 = uop.load %x[%i, %j] : memref<4x100xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.exp %2 : f32
  %4 = uop.reduce add %3 over %j : f32
  %5 = uop.div %3, %4 : f32
  uop.store %5, %out[%i, %j] : memref<4x100xf32>
}

// -----

// log-sum-exp: no exponential is needed again, and a row takes several warps. An infinite maximum is as if it were 0.
// CHECK-LABEL: uop.kernel @log_sum_exp
// ROW-LABEL:   uop.kernel @log_sum_exp
// CHECK:         %[[MAX:.*]], %[[SUM:.*]] = uop.reduce online_softmax %{{.*}}, %{{.*}} over %k, %k1 : f64, f64
// CHECK:         %[[IS:.*]] = uop.eq %[[MAX]], %[[INFINITY:.*]] : f64
// CHECK-NEXT:    %[[TOTAL:.*]] = uop.where %[[IS]], %[[INFINITY]], %[[SUM]] : f64
// CHECK-NEXT:    uop.log %[[TOTAL]] : f64
uop.kernel @log_sum_exp(%out: memref<4xf64>, %x: memref<4x50x60xf64>) {
  %i = uop.range i = 4
  %k = uop.range k = 50
  %k1 = uop.range k1 = 60
  %0 = uop.load %x[%i, %k, %k1] : memref<4x50x60xf64>
  %1 = uop.reduce max %0 over %k, %k1 : f64
  %2 = uop.abs %1 : f64
  %3 = uop.const 0x7FF0000000000000 : f64
  %4 = uop.eq %2, %3 : f64
  %5 = uop.const 0.0 : f64
  %6 = uop.where %4, %5, %1 : f64
  %7 = uop.sub %0, %6 : f64
  %8 = uop.exp %7 : f64
  %9 = uop.reduce add %8 over %k1, %k : f64
  %10 = uop.log %9 : f64
  %11 = uop.add %10, %6 : f64
  uop.store %11, %out[%i] : memref<4xf64>
}

// -----

// Powers of 2 are exponentials where the exponent is multiplied by log₂e, not by another number, or by none.
// CHECK-LABEL: uop.kernel @power_of_e
// CHECK:         uop.reduce online_softmax
uop.kernel @power_of_e(%out: memref<4xf32>, %x: memref<4x3000xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 3000
  %0 = uop.load %x[%i, %j] : memref<4x3000xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.const 1.44269504 : f32
  %4 = uop.mul %2, %3 : f32
  %5 = uop.exp2 %4 : f32
  %6 = uop.reduce add %5 over %j : f32
  uop.store %6, %out[%i] : memref<4xf32>
}
// CHECK-LABEL: uop.kernel @power_of_its_root
// CHECK-NOT:     online_softmax
uop.kernel @power_of_its_root(%out: memref<4xf32>, %x: memref<4x3000xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 3000
  %0 = uop.load %x[%i, %j] : memref<4x3000xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.const 0.72134752 : f32
  %4 = uop.mul %2, %3 : f32
  %5 = uop.exp2 %4 : f32
  %6 = uop.reduce add %5 over %j : f32
  uop.store %6, %out[%i] : memref<4xf32>
}
// CHECK-LABEL: uop.kernel @power_of_two
// CHECK-NOT:     online_softmax
uop.kernel @power_of_two(%out: memref<4xf32>, %x: memref<4x3000xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 3000
  %0 = uop.load %x[%i, %j] : memref<4x3000xf32>
  %1 = uop.reduce max %0 over %j : f32
  %2 = uop.sub %0, %1 : f32
  %3 = uop.exp2 %2 : f32
  %4 = uop.reduce add %3 over %j : f32
  uop.store %4, %out[%i] : memref<4xf32>
}

// -----

// Left alone: the maximum of another value, one over other ranges, and sums in 16 bits.
// CHECK-LABEL: uop.kernel @others
// CHECK-NOT:     online_softmax
uop.kernel @others(%out: memref<4xf32>, %half: memref<4xf16>, %x: memref<4x40000xf32>, %y: memref<4x40000xf16>) {
  %i = uop.range i = 4
  %k = uop.range k = 40000
  %n = uop.range n = 4
  %0 = uop.load %x[%i, %k] : memref<4x40000xf32>
  %1 = uop.neg %0 : f32
  %2 = uop.reduce max %1 over %k : f32
  %3 = uop.sub %0, %2 : f32
  %4 = uop.exp %3 : f32
  %5 = uop.reduce add %4 over %k : f32
  %6 = uop.reduce max %0 over %k : f32
  %7 = uop.sub %6, %0 : f32
  %8 = uop.exp %7 : f32
  %9 = uop.reduce add %8 over %k : f32
  %10 = uop.load %x[%n, %k] : memref<4x40000xf32>
  %11 = uop.reduce max %10 over %n, %k : f32
  %12 = uop.sub %10, %11 : f32
  %13 = uop.exp %12 : f32
  %14 = uop.reduce add %13 over %k : f32
  %15 = uop.reduce max %14 over %n : f32
  %16 = uop.add %5, %9 : f32
  %17 = uop.add %16, %15 : f32
  uop.store %17, %out[%i] : memref<4xf32>
  %18 = uop.load %y[%i, %k] : memref<4x40000xf16>
  %19 = uop.reduce max %18 over %k : f16
  %20 = uop.sub %18, %19 : f16
  %21 = uop.exp %20 : f16
  %22 = uop.reduce add %21 over %k : f16
  uop.store %22, %half[%i] : memref<4xf16>
}

// -----

// Attention: scores are sums themselves, so that their maximum, the sum of their exponentials and that of the values
// times these become one walk over the keys, however short it is. Masked scores are −∞; rows of nothing else give 0.
// CHECK-LABEL: uop.kernel @attention
// CHECK:         %[[SCORE:.*]] = uop.reduce add %{{.*}} over %k1 : f32
// CHECK:         %[[X:.*]] = uop.where %{{.*}}, %[[SCORE]], %[[NOTHING:.*]] : f32
// CHECK:         %[[V:.*]] = uop.load %v[%n, %l]
// CHECK:         %[[MAX:.*]], %[[SUM:.*]], %[[ACC:.*]] = uop.reduce online_attention %[[X]], %[[ONE:.*]], %[[V]] over %{{.*}} : f32, f32, f32
// CHECK-NOT:     uop.reduce
// CHECK-DAG:     %[[IS:.*]] = uop.eq %[[MAX]], %[[NOTHING]] : f32
// CHECK:         %[[BY:.*]] = uop.where %[[IS]], %[[ONE]], %[[SUM]] : f32
// CHECK-NEXT:    %[[OUT:.*]] = uop.div %[[ACC]], %[[BY]] : f32
// CHECK-NEXT:    uop.store %[[OUT]], %out[%j, %l]
uop.kernel @attention(%out: memref<17x16xf32>, %q: memref<17x8xf32>, %k: memref<19x8xf32>, %v: memref<19x16xf32>) {
  %j = uop.range j = 17
  %l = uop.range l = 16
  %n = uop.range k = 19
  %k1 = uop.range k1 = 8
  %0 = uop.load %q[%j, %k1] : memref<17x8xf32>
  %1 = uop.load %k[%n, %k1] : memref<19x8xf32>
  %2 = uop.mul %0, %1 : f32
  %3 = uop.reduce add %2 over %k1 : f32
  %4 = uop.le %n, %j : index
  %nothing = uop.const 0xff800000 : f32
  %5 = uop.where %4, %3, %nothing : f32
  %6 = uop.reduce max %5 over %n : f32
  %7 = uop.sub %5, %6 : f32
  %8 = uop.exp %7 : f32
  %9 = uop.reduce add %8 over %n : f32
  %10 = uop.div %8, %9 : f32
  %11 = uop.eq %6, %nothing : f32
  %zero = uop.const 0.0 : f32
  %12 = uop.where %11, %zero, %10 : f32
  %13 = uop.load %v[%n, %l] : memref<19x16xf32>
  %14 = uop.mul %12, %13 : f32
  %15 = uop.reduce add %14 over %n : f32
  uop.store %15, %out[%j, %l] : memref<17x16xf32>
}

// -----

// Probabilities are rounded to f16, but so is what is made of them, and the sum of exponentials comes after the product.
// CHECK-LABEL: uop.kernel @attention_f16
// CHECK:         %[[V:.*]] = uop.cast %{{.*}} : f16 -> f32
// CHECK:         %{{.*}}, %[[SUM:.*]], %[[ACC:.*]] = uop.reduce online_attention %{{.*}}, %{{.*}}, %[[V]] over %{{.*}} : f32, f32, f32
// CHECK-NOT:     uop.reduce
// CHECK:         %[[MEAN:.*]] = uop.div %[[ACC]], %[[SUM]] : f32
// CHECK-NEXT:    %[[OUT:.*]] = uop.cast %[[MEAN]] : f32 -> f16
// CHECK-NEXT:    uop.store %[[OUT]], %out[%j, %l]
uop.kernel @attention_f16(%out: memref<17x16xf16>, %x: memref<17x19x8xf32>, %v: memref<19x16xf16>) {
  %j = uop.range j = 17
  %l = uop.range l = 16
  %k = uop.range k = 19
  %k1 = uop.range k1 = 8
  %0 = uop.load %x[%j, %k, %k1] : memref<17x19x8xf32>
  %1 = uop.reduce add %0 over %k1 : f32
  %2 = uop.reduce max %1 over %k : f32
  %3 = uop.sub %1, %2 : f32
  %4 = uop.exp %3 : f32
  %5 = uop.reduce add %4 over %k : f32
  %6 = uop.reciprocal %5 : f32
  %7 = uop.mul %4, %6 : f32
  %8 = uop.cast %7 : f32 -> f16
  %9 = uop.cast %8 : f16 -> f32
  %10 = uop.load %v[%k, %l] : memref<19x16xf16>
  %11 = uop.cast %10 : f16 -> f32
  %12 = uop.mul %9, %11 : f32
  %13 = uop.reduce add %12 over %k : f32
  %14 = uop.cast %13 : f32 -> f16
  uop.store %14, %out[%j, %l] : memref<17x16xf16>
}

// -----

// The sum of exponentials is stored without the channels of the values: it stays a walk of its own.
// CHECK-LABEL: uop.kernel @sum_too
// CHECK-NOT:     online_attention
// CHECK:         uop.reduce online_softmax
// CHECK-NOT:     online_attention
uop.kernel @sum_too(%out: memref<17x16xf32>, %sums: memref<17xf32>, %x: memref<17x19x8xf32>, %v: memref<19x16xf32>) {
  %j = uop.range j = 17
  %l = uop.range l = 16
  %k = uop.range k = 19
  %k1 = uop.range k1 = 8
  %0 = uop.load %x[%j, %k, %k1] : memref<17x19x8xf32>
  %1 = uop.reduce add %0 over %k1 : f32
  %2 = uop.reduce max %1 over %k : f32
  %3 = uop.sub %1, %2 : f32
  %4 = uop.exp %3 : f32
  %5 = uop.reduce add %4 over %k : f32
  %6 = uop.load %v[%k, %l] : memref<19x16xf32>
  %7 = uop.mul %4, %6 : f32
  %8 = uop.reduce add %7 over %k : f32
  %9 = uop.div %8, %5 : f32
  uop.store %9, %out[%j, %l] : memref<17x16xf32>
  uop.store %5, %sums[%j] : memref<17xf32>
}

// -----

// Probabilities rounded to f16 of which f32 is made stay: the rounding shows.
// CHECK-LABEL: uop.kernel @rounded
// CHECK:         uop.cast %{{.*}} : f32 -> f16
// CHECK-NOT:     online_attention
uop.kernel @rounded(%out: memref<17x16xf32>, %x: memref<17x19x8xf32>, %v: memref<19x16xf32>) {
  %j = uop.range j = 17
  %l = uop.range l = 16
  %k = uop.range k = 19
  %k1 = uop.range k1 = 8
  %0 = uop.load %x[%j, %k, %k1] : memref<17x19x8xf32>
  %1 = uop.reduce add %0 over %k1 : f32
  %2 = uop.reduce max %1 over %k : f32
  %3 = uop.sub %1, %2 : f32
  %4 = uop.exp %3 : f32
  %5 = uop.reduce add %4 over %k : f32
  %6 = uop.div %4, %5 : f32
  %7 = uop.cast %6 : f32 -> f16
  %8 = uop.cast %7 : f16 -> f32
  %9 = uop.load %v[%k, %l] : memref<19x16xf32>
  %10 = uop.mul %8, %9 : f32
  %11 = uop.reduce add %10 over %k : f32
  uop.store %11, %out[%j, %l] : memref<17x16xf32>
}

// -----

// Scores of 16 products and values of 16 channels: the range that both go over becomes two, for the scores are inside of
// the walk over the keys, which is inside of the loop over the channels.
// CHECK-LABEL: uop.kernel @shared_range
// CHECK:         %j1 = uop.range j1 = 16
// CHECK-NEXT:    %{{.*}} = uop.load %key[%k, %j1]
// CHECK-NEXT:    %{{.*}} = uop.load %q[%j1]
// CHECK:         uop.reduce add %{{.*}} over %j1 : f32
// CHECK:         uop.load %value[%k, %j]
// CHECK:         uop.reduce online_attention
uop.kernel @shared_range(%out: memref<16xf32>, %q: memref<16xf32>, %key: memref<33x16xf32>, %value: memref<33x16xf32>) {
  %j = uop.range j = 16
  %k = uop.range k = 33
  %0 = uop.load %q[%j] : memref<16xf32>
  %1 = uop.load %key[%k, %j] : memref<33x16xf32>
  %2 = uop.mul %0, %1 : f32
  %3 = uop.reduce add %2 over %j : f32
  %4 = uop.reduce max %3 over %k : f32
  %5 = uop.sub %3, %4 : f32
  %6 = uop.exp %5 : f32
  %7 = uop.reduce add %6 over %k : f32
  %8 = uop.div %6, %7 : f32
  %9 = uop.load %value[%k, %j] : memref<33x16xf32>
  %10 = uop.mul %8, %9 : f32
  %11 = uop.reduce add %10 over %k : f32
  uop.store %11, %out[%j] : memref<16xf32>
}

// -----

// As many keys as a symbol says, at least 2: those behind it have −∞ and 0, and what hides them once more changes nothing.
// CHECK-LABEL: uop.kernel @symbol
// CHECK:         uop.reduce online_attention
// CHECK-NOT:     uop.reduce
// Of no keys at all, 0 stays 0.
// CHECK-LABEL: uop.kernel @perhaps_none
// CHECK-NOT:     online_attention
uop.kernel @symbol(%out: memref<17x16xf32>, %s: memref<i64>, %x: memref<17x64x8xf32>, %v: memref<64x16xf32>) {
  %j = uop.range j = 17
  %l = uop.range l = 16
  %k = uop.range k = 64
  %k1 = uop.range k1 = 8
  %s_ = uop.load %s[] : memref<i64>
  %least = uop.const 2 : i64
  %n = uop.max %s_, %least : i64
  %k64 = uop.cast %k : index -> i64
  %inside = uop.lt %k64, %n : i64
  %nothing = uop.const 0xff800000 : f32
  %zero = uop.const 0.0 : f32
  %0 = uop.load %x[%j, %k, %k1] : memref<17x64x8xf32>
  %1 = uop.reduce add %0 over %k1 : f32
  %2 = uop.where %inside, %1, %nothing : f32
  %3 = uop.reduce max %2 over %k : f32
  %4 = uop.sub %2, %3 : f32
  %5 = uop.exp %4 : f32
  %6 = uop.reduce add %5 over %k : f32
  %7 = uop.div %5, %6 : f32
  %8 = uop.where %inside, %7, %zero : f32
  %9 = uop.load %v[%k, %l] : memref<64x16xf32>
  %10 = uop.where %inside, %9, %zero : f32
  %11 = uop.mul %8, %10 : f32
  %12 = uop.reduce add %11 over %k : f32
  uop.store %12, %out[%j, %l] : memref<17x16xf32>
}
uop.kernel @perhaps_none(%out: memref<17x16xf32>, %s: memref<i64>, %x: memref<17x64x8xf32>, %v: memref<64x16xf32>) {
  %j = uop.range j = 17
  %l = uop.range l = 16
  %k = uop.range k = 64
  %k1 = uop.range k1 = 8
  %n = uop.load %s[] : memref<i64>
  %k64 = uop.cast %k : index -> i64
  %inside = uop.lt %k64, %n : i64
  %nothing = uop.const 0xff800000 : f32
  %zero = uop.const 0.0 : f32
  %0 = uop.load %x[%j, %k, %k1] : memref<17x64x8xf32>
  %1 = uop.reduce add %0 over %k1 : f32
  %2 = uop.where %inside, %1, %nothing : f32
  %3 = uop.reduce max %2 over %k : f32
  %4 = uop.sub %2, %3 : f32
  %5 = uop.exp %4 : f32
  %6 = uop.reduce add %5 over %k : f32
  %7 = uop.div %5, %6 : f32
  %8 = uop.where %inside, %7, %zero : f32
  %9 = uop.load %v[%k, %l] : memref<64x16xf32>
  %10 = uop.where %inside, %9, %zero : f32
  %11 = uop.mul %8, %10 : f32
  %12 = uop.reduce add %11 over %k : f32
  uop.store %12, %out[%j, %l] : memref<17x16xf32>
}
