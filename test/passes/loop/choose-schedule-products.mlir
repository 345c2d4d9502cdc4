// RUN: uop-opt %s --pass-pipeline 'builtin.module(choose-schedule)' --split-input-file | filecheck %s

// Several products of one operand share a tile, whose sums take half of a thread's registers …
// CHECK-LABEL: uop.kernel @gated
// CHECK-SAME:    i = 16 block * 2 warp * 4 register * 16 mma, j = 16 block * 2 warp * 4 register * 8 mma
uop.kernel @gated(%out: memref<2048x1024xbf16>, %x: memref<2048x512xbf16>, %a: memref<512x1024xbf16>, %b: memref<512x1024xbf16>) {
  loop.for %i (i = 2048 parallel) {
    loop.for %j (j = 1024 parallel) {
      %0 = loop.reduce %k (k = 512) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<2048x512xbf16>
        %2 = uop.cast %1 : bf16 -> f32
        %3 = uop.load %a[%k, %j] : memref<512x1024xbf16>
        %4 = uop.cast %3 : bf16 -> f32
        %5 = uop.mul %2, %4 : f32
        loop.yield %5 : f32
      }
      %6 = loop.reduce %k (k = 512) add : f32 {
        %7 = uop.load %x[%i, %k] : memref<2048x512xbf16>
        %8 = uop.cast %7 : bf16 -> f32
        %9 = uop.load %b[%k, %j] : memref<512x1024xbf16>
        %10 = uop.cast %9 : bf16 -> f32
        %11 = uop.mul %8, %10 : f32
        loop.yield %11 : f32
      }
      %12 = uop.mul %0, %6 : f32
      %13 = uop.cast %12 : f32 -> bf16
      uop.store %13, %out[%i, %j] : memref<2048x1024xbf16>
    }
  }
}

// -----

// … but a quarter where they are rotated: sines and cosines take many of the others.
// CHECK-LABEL: uop.kernel @rotated
// CHECK-SAME:    i = 32 block * 2 warp * 2 register * 16 mma, j = 16 block * 2 warp * 4 register * 8 mma
uop.kernel @rotated(%out: memref<2048x1024xbf16>, %x: memref<2048x512xbf16>, %a: memref<512x1024xbf16>, %b: memref<512x1024xbf16>, %angle: memref<2048x1024xf32>) {
  loop.for %i (i = 2048 parallel) {
    loop.for %j (j = 1024 parallel) {
      %0 = loop.reduce %k (k = 512) add : f32 {
        %1 = uop.load %x[%i, %k] : memref<2048x512xbf16>
        %2 = uop.cast %1 : bf16 -> f32
        %3 = uop.load %a[%k, %j] : memref<512x1024xbf16>
        %4 = uop.cast %3 : bf16 -> f32
        %5 = uop.mul %2, %4 : f32
        loop.yield %5 : f32
      }
      %6 = loop.reduce %k (k = 512) add : f32 {
        %7 = uop.load %x[%i, %k] : memref<2048x512xbf16>
        %8 = uop.cast %7 : bf16 -> f32
        %9 = uop.load %b[%k, %j] : memref<512x1024xbf16>
        %10 = uop.cast %9 : bf16 -> f32
        %11 = uop.mul %8, %10 : f32
        loop.yield %11 : f32
      }
      %12 = uop.load %angle[%i, %j] : memref<2048x1024xf32>
      %13 = uop.cos %12 : f32
      %14 = uop.sin %12 : f32
      %15 = uop.mul %0, %13 : f32
      %16 = uop.mul %6, %14 : f32
      %17 = uop.sub %15, %16 : f32
      %18 = uop.cast %17 : f32 -> bf16
      uop.store %18, %out[%i, %j] : memref<2048x1024xbf16>
    }
  }
}

// -----

// Statistics of the rows of a product: the lanes along its columns reduce them in front, in vectors of 16 bytes; no warps
// lie side by side, which would compute the operand twice.
// CHECK: uop.kernel @centred({{.*}}) schedule #tile.schedule<i = 16 mma, j = 8 mma, k = 2 loop * 2 unroll * 16 mma, k1 = 2 unroll * 4 lane of j * 8 register, stage = [%x over k buffers 2 async swizzle 8, %w buffers 2 async swizzle 8], min_blocks = 20> {
uop.kernel @centred(%out: memref<16x8xf32>, %x: memref<16x64xf16>, %w: memref<8x64xf16>) {
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
