// RUN: uop-opt %s --split-input-file --verify-diagnostics

uop.kernel @serial() {
  // expected-error@+1 {{serial factors are loops}}
  %0 = tile.axis i = 8 loop : index
}

// -----

uop.kernel @register_type() {
  // expected-error@+1 {{a register axis of 2 is a vector of index with that one extent}}
  %0 = tile.axis i = 2 register : vector<2x2xindex>
}

// -----

uop.kernel @thread_type() {
  // expected-error@+1 {{only a register axis gives a vector}}
  %0 = tile.axis i = 2 thread : vector<2xindex>
}

// -----

uop.kernel @shape(%x: memref<16x16xf32>) {
  %ri = tile.axis i = 2 register : vector<2x1xindex>
  // expected-error@+1 {{the shapes of the indices do not broadcast}}
  %0 = tile.read %x[%ri, %ri] : memref<16x16xf32>(vector<2x1xindex>, vector<2x1xindex>) -> vector<2x2xf32>
}

// -----

uop.kernel @vector(%x: memref<16xf32>) {
  %ri = tile.axis i = 6 register : vector<6xindex>
  // expected-error@+1 {{is not moved in vectors of 4 along its last dimension}}
  %0 = tile.read %x[%ri] vector 4 : memref<16xf32>(vector<6xindex>) -> vector<6xf32>
}

// -----

uop.kernel @along(%x: memref<16xf32>) {
  %ri = tile.axis i = 4 register : vector<4x1xindex>
  // expected-error@+1 {{is not moved in vectors of 4 along dimension 1}}
  %0 = tile.read %x[%ri] vector 4 along 1 : memref<16xf32>(vector<4x1xindex>) -> vector<4x1xf32>
}

// -----

uop.kernel @no_dimension(%x: memref<16xf32>) {
  %ri = tile.axis i = 4 register : vector<4xindex>
  // expected-error@+1 {{has no dimension 1 to be moved in vectors along}}
  %0 = tile.read %x[%ri] vector 4 along 1 : memref<16xf32>(vector<4xindex>) -> vector<4xf32>
}

// -----

uop.kernel @no_width(%x: memref<16xf32>) {
  %ri = tile.axis i = 4 register : vector<4xindex>
  // expected-error@+1 {{`along` says which dimension vectors go along}}
  %0 = "tile.read"(%x, %ri) <{along = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}> : (memref<16xf32>, vector<4xindex>) -> vector<4xf32>
}

// -----

uop.kernel @space(%x: memref<16xf32>) {
  %c = uop.const 0 : index
  // expected-error@+1 {{a stage copies from a plain memref to one in "shared"}}
  %0 = tile.stage %x[%c] buffers 1 : memref<16xf32> -> memref<8xf32>
}

// -----

uop.kernel @across(%x: memref<16xf32>) {
  %b = tile.axis i = 2 block : index
  %0 = uop.const 1.0 : f32
  // expected-error@+1 {{reduce_across goes over warp, thread and lane axes}}
  %1 = tile.reduce_across add %0 over %b : f32
}

// -----

func.func @elements(%c: vector<4xf32>, %a: vector<8xf16>, %b: vector<4xbf16>) {
  // expected-error@+1 {{m16n8k16 does not multiply f16 by bf16 into f32}}
  %0 = tile.mma m16n8k16 %c, %a, %b : vector<4xf32>, vector<8xf16>, vector<4xbf16>
  func.return
}

// -----

func.func @fragment(%c: vector<4xf32>, %a: vector<6xf16>, %b: vector<4xf16>) {
  // expected-error@+1 {{vector<6xf16> is no whole number of fragments of 8 elements}}
  %0 = tile.mma m16n8k16 %c, %a, %b : vector<4xf32>, vector<6xf16>, vector<4xf16>
  func.return
}

// -----

// expected-error@+1 {{an axis stands twice in the schedule}}
uop.kernel @twice() schedule #tile.schedule<i = 2 block, i = 4 thread> {
}

// -----

// expected-error@+1 {{`parallel` is no choice}}
uop.kernel @undecided() schedule #tile.schedule<i = 2 parallel> {
}

// -----

