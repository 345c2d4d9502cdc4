// RUN: uop-opt %s --split-input-file --pass-pipeline 'builtin.module(choose-cpu-schedule{vector_bytes=64})' | filecheck %s
// RUN: uop-opt %s --split-input-file --pass-pipeline 'builtin.module(choose-cpu-schedule{vector_bytes=32})' | filecheck %s --check-prefix=AVX2

// Vectors along the innermost axis; tasks of 8192 elements.

// CHECK: @elementwise({{.*}}) schedule #tile.schedule<i = 13 block * 128 loop * 4 register * 16 register> {
// AVX2:  @elementwise({{.*}}) schedule #tile.schedule<i = 13 block * 256 loop * 4 register * 8 register> {
uop.kernel @elementwise(%out: memref<100000xf32>, %x: memref<100000xf32>) {
  loop.for %i (i = 100000 parallel) {
    %0 = uop.load %x[%i] : memref<100000xf32>
    %1 = uop.exp %0 : f32
    uop.store %1, %out[%i] : memref<100000xf32>
  }
}

// -----

// Rows that lie side by side: vectors along them. Elements of 64 bits: half as many lanes.

// CHECK: @rows({{.*}}) schedule #tile.schedule<i = 64 block, j = 32 loop * 4 register * 8 register> {
uop.kernel @rows(%out: memref<64xf64>, %x: memref<64x1000xf64>) {
  loop.for %i (i = 64 parallel) {
    %1 = loop.reduce %j (j = 1000) max : f64 {
      %0 = uop.load %x[%i, %j] : memref<64x1000xf64>
      loop.yield %0 : f64
    }
    uop.store %1, %out[%i] : memref<64xf64>
  }
}

// -----

// Attention of one query for each of 8 heads that share keys: the lanes that go along the channels go along the keys
// first, of heads side by side, fewer where there are 16 registers. That a position has 64 bits does not make vectors
// shorter.

// CHECK: @attention({{.*}}) schedule #tile.schedule<i = 8 register, j = 4 register * 16 register, k = 128 loop * 2 register * 16 register of j, k1 = 64 loop, stage = [%key along 0]> {
// AVX2:  @attention({{.*}}) schedule #tile.schedule<i = 2 loop * 4 register, j = 8 register * 8 register, k = 256 loop * 2 register * 8 register of j, k1 = 64 loop, stage = [%key along 0]> {
uop.kernel @attention(%out: memref<8x64xf32>, %p: memref<i64>, %q: memref<8x64xf32>, %key: memref<4096x64xf32>, %value: memref<4096x64xf32>) {
  %one = uop.const 1.0 : f32
  %c1 = uop.const 1 : index
  %nothing = uop.const 0xff800000 : f32
  loop.for %i (i = 8 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = uop.load %p[] : memref<i64>
      %1 = uop.cast %0 : i64 -> index
      %2 = uop.add %1, %c1 : index
      %max, %sum, %acc = loop.reduce %k (k = 4096) to %2 online_attention : f32, f32, f32 {
        %s = loop.reduce %k1 (k1 = 64) add : f32 {
          %3 = uop.load %q[%i, %k1] : memref<8x64xf32>
          %4 = uop.load %key[%k, %k1] : memref<4096x64xf32>
          %5 = uop.mul %3, %4 : f32
          loop.yield %5 : f32
        }
        %6 = uop.cast %k : index -> i64
        %7 = uop.le %6, %0 : i64
        %8 = uop.where %7, %s, %nothing : f32
        %9 = uop.load %value[%k, %j] : memref<4096x64xf32>
        loop.yield %8, %one, %9 : f32, f32, f32
      }
      %10 = uop.div %acc, %sum : f32
      uop.store %10, %out[%i, %j] : memref<8x64xf32>
    }
  }
}

// -----

// Attention of one query a key: keys are read as they lie, by lanes along the depth, and nothing is packed.

