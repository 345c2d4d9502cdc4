// RUN: uop-opt %s --split-input-file --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-pack{task_bytes=8192},uop-simplify)' | filecheck %s
// RUN: uop-opt %s --split-input-file --remarks --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-pack{task_bytes=8192},uop-simplify)' 2>&1 | filecheck %s --check-prefix=REMARK

// The columns of one task, 32 of 1000, packed to rows of 32 in front of its loops.

// CHECK-LABEL: uop.kernel @panel
// CHECK:         %[[J:.*]] = uop.mul %bj, %{{.*}} : index
// CHECK:         %b_s = tile.stage %b[%{{.*}}, %[[J]]] buffers 1 : memref<64x1000xf32> -> memref<64x32xf32, "shared">
// CHECK:         loop.for %i
// CHECK:           loop.for %k
// CHECK:             tile.read %b_s[%k, %rj] : memref<64x32xf32, "shared">
uop.kernel @panel(%out: memref<128x1000xf32>, %a: memref<128x64xf32>, %b: memref<64x1000xf32>) schedule #tile.schedule<i = 128 loop, j = 32 block * 32 register, k = 64 loop, stage = [%b]> {
  loop.for %i (i = 128 parallel) {
    loop.for %j (j = 1000 parallel) {
      %2 = loop.reduce %k (k = 64) add : f32 {
        %0 = uop.load %a[%i, %k] : memref<128x64xf32>
        %1 = uop.load %b[%k, %j] : memref<64x1000xf32>
        %p = uop.mul %0, %1 : f32
        loop.yield %p : f32
      }
      uop.store %2, %out[%i, %j] : memref<128x1000xf32>
    }
  }
}

// -----

// Rows along the reduced axis; in the array, the elements of 16 rows are neighbours.

// CHECK-LABEL: uop.kernel @transposed
// CHECK:         %b_s = tile.stage %b[%{{.*}}, %{{.*}}] buffers 1 : memref<64x64xf32> -> memref<16x64xf32, strided<[1, 16]>, "shared">
// CHECK:         tile.read %b_s[%rj, %k]
uop.kernel @transposed(%out: memref<128x64xf32>, %a: memref<128x64xf32>, %b: memref<64x64xf32>) schedule #tile.schedule<i = 128 loop, j = 4 block * 16 register, k = 64 loop, stage = [%b along 0]> {
  loop.for %i (i = 128 parallel) {
    loop.for %j (j = 64 parallel) {
      %2 = loop.reduce %k (k = 64) add : f32 {
        %0 = uop.load %a[%i, %k] : memref<128x64xf32>
        %1 = uop.load %b[%j, %k] : memref<64x64xf32>
        %p = uop.mul %0, %1 : f32
        loop.yield %p : f32
      }
      uop.store %2, %out[%i, %j] : memref<128x64xf32>
    }
  }
}

// -----

// Halves that are only read to be computed with in f32 are converted on the way.

// CHECK-LABEL: uop.kernel @halves
// CHECK:         %b_s = tile.stage %b[%{{.*}}, %{{.*}}] buffers 1 : memref<64x64xf16> -> memref<16x64xf32, strided<[1, 16]>, "shared">
// CHECK:         tile.read %b_s[%rj, %k] : memref<16x64xf32, strided<[1, 16]>, "shared">(vector<16xindex>, index) -> vector<16xf32>
// CHECK-NOT:     uop.cast {{.*}} vector<16xf16>
uop.kernel @halves(%out: memref<128x64xf32>, %a: memref<128x64xf32>, %b: memref<64x64xf16>) schedule #tile.schedule<i = 128 loop, j = 4 block * 16 register, k = 64 loop, stage = [%b along 0]> {
  loop.for %i (i = 128 parallel) {
    loop.for %j (j = 64 parallel) {
      %2 = loop.reduce %k (k = 64) add : f32 {
        %0 = uop.load %a[%i, %k] : memref<128x64xf32>
        %1 = uop.load %b[%j, %k] : memref<64x64xf16>
        %wide = uop.cast %1 : f16 -> f32
        %p = uop.mul %0, %wide : f32
        loop.yield %p : f32
      }
      uop.store %2, %out[%i, %j] : memref<128x64xf32>
    }
  }
}

// -----

// What does not fit stays where it is, and nothing is packed that is not named.

