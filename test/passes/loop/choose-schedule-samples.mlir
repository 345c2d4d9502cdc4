// RUN: uop-opt %s --pass-pipeline 'builtin.module(choose-schedule)' --split-input-file | filecheck %s

// Rows that lie in several places: what a thread has of them is held in registers where it fits, and read once.
// CHECK: uop.kernel @held({{.*}}) schedule #tile.schedule<c = 64 block, b = 8 register * 4 thread, i = 256 thread * 4 register> {
uop.kernel @held(%out: memref<64xf32>, %x: memref<32x64x784xf32>) {
  loop.for %c (c = 64 parallel) {
    %sum = loop.reduce %b (b = 32) add : f32 {
      %part = loop.reduce %i (i = 784) add : f32 {
        %0 = uop.load %x[%b, %c, %i] : memref<32x64x784xf32>
        loop.yield %0 : f32
      }
      loop.yield %part : f32
    }
    uop.store %sum, %out[%c] : memref<64xf32>
  }
}

// -----

// Where it does not fit, elements of one step are added to those of the next,
// CHECK: uop.kernel @walked({{.*}}) schedule #tile.schedule<c = 64 block, b = 128 loop, i = 1024 thread * 4 register> {
uop.kernel @walked(%out: memref<64xf32>, %x: memref<128x64x4096xf32>) {
  loop.for %c (c = 64 parallel) {
    %sum = loop.reduce %b (b = 128) add : f32 {
      %part = loop.reduce %i (i = 4096) add : f32 {
        %0 = uop.load %x[%b, %c, %i] : memref<128x64x4096xf32>
        loop.yield %0 : f32
      }
      loop.yield %part : f32
    }
    uop.store %sum, %out[%c] : memref<64xf32>
  }
}

// -----

// but a monoid that combines many elements in two stages takes as many in a step as registers hold.
// CHECK: uop.kernel @sample({{.*}}) schedule #tile.schedule<c = 64 block, b = 16 loop * 8 register, i = 1024 thread * 4 register> {
uop.kernel @sample(%out: memref<64xf32>, %x: memref<128x64x4096xf32>) {
  %zero = uop.const 0.0 : f32
  %one = uop.const 1.0 : f32
  loop.for %c (c = 64 parallel) {
    %n, %p, %d, %q = loop.reduce %b (b = 128) welford : f32, f32, f32, f32 {
      %n1, %p1, %d1, %q1 = loop.reduce %i (i = 4096) welford : f32, f32, f32, f32 {
        %0 = uop.load %x[%b, %c, %i] : memref<128x64x4096xf32>
        loop.yield %one, %0, %zero, %zero : f32, f32, f32, f32
      }
      loop.yield %n1, %p1, %d1, %q1 : f32, f32, f32, f32
    }
    uop.store %q, %out[%c] : memref<64xf32>
  }
}

// -----

// Columns, too.
// CHECK: uop.kernel @columns({{.*}}) schedule #tile.schedule<k = 16 loop * 16 register * 4 thread, j = 4 block * 32 thread * 4 register> {
uop.kernel @columns(%out: memref<512xf32>, %x: memref<1024x512xf32>) {
  %zero = uop.const 0.0 : f32
  %one = uop.const 1.0 : f32
  loop.for %j (j = 512 parallel) {
    %n, %p, %d, %q = loop.reduce %k (k = 1024) welford : f32, f32, f32, f32 {
      %0 = uop.load %x[%k, %j] : memref<1024x512xf32>
      loop.yield %one, %0, %zero, %zero : f32, f32, f32, f32
    }
    uop.store %q, %out[%j] : memref<512xf32>
  }
}

// -----

// Four buffers share the registers.
// CHECK: uop.kernel @parts({{.*}}) schedule #tile.schedule<k = 2 loop * 8 register * 4 thread, j = 4 block * 32 thread * 4 register> {
uop.kernel @parts(%out: memref<512xf32>, %n: memref<64x512xf32>, %p: memref<64x512xf32>, %d: memref<64x512xf32>, %q: memref<64x512xf32>) {
  loop.for %j (j = 512 parallel) {
    %0, %1, %2, %3 = loop.reduce %k (k = 64) welford : f32, f32, f32, f32 {
      %n_k = uop.load %n[%k, %j] : memref<64x512xf32>
      %p_k = uop.load %p[%k, %j] : memref<64x512xf32>
      %d_k = uop.load %d[%k, %j] : memref<64x512xf32>
      %q_k = uop.load %q[%k, %j] : memref<64x512xf32>
      loop.yield %n_k, %p_k, %d_k, %q_k : f32, f32, f32, f32
    }
    uop.store %3, %out[%j] : memref<512xf32>
  }
}
