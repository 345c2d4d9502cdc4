// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-split-attention)' --split-input-file | filecheck %s

// One query for each of 32 heads, 4 of which share keys and values: 8 blocks of queries. One kernel reduces 32 parts of
// 128 keys each, another combines what they give.
// CHECK-LABEL: uop.kernel @decode_parts(%max: memref<8x4x32xf32>, %sum: memref<8x4x32xf32>, %acc: memref<8x4x32x64xf32>, %q: memref<32x64xf16>, %k: memref<8x4096x64xf16>, %v: memref<8x4096x64xf16>) {
// CHECK-NEXT:    %i = uop.range i = 8
// CHECK-NEXT:    %i1 = uop.range i1 = 4
// CHECK-NEXT:    %l = uop.range l = 64
// CHECK-NEXT:    %p = uop.range p = 32
// CHECK-NEXT:    %[[SIZE:.*]] = uop.const 128 : index
// CHECK-NEXT:    %[[FIRST:.*]] = uop.mul %p, %[[SIZE]] : index
// CHECK-NEXT:    %k_1 = uop.range k = 128
// CHECK-NEXT:    %[[KEY:.*]] = uop.add %[[FIRST]], %k_1 : index
// CHECK:         uop.load %k[%i, %[[KEY]], %k1] : memref<8x4096x64xf16>
// CHECK:         uop.load %v[%i, %[[KEY]], %l] : memref<8x4096x64xf16>
// CHECK:         %[[MAX:.*]], %[[SUM:.*]], %[[ACC:.*]] = uop.reduce online_attention %{{.*}}, %{{.*}}, %{{.*}} over %k_1 : f32, f32, f32
// CHECK-NEXT:    uop.store %[[MAX]], %max[%i, %i1, %p] : memref<8x4x32xf32>
// CHECK-NEXT:    uop.store %[[SUM]], %sum[%i, %i1, %p] : memref<8x4x32xf32>
// CHECK-NEXT:    uop.store %[[ACC]], %acc[%i, %i1, %p, %l] : memref<8x4x32x64xf32>
// CHECK:       uop.kernel @decode(%out: memref<32x64xf16>, %max: memref<8x4x32xf32>, %sum: memref<8x4x32xf32>, %acc: memref<8x4x32x64xf32>) {
// CHECK:         %k = uop.range k = 32
// CHECK:         %{{.*}}, %[[TOTAL:.*]], %[[SUMS:.*]] = uop.reduce online_attention %{{.*}}, %{{.*}}, %{{.*}} over %k : f32, f32, f32
// CHECK:         uop.div %[[SUMS]], %[[TOTAL]] : f32
// CHECK:       func.func @forward
// CHECK-NEXT:    %0, %1, %2 = uop.launch @decode_parts(%q, %k, %v) : (tensor<32x64xf16>, tensor<8x4096x64xf16>, tensor<8x4096x64xf16>) -> (tensor<8x4x32xf32>, tensor<8x4x32xf32>, tensor<8x4x32x64xf32>)
// CHECK-NEXT:    %3 = uop.launch @decode(%0, %1, %2) : (tensor<8x4x32xf32>, tensor<8x4x32xf32>, tensor<8x4x32x64xf32>) -> tensor<32x64xf16>
uop.kernel @decode(%out: memref<32x64xf16>, %q: memref<32x64xf16>, %k: memref<8x4096x64xf16>, %v: memref<8x4096x64xf16>) {
  %i = uop.range i = 32
  %l = uop.range l = 64
  %k_1 = uop.range k = 4096
  %k1 = uop.range k1 = 64
  %four = uop.const 4 : index
  %h = uop.floordiv %i, %four : index
  %0 = uop.load %q[%i, %k1] : memref<32x64xf16>
  %1 = uop.cast %0 : f16 -> f32
  %2 = uop.load %k[%h, %k_1, %k1] : memref<8x4096x64xf16>
  %3 = uop.cast %2 : f16 -> f32
  %4 = uop.mul %1, %3 : f32
  %5 = uop.reduce add %4 over %k1 : f32
  %one = uop.const 1.0 : f32
  %6 = uop.load %v[%h, %k_1, %l] : memref<8x4096x64xf16>
  %7 = uop.cast %6 : f16 -> f32
  %max, %sum, %acc = uop.reduce online_attention %5, %one, %7 over %k_1 : f32, f32, f32
  %8 = uop.div %acc, %sum : f32
  %9 = uop.cast %8 : f32 -> f16
  uop.store %9, %out[%i, %l] : memref<32x64xf16>
}
func.func @forward(%q: tensor<32x64xf16>, %k: tensor<8x4096x64xf16>, %v: tensor<8x4096x64xf16>) -> tensor<32x64xf16> {
  %0 = uop.launch @decode(%q, %k, %v) : (tensor<32x64xf16>, tensor<8x4096x64xf16>, tensor<8x4096x64xf16>) -> tensor<32x64xf16>
  func.return %0 : tensor<32x64xf16>
}

// -----

