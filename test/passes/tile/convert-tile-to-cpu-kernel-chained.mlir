// RUN: uop-opt %s --split-input-file --verify-diagnostics --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-drop-masks,tile-pack,uop-simplify)' | filecheck %s --check-prefix=TILE
// RUN: uop-opt %s --split-input-file --verify-diagnostics --pass-pipeline 'builtin.module(convert-loop-to-tile,tile-drop-masks,tile-pack,uop-simplify,convert-tile-to-cpu-kernel{vector_bytes=64})' | filecheck %s

// Attention: lanes go along the keys, 2 vectors of them a step, and then, place by place, along the channels. Both loops
// end where the mask does. The maximum of a row is that of all lanes; the sums of weights stay apart in these until the
// end.

// TILE-LABEL: uop.kernel @attention
// TILE-DAG:     %[[LANES:.*]] = tile.axis l = 16 register : vector<1x1x1x16xindex>
// TILE-DAG:     %[[KEYS:.*]] = tile.axis k = 2 register : vector<1x1x2x1xindex>
// TILE:         %key_s = tile.stage %key[%{{.*}}, %{{.*}}] buffers 1 : memref<64x8xf32> -> memref<64x8xf32, strided<[1, 64]>, "shared">
// TILE:         loop.for %i (i = 2 loop) {
// TILE:           %{{.*}}, %[[SUM:.*]], %{{.*}} = loop.for %k (k = 2 loop) to %{{.*}} carry (%{{.*}}, %{{.*}}, %{{.*}} = online_attention : vector<8x1x1x1xf32>, vector<8x1x1x16xf32>, vector<8x4x1x16xf32>) {
// TILE:             loop.for %c (c = 8 loop) carry (%{{.*}} = add : vector<8x1x2x16xf32>) {
// TILE:             uop.reduce_axis max %{{.*}} axes [2, 3] : (vector<8x1x2x16xf32>) -> vector<8x1x1x1xf32>
// TILE:             uop.reduce_axis add %[[P:.*]] axes [2] : (vector<8x1x2x16xf32>) -> vector<8x1x1x16xf32>
// TILE:             loop.for %k_1 (k = 32 loop) to %{{.*}} carry (%{{.*}} = add from %{{.*}} : vector<8x4x1x16xf32>) {
// TILE:               tile.take_across %[[P]] at %k_1 over %[[KEYS]], %[[LANES]]
// TILE:           uop.reduce_axis add %[[SUM]] axes [3] : (vector<8x1x1x16xf32>) -> vector<8x1x1x1xf32>

// On the machine: 16 sums of scores; what became of them is stored, 16 vectors, and taken as scalars. 8 x 4 sums of
// values are more than registers hold, so that there is a loop for each half of the rows.

// CHECK-LABEL: cpu_kernel.kernel @attention
// CHECK:         %[[P:.*]] = cpu_kernel.alloc : memref<256xf32, "local">
// CHECK:         cpu_kernel.for %c
// CHECK-COUNT-16:  uop.fma
// CHECK-COUNT-16: cpu_kernel.store %{{.*}}, %[[P]][%{{.*}}] : vector<16xf32> -> memref<256xf32, "local">
// CHECK:         %[[END:.*]] = uop.min %{{.*}}, %{{.*}} : index
// CHECK:         cpu_kernel.for %k_1 = %{{.*}} to %[[END]]
// CHECK-COUNT-4:   cpu_kernel.load %[[P]][%{{.*}}] : memref<256xf32, "local"> -> f32
// CHECK-COUNT-16:  uop.fma
// CHECK-NEXT:      cpu_kernel.yield
// CHECK:         cpu_kernel.for %k_2
// CHECK-COUNT-4:   cpu_kernel.load %[[P]][%{{.*}}] : memref<256xf32, "local"> -> f32
// CHECK-COUNT-16:  uop.fma
// CHECK-NEXT:      cpu_kernel.yield
uop.kernel @attention(%out: memref<16x64xf32>, %q: memref<16x8xf32>, %key: memref<64x8xf32>, %v: memref<64x64xf32>) schedule #tile.schedule<i = 2 loop * 8 register, l = 4 register * 16 register, k = 2 loop * 2 register * 16 register of l, c = 8 loop, stage = [%key along 0]> {
  %one = uop.const 1.0 : f32
  %none = uop.const 0xff800000 : f32
  %c1 = uop.const 1 : index
  loop.for %i (i = 16 parallel) {
    %end = uop.add %i, %c1 : index
    loop.for %l (l = 64 parallel) {
      %max, %sum, %acc = loop.reduce %k (k = 64) to %end online_attention : f32, f32, f32 {
        %product = loop.reduce %c (c = 8) add : f32 {
          %q_ic = uop.load %q[%i, %c] : memref<16x8xf32>
          %k_kc = uop.load %key[%k, %c] : memref<64x8xf32>
          %qk = uop.mul %q_ic, %k_kc : f32
          loop.yield %qk : f32
        }
        %seen = uop.le %k, %i : index
        %score = uop.where %seen, %product, %none : f32
        %v_kl = uop.load %v[%k, %l] : memref<64x64xf32>
        loop.yield %score, %one, %v_kl : f32, f32, f32
      }
      %o = uop.div %acc, %sum : f32
      uop.store %o, %out[%i, %l] : memref<16x64xf32>
    }
  }
}

