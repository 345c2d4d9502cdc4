// Kernels in loop form, without schedules: what test_tile_level.py carries out under many schedules.

uop.kernel @seed(%out: memref<16x16xf32>, %x: memref<16x64xf32>, %bias: memref<64xf32>, %w: memref<64x16xf32>) {
  %zero = uop.const 0.0 : f32
  loop.for %i (i = 16 parallel) {
    loop.for %j (j = 16 parallel) {
      %sum = loop.reduce %k (k = 64) add : f32 {
        %0 = uop.load %x[%i, %k] : memref<16x64xf32>
        %1 = uop.load %bias[%k] : memref<64xf32>
        %2 = uop.add %0, %1 : f32
        %3 = uop.load %w[%k, %j] : memref<64x16xf32>
        %4 = uop.mul %2, %3 : f32
        loop.yield %4 : f32
      }
      %5 = uop.max %sum, %zero : f32
      uop.store %5, %out[%i, %j] : memref<16x16xf32>
    }
  }
}

uop.kernel @softmax(%out: memref<6x1000xf32>, %x: memref<6x1000xf32>) {
  loop.for %i (i = 6 parallel) {
    %top = loop.reduce %j (j = 1000) max : f32 {
      %0 = uop.load %x[%i, %j] : memref<6x1000xf32>
      loop.yield %0 : f32
    }
    %sum = loop.reduce %j (j = 1000) add : f32 {
      %1 = uop.load %x[%i, %j] : memref<6x1000xf32>
      %2 = uop.sub %1, %top : f32
      %3 = uop.exp %2 : f32
      loop.yield %3 : f32
    }
    loop.for %j (j = 1000 parallel) {
      %4 = uop.load %x[%i, %j] : memref<6x1000xf32>
      %5 = uop.sub %4, %top : f32
      %6 = uop.exp %5 : f32
      %7 = uop.div %6, %sum : f32
      uop.store %7, %out[%i, %j] : memref<6x1000xf32>
    }
  }
}

uop.kernel @online_softmax(%out: memref<6x1000xf32>, %x: memref<6x1000xf32>) {
  %one = uop.const 1.0 : f32
  loop.for %i (i = 6 parallel) {
    %top, %sum = loop.reduce %j (j = 1000) online_softmax : f32, f32 {
      %0 = uop.load %x[%i, %j] : memref<6x1000xf32>
      loop.yield %0, %one : f32, f32
    }
    loop.for %j (j = 1000 parallel) {
      %1 = uop.load %x[%i, %j] : memref<6x1000xf32>
      %2 = uop.sub %1, %top : f32
      %3 = uop.exp %2 : f32
      %4 = uop.div %3, %sum : f32
      uop.store %4, %out[%i, %j] : memref<6x1000xf32>
    }
  }
}

// Mean, then variance around it, then the normalised row scaled by a weight.
uop.kernel @layer_norm(%out: memref<5x67xf32>, %x: memref<5x67xf32>, %w: memref<67xf32>) {
  %count = uop.const 67.0 : f32
  %eps = uop.const 1.0e-5 : f32
  loop.for %i (i = 5 parallel) {
    %sum = loop.reduce %j (j = 67) add : f32 {
      %0 = uop.load %x[%i, %j] : memref<5x67xf32>
      loop.yield %0 : f32
    }
    %mean = uop.div %sum, %count : f32
    %squares = loop.reduce %j (j = 67) add : f32 {
      %1 = uop.load %x[%i, %j] : memref<5x67xf32>
      %2 = uop.sub %1, %mean : f32
      %3 = uop.mul %2, %2 : f32
      loop.yield %3 : f32
    }
    %variance = uop.div %squares, %count : f32
    %shifted = uop.add %variance, %eps : f32
    %scale = uop.rsqrt %shifted : f32
    loop.for %j (j = 67 parallel) {
      %4 = uop.load %x[%i, %j] : memref<5x67xf32>
      %5 = uop.sub %4, %mean : f32
      %6 = uop.mul %5, %scale : f32
      %7 = uop.load %w[%j] : memref<67xf32>
      %8 = uop.mul %6, %7 : f32
      uop.store %8, %out[%i, %j] : memref<5x67xf32>
    }
  }
}

