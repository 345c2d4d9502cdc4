// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-drop-masks,tile-stage,tile-mma)' --split-input-file --verify-diagnostics | filecheck %s

// A lane holds rows li and li + 8 of A and, of each, two neighbours along k from 2 · lj and from 8 + 2 · lj on; of B the
// same along k, and column li. Rows of A lie along k, so that its matrices are read as they are, those of B transposed.
// CHECK-LABEL: uop.kernel @staged
// CHECK:         %li = tile.axis i = 8 lane : index
// CHECK:         %lj = tile.axis j = 4 lane : index
// CHECK:         %rk = tile.axis k = 2 register : vector<1x1x2x1x1xindex>
// CHECK-NEXT:    %rk_1 = tile.axis k = 2 register : vector<1x1x1x1x2xindex>
// CHECK:         loop.for %{{.*}} (k = 2 loop) carry (%acc = add : vector<2x4x2x2xf32>) {
// CHECK:           %a_s = tile.stage %a[%{{.*}}, %{{.*}}] buffers 2 async : memref<64x64xf16> -> memref<64x32xf16, #tile.swizzle<unit 8, chunks 4>, "shared">
// CHECK:           %b_s = tile.stage %b[%{{.*}}, %{{.*}}] buffers 2 async : memref<64x64xf16> -> memref<32x64xf16, #tile.swizzle<unit 8, chunks 8>, "shared">
// CHECK:           loop.for %{{.*}} (k = 2 loop) carry (%acc_1 = add from %acc : vector<2x4x2x2xf32>) {
// CHECK-NOT:         loop.for
// CHECK:             %[[A:.*]] = tile.read %a_s[%{{.*}}, %{{.*}}] ldmatrix : {{.*}}(vector<2x1x1x2x1xindex>, vector<1x1x2x1x2xindex>) -> vector<2x1x2x2x2xf16>
// CHECK:             %[[B:.*]] = tile.read %b_s[%{{.*}}, %{{.*}}] ldmatrix trans : {{.*}}(vector<1x1x2x2xindex>, vector<1x4x1x1xindex>) -> vector<1x4x2x2xf16>
// CHECK-NEXT:        %acc_2 = tile.mma m16n8k16 %acc_1, %[[A]], %[[B]] : vector<2x4x2x2xf32>, vector<2x1x2x2x2xf16>, vector<1x4x2x2xf16>
// CHECK-NEXT:        loop.yield %acc_2 : vector<2x4x2x2xf32>
uop.kernel @staged(%out: memref<64x64xf32>, %a: memref<64x64xf16>, %b: memref<64x64xf16>)
    schedule #tile.schedule<i = 2 warp * 2 register * 16 mma, j = 2 warp * 4 register * 8 mma, k = 2 loop * 2 loop * 16 mma,
                            stage = [%a buffers 2 async swizzle 8, %b buffers 2 async swizzle 8]> {
  loop.for %i (i = 64 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = loop.reduce %k (k = 64) add : f32 {
        %1 = uop.load %a[%i, %k] : memref<64x64xf16>
        %2 = uop.cast %1 : f16 -> f32
        %3 = uop.load %b[%k, %j] : memref<64x64xf16>
        %4 = uop.cast %3 : f16 -> f32
        %5 = uop.mul %2, %4 : f32
        loop.yield %5 : f32
      }
      uop.store %0, %out[%i, %j] : memref<64x64xf32>
    }
  }
}

// -----

