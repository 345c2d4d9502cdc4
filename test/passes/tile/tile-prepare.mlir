// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-drop-masks,tile-stage,tile-prepare)' --split-input-file --verify-diagnostics | filecheck %s

// The 8 threads that hold columns of one row share the 16 steps of a slab, two each, in front of the loop over them.
uop.kernel @shifted(%out: memref<16x16xf32>, %x: memref<16x64xf32>, %bias: memref<64xf32>, %w: memref<64x16xf32>)
    schedule #tile.schedule<i = 8 thread * 2 register, j = 8 thread * 2 register, k = 4 loop * 16 loop,
                            stage = [%x prepared buffers 2 async pad 4, %w buffers 2 async]> {
  loop.for %i (i = 16 parallel) {
    loop.for %j (j = 16 parallel) {
      %sum = loop.reduce %k (k = 64) add : f32 {
        %0 = uop.load %x[%i, %k] : memref<16x64xf32>
        %1 = uop.load %bias[%k] : memref<64xf32>
        %2 = uop.add %0, %1 : f32
        %3 = uop.load %w[%k, %j] : memref<64x16xf32>
        %4 = uop.mul %2, %3 : f32
        loop.yield %4 : f32
      }
      uop.store %sum, %out[%i, %j] : memref<16x16xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @shifted
// CHECK:         %[[I:.*]] = uop.add %{{.*}}, %ri : vector<2x1xindex>
// CHECK:         %rk = tile.axis k = 2 register : vector<1x2xindex>
// CHECK-NEXT:    %[[K:.*]] = uop.add %{{.*}}, %rk : vector<1x2xindex>
// CHECK:           %x_s = tile.stage
// CHECK:           %[[X:.*]] = tile.read %x_s[%[[I]], %[[K]]] : memref<16x16xf32, strided<[20, 1]>, "shared">(vector<2x1xindex>, vector<1x2xindex>) -> vector<2x2xf32>
// CHECK-NEXT:      %[[B:.*]] = tile.read %bias[%{{.*}}] : memref<64xf32>(vector<1x2xindex>) -> vector<1x2xf32>
// CHECK-NEXT:      %[[B2:.*]] = uop.expand %[[B]] : vector<1x2xf32> -> vector<2x2xf32>
// CHECK-NEXT:      %[[V:.*]] = uop.add %[[X]], %[[B2]] : vector<2x2xf32>
// CHECK-NEXT:      tile.write %[[V]], %x_s[%[[I]], %[[K]]] : vector<2x2xf32>
// CHECK-NEXT:      loop.for %ki (k = 16 loop)
// CHECK-NEXT:        tile.read %x_s[%[[I]], %ki] : memref<16x16xf32, strided<[20, 1]>, "shared">(vector<2x1xindex>, index) -> vector<2x1xf32>
// CHECK-NEXT:        tile.read %w_s
// CHECK-NOT:         %bias

// -----

// What is computed of the value (its square, beside the product) is computed of what the slab holds then.
uop.kernel @beside(%out: memref<8x8xf32>, %squares: memref<8xf32>, %x: memref<8x32xf32>, %w: memref<8x32xf32>)
    schedule #tile.schedule<i = 8 thread, j = 8 thread, k = 2 loop * 16 loop, stage = [%x prepared]> {
  %one = uop.const 1.0 : f32
  loop.for %i (i = 8 parallel) {
    %0 = loop.reduce %k (k = 32) add : f32 {
      %1 = uop.load %x[%i, %k] : memref<8x32xf32>
      %2 = uop.add %1, %one : f32
      %3 = uop.mul %2, %2 : f32
      loop.yield %3 : f32
    }
    uop.store %0, %squares[%i] : memref<8xf32>
    loop.for %j (j = 8 parallel) {
      %4 = loop.reduce %k (k = 32) add : f32 {
        %5 = uop.load %x[%i, %k] : memref<8x32xf32>
        %6 = uop.add %5, %one : f32
        %7 = uop.load %w[%j, %k] : memref<8x32xf32>
        %8 = uop.mul %6, %7 : f32
        loop.yield %8 : f32
      }
      uop.store %4, %out[%i, %j] : memref<8x8xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @beside
// CHECK:         %rk = tile.axis k = 2 register : vector<2xindex>
// CHECK:         tile.write %{{.*}}, %x_s[%ti, %{{.*}}] : vector<2xf32>
// CHECK:         loop.for %ki
// CHECK:           %[[X:.*]] = tile.read %x_s[%ti, %ki]
// CHECK-NEXT:      uop.mul %[[X]], %[[X]] : f32

// -----

// Nothing is computed of its elements.
// expected-remark@+1 {{%x is not prepared here: nothing is computed of its elements alone}}
uop.kernel @plain(%out: memref<8x8xf32>, %x: memref<8x32xf32>, %w: memref<8x32xf32>)
    schedule #tile.schedule<i = 8 thread, j = 8 thread, k = 2 loop * 16 loop, stage = [%x prepared]> {
  loop.for %i (i = 8 parallel) {
    loop.for %j (j = 8 parallel) {
      %0 = loop.reduce %k (k = 32) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<8x32xf32>
        %2 = uop.load %w[%j, %k] : memref<8x32xf32>
        %3 = uop.mul %1, %2 : f32
        loop.yield %3 : f32
      }
      uop.store %0, %out[%i, %j] : memref<8x8xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @plain
// CHECK-NOT:     tile.write %{{.*}}, %x_s

// -----

// Twelve steps for 8 threads.
// expected-remark@+1 {{%x is not prepared here: 12 steps are not shared evenly by 8 threads}}
uop.kernel @uneven(%out: memref<8x8xf32>, %x: memref<8x24xf32>, %w: memref<8x24xf32>)
    schedule #tile.schedule<i = 8 thread, j = 8 thread, k = 2 loop * 12 loop, stage = [%x prepared]> {
  loop.for %i (i = 8 parallel) {
    loop.for %j (j = 8 parallel) {
      %0 = loop.reduce %k (k = 24) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<8x24xf32>
        %2 = uop.neg %1 : f32
        %3 = uop.load %w[%j, %k] : memref<8x24xf32>
        %4 = uop.mul %2, %3 : f32
        loop.yield %4 : f32
      }
      uop.store %0, %out[%i, %j] : memref<8x8xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @uneven
// CHECK-NOT:     tile.write %{{.*}}, %x_s

// -----

// A slab holds elements of its buffer's type.
// expected-remark@+1 {{%x is not prepared here: its elements are f16, and f32 is computed of f16}}
uop.kernel @wider(%out: memref<8x8xf32>, %x: memref<8x32xf16>, %w: memref<8x32xf32>)
    schedule #tile.schedule<i = 8 thread, j = 8 thread, k = 2 loop * 16 loop, stage = [%x prepared]> {
  loop.for %i (i = 8 parallel) {
    loop.for %j (j = 8 parallel) {
      %0 = loop.reduce %k (k = 32) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<8x32xf16>
        %2 = uop.cast %1 : f16 -> f32
        %3 = uop.neg %2 : f32
        %4 = uop.load %w[%j, %k] : memref<8x32xf32>
        %5 = uop.mul %3, %4 : f32
        loop.yield %5 : f32
      }
      uop.store %0, %out[%i, %j] : memref<8x8xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @wider
// CHECK-NOT:     tile.write %{{.*}}, %x_s