// CHECK: @one_query({{.*}}) schedule #tile.schedule<i = 8 block, j = 4 register * 16 register, k = 128 loop * 2 register * 16 register of j, k1 = 4 register * 16 register> {
// AVX2:  @one_query({{.*}}) schedule #tile.schedule<i = 8 block, j = 8 register * 8 register, k = 256 loop * 2 register * 8 register of j, k1 = 8 register * 8 register> {
uop.kernel @one_query(%out: memref<8x64xf32>, %q: memref<8x64xf32>, %key: memref<8x4096x64xf32>, %value: memref<8x4096x64xf32>) {
  %one = uop.const 1.0 : f32
  loop.for %i (i = 8 parallel) {
    loop.for %j (j = 64 parallel) {
      %max, %sum, %acc = loop.reduce %k (k = 4096) online_attention : f32, f32, f32 {
        %s = loop.reduce %k1 (k1 = 64) add : f32 {
          %3 = uop.load %q[%i, %k1] : memref<8x64xf32>
          %4 = uop.load %key[%i, %k, %k1] : memref<8x4096x64xf32>
          %5 = uop.mul %3, %4 : f32
          loop.yield %5 : f32
        }
        %9 = uop.load %value[%i, %k, %j] : memref<8x4096x64xf32>
        loop.yield %s, %one, %9 : f32, f32, f32
      }
      %10 = uop.div %acc, %sum : f32
      uop.store %10, %out[%i, %j] : memref<8x64xf32>
    }
  }
}

// -----

// Attention of many queries of one head: runs of them are tasks. Queries of 16 bits are packed to be made wider once.

// CHECK: @prefill({{.*}}) schedule #tile.schedule<i = 4 block * 16 loop * 8 register, j = 6 register * 16 register, k = 9 loop * 2 register * 16 register of j, k1 = 32 loop, stage = [%key along 0, %q]> {
uop.kernel @prefill(%out: memref<512x96xf32>, %q: memref<512x32xf16>, %key: memref<257x32xf16>, %value: memref<257x96xf16>) {
  %one = uop.const 1.0 : f32
  loop.for %i (i = 512 parallel) {
    loop.for %j (j = 96 parallel) {
      %max, %sum, %acc = loop.reduce %k (k = 257) online_attention : f32, f32, f32 {
        %s = loop.reduce %k1 (k1 = 32) add : f32 {
          %0 = uop.load %q[%i, %k1] : memref<512x32xf16>
          %1 = uop.cast %0 : f16 -> f32
          %2 = uop.load %key[%k, %k1] : memref<257x32xf16>
          %3 = uop.cast %2 : f16 -> f32
          %4 = uop.mul %1, %3 : f32
          loop.yield %4 : f32
        }
        %5 = uop.load %value[%k, %j] : memref<257x96xf16>
        %6 = uop.cast %5 : f16 -> f32
        loop.yield %s, %one, %6 : f32, f32, f32
      }
      %7 = uop.div %acc, %sum : f32
      uop.store %7, %out[%i, %j] : memref<512x96xf32>
    }
  }
}

// -----

// A matrix and a vector. Of a short one a row a task; a long one is shared by eight rows, lest it leave the first cache.

// CHECK: @short({{.*}}) schedule #tile.schedule<i = 300 block, j = 32 loop * 4 register * 16 register> {
uop.kernel @short(%out: memref<300xf32>, %w: memref<300x2048xf32>, %x: memref<2048xf32>) {
  loop.for %i (i = 300 parallel) {
    %3 = loop.reduce %j (j = 2048) add : f32 {
      %0 = uop.load %w[%i, %j] : memref<300x2048xf32>
      %1 = uop.load %x[%j] : memref<2048xf32>
      %2 = uop.mul %0, %1 : f32
      loop.yield %2 : f32
    }
    uop.store %3, %out[%i] : memref<300xf32>
  }
}

// CHECK: @long({{.*}}) schedule #tile.schedule<i = 38 block * 8 register, j = 352 loop * 16 register> {
// AVX2:  @long({{.*}}) schedule #tile.schedule<i = 38 block * 8 register, j = 704 loop * 8 register> {
uop.kernel @long(%out: memref<300xf32>, %w: memref<300x5632xf32>, %x: memref<5632xf32>) {
  loop.for %i (i = 300 parallel) {
    %3 = loop.reduce %j (j = 5632) add : f32 {
      %0 = uop.load %w[%i, %j] : memref<300x5632xf32>
      %1 = uop.load %x[%j] : memref<5632xf32>
      %2 = uop.mul %0, %1 : f32
      loop.yield %2 : f32
    }
    uop.store %3, %out[%i] : memref<300xf32>
  }
}

// -----

// Columns: vectors across them.