uop.kernel @column_sums(%out: memref<10xf32>, %x: memref<33x10xf32>) {
  loop.for %j (j = 10 parallel) {
    %sum = loop.reduce %i (i = 33) add : f32 {
      %0 = uop.load %x[%i, %j] : memref<33x10xf32>
      loop.yield %0 : f32
    }
    uop.store %sum, %out[%j] : memref<10xf32>
  }
}

// All extents are primes, so that every tile is ragged.
uop.kernel @ragged(%out: memref<13x11xf32>, %x: memref<13x17xf32>, %w: memref<17x11xf32>, %bias: memref<11xf32>) {
  loop.for %i (i = 13 parallel) {
    loop.for %j (j = 11 parallel) {
      %sum = loop.reduce %k (k = 17) add : f32 {
        %0 = uop.load %x[%i, %k] : memref<13x17xf32>
        %1 = uop.load %w[%k, %j] : memref<17x11xf32>
        %2 = uop.mul %0, %1 : f32
        loop.yield %2 : f32
      }
      %3 = uop.load %bias[%j] : memref<11xf32>
      %4 = uop.add %sum, %3 : f32
      %5 = uop.erf %4 : f32
      uop.store %5, %out[%i, %j] : memref<13x11xf32>
    }
  }
}

uop.kernel @batch_matmul(%out: memref<3x5x8xf32>, %x: memref<3x5x12xf32>, %w: memref<3x12x8xf32>) {
  loop.for %b (b = 3 parallel) {
    loop.for %i (i = 5 parallel) {
      loop.for %j (j = 8 parallel) {
        %sum = loop.reduce %k (k = 12) add : f32 {
          %0 = uop.load %x[%b, %i, %k] : memref<3x5x12xf32>
          %1 = uop.load %w[%b, %k, %j] : memref<3x12x8xf32>
          %2 = uop.mul %0, %1 : f32
          loop.yield %2 : f32
        }
        uop.store %sum, %out[%b, %i, %j] : memref<3x5x8xf32>
      }
    }
  }
}

uop.kernel @variance(%out: memref<4xf32>, %x: memref<4x37xf32>) {
  %zero = uop.const 0.0 : f32
  %one = uop.const 1.0 : f32
  loop.for %i (i = 4 parallel) {
    %count, %mean, %rest, %squares = loop.reduce %k (k = 37) welford : f32, f32, f32, f32 {
      %0 = uop.load %x[%i, %k] : memref<4x37xf32>
      loop.yield %one, %0, %zero, %zero : f32, f32, f32, f32
    }
    %variance = uop.div %squares, %count : f32
    uop.store %variance, %out[%i] : memref<4xf32>
  }
}

uop.kernel @argmax(%out: memref<4xi64>, %x: memref<4x37xf32>) {
  loop.for %i (i = 4 parallel) {
    %value, %place = loop.reduce %k (k = 37) argmax : f32, i64 {
      %0 = uop.load %x[%i, %k] : memref<4x37xf32>
      %1 = uop.cast %k : index -> i64
      loop.yield %0, %1 : f32, i64
    }
    uop.store %place, %out[%i] : memref<4xi64>
  }
}

// A sum over two axes: one reduction inside another.
uop.kernel @sum_2d(%out: memref<3xf32>, %x: memref<3x7x10xf32>) {
  loop.for %i (i = 3 parallel) {
    %outer = loop.reduce %k (k = 7) add : f32 {
      %inner = loop.reduce %k1 (k1 = 10) add : f32 {
        %0 = uop.load %x[%i, %k, %k1] : memref<3x7x10xf32>
        loop.yield %0 : f32
      }
      loop.yield %inner : f32
    }
    uop.store %outer, %out[%i] : memref<3xf32>
  }
}

// The greatest of the rows' sums: reductions of different monoids inside each other.
uop.kernel @max_of_sums(%out: memref<f32>, %x: memref<7x10xf32>) {
  %outer = loop.reduce %k (k = 7) max : f32 {
    %inner = loop.reduce %k1 (k1 = 10) add : f32 {
      %0 = uop.load %x[%k, %k1] : memref<7x10xf32>
      loop.yield %0 : f32
    }
    loop.yield %inner : f32
  }
  uop.store %outer, %out[] : memref<f32>
}