// A number of keys that is no multiple of the parts', up to a position that is data: behind the last key a part reads
// nothing, and the limit becomes one of each part.
// CHECK-LABEL: uop.kernel @limited_parts(%max: memref<6xf32>, %sum: memref<6xf32>, %acc: memref<6x16xf32>
// CHECK:         %p = uop.range p = 6
// CHECK-NEXT:    %[[SIZE:.*]] = uop.const 192 : index
// CHECK-NEXT:    %[[FIRST:.*]] = uop.mul %p, %[[SIZE]] : index
// CHECK-NEXT:    %[[POSITION:.*]] = uop.load %position[] : memref<i64>
// CHECK-NEXT:    %[[LAST:.*]] = uop.cast %[[POSITION]] : i64 -> index
// CHECK-NEXT:    %[[LIMIT:.*]] = uop.sub %[[LAST]], %[[FIRST]] : index
// CHECK-NEXT:    %k_1 = uop.range k = 192 to %[[LIMIT]]
// CHECK-NEXT:    %[[KEY:.*]] = uop.add %[[FIRST]], %k_1 : index
// CHECK-NEXT:    %[[KEYS:.*]] = uop.const 1001 : index
// CHECK-NEXT:    %[[INSIDE:.*]] = uop.lt %[[KEY]], %[[KEYS]] : index
// CHECK:         uop.load %k[%[[KEY]], %k1] mask %[[INSIDE]] : memref<1001x16xf32>
// CHECK:         %[[SEEN:.*]] = uop.lt %[[KEY]], %[[LAST]] : index
// CHECK:         %[[X:.*]] = uop.where %[[SEEN]]
// CHECK:         uop.load %v[%[[KEY]], %l] mask %[[INSIDE]] : memref<1001x16xf32>
// CHECK:         uop.where %[[INSIDE]], %[[X]]
// CHECK:       uop.kernel @limited(
uop.kernel @limited(%out: memref<16xf32>, %q: memref<16xf32>, %k: memref<1001x16xf32>, %v: memref<1001x16xf32>, %position: memref<i64>) {
  %l = uop.range l = 16
  %position_1 = uop.load %position[] : memref<i64>
  %last = uop.cast %position_1 : i64 -> index
  %k_1 = uop.range k = 1001 to %last
  %k1 = uop.range k1 = 16
  %0 = uop.load %q[%k1] : memref<16xf32>
  %1 = uop.load %k[%k_1, %k1] : memref<1001x16xf32>
  %2 = uop.mul %0, %1 : f32
  %3 = uop.reduce add %2 over %k1 : f32
  %4 = uop.lt %k_1, %last : index
  %5 = uop.const 0xff800000 : f32
  %6 = uop.where %4, %3, %5 : f32
  %one = uop.const 1.0 : f32
  %7 = uop.load %v[%k_1, %l] : memref<1001x16xf32>
  %max, %sum, %acc = uop.reduce online_attention %6, %one, %7 over %k_1 : f32, f32, f32
  %8 = uop.div %acc, %sum : f32
  uop.store %8, %out[%l] : memref<16xf32>
}

// -----

// 17 queries are not few, and 8 heads of them that share keys stay together; but heads are ranges of their own.
// CHECK-LABEL: uop.kernel @prefill(
// CHECK-NEXT:    %h = uop.range h = 2
// CHECK-NEXT:    %h1 = uop.range h1 = 4
// CHECK:         uop.range k = 4096
// CHECK:         uop.load %k[%h, %k_1, %k1]
// CHECK-NOT:   uop.kernel
uop.kernel @prefill(%out: memref<8x17x64xf32>, %q: memref<8x17x64xf32>, %k: memref<2x4096x64xf32>, %v: memref<2x4096x64xf32>) {
  %h = uop.range h = 8
  %i = uop.range i = 17
  %l = uop.range l = 64
  %k_1 = uop.range k = 4096
  %k1 = uop.range k1 = 64
  %four = uop.const 4 : index
  %h0 = uop.floordiv %h, %four : index
  %0 = uop.load %q[%h, %i, %k1] : memref<8x17x64xf32>
  %1 = uop.load %k[%h0, %k_1, %k1] : memref<2x4096x64xf32>
  %2 = uop.mul %0, %1 : f32
  %3 = uop.reduce add %2 over %k1 : f32
  %one = uop.const 1.0 : f32
  %4 = uop.load %v[%h0, %k_1, %l] : memref<2x4096x64xf32>
  %max, %sum, %acc = uop.reduce online_attention %3, %one, %4 over %k_1 : f32, f32, f32
  %5 = uop.div %acc, %sum : f32
  uop.store %5, %out[%h, %i, %l] : memref<8x17x64xf32>
}

// -----

// Too few keys for two parts.
// CHECK-LABEL: uop.kernel @short(
// CHECK-NOT:   uop.kernel
uop.kernel @short(%out: memref<16xf32>, %q: memref<16xf32>, %k: memref<255x16xf32>, %v: memref<255x16xf32>) {
  %l = uop.range l = 16
  %k_1 = uop.range k = 255
  %k1 = uop.range k1 = 16
  %0 = uop.load %q[%k1] : memref<16xf32>
  %1 = uop.load %k[%k_1, %k1] : memref<255x16xf32>
  %2 = uop.mul %0, %1 : f32
  %3 = uop.reduce add %2 over %k1 : f32
  %one = uop.const 1.0 : f32
  %4 = uop.load %v[%k_1, %l] : memref<255x16xf32>
  %max, %sum, %acc = uop.reduce online_attention %3, %one, %4 over %k_1 : f32, f32, f32
  %5 = uop.div %acc, %sum : f32
  uop.store %5, %out[%l] : memref<16xf32>
}
