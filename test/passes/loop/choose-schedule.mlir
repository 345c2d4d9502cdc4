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

// A transpose: four by four elements in the registers of a thread, a warp over runs of 64 and of 128 bytes.
// CHECK: uop.kernel @transpose({{.*}}) schedule #tile.schedule<i = 4 block * 16 thread * 4 register, j = 16 block * 8 thread * 4 register> {
uop.kernel @transpose(%out: memref<256x512xf32>, %x: memref<512x256xf32>) {
  loop.for %i (i = 256 parallel) {
    loop.for %j (j = 512 parallel) {
      %0 = uop.load %x[%j, %i] : memref<512x256xf32>
      uop.store %0, %out[%i, %j] : memref<256x512xf32>
    }
  }
}

// -----

// Rows of 255 are not read in vectors, rows of 512 are written in vectors.
// CHECK: uop.kernel @ragged_transpose({{.*}}) schedule #tile.schedule<i = 16 block * 16 thread, j = 16 block * 8 thread * 4 register> {
uop.kernel @ragged_transpose(%out: memref<255x512xf32>, %x: memref<512x255xf32>) {
  loop.for %i (i = 255 parallel) {
    loop.for %j (j = 512 parallel) {
      %0 = uop.load %x[%j, %i] : memref<512x255xf32>
      uop.store %0, %out[%i, %j] : memref<255x512xf32>
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

// Rows that registers do not hold, and that are needed again: 28 of 128 elements of a thread lie in shared memory.
// CHECK: uop.kernel @held_rows({{.*}}) schedule #tile.schedule<i = 64 block, j = 32 register * 512 thread * 4 register, slots = j 7> {
uop.kernel @held_rows(%out: memref<64x65536xf32>, %x: memref<64x65536xf32>) {
  loop.for %i (i = 64 parallel) {
    %0 = loop.reduce %j (j = 65536) max : f32 {
      %1 = uop.load %x[%i, %j] : memref<64x65536xf32>
      loop.yield %1 : f32
    }
    loop.for %j (j = 65536 parallel) {
      %2 = uop.load %x[%i, %j] : memref<64x65536xf32>
      %3 = uop.sub %2, %0 : f32
      uop.store %3, %out[%i, %j] : memref<64x65536xf32>
    }
  }
}

// -----

// Of each element a thread has three values in the last phase: those of 32 elements fit beside what 512 threads compute
// with, in 128 registers each.
// CHECK: uop.kernel @gained_rows({{.*}}) schedule #tile.schedule<i = 64 block, j = 8 register * 512 thread * 4 register> {
uop.kernel @gained_rows(%out: memref<64x16384xf32>, %x: memref<64x16384xf32>, %gain: memref<16384xf32>, %bias: memref<16384xf32>) {
  loop.for %i (i = 64 parallel) {
    %0 = loop.reduce %j (j = 16384) add : f32 {
      %1 = uop.load %x[%i, %j] : memref<64x16384xf32>
      loop.yield %1 : f32
    }
    loop.for %j (j = 16384 parallel) {
      %2 = uop.load %x[%i, %j] : memref<64x16384xf32>
      %3 = uop.sub %2, %0 : f32
      %4 = uop.load %gain[%j] : memref<16384xf32>
      %5 = uop.mul %3, %4 : f32
      %6 = uop.load %bias[%j] : memref<16384xf32>
      %7 = uop.add %5, %6 : f32
      uop.store %7, %out[%i, %j] : memref<64x16384xf32>
    }
  }
}

// -----

// Those of 20 do not fit in the 64 registers of 1024 threads: with slots, what is not held is read where it is used.
// CHECK: uop.kernel @longer_gained_rows({{.*}}) schedule #tile.schedule<i = 64 block, j = 10 register * 512 thread * 4 register, slots = j 1> {
uop.kernel @longer_gained_rows(%out: memref<64x20480xf32>, %x: memref<64x20480xf32>, %gain: memref<20480xf32>, %bias: memref<20480xf32>) {
  loop.for %i (i = 64 parallel) {
    %0 = loop.reduce %j (j = 20480) add : f32 {
      %1 = uop.load %x[%i, %j] : memref<64x20480xf32>
      loop.yield %1 : f32
    }
    loop.for %j (j = 20480 parallel) {
      %2 = uop.load %x[%i, %j] : memref<64x20480xf32>
      %3 = uop.sub %2, %0 : f32
      %4 = uop.load %gain[%j] : memref<20480xf32>
      %5 = uop.mul %3, %4 : f32
      %6 = uop.load %bias[%j] : memref<20480xf32>
      %7 = uop.add %5, %6 : f32
      uop.store %7, %out[%i, %j] : memref<64x20480xf32>
    }
  }
}

// -----

// Two values of 24 elements do.
// CHECK: uop.kernel @scaled_rows({{.*}}) schedule #tile.schedule<i = 64 block, j = 6 register * 1024 thread * 4 register, min_blocks = 1> {
uop.kernel @scaled_rows(%out: memref<64x24576xf32>, %x: memref<64x24576xf32>, %gain: memref<24576xf32>) {
  loop.for %i (i = 64 parallel) {
    %0 = loop.reduce %j (j = 24576) add : f32 {
      %1 = uop.load %x[%i, %j] : memref<64x24576xf32>
      loop.yield %1 : f32
    }
    loop.for %j (j = 24576 parallel) {
      %2 = uop.load %x[%i, %j] : memref<64x24576xf32>
      %3 = uop.sub %2, %0 : f32
      %4 = uop.load %gain[%j] : memref<24576xf32>
      %5 = uop.mul %3, %4 : f32
      uop.store %5, %out[%i, %j] : memref<64x24576xf32>
    }
  }
}

// -----

// Elements one by one, of a row that does not fit in vectors beside other operands.
// CHECK: uop.kernel @long_gained_rows({{.*}}) schedule #tile.schedule<i = 64 block, j = 128 register * 512 thread, slots = j 64> {
uop.kernel @long_gained_rows(%out: memref<64x65536xf32>, %x: memref<64x65536xf32>, %gain: memref<65536xf32>, %bias: memref<65536xf32>) {
  loop.for %i (i = 64 parallel) {
    %0 = loop.reduce %j (j = 65536) add : f32 {
      %1 = uop.load %x[%i, %j] : memref<64x65536xf32>
      loop.yield %1 : f32
    }
    loop.for %j (j = 65536 parallel) {
      %2 = uop.load %x[%i, %j] : memref<64x65536xf32>
      %3 = uop.sub %2, %0 : f32
      %4 = uop.load %gain[%j] : memref<65536xf32>
      %5 = uop.mul %3, %4 : f32
      %6 = uop.load %bias[%j] : memref<65536xf32>
      %7 = uop.add %5, %6 : f32
      uop.store %7, %out[%i, %j] : memref<64x65536xf32>
    }
  }
}

// -----

// Rows of which two values are held: half as many elements lie in registers.
// CHECK: uop.kernel @pairs({{.*}}) schedule #tile.schedule<i = 64 block, j = 16 register * 512 thread * 4 register, slots = j 4> {
uop.kernel @pairs(%out: memref<64x32768xf32>, %x: memref<64x32768xf32>, %y: memref<64x32768xf32>) {
  loop.for %i (i = 64 parallel) {
    %0 = loop.reduce %j (j = 32768) add : f32 {
      %1 = uop.load %x[%i, %j] : memref<64x32768xf32>
      %2 = uop.load %y[%i, %j] : memref<64x32768xf32>
      %3 = uop.mul %1, %2 : f32
      loop.yield %3 : f32
    }
    loop.for %j (j = 32768 parallel) {
      %4 = uop.load %x[%i, %j] : memref<64x32768xf32>
      %5 = uop.load %y[%i, %j] : memref<64x32768xf32>
      %6 = uop.mul %4, %5 : f32
      %7 = uop.mul %5, %0 : f32
      %8 = uop.sub %6, %7 : f32
      uop.store %8, %out[%i, %j] : memref<64x32768xf32>
    }
  }
}

// -----

// More than registers and slots hold: each phase reads them again.
// CHECK: uop.kernel @long_pairs({{.*}}) schedule #tile.schedule<i = 64 block, j = 9 loop * 15 register * 256 thread, min_blocks = 1> {
uop.kernel @long_pairs(%out: memref<64x32769xf32>, %x: memref<64x32769xf32>, %y: memref<64x32769xf32>) {
  loop.for %i (i = 64 parallel) {
    %0 = loop.reduce %j (j = 32769) add : f32 {
      %1 = uop.load %x[%i, %j] : memref<64x32769xf32>
      %2 = uop.load %y[%i, %j] : memref<64x32769xf32>
      %3 = uop.mul %1, %2 : f32
      loop.yield %3 : f32
    }
    loop.for %j (j = 32769 parallel) {
      %4 = uop.load %x[%i, %j] : memref<64x32769xf32>
      %5 = uop.load %y[%i, %j] : memref<64x32769xf32>
      %6 = uop.mul %4, %5 : f32
      %7 = uop.mul %5, %0 : f32
      %8 = uop.sub %6, %7 : f32
      uop.store %8, %out[%i, %j] : memref<64x32769xf32>
    }
  }
}

// -----

// Of these, two values are needed again: they are walked again by each phase.
// CHECK: uop.kernel @two_long_rows({{.*}}) schedule #tile.schedule<i = 64 block, j = 16 loop * 16 register * 256 thread, min_blocks = 1> {
uop.kernel @two_long_rows(%out: memref<64x65521xf32>, %x: memref<64x65521xf32>, %y: memref<64x65521xf32>) {
  loop.for %i (i = 64 parallel) {
    %0 = loop.reduce %j (j = 65521) max : f32 {
      %1 = uop.load %x[%i, %j] : memref<64x65521xf32>
      %2 = uop.load %y[%i, %j] : memref<64x65521xf32>
      %3 = uop.mul %1, %2 : f32
      loop.yield %3 : f32
    }
    loop.for %j (j = 65521 parallel) {
      %4 = uop.load %x[%i, %j] : memref<64x65521xf32>
      %5 = uop.load %y[%i, %j] : memref<64x65521xf32>
      %6 = uop.sub %4, %0 : f32
      %7 = uop.add %6, %5 : f32
      uop.store %7, %out[%i, %j] : memref<64x65521xf32>
    }
  }
}

// -----

// Rows of odd length begin anywhere: positions begin at a sector's begin, so that a warp reads and writes whole sectors.
// CHECK: uop.kernel @odd_rows({{.*}}) schedule #tile.schedule<i = 64 block, j = 17 register * 256 thread, align = j 8> {
uop.kernel @odd_rows(%out: memref<64x4097xf32>, %x: memref<64x4097xf32>, %w: memref<4097xf32>) {
  loop.for %i (i = 64 parallel) {
    %0 = loop.reduce %j (j = 4097) max : f32 {
      %1 = uop.load %x[%i, %j] : memref<64x4097xf32>
      loop.yield %1 : f32
    }
    loop.for %j (j = 4097 parallel) {
      %2 = uop.load %x[%i, %j] : memref<64x4097xf32>
      %3 = uop.load %w[%j] : memref<4097xf32>
      %4 = uop.sub %2, %0 : f32
      %5 = uop.mul %4, %3 : f32
      uop.store %5, %out[%i, %j] : memref<64x4097xf32>
    }
  }
}

// -----

// As much is read that is alike for all rows, and would need more sectors.
// CHECK: uop.kernel @odd_rows_by_weights({{.*}}) schedule #tile.schedule<i = 64 block, j = 17 register * 256 thread> {
uop.kernel @odd_rows_by_weights(
    %out: memref<64x4097xf32>, %x: memref<64x4097xf32>, %w: memref<4097xf32>, %b: memref<4097xf32>) {
  loop.for %i (i = 64 parallel) {
    %0 = loop.reduce %j (j = 4097) max : f32 {
      %1 = uop.load %x[%i, %j] : memref<64x4097xf32>
      loop.yield %1 : f32
    }
    loop.for %j (j = 4097 parallel) {
      %2 = uop.load %x[%i, %j] : memref<64x4097xf32>
      %3 = uop.load %w[%j] : memref<4097xf32>
      %4 = uop.load %b[%j] : memref<4097xf32>
      %5 = uop.sub %2, %0 : f32
      %6 = uop.mul %5, %3 : f32
      %7 = uop.add %6, %4 : f32
      uop.store %7, %out[%i, %j] : memref<64x4097xf32>
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

// CHECK: uop.kernel @longest_rows({{.*}}) schedule #tile.schedule<i = 5 block, j = 8 loop * 8 register * 256 thread * 4 register, min_blocks = 1> {
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

// Columns: neighbouring threads take neighbouring columns, 16 bytes each; the slower threads share a column.
// CHECK: uop.kernel @columns({{.*}}) schedule #tile.schedule<k = 8 register * 8 thread, i = 16 thread * 4 register> {
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

// A row by a matrix whose columns lie side by side: 16 bytes of a row a lane, the reduced axis over the block's other threads; what
// a thread reads of the row is a vector, too.
// CHECK: uop.kernel @row_by_matrix({{.*}}) schedule #tile.schedule<k = 8 loop * 64 thread * 8 register, j = 64 block * 8 thread * 8 register> {
uop.kernel @row_by_matrix(%out: memref<4096xf32>, %x: memref<4096xf16>, %w: memref<4096x4096xf16>) {
  loop.for %j (j = 4096 parallel) {
    %0 = loop.reduce %k (k = 4096) add : f32 {
      %1 = uop.load %x[%k] : memref<4096xf16>
      %2 = uop.cast %1 : f16 -> f32
      %3 = uop.load %w[%k, %j] : memref<4096x4096xf16>
      %4 = uop.cast %3 : f16 -> f32
      %5 = uop.mul %2, %4 : f32
      loop.yield %5 : f32
    }
    uop.store %0, %out[%j] : memref<4096xf32>
  }
}

// -----

// Two rows by a matrix that lies along the reduced axis: a warp takes rows of the matrix, both sums of each in registers.
// CHECK: uop.kernel @rows_by_transposed({{.*}}) schedule #tile.schedule<i = 2 register, j = 256 block * 4 thread * 4 register, k = 16 loop * 32 thread * 8 register> {
uop.kernel @rows_by_transposed(%out: memref<2x4096xf16>, %x: memref<2x4096xf16>, %w: memref<4096x4096xf16>) {
  loop.for %i (i = 2 parallel) {
    loop.for %j (j = 4096 parallel) {
      %0 = loop.reduce %k (k = 4096) add : f16 {
        %1 = uop.load %x[%i, %k] : memref<2x4096xf16>
        %2 = uop.load %w[%j, %k] : memref<4096x4096xf16>
        %3 = uop.mul %1, %2 : f16
        loop.yield %3 : f16
      }
      uop.store %0, %out[%i, %j] : memref<2x4096xf16>
    }
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

// With the weight's rows along k, a thread's columns lie apart: neighbours would read one bank. There are few tiles: they
// are small, and the warps of a block sum slices of k.
// CHECK: uop.kernel @linear({{.*}}) schedule #tile.schedule<k = 4 loop * 4 warp * 16 unroll, i = 2 block * 4 register * 8 thread, j = 4 block * 4 register * 8 thread, stage = [%x buffers 2 async pad 4, %w buffers 2 async pad 4]> {
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

// A convolution: a product over channels, whose taps are walked within the slabs; windows of four rows share a slab.
// CHECK: uop.kernel @convolution({{.*}}) schedule #tile.schedule<i = 8 thread * 2 register, j = 4 block * 4 thread, l = 8 thread * 2 register, k = 2 loop * 4 loop, k1 = 3 loop, k2 = 3 loop, stage = [%x buffers 2 async, %w buffers 2 async]> {
uop.kernel @convolution(%out: memref<16x14x14xf32>, %w: memref<16x8x3x3xf32>, %x: memref<1x8x14x14xf32>) {
  %0 = uop.const 0 : index
  %1 = uop.const -1 : index
  %2 = uop.const 1 : index
  %3 = uop.const 15 : index
  loop.for %i (i = 16 parallel) {
    loop.for %j (j = 14 parallel) {
      loop.for %l (l = 14 parallel) {
        %4 = loop.reduce %k (k = 8) add : f32 {
          %5 = loop.reduce %k1 (k1 = 3) add : f32 {
            %6 = uop.add %j, %k1 : index
            %7 = uop.add %6, %1 : index
            %8 = uop.ge %6, %2 : index
            %9 = uop.lt %6, %3 : index
            %10 = uop.and %8, %9 : i1
            %11 = loop.reduce %k2 (k2 = 3) add : f32 {
              %12 = uop.add %l, %k2 : index
              %13 = uop.add %12, %1 : index
              %14 = uop.ge %12, %2 : index
              %15 = uop.and %10, %14 : i1
              %16 = uop.lt %12, %3 : index
              %17 = uop.and %15, %16 : i1
              %18 = uop.load %x[%0, %k, %7, %13] mask %17 : memref<1x8x14x14xf32>
              %19 = uop.load %w[%i, %k, %k1, %k2] : memref<16x8x3x3xf32>
              %20 = uop.mul %18, %19 : f32
              loop.yield %20 : f32
            }
            loop.yield %11 : f32
          }
          loop.yield %5 : f32
        }
        uop.store %4, %out[%i, %j, %l] : memref<16x14x14xf32>
      }
    }
  }
}

// -----

// Windows: one a thread, neighbours side by side, taps unrolled.
// CHECK: uop.kernel @windows({{.*}}) schedule #tile.schedule<i = 6 block, j = 16 thread, l = 16 thread, k = 3 unroll, k1 = 3 unroll> {
uop.kernel @windows(%out: memref<6x14x14xf32>, %x: memref<6x29x29xf32>) {
  %0 = uop.const 2 : index
  loop.for %i (i = 6 parallel) {
    loop.for %j (j = 14 parallel) {
      %1 = uop.mul %j, %0 : index
      loop.for %l (l = 14 parallel) {
        %2 = uop.mul %l, %0 : index
        %3 = loop.reduce %k (k = 3) max : f32 {
          %4 = uop.add %1, %k : index
          %5 = loop.reduce %k1 (k1 = 3) max : f32 {
            %6 = uop.add %2, %k1 : index
            %7 = uop.load %x[%i, %4, %6] : memref<6x29x29xf32>
            loop.yield %7 : f32
          }
          loop.yield %5 : f32
        }
        uop.store %3, %out[%i, %j, %l] : memref<6x14x14xf32>
      }
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

// -----

// A thread walks the scanned axis; neighbours take neighbouring columns, or rows, of all other axes.
// CHECK: uop.kernel @scan_columns({{.*}}) schedule #tile.schedule<l = 3 block, j = 2 block * 64 thread, i = 50 loop> {
uop.kernel @scan_columns(%out: memref<50x100x3xf32>, %x: memref<50x100x3xf32>) {
  loop.for %l (l = 3 parallel) {
    loop.for %j (j = 100 parallel) {
      loop.for %i (i = 50 parallel) {
        %0 = uop.load %x[%i, %j, %l] : memref<50x100x3xf32>
        %1 = loop.scan add %0 over %i : f32
        uop.store %1, %out[%i, %j, %l] : memref<50x100x3xf32>
      }
    }
  }
}
// CHECK: uop.kernel @scan_vector({{.*}}) schedule #tile.schedule<i = 2 register * 32 lane * 2 register> {
uop.kernel @scan_vector(%out: memref<100xf32>, %x: memref<100xf32>) {
  loop.for %i (i = 100 parallel) {
    %0 = uop.load %x[%i] : memref<100xf32>
    %1 = loop.scan add %0 over %i : f32
    uop.store %1, %out[%i] : memref<100xf32>
  }
}

// -----

// Rows: a thread each, a warp each, a block each, in steps where registers do not hold them. Products of floats are
// taken one after the other.
// CHECK: uop.kernel @scan_short({{.*}}) schedule #tile.schedule<i = 32 block * 128 thread, j = 7 register> {
uop.kernel @scan_short(%out: memref<4096x7xf32>, %x: memref<4096x7xf32>) {
  loop.for %i (i = 4096 parallel) {
    loop.for %j (j = 7 parallel) {
      %0 = uop.load %x[%i, %j] : memref<4096x7xf32>
      %1 = loop.scan add %0 over %j : f32
      uop.store %1, %out[%i, %j] : memref<4096x7xf32>
    }
  }
}
// CHECK: uop.kernel @scan_rows({{.*}}) schedule #tile.schedule<i = 1024 block * 4 warp, j = 8 register * 32 lane * 4 register> {
uop.kernel @scan_rows(%out: memref<4096x1024xf32>, %x: memref<4096x1024xf32>) {
  loop.for %i (i = 4096 parallel) {
    loop.for %j (j = 1024 parallel) {
      %0 = uop.load %x[%i, %j] : memref<4096x1024xf32>
      %1 = loop.scan add %0 over %j : f32
      uop.store %1, %out[%i, %j] : memref<4096x1024xf32>
    }
  }
}
// CHECK: uop.kernel @scan_doubles({{.*}}) schedule #tile.schedule<i = 30 block, j = 2 warp * 8 register * 32 lane * 2 register> {
uop.kernel @scan_doubles(%out: memref<30x1000xf64>, %x: memref<30x1000xf64>) {
  loop.for %i (i = 30 parallel) {
    loop.for %j (j = 1000 parallel) {
      %0 = uop.load %x[%i, %j] : memref<30x1000xf64>
      %1 = loop.scan add %0 over %j : f64
      uop.store %1, %out[%i, %j] : memref<30x1000xf64>
    }
  }
}
// CHECK: uop.kernel @scan_long({{.*}}) schedule #tile.schedule<i = 30 block, j = 2 loop * 16 warp * 8 register * 32 lane * 4 register> {
uop.kernel @scan_long(%out: memref<30x30000xf32>, %x: memref<30x30000xf32>) {
  loop.for %i (i = 30 parallel) {
    loop.for %j (j = 30000 parallel) {
      %0 = uop.load %x[%i, %j] : memref<30x30000xf32>
      %1 = loop.scan add %0 over %j : f32
      uop.store %1, %out[%i, %j] : memref<30x30000xf32>
    }
  }
}
// CHECK: uop.kernel @scan_products({{.*}}) schedule #tile.schedule<i = 2 block * 64 thread, j = 1024 loop> {
uop.kernel @scan_products(%out: memref<128x1024xf32>, %x: memref<128x1024xf32>) {
  loop.for %i (i = 128 parallel) {
    loop.for %j (j = 1024 parallel) {
      %0 = uop.load %x[%i, %j] : memref<128x1024xf32>
      %1 = loop.scan mul %0 over %j : f32
      uop.store %1, %out[%i, %j] : memref<128x1024xf32>
    }
  }
}

// -----

// A product with many tiles: 8 x 8 elements a thread, in runs of four columns; three slabs, whose steps are written out.
// CHECK: uop.kernel @product_large({{.*}}) schedule #tile.schedule<i = 8 block * 8 register * 8 thread, j = 8 block * 2 register * 8 thread * 4 register, k = 32 loop * 16 unroll, stage = [%x buffers 3 async, %w buffers 3 async]> {
uop.kernel @product_large(%out: memref<512x512xf32>, %x: memref<512x512xf32>, %w: memref<512x512xf32>) {
  loop.for %i (i = 512 parallel) {
    loop.for %j (j = 512 parallel) {
      %0 = loop.reduce %k (k = 512) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<512x512xf32>
        %2 = uop.load %w[%k, %j] : memref<512x512xf32>
        %3 = uop.mul %1, %2 : f32
        loop.yield %3 : f32
      }
      uop.store %0, %out[%i, %j] : memref<512x512xf32>
    }
  }
}

// -----

// With the right matrix transposed, neighbouring threads read neighbouring rows of it, which are padded.
// CHECK: uop.kernel @product_transposed({{.*}}) schedule #tile.schedule<i = 8 block * 8 register * 8 thread, j = 8 block * 8 register * 8 thread, k = 32 loop * 16 unroll, stage = [%x buffers 3 async, %w buffers 3 async pad 4]> {
uop.kernel @product_transposed(%out: memref<512x512xf32>, %x: memref<512x512xf32>, %w: memref<512x512xf32>) {
  loop.for %i (i = 512 parallel) {
    loop.for %j (j = 512 parallel) {
      %0 = loop.reduce %k (k = 512) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<512x512xf32>
        %2 = uop.load %w[%j, %k] : memref<512x512xf32>
        %3 = uop.mul %1, %2 : f32
        loop.yield %3 : f32
      }
      uop.store %0, %out[%i, %j] : memref<512x512xf32>
    }
  }
}

// -----

// Products of 16-bit floats in f32: matrix instructions over slabs of 32, two at once, whose units of 16 bytes are
// permuted.
// CHECK: uop.kernel @product_f16({{.*}}) schedule #tile.schedule<i = 8 block * 2 warp * 2 register * 16 mma, j = 8 block * 2 warp * 4 register * 8 mma, k = 16 loop * 2 unroll * 16 mma, stage = [%a buffers 2 async swizzle 8, %b buffers 2 async swizzle 8]> {
uop.kernel @product_f16(%out: memref<512x512xf32>, %a: memref<512x512xf16>, %b: memref<512x512xf16>) {
  loop.for %i (i = 512 parallel) {
    loop.for %j (j = 512 parallel) {
      %0 = loop.reduce %k (k = 512) add : f32 {
        %1 = uop.load %a[%i, %k] : memref<512x512xf16>
        %2 = uop.cast %1 : f16 -> f32
        %3 = uop.load %b[%k, %j] : memref<512x512xf16>
        %4 = uop.cast %3 : f16 -> f32
        %5 = uop.mul %2, %4 : f32
        loop.yield %5 : f32
      }
      uop.store %0, %out[%i, %j] : memref<512x512xf32>
    }
  }
}

// -----

// Few rows: the columns of the output are the rows of the instruction.
// CHECK: uop.kernel @few_rows({{.*}}) schedule #tile.schedule<i = 8 mma, j = 16 block * 2 register * 16 mma, k = 2 loop * 2 warp * 2 unroll * 16 mma, stage = [%b buffers 2 async swizzle 8, %a buffers 2 async swizzle 8]> {
uop.kernel @few_rows(%out: memref<8x512xf32>, %a: memref<8x128xbf16>, %b: memref<512x128xbf16>) {
  loop.for %i (i = 8 parallel) {
    loop.for %j (j = 512 parallel) {
      %0 = loop.reduce %k (k = 128) add : f32 {
        %1 = uop.load %b[%j, %k] : memref<512x128xbf16>
        %2 = uop.cast %1 : bf16 -> f32
        %3 = uop.load %a[%i, %k] : memref<8x128xbf16>
        %4 = uop.cast %3 : bf16 -> f32
        %5 = uop.mul %2, %4 : f32
        loop.yield %5 : f32
      }
      uop.store %0, %out[%i, %j] : memref<8x512xf32>
    }
  }
}

// -----

// A sum in f16 is none that an instruction computes.
// CHECK-NOT: mma
// CHECK: uop.kernel @sum_of_f16
uop.kernel @sum_of_f16(%out: memref<64x64xf16>, %a: memref<64x64xf16>, %b: memref<64x64xf16>) {
  loop.for %i (i = 64 parallel) {
    loop.for %j (j = 64 parallel) {
      %0 = loop.reduce %k (k = 64) add : f16 {
        %1 = uop.load %a[%i, %k] : memref<64x64xf16>
        %2 = uop.load %b[%k, %j] : memref<64x64xf16>
        %3 = uop.mul %1, %2 : f16
        loop.yield %3 : f16
      }
      uop.store %0, %out[%i, %j] : memref<64x64xf16>
    }
  }
}

// -----

// So many rows that each lane may hold 64 elements.
// CHECK: uop.kernel @many_rows({{.*}}) schedule #tile.schedule<i = 256 block * 4 warp, j = 16 register * 32 lane * 4 register> {
uop.kernel @many_rows(%out: memref<1024xf32>, %x: memref<1024x2048xf32>) {
  loop.for %i (i = 1024 parallel) {
    %0 = loop.reduce %j (j = 2048) max : f32 {
      %1 = uop.load %x[%i, %j] : memref<1024x2048xf32>
      loop.yield %1 : f32
    }
    uop.store %0, %out[%i] : memref<1024xf32>
  }
}

// -----

// A stream: several vectors a thread, as many as keep all multiprocessors busy.
// CHECK: uop.kernel @stream({{.*}}) schedule #tile.schedule<i = 2048 block * 4 register * 128 thread * 4 register> {
uop.kernel @stream(%out: memref<4194304xf32>, %x: memref<4194304xf32>) {
  loop.for %i (i = 4194304 parallel) {
    %0 = uop.load %x[%i] : memref<4194304xf32>
    %1 = uop.neg %0 : f32
    uop.store %1, %out[%i] : memref<4194304xf32>
  }
}

// -----

// CHECK: uop.kernel @ragged_stream({{.*}}) schedule #tile.schedule<i = 1000 block, j = 3 block * 2 register * 128 thread * 8 register> {
uop.kernel @ragged_stream(%out: memref<1000x5000xf16>, %x: memref<1000x5000xf16>) {
  loop.for %i (i = 1000 parallel) {
    loop.for %j (j = 5000 parallel) {
      %0 = uop.load %x[%i, %j] : memref<1000x5000xf16>
      %1 = uop.neg %0 : f16
      uop.store %1, %out[%i, %j] : memref<1000x5000xf16>
    }
  }
}

// -----

// Four rows a warp where nothing but their sums is wanted.
// CHECK: uop.kernel @many_sums({{.*}}) schedule #tile.schedule<i = 257 block * 4 warp * 4 register, j = 8 register * 32 lane * 4 register> {
uop.kernel @many_sums(%out: memref<4099xf32>, %x: memref<4099x1000xf32>) {
  loop.for %i (i = 4099 parallel) {
    %0 = loop.reduce %j (j = 1000) add : f32 {
      %1 = uop.load %x[%i, %j] : memref<4099x1000xf32>
      loop.yield %1 : f32
    }
    uop.store %0, %out[%i] : memref<4099xf32>
  }
}

// -----

// What is walked along the row counts, not the wider result of it.
// CHECK: uop.kernel @widened({{.*}}) schedule #tile.schedule<i = 16 block * 4 warp, j = 8 register * 32 lane * 4 register> {
uop.kernel @widened(%out: memref<64xf64>, %x: memref<64x1000xf32>) {
  loop.for %i (i = 64 parallel) {
    %0 = loop.reduce %j (j = 1000) max : f32 {
      %1 = uop.load %x[%i, %j] : memref<64x1000xf32>
      loop.yield %1 : f32
    }
    %2 = uop.cast %0 : f32 -> f64
    uop.store %2, %out[%i] : memref<64xf64>
  }
}

// -----

// A convolution of 16-bit floats: a tile of output channels by whole lines of places, whose windows are staged once for
// all taps with the channels innermost.
// CHECK: uop.kernel @convolution({{.*}}) schedule #tile.schedule<n = 2 block, o = 4 register * 16 mma, y = 28 block * 2 warp, x = 7 register * 8 mma, c = 4 loop * 16 mma, ky = 3 unroll, kx = 3 unroll, stage = [%w along 1 pad 8, %x along 1 pad 8]> {
uop.kernel @convolution(%out: memref<2x64x56x56xf32>, %x: memref<2x64x58x58xf16>, %w: memref<64x64x3x3xf16>) {
  loop.for %n (n = 2 parallel) {
    loop.for %o (o = 64 parallel) {
      loop.for %y (y = 56 parallel) {
        loop.for %p (x = 56 parallel) {
          %0 = loop.reduce %c (c = 64) add : f32 {
            %1 = loop.reduce %ky (ky = 3) add : f32 {
              %2 = uop.add %y, %ky : index
              %3 = loop.reduce %kx (kx = 3) add : f32 {
                %4 = uop.add %p, %kx : index
                %5 = uop.load %x[%n, %c, %2, %4] : memref<2x64x58x58xf16>
                %6 = uop.cast %5 : f16 -> f32
                %7 = uop.load %w[%o, %c, %ky, %kx] : memref<64x64x3x3xf16>
                %8 = uop.cast %7 : f16 -> f32
                %9 = uop.mul %6, %8 : f32
                loop.yield %9 : f32
              }
              loop.yield %3 : f32
            }
            loop.yield %1 : f32
          }
          uop.store %0, %out[%n, %o, %y, %p] : memref<2x64x56x56xf32>
        }
      }
    }
  }
}

// -----

// Operands cut to TF32: what lies along k is swizzled for ldmatrix, what lies across it is padded.
// CHECK: uop.kernel @product_tf32({{.*}}) schedule #tile.schedule<i = 8 block * 2 warp * 2 register * 16 mma, j = 8 block * 2 warp * 4 register * 8 mma, k = 32 loop * 2 unroll * 8 mma, stage = [%a buffers 2 async swizzle 4, %b buffers 2 async pad 8]> {
uop.kernel @product_tf32(%out: memref<512x512xf32>, %a: memref<512x512xf32>, %b: memref<512x512xf32>) {
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

// Rows of 64 tiles: eight of them at once, which read fewer columns of the second operand.
// CHECK: uop.kernel @wide_product({{.*}}) schedule #tile.schedule<i = 16 block * {{.*}}, j = 64 block * {{.*}}, k = {{.*}}, group = i 8> {
uop.kernel @wide_product(%out: memref<2048x8192xf16>, %a: memref<2048x512xf16>, %b: memref<512x8192xf16>) {
  loop.for %i (i = 2048 parallel) {
    loop.for %j (j = 8192 parallel) {
      %0 = loop.reduce %k (k = 512) add : f32 {
        %1 = uop.load %a[%i, %k] : memref<2048x512xf16>
        %2 = uop.cast %1 : f16 -> f32
        %3 = uop.load %b[%k, %j] : memref<512x8192xf16>
        %4 = uop.cast %3 : f16 -> f32
        %5 = uop.mul %2, %4 : f32
        loop.yield %5 : f32
      }
      %6 = uop.cast %0 : f32 -> f16
      uop.store %6, %out[%i, %j] : memref<2048x8192xf16>
    }
  }
}

// -----

// Attention of one query for each of 4 heads that share keys and values: 8 lanes hold a key, and then a value; the warps
// of a block share the keys.
// CHECK-LABEL: uop.kernel @decode
// CHECK-SAME: schedule #tile.schedule<h = 4 register, j = 64 loop * 4 warp * 4 register * 4 lane, c = 2 register * 8 lane * 4 register, d = 2 register * 8 lane of c * 4 register, min_blocks = 2>
uop.kernel @decode(%out: memref<4x64xf32>, %q: memref<4x64xf32>, %k: memref<4096x64xf32>, %v: memref<4096x64xf32>) {
  %one = uop.const 1.0 : f32
  loop.for %h (h = 4 parallel) {
    loop.for %c (c = 64 parallel) {
      %max, %sum, %acc = loop.reduce %j (j = 4096) online_attention : f32, f32, f32 {
        %s = loop.reduce %d (d = 64) add : f32 {
          %0 = uop.load %q[%h, %d] : memref<4x64xf32>
          %2 = uop.load %k[%j, %d] : memref<4096x64xf32>
          %4 = uop.mul %0, %2 : f32
          loop.yield %4 : f32
        }
        %5 = uop.load %v[%j, %c] : memref<4096x64xf32>
        loop.yield %s, %one, %5 : f32, f32, f32
      }
      %7 = uop.div %acc, %sum : f32
      uop.store %7, %out[%h, %c] : memref<4x64xf32>
    }
  }
}

// -----

// The same in 16 bits: 4 queries are rows of an instruction, of which it leaves 12 unused.
// CHECK-LABEL: uop.kernel @decode_f16
// CHECK-SAME: schedule #tile.schedule<h = 16 mma, c = 8 register * 8 mma, j = 64 loop * 4 register * 16 mma, d = 4 unroll * 16 mma, stage = [%q async swizzle 8, %k buffers 2 async swizzle 8, %v buffers 2 async swizzle 8], min_blocks = 12>
uop.kernel @decode_f16(%out: memref<4x64xf32>, %q: memref<4x64xf16>, %k: memref<4096x64xf16>, %v: memref<4096x64xf16>) {
  %one = uop.const 1.0 : f32
  loop.for %h (h = 4 parallel) {
    loop.for %c (c = 64 parallel) {
      %max, %sum, %acc = loop.reduce %j (j = 4096) online_attention : f32, f32, f32 {
        %s = loop.reduce %d (d = 64) add : f32 {
          %0 = uop.load %q[%h, %d] : memref<4x64xf16>
          %1 = uop.cast %0 : f16 -> f32
          %2 = uop.load %k[%j, %d] : memref<4096x64xf16>
          %3 = uop.cast %2 : f16 -> f32
          %4 = uop.mul %1, %3 : f32
          loop.yield %4 : f32
        }
        %5 = uop.load %v[%j, %c] : memref<4096x64xf16>
        %6 = uop.cast %5 : f16 -> f32
        loop.yield %s, %one, %6 : f32, f32, f32
      }
      %7 = uop.div %acc, %sum : f32
      uop.store %7, %out[%h, %c] : memref<4x64xf32>
    }
  }
}
