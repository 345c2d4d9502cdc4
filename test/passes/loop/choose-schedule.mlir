// RUN: uop-opt %s --pass-pipeline 'builtin.module(choose-schedule)' --split-input-file | filecheck %s

// Elementwise: neighbouring threads take neighbouring elements, 16 bytes each.
// CHECK: uop.kernel @elementwise({{.*}}) schedule #tile.schedule<i = 32 block, j = 2 block * 256 thread * 4 register> {
uop.kernel @elementwise(%out: memref<32x2048xf32>, %x: memref<32x2048xf32>) {
  loop.for %i (i = 32 parallel) {
    loop.for %j (j = 2048 parallel) {
      %0 = uop.load %x[%i, %j] : memref<32x2048xf32>
      uop.store %0, %out[%i, %j] : memref<32x2048xf32>
    }
  }
}

// -----

// A row that is no multiple of four is not read in vectors; short rows share a block.
// CHECK: uop.kernel @ragged({{.*}}) schedule #tile.schedule<i = 2 block * 4 thread, j = 64 thread> {
uop.kernel @ragged(%out: memref<7x33xf32>, %x: memref<7x33xf32>) {
  loop.for %i (i = 7 parallel) {
    loop.for %j (j = 33 parallel) {
      %0 = uop.load %x[%i, %j] : memref<7x33xf32>
      uop.store %0, %out[%i, %j] : memref<7x33xf32>
    }
  }
}

// -----

// Rows of up to a thousand: a warp each, in registers; the loops of the row's axis all get that binding.
// CHECK: uop.kernel @softmax({{.*}}) schedule #tile.schedule<i = 16 block * 4 warp, j = 8 register * 32 lane * 4 register> {
uop.kernel @softmax(%out: memref<64x1000xf32>, %x: memref<64x1000xf32>) {
  loop.for %i (i = 64 parallel) {
    %0 = loop.reduce %j (j = 1000) max : f32 {
      %1 = uop.load %x[%i, %j] : memref<64x1000xf32>
      loop.yield %1 : f32
    }
    loop.for %j (j = 1000 parallel) {
      %2 = uop.load %x[%i, %j] : memref<64x1000xf32>
      %3 = uop.sub %2, %0 : f32
      uop.store %3, %out[%i, %j] : memref<64x1000xf32>
    }
  }
}

// -----

// Longer rows: a block each; rows that registers do not hold are walked again by each phase.
// CHECK: uop.kernel @long_rows({{.*}}) schedule #tile.schedule<i = 5 block, j = 4 register * 256 thread * 4 register> {
uop.kernel @long_rows(%out: memref<5xf32>, %x: memref<5x4096xf32>) {
  loop.for %i (i = 5 parallel) {
    %0 = loop.reduce %j (j = 4096) add : f32 {
      %1 = uop.load %x[%i, %j] : memref<5x4096xf32>
      loop.yield %1 : f32
    }
    uop.store %0, %out[%i] : memref<5xf32>
  }
}

// -----

// CHECK: uop.kernel @longest_rows({{.*}}) schedule #tile.schedule<i = 5 block, j = 16 loop * 1024 thread * 4 register> {
uop.kernel @longest_rows(%out: memref<5xf32>, %x: memref<5x65536xf32>) {
  loop.for %i (i = 5 parallel) {
    %0 = loop.reduce %j (j = 65536) add : f32 {
      %1 = uop.load %x[%i, %j] : memref<5x65536xf32>
      loop.yield %1 : f32
    }
    uop.store %0, %out[%i] : memref<5xf32>
  }
}

// -----

// Columns: neighbouring threads take neighbouring columns, further threads share a column.
// CHECK: uop.kernel @columns({{.*}}) schedule #tile.schedule<i = 2 block * 32 thread, k = 8 register * 8 thread> {
uop.kernel @columns(%out: memref<40xf32>, %x: memref<64x40xf32>) {
  loop.for %i (i = 40 parallel) {
    %0 = loop.reduce %k (k = 64) add : f32 {
      %1 = uop.load %x[%k, %i] : memref<64x40xf32>
      loop.yield %1 : f32
    }
    uop.store %0, %out[%i] : memref<40xf32>
  }
}

// -----

// A product: tiles of the output, register tiles, slabs staged twice and padded against bank conflicts.
// CHECK: uop.kernel @product({{.*}}) schedule #tile.schedule<i = 8 thread * 2 register, j = 8 thread * 2 register, k = 2 loop * 32 loop, stage = [%x buffers 2 async pad 4, %w buffers 2 async]> {
uop.kernel @product(%out: memref<16x16xf32>, %x: memref<16x64xf32>, %w: memref<64x16xf32>) {
  loop.for %i (i = 16 parallel) {
    loop.for %j (j = 16 parallel) {
      %0 = loop.reduce %k (k = 64) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<16x64xf32>
        %2 = uop.load %w[%k, %j] : memref<64x16xf32>
        %3 = uop.mul %1, %2 : f32
        loop.yield %3 : f32
      }
      uop.store %0, %out[%i, %j] : memref<16x16xf32>
    }
  }
}

// -----

// With the weight's rows along k, a thread's columns lie apart: neighbours would read one bank.
// CHECK: uop.kernel @linear({{.*}}) schedule #tile.schedule<i = 16 thread * 4 register, j = 2 block * 4 register * 16 thread, k = 16 loop * 16 loop, stage = [%x buffers 2 async pad 4, %w buffers 2 async pad 4]> {
uop.kernel @linear(%out: memref<64x128xf32>, %x: memref<64x256xf32>, %w: memref<128x256xf32>) {
  loop.for %i (i = 64 parallel) {
    loop.for %j (j = 128 parallel) {
      %0 = loop.reduce %k (k = 256) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<64x256xf32>
        %2 = uop.load %w[%j, %k] : memref<128x256xf32>
        %3 = uop.mul %1, %2 : f32
        loop.yield %3 : f32
      }
      uop.store %0, %out[%i, %j] : memref<64x128xf32>
    }
  }
}

// -----

// One element: one thread.
// CHECK: uop.kernel @scalar({{.*}}) schedule #tile.schedule<> {
uop.kernel @scalar(%out: memref<f32>, %x: memref<f32>) {
  %0 = uop.load %x[] : memref<f32>
  uop.store %0, %out[] : memref<f32>
}

// -----

// A schedule that is there stays, and so does a kernel that is not in loop form.
// CHECK: uop.kernel @pinned({{.*}}) schedule #tile.schedule<i = 4 loop> {
uop.kernel @pinned(%out: memref<4xf32>, %x: memref<4xf32>) schedule #tile.schedule<i = 4 loop> {
  loop.for %i (i = 4 parallel) {
    %0 = uop.load %x[%i] : memref<4xf32>
    uop.store %0, %out[%i] : memref<4xf32>
  }
}
// CHECK: uop.kernel @tensors(%x: tensor<4xf32>) -> (tensor<4xf32>) {
uop.kernel @tensors(%x: tensor<4xf32>) -> (tensor<4xf32>) {
  uop.yield %x : tensor<4xf32>
}
