// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-drop-masks)' --split-input-file --verify-diagnostics | filecheck %s
// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-drop-masks,tile-stage,tile-mma,uop-simplify)' --split-input-file --verify-diagnostics | filecheck %s --check-prefix MMA

// Two products in a chain: lanes and registers hold scores as C of the first, which is as A of the second. So the lanes
// and neighbours along the columns of C, of l, are those along k, too; halves of k are a dimension of their own. Scores
// are scaled only in exponents, whose shift is carried beside the values of the monoid: what it changes by rescales sums.
// What the second sums is taken place by place of what the lanes hold.
// CHECK-LABEL: uop.kernel @attention
// CHECK:         %ll = tile.axis l = 4 lane : index
// CHECK-NEXT:    %rl_1 = tile.axis l = 2 register : vector<1x1x1x1x1x2xindex>
// CHECK-NEXT:    %rk = tile.axis k = 2 register : vector<1x1x2x1x1x1xindex>
// CHECK-NEXT:    %rk_1 = tile.axis k = 2 register : vector<1x1x1x2x1x1xindex>
// CHECK-NOT:     k = 4 lane
// CHECK:         %{{.*}}, %[[SUM:.*]], %acc, %{{.*}} = loop.for %k (k = 4 loop) carry (%acc_1, %acc_2, %acc_3 = online_attention from %{{.*}} : vector<2x1x1x1x2x1xf32>, vector<2x1x1x1x2x1xf32>, vector<2x2x1x1x2x2xf32>), (%acc_4 = min from %{{.*}} : vector<2x1x1x1x2x1xf32>) {
// CHECK:           %[[S:.*]] = loop.for %k1o (k1 = 2 unroll) carry (%acc_5 = add : vector<2x1x2x2x2x2xf32>) {
// CHECK:             loop.for %k1i (k1 = 16 mma)
// CHECK:           %[[M:.*]] = uop.reduce_axis max %[[S]] axes [2, 3, 5]
// CHECK-NEXT:      %[[ACROSS:.*]] = tile.reduce_across max %[[M]] over %ll
// CHECK-NEXT:      uop.max %acc_1, %[[ACROSS]]
// CHECK:           %[[SHIFT:.*]] = uop.mul
// CHECK:           %[[E:.*]] = uop.fma %[[S]]
// CHECK-NEXT:      %[[P:.*]] = uop.exp2_ftz %[[E]]
// CHECK:           %[[CHANGE:.*]] = uop.sub %[[SHIFT]], %acc_4
// CHECK-NEXT:      %[[RESCALING:.*]] = uop.exp2_ftz %[[CHANGE]]
// CHECK-NEXT:      uop.mul %acc_2, %[[RESCALING]]
// CHECK:           uop.reduce_axis add {{.*}} axes [2, 3, 5]
// CHECK-NOT:       reduce_across
// CHECK:           %[[H:.*]] = uop.cast %[[P]] : vector<2x1x2x2x2x2xf32> -> vector<2x1x2x2x2x2xf16>
// CHECK:           loop.for %[[R:.*]] (k = 2 unroll) carry (%acc_7 = add from %{{.*}} : vector<2x2x1x1x2x2xf32>) {
// CHECK:             loop.for %[[N:.*]] (k = 16 mma) carry (%acc_8 = add from %acc_7
// CHECK:               %[[PLACE:.*]] = uop.add %{{.*}}, %[[N]] : index
// CHECK:               tile.take_across %[[H]] at %[[PLACE]] over %rk, %rk_1, %ll, %rl_1 :
// CHECK:         tile.reduce_across add %[[SUM]] over %ll

// Steps along K are in one op each. A of the first is read in front of the loop, since it does not change in it; A of
// the second is what the lanes hold.
// MMA-LABEL: uop.kernel @attention
// MMA:         %q_s = tile.stage %q
// MMA:         %[[Q:.*]] = tile.read %q_s[{{.*}}] ldmatrix : {{.*}} -> vector<2x1x1x1x2x2x2x2xf16>
// MMA:         loop.for %k (k = 4 loop)
// MMA:           %key_s = tile.stage %key[{{.*}}] buffers 2 async : memref<128x32xf16> -> memref<32x32xf16,
// MMA-NEXT:      %v_s = tile.stage %v[{{.*}}] buffers 2 async : memref<128x16xf16> -> memref<32x16xf16,
// MMA-NOT:       loop.for
// MMA:           %[[K:.*]] = tile.read %key_s[{{.*}}] ldmatrix : {{.*}} -> vector<1x1x2x2x2x2x2xf16>
// MMA-NEXT:      tile.mma m16n8k16 %{{.*}}, %[[Q]], %[[K]] : vector<2x1x2x2x2x2xf32>, vector<2x1x1x1x2x2x2x2xf16>, vector<1x1x2x2x2x2x2xf16>
// MMA:           %[[H:.*]] = uop.cast {{.*}} -> vector<2x1x2x2x2x2xf16>
// MMA:           %[[V:.*]] = tile.read %v_s[{{.*}}] ldmatrix trans : {{.*}} -> vector<1x2x2x2x2xf16>
// MMA-NEXT:      %[[NEW:.*]] = tile.mma m16n8k16 %{{.*}}, %[[H]], %[[V]] : vector<2x2x1x1x2x2xf32>, vector<2x1x2x2x2x2xf16>, vector<1x2x2x2x2xf16>
// MMA-NEXT:      loop.yield %{{.*}}, %{{.*}}, %[[NEW]]
uop.kernel @attention(%out: memref<32x16xf16>, %q: memref<32x32xf16>, %key: memref<128x32xf16>, %v: memref<128x16xf16>)
    schedule #tile.schedule<i = 2 register * 16 mma, l = 2 register * 8 mma, k = 4 loop * 2 register * 16 mma, k1 = 2 unroll * 16 mma,
                            stage = [%q async swizzle 8, %key buffers 2 async swizzle 8, %v buffers 2 async swizzle 8]> {
  %one = uop.const 1.0 : f32
  %scale = uop.const 0.25 : f32
  loop.for %i (i = 32 parallel) {
    loop.for %l (l = 16 parallel) {
      %max, %sum, %acc = loop.reduce %k (k = 128) online_attention : f32, f32, f32 {
        %0 = loop.reduce %k1 (k1 = 32) add : f32 {
          %1 = uop.load %q[%i, %k1] : memref<32x32xf16>
          %2 = uop.cast %1 : f16 -> f32
          %3 = uop.load %key[%k, %k1] : memref<128x32xf16>
          %4 = uop.cast %3 : f16 -> f32
          %5 = uop.mul %2, %4 : f32
          loop.yield %5 : f32
        }
        %6 = uop.mul %0, %scale : f32
        %7 = uop.load %v[%k, %l] : memref<128x16xf16>
        %8 = uop.cast %7 : f16 -> f32
        loop.yield %6, %one, %8 : f32, f32, f32
      }
      %9 = uop.div %acc, %sum : f32
      %10 = uop.cast %9 : f32 -> f16
      uop.store %10, %out[%i, %l] : memref<32x16xf16>
    }
  }
}