// Both operands lie along k, as in a linear layer; the factors of the product stand in the other order.
// CHECK-LABEL: uop.kernel @linear
// CHECK:         %[[A:.*]] = tile.read %a_s[%{{.*}}] ldmatrix : {{.*}} -> vector<2x1x2x2x2xbf16>
// CHECK:         %[[B:.*]] = tile.read %b_s[%{{.*}}] ldmatrix : {{.*}} -> vector<1x4x2x2xbf16>
// CHECK-NEXT:    tile.mma m16n8k16 %{{.*}}, %[[A]], %[[B]]
uop.kernel @linear(%out: memref<64x64xf32>, %a: memref<64x64xbf16>, %b: memref<64x64xbf16>)
    schedule #tile.schedule<i = 2 warp * 2 register * 16 mma, j = 2 warp * 4 register * 8 mma, k = 2 loop * 2 loop * 16 mma,
                            stage = [%a buffers 2 async swizzle 8, %b buffers 2 async swizzle 8]> {
  loop.for %i (i = 64 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = loop.reduce %k (k = 64) add : f32 {
        %1 = uop.load %a[%i, %k] : memref<64x64xbf16>
        %2 = uop.cast %1 : bf16 -> f32
        %3 = uop.load %b[%j, %k] : memref<64x64xbf16>
        %4 = uop.cast %3 : bf16 -> f32
        %5 = uop.mul %4, %2 : f32
        loop.yield %5 : f32
      }
      uop.store %0, %out[%i, %j] : memref<64x64xf32>
    }
  }
}

// -----

// Rows that are no multiple of 16 bytes apart, and what lies in global memory, is read element by element. A single step
// begins at zeros.
// CHECK-LABEL: uop.kernel @no_matrices
// CHECK:         tile.read %a[%{{.*}}] : memref<64x64xf16>{{.*}} -> vector<2x2x2xf16>
// CHECK:         tile.read %b_s[%{{.*}}] : memref<16x8xf16, strided<[11, 1]>, "shared">{{.*}} -> vector<2x2xf16>
uop.kernel @no_matrices(%out: memref<64x64xf32>, %a: memref<64x64xf16>, %b: memref<64x64xf16>)
    schedule #tile.schedule<i = 4 warp * 16 mma, j = 8 block * 8 mma, k = 4 loop * 16 mma, stage = [%b pad 3]> {
  loop.for %i (i = 64 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = loop.reduce %k (k = 64) add : f32 {
        %1 = uop.load %a[%i, %k] : memref<64x64xf16>
        %2 = uop.cast %1 : f16 -> f32
        %3 = uop.load %b[%k, %j] : memref<64x64xf16>
        %4 = uop.cast %3 : f16 -> f32
        %5 = uop.mul %2, %4 : f32
        loop.yield %5 : f32
      }
      uop.store %0, %out[%i, %j] : memref<64x64xf32>
    }
  }
}

// -----

// What is done to an operand in front of the product is done to its fragment; masks that zeros do not make up for
// choose zeros in both.
// CHECK-LABEL: uop.kernel @prologue
// CHECK:         %[[X:.*]] = tile.read %a_s[%{{.*}}] ldmatrix : {{.*}} -> vector<1x2x2x2xf16>
// CHECK:         %[[E:.*]] = uop.exp %[[X]] : vector<1x2x2x2xf16>
// CHECK:         uop.where %{{.*}}, %[[E]], %{{.*}} : vector<1x2x2x2xf16>
// CHECK:         %[[Y:.*]] = tile.read %b_s[%{{.*}}] ldmatrix trans
// CHECK:         tile.mma
uop.kernel @prologue(%out: memref<64x64xf32>, %a: memref<64x50xf16>, %b: memref<50x64xf16>)
    schedule #tile.schedule<i = 4 warp * 16 mma, j = 8 register * 8 mma, k = 4 loop * 16 mma, stage = [%a swizzle 8, %b swizzle 8]> {
  loop.for %i (i = 64 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = loop.reduce %k (k = 50) add : f32 {
        %1 = uop.load %a[%i, %k] : memref<64x50xf16>
        %2 = uop.exp %1 : f16
        %3 = uop.cast %2 : f16 -> f32
        %4 = uop.load %b[%k, %j] : memref<50x64xf16>
        %5 = uop.exp %4 : f16
        %6 = uop.cast %5 : f16 -> f32
        %7 = uop.mul %3, %6 : f32
        loop.yield %7 : f32
      }
      uop.store %0, %out[%i, %j] : memref<64x64xf32>
    }
  }
}