// A window of three with zeros around it, exponentiated inside only.
uop.kernel @padded(%out: memref<4xf32>, %x: memref<4x29xf32>) {
  %zero = uop.const 0 : index
  %extent = uop.const 29 : index
  %nothing = uop.const 0.0 : f32
  %minus_one = uop.const -1 : index
  loop.for %i (i = 4 parallel) {
    %sum = loop.reduce %k (k = 31) add : f32 {
      %0 = uop.add %k, %minus_one : index
      %1 = uop.ge %0, %zero : index
      %2 = uop.lt %0, %extent : index
      %3 = uop.and %1, %2 : i1
      %4 = uop.load %x[%i, %0] mask %3 : memref<4x29xf32>
      %5 = uop.exp %4 : f32
      %6 = uop.where %3, %5, %nothing : f32
      loop.yield %6 : f32
    }
    uop.store %sum, %out[%i] : memref<4xf32>
  }
}

uop.kernel @gather(%out: memref<9x6xf32>, %table: memref<20x6xf32>, %places: memref<9xi64>) {
  loop.for %i (i = 9 parallel) {
    loop.for %j (j = 6 parallel) {
      %0 = uop.load %places[%i] : memref<9xi64>
      %1 = uop.cast %0 : i64 -> index
      %2 = uop.load %table[%1, %j] : memref<20x6xf32>
      uop.store %2, %out[%i, %j] : memref<9x6xf32>
    }
  }
}

// Halves are multiplied in f32 and rounded once.
uop.kernel @half_matmul(%out: memref<12x10xf16>, %x: memref<12x16xf16>, %w: memref<16x10xf16>) {
  loop.for %i (i = 12 parallel) {
    loop.for %j (j = 10 parallel) {
      %sum = loop.reduce %k (k = 16) add : f32 {
        %0 = uop.load %x[%i, %k] : memref<12x16xf16>
        %1 = uop.cast %0 : f16 -> f32
        %2 = uop.load %w[%k, %j] : memref<16x10xf16>
        %3 = uop.cast %2 : f16 -> f32
        %4 = uop.mul %1, %3 : f32
        loop.yield %4 : f32
      }
      %5 = uop.cast %sum : f32 -> f16
      uop.store %5, %out[%i, %j] : memref<12x10xf16>
    }
  }
}

uop.kernel @int_sum(%out: memref<6xi64>, %x: memref<6x19xi32>) {
  loop.for %i (i = 6 parallel) {
    %sum = loop.reduce %k (k = 19) add : i64 {
      %0 = uop.load %x[%i, %k] : memref<6x19xi32>
      %1 = uop.cast %0 : i32 -> i64
      loop.yield %1 : i64
    }
    uop.store %sum, %out[%i] : memref<6xi64>
  }
}

uop.kernel @all_positive(%out: memref<6xi1>, %x: memref<6x19xf32>) {
  %zero = uop.const 0.0 : f32
  loop.for %i (i = 6 parallel) {
    %all = loop.reduce %k (k = 19) and : i1 {
      %0 = uop.load %x[%i, %k] : memref<6x19xf32>
      %1 = uop.gt %0, %zero : f32
      loop.yield %1 : i1
    }
    uop.store %all, %out[%i] : memref<6xi1>
  }
}

// Two outputs, of which one lacks an axis; the sum does not see the second load's axis order.
uop.kernel @two_outputs(%out0: memref<6x19xf32>, %out1: memref<6xf32>, %x: memref<6x19xf32>) {
  loop.for %i (i = 6 parallel) {
    %sum = loop.reduce %j (j = 19) add : f32 {
      %0 = uop.load %x[%i, %j] : memref<6x19xf32>
      loop.yield %0 : f32
    }
    uop.store %sum, %out1[%i] : memref<6xf32>
    loop.for %j (j = 19 parallel) {
      %1 = uop.load %x[%i, %j] : memref<6x19xf32>
      %2 = uop.mul %1, %sum : f32
      uop.store %2, %out0[%i, %j] : memref<6x19xf32>
    }
  }
}

// Counts without loading: an element that does not vary along the reduced axis.
uop.kernel @count(%out: memref<4xf32>) {
  %one = uop.const 1.0 : f32
  loop.for %i (i = 4 parallel) {
    %sum = loop.reduce %k (k = 21) add : f32 {
      loop.yield %one : f32
    }
    uop.store %sum, %out[%i] : memref<4xf32>
  }
}

uop.kernel @constant(%out: memref<f32>) {
  %0 = uop.const 3.0 : f32
  uop.store %0, %out[] : memref<f32>
}

