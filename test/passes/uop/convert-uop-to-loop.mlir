// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-uop-to-loop)' --split-input-file --verify-diagnostics | filecheck %s

// The store's ranges are loops, in the order of its indices; the reduction's range is a loop around its elements. The constant
// depends on no range and stands outside, and so does nothing that depends on one.
uop.kernel @matmul(%out: memref<16x16xf32>, %x: memref<16x64xf32>, %bias: memref<16xf32>, %w: memref<64x16xf32>) {
  %i = uop.range i = 16
  %j = uop.range j = 16
  %k = uop.range k = 64
  %0 = uop.load %x[%i, %k] : memref<16x64xf32>
  %1 = uop.load %w[%k, %j] : memref<64x16xf32>
  %2 = uop.mul %0, %1 : f32
  %3 = uop.reduce add %2 over %k : f32
  %4 = uop.load %bias[%i] : memref<16xf32>
  %5 = uop.add %3, %4 : f32
  %6 = uop.const 0.0 : f32
  %7 = uop.max %5, %6 : f32
  uop.store %7, %out[%i, %j] : memref<16x16xf32>
}
// CHECK-LABEL: uop.kernel @matmul
// CHECK-NEXT:    %[[ZERO:.*]] = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    loop.for %i (i = 16 parallel) {
// CHECK-NEXT:      %[[B:.*]] = uop.load %bias[%i] : memref<16xf32>
// CHECK-NEXT:      loop.for %j (j = 16 parallel) {
// CHECK-NEXT:        %[[R:.*]] = loop.reduce %k (k = 64) add : f32 {
// CHECK-NEXT:          %[[X:.*]] = uop.load %x[%i, %k]
// CHECK-NEXT:          %[[W:.*]] = uop.load %w[%k, %j]
// CHECK-NEXT:          %[[P:.*]] = uop.mul %[[X]], %[[W]] : f32
// CHECK-NEXT:          loop.yield %[[P]] : f32
// CHECK-NEXT:        }
// CHECK-NEXT:        %[[S:.*]] = uop.add %[[R]], %[[B]] : f32
// CHECK-NEXT:        %[[M:.*]] = uop.max %[[S]], %[[ZERO]] : f32
// CHECK-NEXT:        uop.store %[[M]], %out[%i, %j]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// -----

// A softmax over rows. The reductions bind %i, so its loops are innermost, although it is the first index of the store: each
// reduction is computed once for each j. The phases walk one axis and compute what they share again, loads too.
uop.kernel @softmax(%out: memref<64x1000xf32>, %x: memref<64x1000xf32>) {
  %i = uop.range i = 64
  %j = uop.range j = 1000
  %0 = uop.load %x[%i, %j] : memref<64x1000xf32>
  %1 = uop.reduce max %0 over %i : f32
  %2 = uop.neg %1 : f32
  %3 = uop.add %0, %2 : f32
  %4 = uop.exp %3 : f32
  %5 = uop.reduce add %4 over %i : f32
  %6 = uop.div %4, %5 : f32
  uop.store %6, %out[%i, %j] : memref<64x1000xf32>
}
// CHECK-LABEL: uop.kernel @softmax
// CHECK-NEXT:    loop.for %j (j = 1000 parallel) {
// CHECK-NEXT:      %[[M:.*]] = loop.reduce %i (i = 64) max : f32 {
// CHECK-NEXT:        %[[X:.*]] = uop.load %x[%i, %j]
// CHECK-NEXT:        loop.yield %[[X]] : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[N:.*]] = uop.neg %[[M]] : f32
// CHECK-NEXT:      %[[S:.*]] = loop.reduce %[[I1:.*]] (i = 64) add : f32 {
// CHECK-NEXT:        %[[X1:.*]] = uop.load %x[%[[I1]], %j]
// CHECK-NEXT:        %[[D1:.*]] = uop.add %[[X1]], %[[N]] : f32
// CHECK-NEXT:        %[[E1:.*]] = uop.exp %[[D1]] : f32
// CHECK-NEXT:        loop.yield %[[E1]] : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      loop.for %[[I2:.*]] (i = 64 parallel) {
// CHECK-NEXT:        %[[X2:.*]] = uop.load %x[%[[I2]], %j]
// CHECK-NEXT:        %[[D2:.*]] = uop.add %[[X2]], %[[N]] : f32
// CHECK-NEXT:        %[[E2:.*]] = uop.exp %[[D2]] : f32
// CHECK-NEXT:        %[[Q:.*]] = uop.div %[[E2]], %[[S]] : f32
// CHECK-NEXT:        uop.store %[[Q]], %out[%[[I2]], %j]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// -----