// REMARK: remark: %b is not packed here: the slab takes 16384 bytes, and 0 of the 8192 bytes that there are are taken
// CHECK-LABEL: uop.kernel @large
// CHECK-NOT:     tile.stage
uop.kernel @large(%out: memref<128x64xf32>, %a: memref<128x64xf32>, %b: memref<64x64xf32>) schedule #tile.schedule<i = 128 loop, j = 64 register, k = 64 loop, stage = [%b]> {
  loop.for %i (i = 128 parallel) {
    loop.for %j (j = 64 parallel) {
      %2 = loop.reduce %k (k = 64) add : f32 {
        %0 = uop.load %a[%i, %k] : memref<128x64xf32>
        %1 = uop.load %b[%k, %j] : memref<64x64xf32>
        %p = uop.mul %0, %1 : f32
        loop.yield %p : f32
      }
      uop.store %2, %out[%i, %j] : memref<128x64xf32>
    }
  }
}

// -----

// A step of the loop over the keys where a task has no room for all of them, with a query for each of its registers;
// what has one row, the values, is read where it is.

// CHECK-LABEL: uop.kernel @no_room
// CHECK:         loop.for %i
// CHECK:           %[[Q:.*]] = tile.stage %x[%{{.*}}, %{{.*}}] buffers 1 : memref<1024x8xf32> -> memref<8x8xf32, strided<[1, 8]>, "shared">
// CHECK:           loop.for %k (k = 32 loop)
// CHECK:             %[[K:.*]] = tile.stage %x[%{{.*}}, %{{.*}}] buffers 1 : memref<1024x8xf32> -> memref<32x8xf32, strided<[1, 32]>, "shared">
// CHECK:             loop.for %c
// CHECK:               tile.read %[[Q]]
// CHECK:               tile.read %[[K]]
// CHECK:             loop.for %k
// CHECK:               tile.read %x
uop.kernel @no_room(%out: memref<16x8xf32>, %p: memref<index>, %x: memref<1024x8xf32>) schedule #tile.schedule<i = 2 loop * 8 register, l = 8 register, k = 32 loop * 4 register * 8 register of l, c = 8 loop, stage = [%x along 0]> {
  %one = uop.const 1.0 : f32
  loop.for %i (i = 16 parallel) {
    loop.for %l (l = 8 parallel) {
      %max, %sum, %acc = loop.reduce %k (k = 1024) online_attention : f32, f32, f32 {
        %product = loop.reduce %c (c = 8) add : f32 {
          %q_ic = uop.load %x[%i, %c] : memref<1024x8xf32>
          %k_kc = uop.load %x[%k, %c] : memref<1024x8xf32>
          %qk = uop.mul %q_ic, %k_kc : f32
          loop.yield %qk : f32
        }
        %v_kl = uop.load %x[%k, %l] : memref<1024x8xf32>
        loop.yield %product, %one, %v_kl : f32, f32, f32
      }
      uop.store %acc, %out[%i, %l] : memref<16x8xf32>
    }
  }
}

// -----

// A loop that ends at a position which is read: there is room for all, but not all is needed.

// CHECK-LABEL: uop.kernel @ends_early
// CHECK:         loop.for %k (k = 4 loop) to
// CHECK:           tile.stage %x[%{{.*}}, %{{.*}}] buffers 1 : memref<128x8xf32> -> memref<32x8xf32, strided<[1, 32]>, "shared">
uop.kernel @ends_early(%out: memref<16x8xf32>, %p: memref<index>, %x: memref<128x8xf32>) schedule #tile.schedule<i = 2 loop * 8 register, l = 8 register, k = 4 loop * 4 register * 8 register of l, c = 8 loop, stage = [%x along 0]> {
  %one = uop.const 1.0 : f32
  %end = uop.load %p[] : memref<index>
  loop.for %i (i = 16 parallel) {
    loop.for %l (l = 8 parallel) {
      %max, %sum, %acc = loop.reduce %k (k = 128) to %end online_attention : f32, f32, f32 {
        %product = loop.reduce %c (c = 8) add : f32 {
          %q_ic = uop.load %x[%i, %c] : memref<128x8xf32>
          %k_kc = uop.load %x[%k, %c] : memref<128x8xf32>
          %qk = uop.mul %q_ic, %k_kc : f32
          loop.yield %qk : f32
        }
        %v_kl = uop.load %x[%k, %l] : memref<128x8xf32>
        loop.yield %product, %one, %v_kl : f32, f32, f32
      }
      uop.store %acc, %out[%i, %l] : memref<16x8xf32>
    }
  }
}
