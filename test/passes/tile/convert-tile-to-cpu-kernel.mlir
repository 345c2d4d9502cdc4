// RUN: uop-opt %s --split-input-file --verify-diagnostics --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-drop-masks,tile-pack,uop-simplify,convert-tile-to-cpu-kernel{vector_bytes=64})' | filecheck %s
// RUN: uop-opt %s --split-input-file --verify-diagnostics --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-drop-masks,tile-pack,uop-simplify,convert-tile-to-cpu-kernel{vector_bytes=32})' | filecheck %s --check-prefix=AVX2

// Rows of 1000: 62 whole vectors without masks, one of 8 lanes. The tail of a maximum is −∞.

// CHECK-LABEL: cpu_kernel.kernel @row_max(%out: memref<64xf32>, %x: memref<64000xf32>) outputs 1 tasks 64
// CHECK-DAG:     %[[ROW:.*]] = uop.mul %task, %{{.*}} : index
// CHECK:         %[[ACC:.*]] = cpu_kernel.for %j = %{{.*}} to %[[END:.*]] step 1 carry (%[[A:.*]] = %[[LEAST:.*]] : vector<16xf32>) {
// CHECK:           %[[V:.*]] = cpu_kernel.load %x[%{{.*}}] : memref<64000xf32> -> vector<16xf32>
// CHECK-NEXT:      %[[N:.*]] = uop.max %[[A]], %[[V]] : vector<16xf32>
// CHECK-NEXT:      cpu_kernel.yield %[[N]] : vector<16xf32>
// CHECK:         %[[TAIL:.*]] = cpu_kernel.load %x[%{{.*}}] count 8 : memref<64000xf32> -> vector<16xf32>
// CHECK:         %[[OR:.*]] = uop.where %{{.*}}, %[[TAIL]], %[[LEAST]] : vector<16xf32>
// CHECK-NEXT:    uop.max %[[ACC]], %[[OR]] : vector<16xf32>
// CHECK-COUNT-4: cpu_kernel.shuffle
// CHECK:         cpu_kernel.extract
// CHECK:         cpu_kernel.store %{{.*}}, %out[%task] : f32 -> memref<64xf32>
// AVX2-LABEL:  @row_max
// AVX2:          cpu_kernel.for %j = %{{.*}} to %{{.*}} step 1 carry (%{{.*}} = %{{.*}} : vector<8xf32>, %{{.*}} = %{{.*}} : vector<8xf32>) {
uop.kernel @row_max(%out: memref<64xf32>, %x: memref<64x1000xf32>) schedule #tile.schedule<i = 64 block, j = 63 loop * 16 register> {
  loop.for %i (i = 64 parallel) {
    %1 = loop.reduce %j (j = 1000) max : f32 {
      %0 = uop.load %x[%i, %j] : memref<64x1000xf32>
      loop.yield %0 : f32
    }
    uop.store %1, %out[%i] : memref<64xf32>
  }
}

// -----

// A product: broadcast elements of one operand, vectors of the other, a fused operation for each; the last rows apart.

// CHECK-LABEL: @product
// CHECK:         cpu_kernel.if %{{.*}} {
// CHECK:           cpu_kernel.for %k = %{{.*}} to %{{.*}} step 1 carry (%[[C0:.*]] = %{{.*}} : vector<16xf32>, %[[C1:.*]] = %{{.*}} : vector<16xf32>) {
// CHECK-DAG:         %[[A0:.*]] = cpu_kernel.load %a[%{{.*}}] : memref<1536xf16> -> f16
// CHECK-DAG:         %[[B:.*]] = cpu_kernel.load %b[%{{.*}}] : memref<8192xf16> -> vector<16xf16>
// CHECK-DAG:         %[[BF:.*]] = uop.cast %[[B]] : vector<16xf16> -> vector<16xf32>
// CHECK:             uop.fma %{{.*}}, %[[BF]], %[[C0]] : vector<16xf32>
// CHECK:           } else {
// CHECK-NOT:         mask
uop.kernel @product(%out: memref<3x16xf32>, %a: memref<3x512xf16>, %b: memref<512x16xf16>) schedule #tile.schedule<i = 2 block * 2 register, j = 16 register, k = 512 loop> {
  loop.for %i (i = 3 parallel) {
    loop.for %j (j = 16 parallel) {
      %2 = loop.reduce %k (k = 512) add : f32 {
        %0 = uop.load %a[%i, %k] : memref<3x512xf16>
        %1 = uop.load %b[%k, %j] : memref<512x16xf16>
        %a32 = uop.cast %0 : f16 -> f32
        %b32 = uop.cast %1 : f16 -> f32
        %p = uop.mul %a32, %b32 : f32
        loop.yield %p : f32
      }
      uop.store %2, %out[%i, %j] : memref<3x16xf32>
    }
  }
}