// -----

// `reread`: each step reads the queries again, where as many registers as all of them take are needed for other things.
// MMA-LABEL: uop.kernel @reread
// MMA:         %q_s = tile.stage %q
// MMA-NOT:     tile.read
// MMA:         loop.for %k (k = 4 loop)
// MMA:           %[[Q:.*]] = tile.read %q_s[{{.*}}] ldmatrix : {{.*}} -> vector<2x1x1x1x2x2x2x2xf16>
// MMA:           %[[K:.*]] = tile.read %key_s[{{.*}}] ldmatrix
// MMA-NEXT:      tile.mma m16n8k16 %{{.*}}, %[[Q]], %[[K]]
uop.kernel @reread(%out: memref<32x16xf16>, %q: memref<32x32xf16>, %key: memref<128x32xf16>, %v: memref<128x16xf16>)
    schedule #tile.schedule<i = 2 register * 16 mma, l = 2 register * 8 mma, k = 4 loop * 2 register * 16 mma, k1 = 2 unroll * 16 mma,
                            stage = [%q reread async swizzle 8, %key buffers 2 async swizzle 8, %v buffers 2 async swizzle 8]> {
  %one = uop.const 1.0 : f32
  %scale = uop.const 0.25 : f32
  loop.for %i (i = 32 parallel) {
    loop.for %l (l = 16 parallel) {
      %max, %sum, %acc = loop.reduce %k (k = 128) online_attention : f32, f32, f32 {
        %0 = loop.reduce %k1 (k1 = 32) add : f32 {
          %1 = uop.load %q[%i, %k1] : memref<32x32xf16>
          %2 = uop.cast %1 : f16 -> f32
          %3 = uop.load %key[%k, %k1] : memref<128x32xf16>
          %4 = uop.cast %3 : f16 -> f32
          %5 = uop.mul %2, %4 : f32
          loop.yield %5 : f32
        }
        %6 = uop.mul %0, %scale : f32
        %7 = uop.load %v[%k, %l] : memref<128x16xf16>
        %8 = uop.cast %7 : f16 -> f32
        loop.yield %6, %one, %8 : f32, f32, f32
      }
      %9 = uop.div %acc, %sum : f32
      %10 = uop.cast %9 : f32 -> f16
      uop.store %10, %out[%i, %l] : memref<32x16xf16>
    }
  }
}

// -----

// Values that are made of more than one read of 16 bits are no factors of an instruction.
// expected-error@below {{kernel @scaled_values: the schedule asks for m16n8k16 over rows i, columns l and k: queries, keys and values are not all f16, or all bf16, that are cast to f32}}
uop.kernel @scaled_values(%out: memref<16x8xf16>, %q: memref<16x16xf16>, %key: memref<16x16xf16>, %v: memref<16x8xf16>)
    schedule #tile.schedule<i = 16 mma, l = 8 mma, k = 16 mma, k1 = 16 mma> {
  %one = uop.const 1.0 : f32
  loop.for %i (i = 16 parallel) {
    loop.for %l (l = 8 parallel) {
      %max, %sum, %acc = loop.reduce %k (k = 16) online_attention : f32, f32, f32 {
        %0 = loop.reduce %k1 (k1 = 16) add : f32 {
          %1 = uop.load %q[%i, %k1] : memref<16x16xf16>
          %2 = uop.cast %1 : f16 -> f32
          %3 = uop.load %key[%k, %k1] : memref<16x16xf16>
          %4 = uop.cast %3 : f16 -> f32
          %5 = uop.mul %2, %4 : f32
          loop.yield %5 : f32
        }
        %7 = uop.load %v[%k, %l] : memref<16x8xf16>
        %8 = uop.cast %7 : f16 -> f32
        %9 = uop.add %8, %one : f32
        loop.yield %0, %one, %9 : f32, f32, f32
      }
      %10 = uop.cast %acc : f32 -> f16
      uop.store %10, %out[%i, %l] : memref<16x8xf16>
    }
  }
}
