// RUN: UOP_ROUNDTRIP
// RUN: UOP_GENERIC_ROUNDTRIP

// CHECK-LABEL: uop.kernel @product
// GENERIC-LABEL: sym_name = "product"
uop.kernel @product(%out: memref<16x16xf32>, %x: memref<16x64xf32>, %w: memref<64x16xf32>) {
  // CHECK: loop.for %[[I:.*]] (i = 16 parallel) {
  // GENERIC: "loop.for"() <{axis = #uop.axis<i = 16 parallel>, monoids = [], operandSegmentSizes = array<i32: 0, 0, 0>}> ({
  loop.for %i (i = 16 parallel) {
    // CHECK-NEXT: loop.for %[[J:.*]] (j = 16 parallel) {
    loop.for %j (j = 16 parallel) {
      // CHECK-NEXT: %[[S:.*]] = loop.reduce %[[K:.*]] (k = 64) add : f32 {
      // GENERIC: "loop.reduce"() <{axis = #uop.axis<k = 64>, monoid = #uop.monoid<add>, operandSegmentSizes = array<i32: 0, 0>}> ({
      %0 = loop.reduce %k (k = 64) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<16x64xf32>
        %2 = uop.load %w[%k, %j] : memref<64x16xf32>
        %3 = uop.mul %1, %2 : f32
        // CHECK: loop.yield %{{.*}} : f32
        loop.yield %3 : f32
      }
      // CHECK: uop.store %[[S]], %out[%[[I]], %[[J]]] : memref<16x16xf32>
      uop.store %0, %out[%i, %j] : memref<16x16xf32>
    }
  }
}

// Scans over the loop around them, or one further out.
// CHECK-LABEL: uop.kernel @scans
uop.kernel @scans(%x: memref<4x5xf32>) {
  // CHECK: loop.for %[[I:.*]] (i = 4 parallel) {
  loop.for %i (i = 4 parallel) {
    // CHECK: loop.for %[[J:.*]] (j = 5 parallel) {
    loop.for %j (j = 5 parallel) {
      %0 = uop.load %x[%i, %j] : memref<4x5xf32>
      // CHECK: %[[S:.*]] = loop.scan add %{{.*}} over %[[J]] : f32
      // GENERIC: "loop.scan"(%{{.*}}, %{{.*}}) <{monoid = #uop.monoid<add>, operandSegmentSizes = array<i32: 1, 1>}>
      %1 = loop.scan add %0 over %j : f32
      // CHECK-NEXT: loop.scan online_softmax %{{.*}}, %[[S]] over %[[I]] : f32, f32
      %2, %3 = loop.scan online_softmax %0, %1 over %i : f32, f32
    }
  }
}

// Several values, several groups of state, state that continues an outer loop's.
// CHECK-LABEL: uop.kernel @state
uop.kernel @state(%x: memref<4xf32>) {
  // CHECK: loop.reduce %{{.*}} (i = 4) argmax : f32, i64 attributes {test.note} {
  %0, %1 = loop.reduce %i (i = 4) argmax : f32, i64 attributes {test.note} {
    %2 = uop.load %x[%i] : memref<4xf32>
    %3 = uop.cast %i : index -> i64
    loop.yield %2, %3 : f32, i64
  }
  // CHECK: loop.for %{{.*}} (k = 2 loop) carry (%[[M:.*]], %[[S:.*]] = online_softmax : f32, f32), (%[[A:.*]] = add : vector<2xf32>) {
  %4, %5, %6 = loop.for %ko (k = 2 loop) carry (%m, %s = online_softmax : f32, f32), (%a = add : vector<2xf32>) {
    // CHECK-NEXT: loop.for %{{.*}} (k = 8 unroll) carry (%{{.*}}, %{{.*}} = online_softmax from %[[M]], %[[S]] : f32, f32), (%{{.*}} = add from %[[A]] : vector<2xf32>) {
    %7, %8, %9 = loop.for %ki (k = 8 unroll) carry (%m2, %s2 = online_softmax from %m, %s : f32, f32), (%a2 = add from %a : vector<2xf32>) {
      loop.yield %m2, %s2, %a2 : f32, f32, vector<2xf32>
    }
    loop.yield %7, %8, %9 : f32, f32, vector<2xf32>
  }
}
