// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-split-attention{machine=cpu})' --split-input-file --verify-diagnostics | filecheck %s

// On a CPU parts have 512 keys at the least, and 16 tasks are enough: of one head, whose 200 queries are two of them, 3
// parts of 576, the last with 448 of them.
// CHECK-LABEL: uop.kernel @attention_parts(%max: memref<200x3xf32>, %sum: memref<200x3xf32>, %acc: memref<200x3x64xf32>
// CHECK:         %p = uop.range p = 3
// CHECK-NEXT:    %{{.*}} = uop.const 576 : index
// CHECK:         uop.range j = 576
// CHECK:       uop.kernel @attention(
// CHECK:         uop.range j = 3
// expected-remark@+1 {{@attention: its 1600 keys are split into 3 parts of 576: they have 2 blocks of queries, of 16 that are enough}}
uop.kernel @attention(%out: memref<200x64xf32>, %q: memref<200x32xf32>, %k: memref<1600x32xf32>, %v: memref<1600x64xf32>) {
  %i = uop.range i = 200
  %l = uop.range l = 64
  %j = uop.range j = 1600
  %c = uop.range k1 = 32
  %0 = uop.load %q[%i, %c] : memref<200x32xf32>
  %1 = uop.load %k[%j, %c] : memref<1600x32xf32>
  %2 = uop.mul %0, %1 : f32
  %3 = uop.reduce add %2 over %c : f32
  %one = uop.const 1.0 : f32
  %4 = uop.load %v[%j, %l] : memref<1600x64xf32>
  %max, %sum, %acc = uop.reduce online_attention %3, %one, %4 over %j : f32, f32, f32
  %5 = uop.div %acc, %sum : f32
  uop.store %5, %out[%i, %l] : memref<200x64xf32>
}

// -----

// Fewer keys stay together.
// CHECK-LABEL: uop.kernel @few_keys(
// CHECK-NOT:   uop.range p
uop.kernel @few_keys(%out: memref<64xf32>, %q: memref<32xf32>, %k: memref<1000x32xf32>, %v: memref<1000x64xf32>) {
  %l = uop.range l = 64
  %j = uop.range j = 1000
  %c = uop.range k1 = 32
  %0 = uop.load %q[%c] : memref<32xf32>
  %1 = uop.load %k[%j, %c] : memref<1000x32xf32>
  %2 = uop.mul %0, %1 : f32
  %3 = uop.reduce add %2 over %c : f32
  %one = uop.const 1.0 : f32
  %4 = uop.load %v[%j, %l] : memref<1000x64xf32>
  %max, %sum, %acc = uop.reduce online_attention %3, %one, %4 over %j : f32, f32, f32
  %5 = uop.div %acc, %sum : f32
  uop.store %5, %out[%l] : memref<64xf32>
}

// -----

// Nor are those of nine heads, each a task.
// CHECK-LABEL: uop.kernel @nine(
// CHECK-NOT:   uop.range p
// expected-remark@+1 {{@nine: its 4096 keys stay together: 9 blocks are enough}}
uop.kernel @nine(%out: memref<9x64xf32>, %q: memref<9x32xf32>, %k: memref<9x4096x32xf32>, %v: memref<9x4096x64xf32>) {
  %h = uop.range h = 9
  %l = uop.range l = 64
  %j = uop.range j = 4096
  %c = uop.range k1 = 32
  %0 = uop.load %q[%h, %c] : memref<9x32xf32>
  %1 = uop.load %k[%h, %j, %c] : memref<9x4096x32xf32>
  %2 = uop.mul %0, %1 : f32
  %3 = uop.reduce add %2 over %c : f32
  %one = uop.const 1.0 : f32
  %4 = uop.load %v[%h, %j, %l] : memref<9x4096x64xf32>
  %max, %sum, %acc = uop.reduce online_attention %3, %one, %4 over %j : f32, f32, f32
  %5 = uop.div %acc, %sum : f32
  uop.store %5, %out[%h, %l] : memref<9x64xf32>
}

// -----

// The parts of keys up to a position are dealt out in turn: a thread that takes the first half of the tasks has the
// parts 0, 2, 1 and 3 of four, not all that come before the position.
// CHECK-LABEL: uop.kernel @cache_parts(
// CHECK:         %p = uop.range p = 2
// CHECK-NEXT:    %p1 = uop.range p1 = 2
// CHECK-NEXT:    %[[TURN:.*]] = uop.const 2 : index
// CHECK-NEXT:    %[[TURNS:.*]] = uop.mul %p1, %[[TURN]] : index
// CHECK-NEXT:    %[[PART:.*]] = uop.add %p, %[[TURNS]] : index
// CHECK:         %[[SIZE:.*]] = uop.const 512 : index
// CHECK-NEXT:    %[[FIRST:.*]] = uop.mul %[[PART]], %[[SIZE]] : index
// CHECK:         %[[END:.*]] = uop.sub %{{.*}}, %[[FIRST]] : index
// CHECK-NEXT:    uop.range j = 512 to %[[END]]
// CHECK:         uop.store %{{.*}}, %max[%[[PART]]] : memref<4xf32>
// CHECK:         uop.store %{{.*}}, %acc[%[[PART]], %l] : memref<4x64xf32>
// CHECK:       uop.kernel @cache(
// CHECK:         uop.range j = 4
// expected-remark@+1 {{@cache: its 2048 keys are split into 4 parts of 512: they have 1 blocks of queries, of 16 that are enough}}
uop.kernel @cache(%out: memref<64xf32>, %q: memref<32xf32>, %k: memref<2048x32xf32>, %v: memref<2048x64xf32>, %length: memref<i64>) {
  %l = uop.range l = 64
  %position = uop.load %length[] : memref<i64>
  %end = uop.cast %position : i64 -> index
  %j = uop.range j = 2048 to %end
  %c = uop.range k1 = 32
  %0 = uop.load %q[%c] : memref<32xf32>
  %1 = uop.load %k[%j, %c] : memref<2048x32xf32>
  %2 = uop.mul %0, %1 : f32
  %3 = uop.reduce add %2 over %c : f32
  %visible = uop.lt %j, %end : index
  %nothing = uop.const 0xff800000 : f32
  %score = uop.where %visible, %3, %nothing : f32
  %one = uop.const 1.0 : f32
  %4 = uop.load %v[%j, %l] : memref<2048x64xf32>
  %max, %sum, %acc = uop.reduce online_attention %score, %one, %4 over %j : f32, f32, f32
  %5 = uop.div %acc, %sum : f32
  uop.store %5, %out[%l] : memref<64xf32>
}
