// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-uop-to-loop)' --split-input-file | filecheck %s

// A limit is computed in front of its loop, inside of the loops that it depends on.
uop.kernel @rows(%out: memref<64xf32>, %x: memref<64x64xf32>) {
  %i = uop.range i = 64
  %c1 = uop.const 1 : index
  %hi = uop.add %i, %c1 : index
  %k = uop.range k = 64 to %hi
  %0 = uop.load %x[%i, %k] : memref<64x64xf32>
  %1 = uop.reduce add %0 over %k : f32
  uop.store %1, %out[%i] : memref<64xf32>
}
// CHECK-LABEL: uop.kernel @rows
// CHECK:      loop.for %i (i = 64 parallel) {
// CHECK-NEXT:   %[[HI:.*]] = uop.add %i, %{{.*}} : index
// CHECK-NEXT:   %{{.*}} = loop.reduce %k (k = 64) to %[[HI]] add : f32 {
// CHECK-NEXT:     uop.load %x[%i, %k]

// -----

// The loop over j stands inside of that over i, which its limit depends on, though the store names it first. What the
// limit depends on and the elements do not is around the loop, too: i.
uop.kernel @stored(%out: memref<64x64xf32>, %x: memref<64xf32>) {
  %i = uop.range i = 64
  %j = uop.range j = 64 from %i
  %0 = uop.load %x[%j] : memref<64xf32>
  uop.store %0, %out[%j, %i] : memref<64x64xf32>
}
// CHECK-LABEL: uop.kernel @stored
// CHECK:      loop.for %i (i = 64 parallel) {
// CHECK-NEXT:   loop.for %j (j = 64 parallel) from %i {
// CHECK-NEXT:     uop.load %x[%j]

// -----

// Of a reduction over two ranges, that on which the other's limit depends is outside.
uop.kernel @nested(%out: memref<4xf32>, %x: memref<4x64x64xf32>) {
  %i = uop.range i = 4
  %k = uop.range k = 64
  %l = uop.range l = 64 to %k
  %0 = uop.load %x[%i, %k, %l] : memref<4x64x64xf32>
  %1 = uop.reduce add %0 over %l, %k : f32
  uop.store %1, %out[%i] : memref<4xf32>
}
// CHECK-LABEL: uop.kernel @nested
// CHECK:      loop.reduce %k (k = 64) add : f32 {
// CHECK-NEXT:   loop.reduce %l (l = 64) to %k add : f32 {

// -----

// Two ranges of one axis, of which one is reduced, are both innermost: the sum over i is done once for each j.
uop.kernel @columns(%out: memref<64x8xf32>, %x: memref<64x8xf32>, %n: memref<i64>) {
  %i = uop.range i = 64
  %j = uop.range j = 8
  %length = uop.load %n[] : memref<i64>
  %hi = uop.cast %length : i64 -> index
  %i1 = uop.range i = 64 to %hi
  %0 = uop.load %x[%i1, %j] : memref<64x8xf32>
  %1 = uop.reduce add %0 over %i1 : f32
  %2 = uop.load %x[%i, %j] : memref<64x8xf32>
  %3 = uop.div %2, %1 : f32
  uop.store %3, %out[%i, %j] : memref<64x8xf32>
}
// CHECK-LABEL: uop.kernel @columns
// CHECK:      %[[N:.*]] = uop.load %n[]
// CHECK:      %[[HI:.*]] = uop.cast %[[N]]
// CHECK:      loop.for %j (j = 8 parallel) {
// CHECK-NEXT:   %[[SUM:.*]] = loop.reduce %i1 (i = 64) to %[[HI]] add : f32 {
// CHECK:        loop.for %i (i = 64 parallel) {
