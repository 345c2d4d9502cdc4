// RUN: uop-opt %s --check-bounds --split-input-file --verify-diagnostics | filecheck %s
// RUN: not uop-opt %s --check-bounds --split-input-file 2>&1 | filecheck %s --check-prefix SUMMARY
// RUN: not uop-opt %s --check-bounds-strict --split-input-file 2>&1 | filecheck %s --check-prefix STRICT

// By ranges: the mask bounds the position, and what is read in vectors begins at multiples of 4.
// SUMMARY: check-bounds: 2 indices: 2 proved by ranges
// CHECK-LABEL: @masked
gpu_kernel.kernel @masked(%out : memref<100xf32>, %x : memref<100xf32>) outputs 1 grid [4, 1, 1] block 8 arch "sm_90" index_bits 32 {
  %block = gpu_kernel.block_id x
  %tid = gpu_kernel.thread_id
  %c32 = uop.const 32 : index
  %c4 = uop.const 4 : index
  %c100 = uop.const 100 : index
  %0 = uop.mul %block, %c32 : index
  %1 = uop.mul %tid, %c4 : index
  %2 = uop.add %0, %1 : index
  %inside = uop.lt %2, %c100 : index
  %v = gpu_kernel.load %x[%2] mask %inside : memref<100xf32> -> vector<4xf32>
  gpu_kernel.if %inside {
    gpu_kernel.store %v, %out[%2] : vector<4xf32> -> memref<100xf32>
  }
}

// -----

// Refuted: the last block has too many threads, and the witness says which thread that is.
// SUMMARY: error: writes element 32 * block + tid of %out, of 100 elements: it is outside where block = 3, tid = {{.*}}, index = 1
// SUMMARY: check-bounds: 1 indices: 1 out of bounds
gpu_kernel.kernel @too_far(%out : memref<100xf32>) outputs 1 grid [4, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %block = gpu_kernel.block_id x
  %tid = gpu_kernel.thread_id
  %c32 = uop.const 32 : index
  %0 = uop.mul %block, %c32 : index
  %1 = uop.add %0, %tid : index
  %v = uop.const 1.0 : f32
  gpu_kernel.store %v, %out[%1] : f32 -> memref<100xf32>   // expected-error {{32 * block + tid of %out, of 100 elements: it is outside where block = 3}}
}

// -----

// A vector that begins inside and ends outside.
gpu_kernel.kernel @vector(%out : memref<6xf32>, %x : memref<6xf32>) outputs 1 grid [1, 1, 1] block 2 arch "sm_90" index_bits 32 {
  %tid = gpu_kernel.thread_id
  %c4 = uop.const 4 : index
  %0 = uop.mul %tid, %c4 : index
  %v = gpu_kernel.load %x[%0] : memref<6xf32> -> vector<4xf32>   // expected-error {{reads element 4 * tid and the 3 after it of %x, of 6 elements: it is outside where tid = 1, index = 4}}
}

// -----

// What an instruction adds to a place counts: the first copy stays inside by its offset, the second leaves.
gpu_kernel.kernel @offset(%x : memref<64xf32>) outputs 0 grid [1, 1, 1] block 16 arch "sm_90" index_bits 32 {
  %tid = gpu_kernel.thread_id
  %c4 = uop.const 4 : index
  %0 = uop.mul %tid, %c4 : index
  %1 = uop.add %0, %c4 : index
  %s = gpu_kernel.alloc : memref<64xf32, "shared">
  gpu_kernel.async_copy %x[%1] offset -4 to %s[%0] width 4 : memref<64xf32> to memref<64xf32, "shared">
  gpu_kernel.async_copy %x[%0] offset 4 to %s[%0] width 4 : memref<64xf32> to memref<64xf32, "shared">   // expected-error {{reads element 4 * tid + 4 and the 3 after it of %x, of 64 elements: it is outside where tid = 15, index = 64}}
}

// -----

// By z3: a quotient and a remainder of one number, which the ranges of each alone do not bound.
// SUMMARY: check-bounds: 1 indices: 1 proved by z3
gpu_kernel.kernel @recombined(%out : memref<30xf32>) outputs 1 grid [1, 1, 1] block 30 arch "sm_90" index_bits 32 {
  %tid = gpu_kernel.thread_id
  %c8 = uop.const 8 : index
  %0 = uop.truncdiv %tid, %c8 : index
  %1 = uop.truncmod %tid, %c8 : index
  %2 = uop.mul %0, %c8 : index
  %3 = uop.add %2, %1 : index
  %v = uop.const 1.0 : f32
  gpu_kernel.store %v, %out[%3] : f32 -> memref<30xf32>
}

// -----

// Numbers of narrow types wrap around: 100 + 50 is negative.
uop.kernel @wraps(%out: memref<200xf32>) {
  %i = uop.range i = 101
  %0 = uop.cast %i : index -> i8
  %c50 = uop.const 50 : i8
  %1 = uop.add %0, %c50 : i8
  %2 = uop.cast %1 : i8 -> index
  %v = uop.const 1.0 : f32
  uop.store %v, %out[%2] : memref<200xf32>   // expected-error-re {{of %out, of 200 elements: it is outside where i = {{[0-9]+}}, index = -}}
}