// -----

// Lanes that lie apart have an index each; 16-bit arithmetic goes through f32; i64 leaves room for 8 lanes.

// CHECK-LABEL: @gather
// CHECK:         %[[AT:.*]] = cpu_kernel.load %at[%{{.*}}] : memref<64xi64> -> vector<8xi64>
// CHECK:         %[[I:.*]] = uop.cast %[[AT]] : vector<8xi64> -> vector<8xindex>
// CHECK:         %[[X:.*]] = cpu_kernel.load %x[%[[I]]] : memref<999xbf16> -> vector<8xbf16> each
// CHECK:         %[[F:.*]] = uop.cast %[[X]] : vector<8xbf16> -> vector<8xf32>
// CHECK:         %[[E:.*]] = uop.exp %[[F]] : vector<8xf32>
// CHECK:         %[[R:.*]] = uop.cast %[[E]] : vector<8xf32> -> vector<8xbf16>
// CHECK:         cpu_kernel.store %[[R]], %out[%{{.*}}] : vector<8xbf16> -> memref<64xbf16>
uop.kernel @gather(%out: memref<64xbf16>, %x: memref<999xbf16>, %at: memref<64xi64>) schedule #tile.schedule<i = 4 loop * 16 register> {
  loop.for %i (i = 64 parallel) {
    %0 = uop.load %at[%i] : memref<64xi64>
    %1 = uop.cast %0 : i64 -> index
    %2 = uop.load %x[%1] : memref<999xbf16>
    %3 = uop.exp %2 : bf16
    uop.store %3, %out[%i] : memref<64xbf16>
  }
}

// -----

// A slab whose columns become rows: squares of 16 vectors.

// CHECK-LABEL: @slab
// CHECK:         %b_s = cpu_kernel.alloc : memref<1024xf32, "local">
// CHECK:         cpu_kernel.for
// CHECK:           cpu_kernel.transpose %b[%{{.*}}] rows 64, %b_s[%{{.*}}] rows 16 lanes 16 : memref<1024xf32> -> memref<1024xf32, "local">
// CHECK:         cpu_kernel.for %k
// CHECK:           cpu_kernel.load %b_s[%{{.*}}] : memref<1024xf32, "local"> -> vector<16xf32>
// CHECK:         cpu_kernel.store %{{.*}}, %out[%{{.*}}] : vector<16xf32> -> memref<16xf32>
uop.kernel @slab(%out: memref<16xf32>, %a: memref<64xf32>, %b: memref<16x64xf32>) schedule #tile.schedule<j = 16 register, k = 64 loop, stage = [%b along 0]> {
  loop.for %j (j = 16 parallel) {
    %2 = loop.reduce %k (k = 64) add : f32 {
      %0 = uop.load %a[%k] : memref<64xf32>
      %1 = uop.load %b[%j, %k] : memref<16x64xf32>
      %p = uop.mul %0, %1 : f32
      loop.yield %p : f32
    }
    uop.store %2, %out[%j] : memref<16xf32>
  }
}

// -----

// A panel that begins in front of its buffer and ends behind it: both ends are 0.

// CHECK-LABEL: @window
// CHECK:         cpu_kernel.for
// CHECK:           %[[BEGIN:.*]] = uop.lt %{{.*}}, %[[AT:.*]] : vector<16xindex>
// CHECK-NEXT:      %[[END:.*]] = uop.lt %[[AT]], %{{.*}} : vector<16xindex>
// CHECK-NEXT:      %[[INSIDE:.*]] = uop.and %[[BEGIN]], %[[END]] : vector<16xi1>
// CHECK:           cpu_kernel.load %x[%{{.*}}] mask %[[INSIDE]] : memref<90xf32> -> vector<16xf32> each lanewise
// CHECK:         cpu_kernel.for %k
uop.kernel @window(%out: memref<2x32xf32>, %x: memref<30x3xf32>) schedule #tile.schedule<i = 2 block, j = 32 register, k = 3 loop, stage = [%x along 0]> {
  %c1 = uop.const 1 : index
  %m1 = uop.const -1 : index
  %c31 = uop.const 31 : index
  loop.for %i (i = 2 parallel) {
    loop.for %j (j = 32 parallel) {
      %s = loop.reduce %k (k = 3) add : f32 {
        %a = uop.add %j, %k : index
        %b = uop.add %a, %m1 : index
        %p = uop.ge %a, %c1 : index
        %q = uop.lt %a, %c31 : index
        %r = uop.and %p, %q : i1
        %v = uop.load %x[%b, %i] mask %r : memref<30x3xf32>
        loop.yield %v : f32
      }
      uop.store %s, %out[%i, %j] : memref<2x32xf32>
    }
  }
}

