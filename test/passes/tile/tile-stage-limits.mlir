// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-drop-masks,tile-stage)' --split-input-file --verify-diagnostics | filecheck %s

// Both factors are 0 from the length on: the slabs end there, and the choices are gone. The length is clamped to what the
// buffers have.
// CHECK-LABEL: uop.kernel @factors
// CHECK:         %[[N:.*]] = uop.cast %{{.*}} : i64 -> index
// CHECK:         loop.for %ko (k = 4 loop)
// CHECK:           tile.stage %x[%{{.*}}, %{{.*}}] to %[[N]] along 1 buffers 2 async
// CHECK-NEXT:      tile.stage %y[%{{.*}}, %{{.*}}] to %[[N]] along 0 buffers 2 async
// CHECK-NOT:       uop.where
// CHECK:         tile.write
uop.kernel @factors(%out: memref<32x16xf32>, %x: memref<32x64xf16>, %y: memref<64x16xf16>, %n: memref<i64>)
    schedule #tile.schedule<i = 8 thread * 4 register, j = 16 thread, k = 4 loop * 16 loop,
                            stage = [%x buffers 2 async, %y buffers 2 async]> {
  %zero = uop.const 0.0 : f16
  %length = uop.load %n[] : memref<i64>
  loop.for %i (i = 32 parallel) {
    loop.for %j (j = 16 parallel) {
      %0 = loop.reduce %k (k = 64) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<32x64xf16>
        %2 = uop.load %y[%k, %j] : memref<64x16xf16>
        %3 = uop.cast %k : index -> i64
        %inside = uop.lt %3, %length : i64
        %4 = uop.where %inside, %1, %zero : f16
        %5 = uop.where %inside, %2, %zero : f16
        %6 = uop.cast %4 : f16 -> f32
        %7 = uop.cast %5 : f16 -> f32
        %8 = uop.mul %6, %7 : f32
        loop.yield %8 : f32
      }
      uop.store %0, %out[%i, %j] : memref<32x16xf32>
    }
  }
}

// -----

// The product is 0 from a place on; places are told from the second on, and the last that counts is told.
// CHECK-LABEL: uop.kernel @product
// CHECK:         %[[LAST:.*]] = uop.cast %{{.*}} : i64 -> index
// CHECK:         %[[CLAMPED:.*]] = uop.min %{{.*}}, %{{.*}} : index
// CHECK:         %[[N:.*]] = uop.add %[[CLAMPED]], %{{.*}} : index
// CHECK:         tile.stage %x[%{{.*}}, %{{.*}}] to %[[N]] along 1 buffers 1
// CHECK-NEXT:    tile.stage %y[%{{.*}}] to %[[N]] along 0 buffers 1
// CHECK-NOT:     uop.where
// CHECK:         tile.write
uop.kernel @product(%out: memref<32xf32>, %x: memref<32x65xf32>, %y: memref<65xf32>, %n: memref<i64>)
    schedule #tile.schedule<i = 32 thread, k = 4 loop * 16 loop, stage = [%x, %y]> {
  %zero = uop.const 0.0 : f32
  %one = uop.const 1 : index
  %0 = uop.load %n[] : memref<i64>
  %last = uop.cast %0 : i64 -> index
  loop.for %i (i = 32 parallel) {
    %1 = loop.reduce %k (k = 64) add : f32 {
      %next = uop.add %k, %one : index
      %2 = uop.load %x[%i, %next] : memref<32x65xf32>
      %3 = uop.load %y[%next] : memref<65xf32>
      %4 = uop.mul %2, %3 : f32
      %inside = uop.ge %last, %k : index
      %5 = uop.where %inside, %4, %zero : f32
      loop.yield %5 : f32
    }
    uop.store %1, %out[%i] : memref<32xf32>
  }
}

// -----

// One length for each block: what lies at the end of its rows is 0.
// CHECK-LABEL: uop.kernel @ragged
// CHECK:         %[[N:.*]] = tile.read %n[%bb]
// CHECK:         tile.stage %x[%bb, %{{.*}}] to %{{.*}} along 1 buffers 1
uop.kernel @ragged(%out: memref<8xf32>, %x: memref<8x64xf32>, %n: memref<8xi64>)
    schedule #tile.schedule<b = 8 block, k = 2 loop * 32 thread, stage = [%x]> {
  loop.for %b (b = 8 parallel) {
    %length = uop.load %n[%b] : memref<8xi64>
    %0 = loop.reduce %k (k = 64) add : f32 {
      %1 = uop.cast %k : index -> i64
      %inside = uop.lt %1, %length : i64
      %2 = uop.load %x[%b, %k] mask %inside : memref<8x64xf32>
      loop.yield %2 : f32
    }
    uop.store %0, %out[%b] : memref<8xf32>
  }
}

// -----

// Lengths that differ between the threads of a block limit no slab; nor does a choice between other numbers than 0, or what is
// also used without a choice. Masks stay.
// CHECK-LABEL: uop.kernel @left
// CHECK:         tile.stage %x[%{{.*}}, %{{.*}}] buffers 1
// CHECK:         tile.read %x_s[%{{.*}}] mask %{{.*}}
// CHECK:         uop.where
// CHECK:         uop.where
uop.kernel @left(%out: memref<8xf32>, %x: memref<8x64xf32>, %y: memref<64xf32>, %z: memref<64xf32>, %n: memref<8xi64>)
    schedule #tile.schedule<b = 8 thread, k = 2 loop * 32 loop, stage = [%x, %y, %z]> {
  %one = uop.const 1.0 : f32
  %zero = uop.const 0.0 : f32
  %c0 = uop.const 0 : index
  %some = uop.load %n[%c0] : memref<8xi64>
  loop.for %b (b = 8 parallel) {
    %length = uop.load %n[%b] : memref<8xi64>
    %0 = loop.reduce %k (k = 64) add : f32 {
      %1 = uop.cast %k : index -> i64
      %inside = uop.lt %1, %length : i64
      %2 = uop.load %x[%b, %k] mask %inside : memref<8x64xf32>
      %few = uop.lt %1, %some : i64
      %3 = uop.load %y[%k] : memref<64xf32>
      %4 = uop.where %few, %3, %one : f32
      %5 = uop.load %z[%k] : memref<64xf32>
      %6 = uop.where %few, %5, %zero : f32
      %7 = uop.mul %5, %6 : f32
      %8 = uop.mul %2, %4 : f32
      %9 = uop.add %7, %8 : f32
      loop.yield %9 : f32
    }
    uop.store %0, %out[%b] : memref<8xf32>
  }
}