// -----

// Range form, along each dimension: what a mask shifts.
// SUMMARY: check-bounds: 4 indices: 4 proved by ranges
uop.kernel @shifted(%out: memref<4x10xf32>, %x: memref<4x7xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 10
  %c3 = uop.const 3 : index
  %0 = uop.sub %j, %c3 : index
  %inside = uop.ge %j, %c3 : index
  %1 = uop.load %x[%i, %0] mask %inside : memref<4x7xf32>
  uop.store %1, %out[%i, %j] : memref<4x10xf32>
}

// -----

uop.kernel @shifted_too_far(%out: memref<4x10xf32>, %x: memref<4x6xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 10
  %c3 = uop.const 3 : index
  %0 = uop.sub %j, %c3 : index
  %inside = uop.ge %j, %c3 : index
  %1 = uop.load %x[%i, %0] mask %inside : memref<4x6xf32>   // expected-error {{j - 3 of %x, of 6 elements along dimension 1: it is outside where j = 9, index = 6}}
  uop.store %1, %out[%i, %j] : memref<4x10xf32>
}

// -----

// Tile form: what holds of every element of a register tile, and of the state of loops.
// SUMMARY: check-bounds: 2 indices: 2 proved by ranges
uop.kernel @tile(%out: memref<30xf32>, %x: memref<30xf32>) {
  %t = tile.axis i = 16 thread : index
  %r = tile.axis i = 2 register : vector<2xindex>
  %c2 = uop.const 2 : index
  %c30 = uop.const 30 : index
  %0 = uop.mul %t, %c2 : index
  %1 = uop.expand %0 : index -> vector<2xindex>
  %2 = uop.add %1, %r : vector<2xindex>
  %3 = uop.expand %c30 : index -> vector<2xindex>
  %inside = uop.lt %2, %3 : vector<2xindex>
  %4 = tile.read %x[%2] mask %inside : memref<30xf32>(vector<2xindex>) -> vector<2xf32>
  tile.write %4, %out[%2] mask %inside : vector<2xf32> -> memref<30xf32>(vector<2xindex>)
}

// -----

// An index that is read from memory is in range by PyTorch's contract.
// STRICT: error: reads element load(index, i) of %x, of 50 elements: it is inside if the data that the index is made of is in range
uop.kernel @gather(%out: memref<8xf32>, %x: memref<50xf32>, %index: memref<8xi64>) {
  %i = uop.range i = 8
  %0 = uop.load %index[%i] : memref<8xi64>
  %1 = uop.cast %0 : i64 -> index
  %2 = uop.load %x[%1] : memref<50xf32>   // expected-remark {{inside if the data that the index is made of is in range}}
  uop.store %2, %out[%i] : memref<8xf32>
}

// -----

// A kernel that checks it needs no contract.
// SUMMARY: check-bounds: 3 indices: 3 proved by ranges
uop.kernel @checked(%out: memref<8xf32>, %x: memref<50xf32>, %index: memref<8xi64>) {
  %i = uop.range i = 8
  %0 = uop.load %index[%i] : memref<8xi64>
  %c0 = uop.const 0 : i64
  %c50 = uop.const 50 : i64
  %low = uop.ge %0, %c0 : i64
  %high = uop.lt %0, %c50 : i64
  %inside = uop.and %low, %high : i1
  %1 = uop.cast %0 : i64 -> index
  %2 = uop.load %x[%1] mask %inside : memref<50xf32>
  uop.store %2, %out[%i] : memref<8xf32>
}

// -----

// A loop without steps accesses nothing.
// SUMMARY: check-bounds: 1 indices: 1 proved by ranges
uop.kernel @empty(%out: memref<0xf32>) {
  loop.for %i (i = 0 parallel) {
    %v = uop.const 1.0 : f32
    uop.store %v, %out[%i] : memref<0xf32>
  }
}

// -----

// The proofs are of indices that do not wrap around: 2³¹ is one more than 32 bits hold.
// expected-error@below {{kernel @narrow has 32-bit indices, and not all are proved to fit}}
gpu_kernel.kernel @narrow(%out : memref<64xf32>) outputs 1 grid [2, 1, 1] block 1 arch "sm_90" index_bits 32 {
  %block = gpu_kernel.block_id x
  %c = uop.const 2147483648 : index
  %0 = uop.mul %block, %c : index
  %1 = uop.floordiv %0, %c : index
  %v = uop.const 1.0 : f32
  gpu_kernel.store %v, %out[%1] : f32 -> memref<64xf32>
}

// -----

// A reduction over nothing is the identity, and what it says where is accessed.
uop.kernel @identity(%out: memref<4xf32>) {
  %k = uop.range k = 0
  %0 = uop.reduce min %k over %k : index
  %v = uop.const 1.0 : f32
  uop.store %v, %out[%0] : memref<4xf32>   // expected-error {{not proved to be inside, nor refuted}}
}