// -----

// A kernel without mma factors stays as it is.
// CHECK-LABEL: uop.kernel @no_factors
// CHECK:         loop.for %{{.*}} (k = 64 loop)
// CHECK-NOT:     tile.mma
uop.kernel @no_factors(%out: memref<64x64xf32>, %a: memref<64x64xf16>, %b: memref<64x64xf16>)
    schedule #tile.schedule<i = 64 thread, j = 64 block, k = 64 loop> {
  loop.for %i (i = 64 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = loop.reduce %k (k = 64) add : f32 {
        %1 = uop.load %a[%i, %k] : memref<64x64xf16>
        %2 = uop.cast %1 : f16 -> f32
        %3 = uop.load %b[%k, %j] : memref<64x64xf16>
        %4 = uop.cast %3 : f16 -> f32
        %5 = uop.mul %2, %4 : f32
        loop.yield %5 : f32
      }
      uop.store %0, %out[%i, %j] : memref<64x64xf32>
    }
  }
}

// -----

// A slab of what an instruction reads stands in front of it: an instruction is no loop that has steps.
// CHECK-LABEL: uop.kernel @one_slab
// CHECK:         %[[SLAB:.*]] = tile.stage %a[%{{.*}}] buffers 1 : memref<64x64xf16> -> memref<64x16xf16, "shared">
// CHECK:         tile.read %[[SLAB]][%{{.*}}] ldmatrix :
// CHECK:         tile.mma m16n8k16
uop.kernel @one_slab(%out: memref<64x64xf32>, %a: memref<64x64xf16>, %b: memref<64x64xf16>)
    schedule #tile.schedule<i = 4 warp * 16 mma, j = 8 register * 8 mma, k = 16 mma, stage = [%a]> {
  loop.for %i (i = 64 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = loop.reduce %k (k = 16) add : f32 {
        %1 = uop.load %a[%i, %k] : memref<64x64xf16>
        %2 = uop.cast %1 : f16 -> f32
        %3 = uop.load %b[%k, %j] : memref<64x64xf16>
        %4 = uop.cast %3 : f16 -> f32
        %5 = uop.mul %2, %4 : f32
        loop.yield %5 : f32
      }
      uop.store %0, %out[%i, %j] : memref<64x64xf32>
    }
  }
}

// -----