// -----

// Results whose lanes lie apart leave by rows: 4 rows of 16 lanes become 16 runs of 4.

// CHECK-LABEL: @columns
// CHECK-COUNT-4:  cpu_kernel.load %x[%{{.*}}] : memref<64xf32> -> vector<16xf32>
// CHECK:          cpu_kernel.shuffle
// CHECK-COUNT-16: cpu_kernel.store %{{.*}}, %out[%{{.*}}] count 4 : vector<16xf32> -> memref<64xf32>
uop.kernel @columns(%out: memref<16x4xf32>, %x: memref<4x16xf32>, %y: memref<16xf32>) schedule #tile.schedule<i = 16 register, j = 4 register> {
  loop.for %i (i = 16 parallel) {
    loop.for %j (j = 4 parallel) {
      %0 = uop.load %x[%j, %i] : memref<4x16xf32>
      %1 = uop.load %y[%i] : memref<16xf32>
      %2 = uop.mul %0, %1 : f32
      uop.store %2, %out[%i, %j] : memref<16x4xf32>
    }
  }
}

// -----

// expected-error@+1 {{axis i has a factor `32 thread`, which a CPU has not}}
uop.kernel @threads(%out: memref<64xf32>, %x: memref<64xf32>) schedule #tile.schedule<i = 2 block * 32 thread> {
  loop.for %i (i = 64 parallel) {
    %0 = uop.load %x[%i] : memref<64xf32>
    uop.store %0, %out[%i] : memref<64xf32>
  }
}

// -----

// A kernel for a GPU is left alone.

// CHECK-LABEL: gpu_kernel.kernel @other
gpu_kernel.kernel @other(%out: memref<256xf32>) outputs 1 grid [4, 1, 1] block 64 arch "sm_90" index_bits 32 {
}

// -----

// Sums over lanes that are 16 of another axis: pairs of vectors, whose halves, quarters, … are exchanged, become one.

// CHECK-LABEL: cpu_kernel.kernel @scores
// CHECK-COUNT-2: cpu_kernel.load %q[{{.*}}] : memref<32xf32> -> vector<16xf32>
// CHECK-COUNT-32: cpu_kernel.load %key[{{.*}}] : memref<8192xf32> -> vector<16xf32>
// CHECK:         cpu_kernel.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]
// CHECK-NEXT:    cpu_kernel.shuffle %{{.*}}, %{{.*}} [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31]
// CHECK-COUNT-28: cpu_kernel.shuffle
// CHECK-NEXT:    %[[SUM:.*]] = uop.add %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK:         cpu_kernel.store %[[SUM]], %out[%{{.*}}] : vector<16xf32> -> memref<256xf32>
uop.kernel @scores(%out: memref<256xf32>, %q: memref<32xf32>, %key: memref<256x32xf32>) schedule #tile.schedule<i = 16 block * 16 register, k = 2 register * 16 register> {
  loop.for %i (i = 256 parallel) {
    %3 = loop.reduce %k (k = 32) add : f32 {
      %0 = uop.load %q[%k] : memref<32xf32>
      %1 = uop.load %key[%i, %k] : memref<256x32xf32>
      %2 = uop.mul %0, %1 : f32
      loop.yield %2 : f32
    }
    uop.store %3, %out[%i] : memref<256xf32>
  }
}

// -----

// Not where a vector along that axis would be taken apart for them: squares are transposed.

// CHECK-LABEL: cpu_kernel.kernel @scaled_keys
// CHECK-COUNT-1: cpu_kernel.load %scale[{{.*}}] : memref<256xf32> -> vector<16xf32>
// CHECK-COUNT-128: cpu_kernel.shuffle
// CHECK-NOT:     cpu_kernel.extract
// CHECK:         cpu_kernel.store %{{.*}}, %out[%{{.*}}] : vector<16xf32> -> memref<256xf32>
uop.kernel @scaled_keys(%out: memref<256xf32>, %scale: memref<256xf32>, %key: memref<256x32xf32>) schedule #tile.schedule<i = 16 block * 16 register, k = 2 register * 16 register> {
  loop.for %i (i = 256 parallel) {
    %3 = loop.reduce %k (k = 32) add : f32 {
      %0 = uop.load %scale[%i] : memref<256xf32>
      %1 = uop.load %key[%i, %k] : memref<256x32xf32>
      %2 = uop.mul %0, %1 : f32
      loop.yield %2 : f32
    }
    uop.store %3, %out[%i] : memref<256xf32>
  }
}