uop.kernel @limit_of_no_dimension(%x: memref<16x64xf32>) schedule #tile.schedule<> {
  %c0 = uop.const 0 : index
  // expected-error@+1 {{a slab of 2 dimensions has none of 2}}
  %x_s = tile.stage %x[%c0, %c0] to %c0 along 2 buffers 1 : memref<16x64xf32> -> memref<16x32xf32, "shared">
}

// -----

uop.kernel @matrices_of_doubles(%x: memref<16x64xf64>) schedule #tile.schedule<> {
  %c0 = uop.const 0 : index
  %k = tile.axis k = 2 register : vector<2xindex>
  %x_s = tile.stage %x[%c0, %c0] buffers 1 : memref<16x64xf64> -> memref<16x32xf64, "shared">
  // expected-error@+1 {{ldmatrix reads elements of 16 or 32 bits of a buffer in "shared"}}
  %0 = tile.read %x_s[%c0, %k] ldmatrix : memref<16x32xf64, "shared">(index, vector<2xindex>) -> vector<2xf64>
}

// -----

uop.kernel @transposed_words(%x: memref<16x64xf32>) schedule #tile.schedule<> {
  %c0 = uop.const 0 : index
  %k = tile.axis k = 1 register : vector<1xindex>
  %x_s = tile.stage %x[%c0, %c0] buffers 1 : memref<16x64xf32> -> memref<16x32xf32, "shared">
  // expected-error@+1 {{ldmatrix transposes elements of 16 bits}}
  %0 = tile.read %x_s[%c0, %k] ldmatrix trans : memref<16x32xf32, "shared">(index, vector<1xindex>) -> vector<1xf32>
}

// -----

uop.kernel @matrices_of_one(%x: memref<16x64xf16>) schedule #tile.schedule<> {
  %c0 = uop.const 0 : index
  %x_s = tile.stage %x[%c0, %c0] buffers 1 : memref<16x64xf16> -> memref<16x32xf16, "shared">
  // expected-error@+1 {{a lane reads 4 bytes of each matrix along the last dimension, not f16}}
  %0 = tile.read %x_s[%c0, %c0] ldmatrix : memref<16x32xf16, "shared">(index, index) -> f16
}

// -----

func.func @repeated(%c: vector<2x4xf32>, %a: vector<2x8xf16>, %b: vector<3x4xf16>) {
  // expected-error@+1 {{instructions repeat over [2] in A and [3] in B, but over [2] in the accumulator}}
  %0 = tile.mma m16n8k16 %c, %a, %b : vector<2x4xf32>, vector<2x8xf16>, vector<3x4xf16>
  func.return
}

// -----

// expected-error@+1 {{%x: rows are padded or swizzled, not both}}
uop.kernel @padded_and_swizzled(%x: memref<16xf16>) schedule #tile.schedule<i = 16 loop, stage = [%x pad 8 swizzle 8]> {
}

// -----

// expected-error@+1 {{%x: `along` is a dimension, of slabs that are not swizzled}}
uop.kernel @transposed_and_swizzled(%x: memref<8x16xf16>) schedule #tile.schedule<i = 16 loop, stage = [%x along 0 swizzle 8]> {
}

// -----

uop.kernel @scan_over_blocks(%x: memref<f32>) {
  %bj = tile.axis j = 8 block : index
  %0 = tile.read %x[] : memref<f32>() -> f32
  // expected-error@+1 {{tile.scan_across goes over register, warp, thread and lane axes, at least one}}
  %1, %2 = tile.scan_across add %0 from %0 over %bj : f32 from f32(index)
}

// -----