// CHECK: @columns({{.*}}) schedule #tile.schedule<i = 2 block * 4 register * 16 register, j = 1000 loop> {
uop.kernel @columns(%out: memref<100xf32>, %x: memref<1000x100xf32>) {
  loop.for %i (i = 100 parallel) {
    %1 = loop.reduce %j (j = 1000) add : f32 {
      %0 = uop.load %x[%j, %i] : memref<1000x100xf32>
      loop.yield %0 : f32
    }
    uop.store %1, %out[%i] : memref<100xf32>
  }
}

// -----

// A product whose columns lie side by side: 8 rows by 2 vectors.

// CHECK: @product({{.*}}) schedule #tile.schedule<i = 16 loop * 8 register, j = 16 block * 2 register * 16 register, k = 256 loop> {
// AVX2:  @product({{.*}}) schedule #tile.schedule<i = 32 loop * 4 register, j = 32 block * 2 register * 8 register, k = 256 loop> {
uop.kernel @product(%out: memref<128x512xf32>, %a: memref<128x256xf32>, %b: memref<256x512xf32>) {
  loop.for %i (i = 128 parallel) {
    loop.for %j (j = 512 parallel) {
      %2 = loop.reduce %k (k = 256) add : f32 {
        %0 = uop.load %a[%i, %k] : memref<128x256xf32>
        %1 = uop.load %b[%k, %j] : memref<256x512xf32>
        %p = uop.mul %0, %1 : f32
        loop.yield %p : f32
      }
      uop.store %2, %out[%i, %j] : memref<128x512xf32>
    }
  }
}

// -----

// Both operands lie along the reduced axis: panels of the smaller are packed, so that lanes go along its rows.

// CHECK: @linear({{.*}}) schedule #tile.schedule<i = 4 block * 2 register * 16 register, j = 4 block * 16 loop * 8 register, k = 256 loop, stage = [%a along 0]> {
uop.kernel @linear(%out: memref<128x512xf32>, %a: memref<128x256xf32>, %b: memref<512x256xf32>) {
  loop.for %i (i = 128 parallel) {
    loop.for %j (j = 512 parallel) {
      %2 = loop.reduce %k (k = 256) add : f32 {
        %0 = uop.load %a[%i, %k] : memref<128x256xf32>
        %1 = uop.load %b[%j, %k] : memref<512x256xf32>
        %p = uop.mul %0, %1 : f32
        loop.yield %p : f32
      }
      uop.store %2, %out[%i, %j] : memref<128x512xf32>
    }
  }
}

// -----

// Few rows: lanes along the reduced axis.

// CHECK: @few_rows({{.*}}) schedule #tile.schedule<i = 3 register, j = 128 block * 4 register, k = 16 loop * 16 register> {
uop.kernel @few_rows(%out: memref<3x512xf32>, %a: memref<3x256xf32>, %b: memref<512x256xf32>) {
  loop.for %i (i = 3 parallel) {
    loop.for %j (j = 512 parallel) {
      %2 = loop.reduce %k (k = 256) add : f32 {
        %0 = uop.load %a[%i, %k] : memref<3x256xf32>
        %1 = uop.load %b[%j, %k] : memref<512x256xf32>
        %p = uop.mul %0, %1 : f32
        loop.yield %p : f32
      }
      uop.store %2, %out[%i, %j] : memref<3x512xf32>
    }
  }
}

// -----

// Loads along one axis, stores along the other: squares of vectors.

// CHECK: @transpose({{.*}}) schedule #tile.schedule<i = 64 block * 16 register, j = 32 loop * 16 register> {
uop.kernel @transpose(%out: memref<1024x512xf32>, %x: memref<512x1024xf32>) {
  loop.for %i (i = 1024 parallel) {
    loop.for %j (j = 512 parallel) {
      %0 = uop.load %x[%j, %i] : memref<512x1024xf32>
      uop.store %0, %out[%i, %j] : memref<1024x512xf32>
    }
  }
}

// -----

// A kernel that has a schedule keeps it.

// CHECK: @chosen({{.*}}) schedule #tile.schedule<i = 64 loop> {
uop.kernel @chosen(%out: memref<64xf32>, %x: memref<64xf32>) schedule #tile.schedule<i = 64 loop> {
  loop.for %i (i = 64 parallel) {
    %0 = uop.load %x[%i] : memref<64xf32>
    uop.store %0, %out[%i] : memref<64xf32>
  }
}