uop.kernel @slab_in_a_step(%out: memref<64x64xf32>, %a: memref<64x64xf16>, %b: memref<64x64xf16>) schedule #tile.schedule<i = 4 warp * 16 mma, j = 8 register * 8 mma, k = 16 mma, stage = [%a]> {
  %wi = tile.axis i = 4 warp : index
  %ri = tile.axis i = 2 register : vector<1x2x1xindex>
  %li = tile.axis i = 8 lane : index
  %rj = tile.axis j = 8 register : vector<8x1x1xindex>
  %lj = tile.axis j = 4 lane : index
  %rj_1 = tile.axis j = 2 register : vector<1x1x2xindex>
  %0 = uop.const 16 : index
  %1 = uop.mul %wi, %0 : index
  %2 = uop.add %1, %li : index
  %3 = uop.const 8 : index
  %4 = uop.expand %3 : index -> vector<1x2x1xindex>
  %5 = uop.mul %ri, %4 : vector<1x2x1xindex>
  %6 = uop.expand %2 : index -> vector<1x2x1xindex>
  %7 = uop.add %6, %5 : vector<1x2x1xindex>
  %8 = uop.const 2 : index
  %9 = uop.mul %lj, %8 : index
  %10 = uop.expand %3 : index -> vector<8x1x1xindex>
  %11 = uop.mul %rj, %10 : vector<8x1x1xindex>
  %12 = uop.expand %9 : index -> vector<8x1x1xindex>
  %13 = uop.add %12, %11 : vector<8x1x1xindex>
  %14 = uop.expand %13 : vector<8x1x1xindex> -> vector<8x1x2xindex>
  %15 = uop.expand %rj_1 : vector<1x1x2xindex> -> vector<8x1x2xindex>
  %16 = uop.add %14, %15 : vector<8x1x2xindex>
  %17 = uop.const 0 : index
  // expected-error@+1 {{slabs are staged in each of its steps: put a loop around it}}
  %18 = loop.for %k (k = 16 mma) carry (%acc = add : vector<8x2x2xf32>) {
    %a_s = tile.stage %a[%17, %k] buffers 1 : memref<64x64xf16> -> memref<64x1xf16, "shared">
    %19 = tile.read %a_s[%7, %17] : memref<64x1xf16, "shared">(vector<1x2x1xindex>, index) -> vector<1x2x1xf16>
    %20 = uop.cast %19 : vector<1x2x1xf16> -> vector<1x2x1xf32>
    %21 = tile.read %b[%k, %16] : memref<64x64xf16>(index, vector<8x1x2xindex>) -> vector<8x1x2xf16>
    %22 = uop.cast %21 : vector<8x1x2xf16> -> vector<8x1x2xf32>
    %23 = uop.expand %20 : vector<1x2x1xf32> -> vector<8x2x2xf32>
    %24 = uop.expand %22 : vector<8x1x2xf32> -> vector<8x2x2xf32>
    %25 = uop.mul %23, %24 : vector<8x2x2xf32>
    %26 = uop.add %acc, %25 : vector<8x2x2xf32>
    loop.yield %26 : vector<8x2x2xf32>
  }
  tile.write %18, %out[%7, %16] : vector<8x2x2xf32> -> memref<64x64xf32>(vector<1x2x1xindex>, vector<8x1x2xindex>)
}

// -----

// The operand of another reduction.
// expected-error@+1 {{a factor is made of the result of a reduction}}
uop.kernel @nested(%out: memref<64x64xf32>, %a: memref<64x64x4xf16>, %b: memref<64x64xf16>)
    schedule #tile.schedule<i = 4 warp * 16 mma, j = 8 register * 8 mma, k = 4 loop * 16 mma, l = 4 loop> {
  loop.for %i (i = 64 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = loop.reduce %k (k = 64) add : f32 {
        %1 = loop.reduce %l (l = 4) max : f16 {
          %2 = uop.load %a[%i, %k, %l] : memref<64x64x4xf16>
          loop.yield %2 : f16
        }
        %3 = uop.cast %1 : f16 -> f32
        %4 = uop.load %b[%k, %j] : memref<64x64xf16>
        %5 = uop.cast %4 : f16 -> f32
        %6 = uop.mul %3, %5 : f32
        loop.yield %6 : f32
      }
      uop.store %0, %out[%i, %j] : memref<64x64xf32>
    }
  }
}

// -----

// A convolution: the loop over the instruction is the innermost, inside of those over taps. Rows of the slabs go along
// the channels, which lie behind each other in registers: each tap is a place among the rows, and no matrix is read
// across.
// CHECK-LABEL: uop.kernel @windows
// CHECK:         loop.for %{{.*}} (c = 2 loop) carry (%acc = add : vector<2x2xf32>) {
// CHECK:           tile.stage %x[{{.*}}] buffers 1 : memref<32x10xf16> -> memref<16x10xf16, strided<[1, 24]>, "shared">
// CHECK:           tile.stage %w[{{.*}}] buffers 1 : memref<16x32x3xf16> -> memref<16x16x3xf16, strided<[72, 1, 24]>, "shared">
// CHECK:           loop.for %t (t = 3 unroll) carry (%acc_1 = add from %acc : vector<2x2xf32>) {
// CHECK-NOT:         loop.for
// CHECK:             %[[A:.*]] = tile.read %w_s[%{{.*}}, %{{.*}}, %t] ldmatrix :
// CHECK:             %[[B:.*]] = tile.read %x_s[%{{.*}}, %{{.*}}] ldmatrix :
// CHECK-NEXT:        tile.mma m16n8k16 %acc_1, %[[A]], %[[B]] :
uop.kernel @windows(%out: memref<16x8xf32>, %x: memref<32x10xf16>, %w: memref<16x32x3xf16>)
    schedule #tile.schedule<o = 16 mma, p = 1 register * 8 mma, c = 2 loop * 16 mma, t = 3 unroll,
                            stage = [%x along 0 pad 8, %w along 1 pad 8]> {
  loop.for %o (o = 16 parallel) {
    loop.for %p (p = 8 parallel) {
      %0 = loop.reduce %c (c = 32) add : f32 {
        %1 = loop.reduce %t (t = 3) add : f32 {
          %2 = uop.add %p, %t : index
          %3 = uop.load %x[%c, %2] : memref<32x10xf16>
          %4 = uop.cast %3 : f16 -> f32
          %5 = uop.load %w[%o, %c, %t] : memref<16x32x3xf16>
          %6 = uop.cast %5 : f16 -> f32
          %7 = uop.mul %4, %6 : f32
          loop.yield %7 : f32
        }
        loop.yield %1 : f32
      }
      uop.store %0, %out[%o, %p] : memref<16x8xf32>
    }
  }
}

