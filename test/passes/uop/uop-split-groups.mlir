// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-split-groups)' --split-input-file | filecheck %s

// 32 heads of queries, of which 8 share keys and values: their number becomes a range of its own, which keys and values
// do not vary with.

// CHECK-LABEL: uop.kernel @grouped
// CHECK:         %h = uop.range h = 4
// CHECK-NEXT:    %h1 = uop.range h1 = 8
// CHECK-NEXT:    %[[EIGHT:.*]] = uop.const 8 : index
// CHECK-NEXT:    %[[FIRST:.*]] = uop.mul %h, %[[EIGHT]] : index
// CHECK-NEXT:    %[[HEAD:.*]] = uop.add %[[FIRST]], %h1 : index
// CHECK-NOT:     uop.floordiv
// CHECK:         uop.load %q[%[[HEAD]], %c]
// CHECK:         uop.load %k[%h, %j, %c]
// CHECK-DAG:     uop.load %v[%h, %j, %l]
// CHECK-DAG:     uop.load %slope[%h1]
// CHECK:         uop.store %{{.*}}, %out[%[[HEAD]], %l]
uop.kernel @grouped(%out: memref<32x64xf32>, %q: memref<32x64xf32>, %k: memref<4x100x64xf32>, %v: memref<4x100x64xf32>, %slope: memref<8xf32>) {
  %h = uop.range h = 32
  %l = uop.range l = 64
  %j = uop.range j = 100
  %c = uop.range c = 64
  %size = uop.const 8 : index
  %group = uop.floordiv %h, %size : index
  %inside = uop.floormod %h, %size : index
  %q_hc = uop.load %q[%h, %c] : memref<32x64xf32>
  %k_jc = uop.load %k[%group, %j, %c] : memref<4x100x64xf32>
  %product = uop.mul %q_hc, %k_jc : f32
  %score = uop.reduce add %product over %c : f32
  %bias = uop.load %slope[%inside] : memref<8xf32>
  %biased = uop.add %score, %bias : f32
  %v_jl = uop.load %v[%group, %j, %l] : memref<4x100x64xf32>
  %one = uop.const 1.0 : f32
  %max, %sum, %acc = uop.reduce online_attention %biased, %one, %v_jl over %j : f32, f32, f32
  %o = uop.div %acc, %sum : f32
  uop.store %o, %out[%h, %l] : memref<32x64xf32>
}

// -----

// No attention, or no whole groups: left alone.

// CHECK-LABEL: uop.kernel @repeated
// CHECK:         uop.range h = 32
// CHECK:         uop.floordiv %h
uop.kernel @repeated(%out: memref<32xf32>, %x: memref<4xf32>) {
  %h = uop.range h = 32
  %size = uop.const 8 : index
  %group = uop.floordiv %h, %size : index
  %0 = uop.load %x[%group] : memref<4xf32>
  uop.store %0, %out[%h] : memref<32xf32>
}

// CHECK-LABEL: uop.kernel @ragged
// CHECK:         uop.range h = 30
// CHECK:         uop.floordiv %h
uop.kernel @ragged(%out: memref<30x64xf32>, %s: memref<30x100xf32>, %v: memref<4x100x64xf32>) {
  %h = uop.range h = 30
  %l = uop.range l = 64
  %j = uop.range j = 100
  %size = uop.const 8 : index
  %group = uop.floordiv %h, %size : index
  %score = uop.load %s[%h, %j] : memref<30x100xf32>
  %v_jl = uop.load %v[%group, %j, %l] : memref<4x100x64xf32>
  %one = uop.const 1.0 : f32
  %max, %sum, %acc = uop.reduce online_attention %score, %one, %v_jl over %j : f32, f32, f32
  uop.store %acc, %out[%h, %l] : memref<30x64xf32>
}