uop.kernel @empty_sum(%out: memref<4xf32>, %x: memref<4x0xf32>) {
  loop.for %i (i = 4 parallel) {
    %sum = loop.reduce %k (k = 0) add : f32 {
      %0 = uop.load %x[%i, %k] : memref<4x0xf32>
      loop.yield %0 : f32
    }
    uop.store %sum, %out[%i] : memref<4xf32>
  }
}

uop.kernel @nothing(%out: memref<0x4xf32>, %x: memref<0x4xf32>) {
  loop.for %i (i = 0 parallel) {
    loop.for %j (j = 4 parallel) {
      %0 = uop.load %x[%i, %j] : memref<0x4xf32>
      uop.store %0, %out[%i, %j] : memref<0x4xf32>
    }
  }
}

// An index that varies with %i only through a reduction, and is outside the table where a sum has no elements.
uop.kernel @reduced_index(%out: memref<6xf32>, %table: memref<20xf32>, %counts: memref<6x5xi64>) {
  %twenty = uop.const 20 : i64
  loop.for %i (i = 6 parallel) {
    %sum = loop.reduce %k (k = 5) add : i64 {
      %0 = uop.load %counts[%i, %k] : memref<6x5xi64>
      loop.yield %0 : i64
    }
    %1 = uop.sub %twenty, %sum : i64
    %2 = uop.cast %1 : i64 -> index
    %3 = uop.load %table[%2] : memref<20xf32>
    uop.store %3, %out[%i] : memref<6xf32>
  }
}

// A convolution: the index runs backwards along %k, and in front of the buffer is nothing.
uop.kernel @convolution(%out: memref<19xf32>, %x: memref<16xf32>, %w: memref<6xf32>) {
  %zero = uop.const 0 : index
  %extent = uop.const 16 : index
  loop.for %i (i = 19 parallel) {
    %sum = loop.reduce %k (k = 6) add : f32 {
      %0 = uop.sub %i, %k : index
      %1 = uop.ge %0, %zero : index
      %2 = uop.lt %0, %extent : index
      %3 = uop.and %1, %2 : i1
      %4 = uop.load %x[%0] mask %3 : memref<16xf32>
      %5 = uop.load %w[%k] : memref<6xf32>
      %6 = uop.mul %4, %5 : f32
      loop.yield %6 : f32
    }
    uop.store %sum, %out[%i] : memref<19xf32>
  }
}

// Sums of windows of which only the elements 2 … 11 of the buffer count: the mask says more than "inside".
uop.kernel @window(%out: memref<8xf32>, %x: memref<16xf32>) {
  %first = uop.const 2 : index
  %last = uop.const 11 : index
  loop.for %i (i = 8 parallel) {
    %sum = loop.reduce %k (k = 8) add : f32 {
      %0 = uop.add %i, %k : index
      %1 = uop.ge %0, %first : index
      %2 = uop.le %0, %last : index
      %3 = uop.and %1, %2 : i1
      %4 = uop.load %x[%0] mask %3 : memref<16xf32>
      loop.yield %4 : f32
    }
    uop.store %sum, %out[%i] : memref<8xf32>
  }
}

// The first 4 of 6 columns: rows begin at multiples of 2 elements, not of 4.
uop.kernel @first_columns(%out: memref<8x4xf32>, %x: memref<8x6xf32>) {
  loop.for %i (i = 8 parallel) {
    loop.for %j (j = 4 parallel) {
      %0 = uop.load %x[%i, %j] : memref<8x6xf32>
      uop.store %0, %out[%i, %j] : memref<8x4xf32>
    }
  }
}

// Two scans in one loop, of two values one of them, and what follows pointwise.
uop.kernel @scans(%out0: memref<5x13xf32>, %out1: memref<5x13xi64>, %x: memref<5x13xf32>) {
  loop.for %i (i = 5 parallel) {
    loop.for %j (j = 13 parallel) {
      %0 = uop.load %x[%i, %j] : memref<5x13xf32>
      %1 = loop.scan add %0 over %j : f32
      %2 = uop.cast %j : index -> i64
      %3, %4 = loop.scan argmax_last %1, %2 over %j : f32, i64
      %5 = uop.sub %3, %0 : f32
      uop.store %5, %out0[%i, %j] : memref<5x13xf32>
      uop.store %4, %out1[%i, %j] : memref<5x13xi64>
    }
  }
}