// -----

// The instruction cuts f32 to TF32 by itself. A lane holds one element of each row of 16 bytes; matrices of 32 bits are not
// transposed, so those of B, whose rows lie across k, are read element by element.
// CHECK-LABEL: uop.kernel @tf32
// CHECK:         %rk = tile.axis k = 2 register : vector<1x1x2x1x1xindex>
// CHECK:         %rk_1 = tile.axis k = 2 register : vector<1x1x2x1xindex>
// CHECK-NOT:     tile.axis k
// CHECK:         %[[A:.*]] = tile.read %a_s[%{{.*}}, %{{.*}}] ldmatrix : {{.*}}(vector<2x1x1x2x1xindex>, vector<1x1x2x1x1xindex>) -> vector<2x1x2x2x1xf32>
// CHECK:         %[[B:.*]] = tile.read %b_s[%{{.*}}, %{{.*}}] : {{.*}}(vector<1x1x2x1xindex>, vector<1x4x1x1xindex>) -> vector<1x4x2x1xf32>
// CHECK-NEXT:    tile.mma m16n8k8 %{{.*}}, %[[A]], %[[B]] : vector<2x4x2x2xf32>, vector<2x1x2x2x1xf32>, vector<1x4x2x1xf32>
// CHECK-NOT:     to_tf32
uop.kernel @tf32(%out: memref<512x512xf32>, %a: memref<512x512xf32>, %b: memref<512x512xf32>)
    schedule #tile.schedule<i = 8 block * 2 warp * 2 register * 16 mma, j = 8 block * 2 warp * 4 register * 8 mma,
                            k = 32 loop * 2 loop * 8 mma, stage = [%a buffers 2 async swizzle 4, %b buffers 2 async pad 8]> {
  loop.for %i (i = 512 parallel) {
    loop.for %j (j = 512 parallel) {
      %0 = loop.reduce %k (k = 512) add : f32 {
        %1 = uop.load %a[%i, %k] : memref<512x512xf32>
        %2 = uop.to_tf32 %1 : f32
        %3 = uop.load %b[%k, %j] : memref<512x512xf32>
        %4 = uop.to_tf32 %3 : f32
        %5 = uop.mul %2, %4 : f32
        loop.yield %5 : f32
      }
      uop.store %0, %out[%i, %j] : memref<512x512xf32>
    }
  }
}

// -----