// Several ranges are nested reductions; what depends on the outer one only stands between them.
uop.kernel @weighted(%out: memref<4xf32>, %x: memref<4x2x3xf32>, %w: memref<2xf32>) {
  %i = uop.range i = 4
  %k = uop.range k = 2
  %k1 = uop.range k1 = 3
  %0 = uop.load %x[%i, %k, %k1] : memref<4x2x3xf32>
  %1 = uop.load %w[%k] : memref<2xf32>
  %2 = uop.mul %0, %1 : f32
  %3 = uop.reduce add %2 over %k, %k1 : f32
  uop.store %3, %out[%i] : memref<4xf32>
}
// CHECK-LABEL: uop.kernel @weighted
// CHECK-NEXT:    loop.for %i (i = 4 parallel) {
// CHECK-NEXT:      %[[R:.*]] = loop.reduce %k (k = 2) add : f32 {
// CHECK-NEXT:        %[[W:.*]] = uop.load %w[%k] : memref<2xf32>
// CHECK-NEXT:        %[[R1:.*]] = loop.reduce %k1 (k1 = 3) add : f32 {
// CHECK-NEXT:          %[[X:.*]] = uop.load %x[%i, %k, %k1]
// CHECK-NEXT:          %[[P:.*]] = uop.mul %[[X]], %[[W]] : f32
// CHECK-NEXT:          loop.yield %[[P]] : f32
// CHECK-NEXT:        }
// CHECK-NEXT:        loop.yield %[[R1]] : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      uop.store %[[R]], %out[%i]

// -----

// Two stores share the loops that they have in common, and the reduction in them. Dead ops go.
uop.kernel @norm(%mean: memref<4xf32>, %out: memref<4x8xf32>, %x: memref<4x8xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 8
  %0 = uop.load %x[%i, %j] : memref<4x8xf32>
  %1 = uop.reduce add %0 over %j : f32
  %2 = uop.exp %1 : f32
  uop.store %1, %mean[%i] : memref<4xf32>
  %3 = uop.sub %0, %1 : f32
  uop.store %3, %out[%i, %j] : memref<4x8xf32>
}
// CHECK-LABEL: uop.kernel @norm
// CHECK-NEXT:    loop.for %i (i = 4 parallel) {
// CHECK-NEXT:      %[[S:.*]] = loop.reduce
// CHECK-NOT:       uop.exp
// CHECK:           uop.store %[[S]], %mean[%i]
// CHECK-NEXT:      loop.for %[[J:.*]] (j = 8 parallel) {
// CHECK-NEXT:        %[[X:.*]] = uop.load %x[%i, %[[J]]]
// CHECK-NEXT:        %[[D:.*]] = uop.sub %[[X]], %[[S]] : f32
// CHECK-NEXT:        uop.store %[[D]], %out[%i, %[[J]]]

// -----

// The elements of a reduction hold another one: it is computed for each of its steps if it depends on them, and before them if
// it does not.
uop.kernel @nested(%out: memref<4xf32>, %x: memref<4x8xf32>, %y: memref<8x3xf32>) {
  %i = uop.range i = 4
  %k = uop.range k = 8
  %k1 = uop.range k1 = 3
  %0 = uop.load %y[%k, %k1] : memref<8x3xf32>
  %1 = uop.reduce max %0 over %k1 : f32
  %k2 = uop.range k2 = 8
  %2 = uop.load %x[%i, %k2] : memref<4x8xf32>
  %3 = uop.reduce max %2 over %k2 : f32
  %4 = uop.load %x[%i, %k] : memref<4x8xf32>
  %5 = uop.sub %4, %3 : f32
  %6 = uop.mul %5, %1 : f32
  %7 = uop.reduce add %6 over %k : f32
  uop.store %7, %out[%i] : memref<4xf32>
}
// CHECK-LABEL: uop.kernel @nested
// CHECK-NEXT:    loop.for %i (i = 4 parallel) {
// CHECK-NEXT:      %[[M:.*]] = loop.reduce %k2 (k2 = 8) max : f32 {
// CHECK:           }
// CHECK-NEXT:      %[[R:.*]] = loop.reduce %k (k = 8) add : f32 {
// CHECK-NEXT:        %[[Y:.*]] = loop.reduce %k1 (k1 = 3) max : f32 {
// CHECK:             }
// CHECK-NEXT:        %[[X:.*]] = uop.load %x[%i, %k]
// CHECK-NEXT:        %[[D:.*]] = uop.sub %[[X]], %[[M]] : f32
// CHECK-NEXT:        %[[P:.*]] = uop.mul %[[D]], %[[Y]] : f32
// CHECK-NEXT:        loop.yield %[[P]] : f32

// -----