uop.kernel @scan_over_nothing(%x: memref<f32>) {
  %0 = tile.read %x[] : memref<f32>() -> f32
  // expected-error@+1 {{tile.scan_across goes over register, warp, thread and lane axes, at least one}}
  %1, %2 = "tile.scan_across"(%0, %0) <{monoid = #uop.monoid<add>, operandSegmentSizes = array<i32: 1, 1, 0>, resultSegmentSizes = array<i32: 1, 1>}> : (f32, f32) -> (f32, f32)
}

// -----

uop.kernel @scan_of_no_dimension(%x: memref<f32>) {
  %rj = tile.axis j = 8 register : vector<8xindex>
  %0 = tile.read %x[] : memref<f32>() -> f32
  // expected-error@+1 {{a register axis of 8 is no dimension of f32}}
  %1, %2 = tile.scan_across add %0 from %0 over %rj : f32 from f32(vector<8xindex>)
}

// -----

uop.kernel @scan_in_another_order(%x: memref<8x4xf32>, %y: memref<f32>) {
  %rj = tile.axis j = 8 register : vector<8x1xindex>
  %rk = tile.axis j = 4 register : vector<1x4xindex>
  %0 = tile.read %x[%rj, %rk] : memref<8x4xf32>(vector<8x1xindex>, vector<1x4xindex>) -> vector<8x4xf32>
  %1 = tile.read %y[] : memref<f32>() -> f32
  %2 = uop.expand %1 : f32 -> vector<1x1xf32>
  // expected-error@+1 {{register axes stand in the order of their dimensions}}
  %3, %4 = tile.scan_across add %0 from %2 over %rk, %rj : vector<8x4xf32> from vector<1x1xf32>(vector<1x4xindex>, vector<8x1xindex>)
}

// -----

uop.kernel @take_over_blocks(%x: memref<8xf32>) {
  %bj = tile.axis j = 8 block : index
  %rj = tile.axis j = 8 register : vector<8xindex>
  %0 = tile.read %x[%rj] : memref<8xf32>(vector<8xindex>) -> vector<8xf32>
  // expected-error@+1 {{tile.take_across goes over register, warp, thread and lane axes, at least one}}
  %1 = tile.take_across %0 at %bj over %bj : vector<8xf32>(index)
}

// -----

func.func @unequal_steps(%c: vector<2x1x2x2xf32>, %a: vector<2x2x8xf16>, %b: vector<1x1x4xf16>) {
  // expected-error@+1 {{A has [2, 2] and B [1, 1]: where the accumulator has 1, both have one extent}}
  %0 = tile.mma m16n8k16 %c, %a, %b : vector<2x1x2x2xf32>, vector<2x2x8xf16>, vector<1x1x4xf16>
  func.return
}

// -----

uop.kernel @scan_from_another_type(%x: memref<8xf32>) {
  %rj = tile.axis j = 8 register : vector<8xindex>
  %0 = tile.read %x[%rj] : memref<8xf32>(vector<8xindex>) -> vector<8xf32>
  // expected-error@+1 {{tile.scan_across begins with values of vector<1xf32>}}
  %1, %2 = tile.scan_across add %0 from %0 over %rj : vector<8xf32> from vector<8xf32>(vector<8xindex>)
}

// -----

// expected-error@+1 {{min_blocks is at least 1}}
uop.kernel @no_blocks(%x: memref<16xf16>) schedule #tile.schedule<i = 16 loop, min_blocks = 0> {
}

// -----

// expected-error@+1 {{min_blocks stands twice}}
uop.kernel @blocks_twice(%x: memref<16xf16>) schedule #tile.schedule<i = 16 loop, min_blocks = 2, min_blocks = 3> {
}

// -----

// expected-error@+1 {{at least 1 step lies in slots}}
uop.kernel @no_slots(%x: memref<16xf16>) schedule #tile.schedule<i = 16 register, slots = i 0> {
}

// -----

// expected-error@+1 {{slots stands twice}}
uop.kernel @slots_twice(%x: memref<16xf16>) schedule #tile.schedule<i = 16 register, slots = i 8, slots = i 4> {
}

// -----

// expected-error@+1 {{rows are aligned to at least 1 element}}
uop.kernel @unaligned(%x: memref<16xf16>) schedule #tile.schedule<i = 16 loop, align = i 0> {
}

// -----

// expected-error@+1 {{align stands twice}}
uop.kernel @aligned_twice(%x: memref<16xf16>) schedule #tile.schedule<i = 16 loop, align = i 8, align = i 4> {
}

// -----

// expected-error@+1 {{a group has at least 1 block}}
uop.kernel @no_group(%x: memref<16xf16>) schedule #tile.schedule<i = 16 block, group = i 0> {
}

// -----

// expected-error@+1 {{group stands twice}}
uop.kernel @two_groups(%x: memref<16xf16>) schedule #tile.schedule<i = 16 block, group = i 2, group = i 4> {
}