// Rows less their mean: the lanes along columns, which sum a row in front, have its mean as A wants it. It is not computed
// again, and what is staged over k only is read from memory there.
// CHECK-LABEL: uop.kernel @centred
// CHECK:         loop.for %{{.*}} (k1 = 2 loop)
// CHECK:           tile.read %x[
// CHECK:         %[[SUM:.*]] = tile.reduce_across add %{{.*}} over %lj : vector<1x2x1xf32>
// CHECK:         %[[MEAN:.*]] = uop.mul %[[SUM]], %{{.*}} : vector<1x2x1xf32>
// CHECK:         loop.for %{{.*}} (k = 2 loop)
// CHECK:             %[[X:.*]] = tile.read %x_s[{{.*}}] ldmatrix :
// CHECK:             %[[F:.*]] = uop.cast %[[X]]
// CHECK:             %[[C:.*]] = uop.sub %[[F]], %{{.*}} : vector<2x2x2xf32>
// CHECK:             %[[A:.*]] = uop.cast %[[C]] : vector<2x2x2xf32> -> vector<2x2x2xf16>
// CHECK:             tile.mma m16n8k16 %{{.*}}, %[[A]], %
uop.kernel @centred(%out: memref<16x8xf32>, %x: memref<16x64xf16>, %w: memref<8x64xf16>)
    schedule #tile.schedule<i = 16 mma, j = 8 mma, k = 2 loop * 2 unroll * 16 mma, k1 = 2 loop * 4 lane of j * 8 register, stage = [%x over k buffers 2 async swizzle 8, %w buffers 2 async swizzle 8]> {
  %n = uop.const 0.015625 : f32
  loop.for %i (i = 16 parallel) {
    %sum = loop.reduce %k1 (k1 = 64) add : f32 {
      %0 = uop.load %x[%i, %k1] : memref<16x64xf16>
      %1 = uop.cast %0 : f16 -> f32
      loop.yield %1 : f32
    }
    %mean = uop.mul %sum, %n : f32
    loop.for %j (j = 8 parallel) {
      %product = loop.reduce %k (k = 64) add : f32 {
        %2 = uop.load %x[%i, %k] : memref<16x64xf16>
        %3 = uop.cast %2 : f16 -> f32
        %4 = uop.sub %3, %mean : f32
        %5 = uop.cast %4 : f32 -> f16
        %6 = uop.cast %5 : f16 -> f32
        %7 = uop.load %w[%j, %k] : memref<8x64xf16>
        %8 = uop.cast %7 : f16 -> f32
        %9 = uop.mul %6, %8 : f32
        loop.yield %9 : f32
      }
      uop.store %product, %out[%i, %j] : memref<16x8xf32>
    }
  }
}

// -----

// Columns less their mean: B has columns in other lanes than C.
// expected-error@+1 {{the factor that varies with i is made of the result of a reduction}}
uop.kernel @columns(%out: memref<8x16xf32>, %x: memref<8x64xf16>, %w: memref<16x64xf16>)
    schedule #tile.schedule<i = 8 mma, j = 16 mma, k = 2 loop * 2 unroll * 16 mma, k1 = 2 loop * 4 loop * 8 register, stage = [%x over k buffers 2 async swizzle 8, %w buffers 2 async swizzle 8]> {
  %n = uop.const 0.015625 : f32
  loop.for %i (i = 8 parallel) {
    %sum = loop.reduce %k1 (k1 = 64) add : f32 {
      %0 = uop.load %x[%i, %k1] : memref<8x64xf16>
      %1 = uop.cast %0 : f16 -> f32
      loop.yield %1 : f32
    }
    %mean = uop.mul %sum, %n : f32
    loop.for %j (j = 16 parallel) {
      %product = loop.reduce %k (k = 64) add : f32 {
        %2 = uop.load %x[%i, %k] : memref<8x64xf16>
        %3 = uop.cast %2 : f16 -> f32
        %4 = uop.sub %3, %mean : f32
        %5 = uop.cast %4 : f32 -> f16
        %6 = uop.cast %5 : f16 -> f32
        %7 = uop.load %w[%j, %k] : memref<16x64xf16>
        %8 = uop.cast %7 : f16 -> f32
        %9 = uop.mul %6, %8 : f32
        loop.yield %9 : f32
      }
      uop.store %product, %out[%i, %j] : memref<8x16xf32>
    }
  }
}