// -----

// Registers that channels do not have are not shared with them.

// expected-error @below {{kernel @unlike: axis k is bound to `8 register of l`, whose registers are those of l: `8 register of l` and `16 register` are not the innermost factors of both, and alike}}
uop.kernel @unlike(%out: memref<16x64xf32>, %q: memref<16x8xf32>, %key: memref<64x8xf32>, %v: memref<64x64xf32>) schedule #tile.schedule<i = 16 loop, l = 4 register * 16 register, k = 8 loop * 8 register of l, c = 8 loop> {
  %one = uop.const 1.0 : f32
  %none = uop.const 0xff800000 : f32
  %c1 = uop.const 1 : index
  loop.for %i (i = 16 parallel) {
    %end = uop.add %i, %c1 : index
    loop.for %l (l = 64 parallel) {
      %max, %sum, %acc = loop.reduce %k (k = 64) to %end online_attention : f32, f32, f32 {
        %product = loop.reduce %c (c = 8) add : f32 {
          %q_ic = uop.load %q[%i, %c] : memref<16x8xf32>
          %k_kc = uop.load %key[%k, %c] : memref<64x8xf32>
          %qk = uop.mul %q_ic, %k_kc : f32
          loop.yield %qk : f32
        }
        %seen = uop.le %k, %i : index
        %score = uop.where %seen, %product, %none : f32
        %v_kl = uop.load %v[%k, %l] : memref<64x64xf32>
        loop.yield %score, %one, %v_kl : f32, f32, f32
      }
      %o = uop.div %acc, %sum : f32
      uop.store %o, %out[%i, %l] : memref<16x64xf32>
    }
  }
}

// -----

// Keys do not go along the lanes of the queries.

// expected-error @below {{kernel @queries: axis k is bound to `16 register of i`, whose registers are those of i: the keys of this kernel are k, and the channels l}}
uop.kernel @queries(%out: memref<16x64xf32>, %q: memref<16x8xf32>, %key: memref<64x8xf32>, %v: memref<64x64xf32>) schedule #tile.schedule<i = 16 register, l = 64 loop, k = 4 loop * 16 register of i, c = 8 loop> {
  %one = uop.const 1.0 : f32
  %none = uop.const 0xff800000 : f32
  %c1 = uop.const 1 : index
  loop.for %i (i = 16 parallel) {
    %end = uop.add %i, %c1 : index
    loop.for %l (l = 64 parallel) {
      %max, %sum, %acc = loop.reduce %k (k = 64) to %end online_attention : f32, f32, f32 {
        %product = loop.reduce %c (c = 8) add : f32 {
          %q_ic = uop.load %q[%i, %c] : memref<16x8xf32>
          %k_kc = uop.load %key[%k, %c] : memref<64x8xf32>
          %qk = uop.mul %q_ic, %k_kc : f32
          loop.yield %qk : f32
        }
        %seen = uop.le %k, %i : index
        %score = uop.where %seen, %product, %none : f32
        %v_kl = uop.load %v[%k, %l] : memref<64x64xf32>
        loop.yield %score, %one, %v_kl : f32, f32, f32
      }
      %o = uop.div %acc, %sum : f32
      uop.store %o, %out[%i, %l] : memref<16x64xf32>
    }
  }
}