// A kernel in loop form, or in tensor form, stays as it is; so does one that needs no loops.
uop.kernel @sum(%out: memref<f32>, %x: memref<4xf32>) {
  %0 = loop.reduce %k (k = 4) add : f32 {
    %1 = uop.load %x[%k] : memref<4xf32>
    loop.yield %1 : f32
  }
  uop.store %0, %out[] : memref<f32>
}
uop.kernel @one(%out: memref<f32>, %x: memref<f32>) {
  %0 = uop.load %x[] : memref<f32>
  uop.store %0, %out[] : memref<f32>
}
uop.kernel @done(%out: memref<4xf32>, %x: memref<4xf32>) {
  loop.for %i (i = 4 parallel) {
    %0 = uop.load %x[%i] : memref<4xf32>
    uop.store %0, %out[%i] : memref<4xf32>
  }
}
uop.kernel @tensors(%x: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = uop.exp %x : tensor<4xf32>
  uop.yield %0 : tensor<4xf32>
}
// CHECK-LABEL: uop.kernel @sum
// CHECK-NEXT:    %0 = loop.reduce %k (k = 4) add : f32 {
// CHECK-LABEL: uop.kernel @one
// CHECK-NEXT:    %0 = uop.load %x[] : memref<f32>
// CHECK-NEXT:    uop.store %0, %out[] : memref<f32>
// CHECK-LABEL: uop.kernel @done
// CHECK-NEXT:    loop.for %i (i = 4 parallel) {
// CHECK-NEXT:      %0 = uop.load %x[%i] : memref<4xf32>
// CHECK-NEXT:      uop.store %0, %out[%i] : memref<4xf32>
// CHECK-LABEL: uop.kernel @tensors
// CHECK-NEXT:    %0 = uop.exp %x : tensor<4xf32>

// -----

uop.kernel @mixed(%out: memref<4xf32>, %x: memref<4xf32>) {
  %i = uop.range i = 4
  // expected-error@+1 {{loop.reduce does not stand in a kernel with ranges}}
  %0 = loop.reduce %k (k = 4) add : f32 {
    %1 = uop.load %x[%k] : memref<4xf32>
    loop.yield %1 : f32
  }
  uop.store %0, %out[%i] : memref<4xf32>
}

// -----

// A scan stands in its loop, which goes innermost; another scan over it, and a second result, are in the same one.
uop.kernel @scans(%out0: memref<4x8xf32>, %out1: memref<4x8xf32>, %x: memref<4x8xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 8
  %0 = uop.load %x[%i, %j] : memref<4x8xf32>
  %1 = uop.scan add %0 over %i : f32
  %2 = uop.exp %1 : f32
  %3 = uop.scan max %2 over %i : f32
  uop.store %1, %out0[%i, %j] : memref<4x8xf32>
  uop.store %3, %out1[%i, %j] : memref<4x8xf32>
}
// CHECK-LABEL: uop.kernel @scans
// CHECK-NEXT:    loop.for %j (j = 8 parallel) {
// CHECK-NEXT:      loop.for %i (i = 4 parallel) {
// CHECK-NEXT:        %0 = uop.load %x[%i, %j] : memref<4x8xf32>
// CHECK-NEXT:        %1 = loop.scan add %0 over %i : f32
// CHECK-NEXT:        uop.store %1, %out0[%i, %j] : memref<4x8xf32>
// CHECK-NEXT:        %2 = uop.exp %1 : f32
// CHECK-NEXT:        %3 = loop.scan max %2 over %i : f32
// CHECK-NEXT:        uop.store %3, %out1[%i, %j] : memref<4x8xf32>

// -----

// A reduction may walk the range of a scan too; each phase scans.
uop.kernel @scanned_and_reduced(%out: memref<8xf32>, %x: memref<8xf32>) {
  %i = uop.range i = 8
  %0 = uop.load %x[%i] : memref<8xf32>
  %1 = uop.scan add %0 over %i : f32
  %2 = uop.reduce max %1 over %i : f32
  %3 = uop.sub %1, %2 : f32
  uop.store %3, %out[%i] : memref<8xf32>
}
// CHECK-LABEL: uop.kernel @scanned_and_reduced
// CHECK:         loop.reduce %i (i = 8) max : f32 {
// CHECK:           loop.scan add %{{.*}} over %i : f32
// CHECK:         loop.for %[[I:.*]] (i = 8 parallel) {
// CHECK:           loop.scan add %{{.*}} over %[[I]] : f32

// -----

uop.kernel @two_axes(%out: memref<4x8xf32>, %x: memref<4x8xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 8
  %0 = uop.load %x[%i, %j] : memref<4x8xf32>
  // expected-error@+1 {{uop.scan over i depends on j, whose loop is inside}}
  %1 = uop.scan add %0 over %i : f32
  %2 = uop.scan max %1 over %j : f32
  uop.store %2, %out[%i, %j] : memref<4x8xf32>
}
