// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-vectorize)' --split-input-file | filecheck %s

// 16 bytes at once: four f32, eight f16, two f64, sixteen bytes.
uop.kernel @widths(%out0: memref<64xf32>, %out1: memref<64xf16>, %out2: memref<64xf64>, %out3: memref<64xi8>)
    schedule #tile.schedule<i = 4 thread * 16 register> {
  %0 = uop.const 0.0 : f32
  %1 = uop.const 0.0 : f16
  %2 = uop.const 0.0 : f64
  %3 = uop.const 0 : i8
  loop.for %i (i = 64 parallel) {
    uop.store %0, %out0[%i] : memref<64xf32>
    uop.store %1, %out1[%i] : memref<64xf16>
    uop.store %2, %out2[%i] : memref<64xf64>
    uop.store %3, %out3[%i] : memref<64xi8>
  }
}
// CHECK-LABEL: uop.kernel @widths
// CHECK:         tile.write %{{.*}}, %out0[%{{.*}}] vector 4 :
// CHECK:         tile.write %{{.*}}, %out1[%{{.*}}] vector 8 :
// CHECK:         tile.write %{{.*}}, %out2[%{{.*}}] vector 2 :
// CHECK:         tile.write %{{.*}}, %out3[%{{.*}}] vector 16 :

// -----

// Rows of 1000 begin at multiples of 4, and the end is at one: the mask is the same for four elements.
uop.kernel @ragged(%out: memref<8x1000xf32>, %x: memref<8x1000xf32>) schedule #tile.schedule<i = 8 block, j = 256 thread * 4 register> {
  loop.for %i (i = 8 parallel) {
    loop.for %j (j = 1000 parallel) {
      %0 = uop.load %x[%i, %j] : memref<8x1000xf32>
      uop.store %0, %out[%i, %j] : memref<8x1000xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @ragged
// CHECK:         tile.read %x[%bi, %{{.*}}] mask %{{.*}} vector 4 :
// CHECK:         tile.write %{{.*}}, %out[%bi, %{{.*}}] mask %{{.*}} vector 4 :

// -----

// Rows of 1002 begin at multiples of 2 only.
uop.kernel @halfway(%out: memref<8x1002xf32>, %x: memref<8x1002xf32>) schedule #tile.schedule<i = 8 block, j = 256 thread * 4 register> {
  loop.for %i (i = 8 parallel) {
    loop.for %j (j = 1002 parallel) {
      %0 = uop.load %x[%i, %j] : memref<8x1002xf32>
      uop.store %0, %out[%i, %j] : memref<8x1002xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @halfway
// CHECK:         tile.read %x[%bi, %{{.*}}] mask %{{.*}} vector 2 :
// CHECK:         tile.write %{{.*}}, %out[%bi, %{{.*}}] mask %{{.*}} vector 2 :

// -----

// The same without a mask: the first 4 of 6 columns.
uop.kernel @first_columns(%out: memref<8x4xf32>, %x: memref<8x6xf32>) schedule #tile.schedule<i = 8 thread, j = 4 register> {
  loop.for %i (i = 8 parallel) {
    loop.for %j (j = 4 parallel) {
      %0 = uop.load %x[%i, %j] : memref<8x6xf32>
      uop.store %0, %out[%i, %j] : memref<8x4xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @first_columns
// CHECK:         tile.read %x[%ti, %rj] vector 2 :
// CHECK:         tile.write %{{.*}}, %out[%ti, %rj] vector 4 :

// -----

// Rows of 2049 begin anywhere; columns lie a row apart; strided registers lie a block apart: nothing to do.
uop.kernel @unaligned(%out: memref<8x2049xf32>, %x: memref<8x2049xf32>) schedule #tile.schedule<i = 8 block, j = 9 block * 64 thread * 4 register> {
  loop.for %i (i = 8 parallel) {
    loop.for %j (j = 2049 parallel) {
      %0 = uop.load %x[%i, %j] : memref<8x2049xf32>
      uop.store %0, %out[%i, %j] : memref<8x2049xf32>
    }
  }
}
uop.kernel @columns(%out: memref<64xf32>, %x: memref<64x8xf32>) schedule #tile.schedule<i = 4 register * 16 thread> {
  %0 = uop.const 0 : index
  loop.for %i (i = 64 parallel) {
    %1 = uop.load %x[%i, %0] : memref<64x8xf32>
    uop.store %1, %out[%i] : memref<64xf32>
  }
}
// CHECK-LABEL: uop.kernel @unaligned
// CHECK-NOT:     vector {{[0-9]}}
// CHECK-LABEL: uop.kernel @columns
// CHECK-NOT:     vector {{[0-9]}}

// -----

// A transpose reads along one register dimension and writes along the other.
uop.kernel @transpose(%out: memref<64x32xf32>, %x: memref<32x64xf32>)
    schedule #tile.schedule<i = 16 thread * 4 register, j = 8 thread * 4 register> {
  loop.for %i (i = 64 parallel) {
    loop.for %j (j = 32 parallel) {
      %0 = uop.load %x[%j, %i] : memref<32x64xf32>
      uop.store %0, %out[%i, %j] : memref<64x32xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @transpose
// CHECK:         tile.read %x[%{{.*}}, %{{.*}}] vector 4 along 0 : {{.*}} -> vector<4x4xf32>
// CHECK:         tile.write %{{.*}}, %out[%{{.*}}, %{{.*}}] vector 4 : vector<4x4xf32>

// -----

// The row comes from a loaded index, but all rows are aligned. A table of 6 columns has rows of 24 bytes.
uop.kernel @gather(%out0: memref<9x8xf32>, %out1: memref<9x6xf32>, %wide: memref<20x8xf32>, %narrow: memref<20x6xf32>, %places: memref<9xi64>)
    schedule #tile.schedule<i = 9 block, j = 2 thread * 4 register, l = 2 thread * 4 register> {
  loop.for %i (i = 9 parallel) {
    %0 = uop.load %places[%i] : memref<9xi64>
    %1 = uop.cast %0 : i64 -> index
    loop.for %j (j = 8 parallel) {
      %2 = uop.load %wide[%1, %j] : memref<20x8xf32>
      uop.store %2, %out0[%i, %j] : memref<9x8xf32>
    }
    loop.for %l (l = 6 parallel) {
      %3 = uop.load %narrow[%1, %l] : memref<20x6xf32>
      uop.store %3, %out1[%i, %l] : memref<9x6xf32>
    }
  }
}
// CHECK-LABEL: uop.kernel @gather
// CHECK:         tile.read %wide[{{[^ ]*}}, {{[^ ]*}}] vector 4 along 0 : {{.*}} -> vector<4x1xf32>
// CHECK:         tile.read %narrow[{{[^ ]*}}, {{[^ ]*}}] mask %{{.*}} vector 2 : {{.*}} -> vector<1x4xf32>

// -----

// A shifted row is not aligned.
uop.kernel @shifted(%out: memref<64xf32>, %x: memref<65xf32>) schedule #tile.schedule<i = 16 thread * 4 register> {
  %0 = uop.const 1 : index
  loop.for %i (i = 64 parallel) {
    %1 = uop.add %i, %0 : index
    %2 = uop.load %x[%1] : memref<65xf32>
    uop.store %2, %out[%i] : memref<64xf32>
  }
}
// CHECK-LABEL: uop.kernel @shifted
// CHECK:         tile.read %x[%{{.*}}] : memref<65xf32>
// CHECK:         tile.write %{{.*}}, %out[%{{.*}}] vector 4 :
