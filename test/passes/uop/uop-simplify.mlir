// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify)' --split-input-file | filecheck %s
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify)' --split-input-file --pass-statistics 2>&1 | filecheck %s --check-prefix=STATISTICS
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify{fast-math=true})' --split-input-file | filecheck %s --check-prefix=FAST

// Identities that keep every bit, −0.0 and NaN among them.
// CHECK-LABEL: func.func @exact_for_floats
// CHECK-NEXT:    func.return %x : tensor<4xf32>
// STATISTICS:      {{ 1 +[0-9]+  }}add[u, -0.0] >> u for float u (identities.py:{{[0-9]+}})
func.func @exact_for_floats(%x: tensor<4xf32>) -> tensor<4xf32> {
  %minus_zero = uop.const -0.0 : f32
  %0 = uop.expand %minus_zero : f32 -> tensor<4xf32>
  %1 = uop.add %0, %x : tensor<4xf32>
  %one = uop.const 1.0 : f32
  %2 = uop.expand %one : f32 -> tensor<4xf32>
  %3 = uop.mul %1, %2 : tensor<4xf32>
  %4 = uop.div %3, %2 : tensor<4xf32>
  %5 = uop.neg %4 : tensor<4xf32>
  %6 = uop.neg %5 : tensor<4xf32>
  func.return %6 : tensor<4xf32>
}

// -----

// What would change a bit stays: −0.0 + 0.0 is 0.0, ∞ · 0 and ∞ − ∞ are NaN, 0 ÷ 0 is NaN, NaN is not NaN.
// CHECK-LABEL: func.func @traps
// CHECK:         uop.add %x, %{{.*}} : f32
// CHECK-NEXT:    uop.mul %x, %{{.*}} : f32
// CHECK-NEXT:    uop.sub %x, %x : f32
// CHECK-NEXT:    uop.div %x, %x : f32
// CHECK-NEXT:    uop.eq %x, %x : f32
// CHECK-NEXT:    uop.cast %x : f32 -> f16
// CHECK-NEXT:    uop.cast %{{.*}} : f16 -> f32
// CHECK-NEXT:    func.return
func.func @traps(%x: f32) -> (f32, f32, f32, f32, i1, f32) {
  %zero = uop.const 0.0 : f32
  %0 = uop.add %x, %zero : f32
  %1 = uop.mul %x, %zero : f32
  %2 = uop.sub %x, %x : f32
  %3 = uop.div %x, %x : f32
  %4 = uop.eq %x, %x : f32
  %5 = uop.cast %x : f32 -> f16
  %6 = uop.cast %5 : f16 -> f32
  func.return %0, %1, %2, %3, %4, %6 : f32, f32, f32, f32, i1, f32
}

// -----

// Integers wrap, so their sums are free; a widening that comes back is nothing.
// CHECK-LABEL: func.func @integers
// CHECK-NEXT:    %[[S:.*]] = uop.const -126 : i8
// CHECK-NEXT:    %[[R:.*]] = uop.add %n, %[[S]] : i8
// CHECK-NEXT:    func.return %[[R]], %n : i8, i8
func.func @integers(%n: i8) -> (i8, i8) {
  %a = uop.const 100 : i8
  %b = uop.const 30 : i8
  %0 = uop.add %n, %a : i8
  %1 = uop.add %b, %0 : i8
  %2 = uop.sub %n, %n : i8
  %3 = uop.add %1, %2 : i8
  %4 = uop.cast %n : i8 -> i32
  %5 = uop.cast %4 : i32 -> i8
  func.return %3, %5 : i8, i8
}

// -----

// Constants fold where the result is the same everywhere; exp is left to the machine that runs the kernel.
// CHECK-LABEL: func.func @folding
// CHECK-NEXT:    %[[THREE:.*]] = uop.const 3.000000e+00 : f32
// CHECK-NEXT:    %[[EXP:.*]] = uop.exp %[[THREE]] : f32
// CHECK-NEXT:    %[[INF:.*]] = uop.const 0x7f800000 : f32
// CHECK-NEXT:    func.return %[[EXP]], %[[INF]] : f32, f32
func.func @folding() -> (f32, f32) {
  %one = uop.const 1.0 : f32
  %two = uop.const 2.0 : f32
  %0 = uop.add %one, %two : f32
  %1 = uop.exp %0 : f32
  %zero = uop.const 0.0 : f32
  %2 = uop.div %one, %zero : f32
  func.return %1, %2 : f32, f32
}

// -----

// Bools and selects.
// CHECK-LABEL: func.func @selects
// CHECK-NEXT:    %[[W:.*]] = uop.where %p, %y, %x : f32
// CHECK-NEXT:    func.return %[[W]], %p, %x : f32, i1, f32
func.func @selects(%p: i1, %x: f32, %y: f32) -> (f32, i1, f32) {
  %true = uop.const true
  %false = uop.const false
  %0 = uop.not %p : i1
  %1 = uop.and %true, %0 : i1
  %2 = uop.where %1, %x, %y : f32
  %3 = uop.where %p, %true, %false : i1
  %4 = uop.where %p, %x, %x : f32
  func.return %2, %3, %4 : f32, i1, f32
}

// -----

// Movement: two in a row are one, those that do nothing go, a constant stays one number.
// CHECK-LABEL: func.func @movement
// CHECK-NEXT:    %[[E:.*]] = uop.expand %s : f32 -> tensor<2x3xf32>
// CHECK-NEXT:    %[[R:.*]] = uop.reshape %t : tensor<2x3xf32> -> tensor<3x2xf32>
// CHECK-NEXT:    %[[C:.*]] = uop.const 1.000000e+00 : f32
// CHECK-NEXT:    %[[D:.*]] = uop.expand %[[C]] : f32 -> tensor<6xf32>
// CHECK-NEXT:    func.return %[[E]], %[[R]], %t, %[[D]]
func.func @movement(%s: f32, %t: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>, tensor<6xf32>) {
  %0 = uop.expand %s : f32 -> tensor<1x3xf32>
  %1 = uop.expand %0 : tensor<1x3xf32> -> tensor<2x3xf32>
  %2 = uop.reshape %t : tensor<2x3xf32> -> tensor<6xf32>
  %3 = uop.reshape %2 : tensor<6xf32> -> tensor<3x2xf32>
  %4 = uop.permute %t order [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %5 = uop.permute %4 order [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>
  %c = uop.const 1.0 : f32
  %6 = uop.expand %c : f32 -> tensor<2x3xf32>
  %7 = uop.reshape %6 : tensor<2x3xf32> -> tensor<6xf32>
  func.return %1, %3, %5, %7 : tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>, tensor<6xf32>
}

// -----

// Range form: indices by their intervals, a mask that is always true, two reads that become one.
// CHECK-LABEL: uop.kernel @indices
// CHECK-NEXT:    %i = uop.range i = 100
// CHECK-NEXT:    %k = uop.range k = 4
// CHECK-NEXT:    %[[X:.*]] = uop.load %x[%i, %k] : memref<100x4xf32>
// CHECK-NEXT:    %[[S:.*]] = uop.add %[[X]], %[[X]] : f32
// CHECK-NEXT:    %[[R:.*]] = uop.reduce add %[[S]] over %k : f32
// CHECK-NEXT:    uop.store %[[R]], %out[%i] : memref<100xf32>
// CHECK-NEXT:  }
uop.kernel @indices(%out: memref<100xf32>, %x: memref<100x4xf32>) {
  %i = uop.range i = 100
  %k = uop.range k = 4
  %c4 = uop.const 4 : index
  %c100 = uop.const 100 : index
  %0 = uop.mul %i, %c4 : index
  %1 = uop.add %0, %k : index
  %2 = uop.floordiv %1, %c4 : index
  %3 = uop.floormod %1, %c4 : index
  %ok = uop.lt %2, %c100 : index
  %4 = uop.load %x[%2, %3] mask %ok : memref<100x4xf32>
  %5 = uop.load %x[%i, %k] : memref<100x4xf32>
  %6 = uop.add %4, %5 : f32
  %7 = uop.reduce add %6 over %k : f32
  uop.store %7, %out[%2] : memref<100xf32>
}

// -----

// Ranges are never merged. A buffer that is written is read where it was read.
// CHECK-LABEL: uop.kernel @kept
// CHECK-NEXT:    %i = uop.range i = 8
// CHECK-NEXT:    %j = uop.range i = 8
// CHECK-NEXT:    %[[A:.*]] = uop.load %out[%i, %j] : memref<8x8xf32>
// CHECK-NEXT:    uop.store %[[A]], %out[%j, %i] : memref<8x8xf32>
// CHECK-NEXT:    %[[B:.*]] = uop.load %out[%i, %j] : memref<8x8xf32>
// CHECK-NEXT:    uop.store %[[B]], %out[%i, %i] : memref<8x8xf32>
uop.kernel @kept(%out: memref<8x8xf32>) {
  %i = uop.range i = 8
  %j = uop.range i = 8
  %0 = uop.load %out[%i, %j] : memref<8x8xf32>
  uop.store %0, %out[%j, %i] : memref<8x8xf32>
  %1 = uop.load %out[%i, %j] : memref<8x8xf32>
  uop.store %1, %out[%i, %i] : memref<8x8xf32>
}

// -----

// Loop form: invariants leave the loops that do not change them and become one; a loop that does nothing goes.
// CHECK-LABEL: uop.kernel @loops
// CHECK-NEXT:    %[[TWO:.*]] = uop.const 2 : index
// CHECK-NEXT:    loop.for %i (i = 16 parallel) {
// CHECK-NEXT:      %[[D:.*]] = uop.mul %i, %[[TWO]] : index
// CHECK-NEXT:      %[[R:.*]] = loop.reduce %k (k = 64) add : f32 {
// CHECK-NEXT:        %[[X:.*]] = uop.load %x[%[[D]], %k] : memref<32x64xf32>
// CHECK-NEXT:        loop.yield %[[X]] : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      uop.store %[[R]], %out[%[[D]]] : memref<32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:  }
uop.kernel @loops(%out: memref<32xf32>, %x: memref<32x64xf32>) {
  loop.for %i (i = 16 parallel) {
    %0 = loop.reduce %k (k = 64) add : f32 {
      %two = uop.const 2 : index
      %1 = uop.mul %i, %two : index
      %2 = uop.load %x[%1, %k] : memref<32x64xf32>
      loop.yield %2 : f32
    }
    %unused = loop.reduce %k (k = 64) add : f32 {
      %3 = uop.load %x[%i, %k] : memref<32x64xf32>
      loop.yield %3 : f32
    }
    %two_again = uop.const 2 : index
    %4 = uop.mul %two_again, %i : index
    uop.store %0, %out[%4] : memref<32xf32>
  }
}

// -----

// Tile form: the same on vectors. Axes stay, used or not; two that look alike may be two factors of one axis.
// CHECK-LABEL: uop.kernel @tile
// CHECK-NEXT:    %ti = tile.axis i = 8 thread : index
// CHECK-NEXT:    %tj = tile.axis i = 8 thread : index
// CHECK-NEXT:    %ri = tile.axis i = 2 register : vector<2xindex>
// CHECK-NEXT:    %[[TWO:.*]] = uop.const 2 : index
// CHECK-NEXT:    %[[M:.*]] = uop.mul %ti, %[[TWO]] : index
// CHECK-NEXT:    %[[E:.*]] = uop.expand %[[M]] : index -> vector<2xindex>
// CHECK-NEXT:    %[[P:.*]] = uop.add %[[E]], %ri : vector<2xindex>
// CHECK-NEXT:    %[[A:.*]] = loop.for %ko (k = 2 loop) carry (%acc = add : vector<2xf32>) {
// CHECK-NEXT:      %[[X:.*]] = tile.read %x[%[[P]], %ko] : memref<16x2xf32>(vector<2xindex>, index) -> vector<2xf32>
// CHECK-NEXT:      %[[S:.*]] = uop.add %acc, %[[X]] : vector<2xf32>
// CHECK-NEXT:      loop.yield %[[S]] : vector<2xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.write %[[A]], %out[%[[P]]] : vector<2xf32> -> memref<16xf32>(vector<2xindex>)
uop.kernel @tile(%out: memref<16xf32>, %x: memref<16x2xf32>) {
  %ti = tile.axis i = 8 thread : index
  %tj = tile.axis i = 8 thread : index
  %ri = tile.axis i = 2 register : vector<2xindex>
  %0 = loop.for %ko (k = 2 loop) carry (%acc = add : vector<2xf32>) {
    %two = uop.const 2 : index
    %1 = uop.mul %ti, %two : index
    %2 = uop.expand %1 : index -> vector<2xindex>
    %3 = uop.add %2, %ri : vector<2xindex>
    %c16 = uop.const 16 : index
    %4 = uop.expand %c16 : index -> vector<2xindex>
    %ok = uop.lt %3, %4 : vector<2xindex>
    %5 = tile.read %x[%3, %ko] mask %ok : memref<16x2xf32>(vector<2xindex>, index) -> vector<2xf32>
    %6 = uop.add %acc, %5 : vector<2xf32>
    loop.yield %6 : vector<2xf32>
  }
  %two = uop.const 2 : index
  %7 = uop.mul %ti, %two : index
  %8 = uop.expand %7 : index -> vector<2xindex>
  %9 = uop.add %8, %ri : vector<2xindex>
  tile.write %0, %out[%9] : vector<2xf32> -> memref<16xf32>(vector<2xindex>)
}

// -----

// Nothing to do: a mask that may be false, an index that may be anywhere.
// CHECK-LABEL: uop.kernel @nothing_to_do
// CHECK-NEXT:    %i = uop.range i = 101
// CHECK-NEXT:    %[[C:.*]] = uop.const 100 : index
// CHECK-NEXT:    %[[OK:.*]] = uop.lt %i, %[[C]] : index
// CHECK-NEXT:    %[[X:.*]] = uop.load %x[%i] mask %[[OK]] : memref<100xf32>
// CHECK-NEXT:    uop.store %[[X]], %out[%i] : memref<101xf32>
uop.kernel @nothing_to_do(%out: memref<101xf32>, %x: memref<100xf32>) {
  %i = uop.range i = 101
  %c100 = uop.const 100 : index
  %ok = uop.lt %i, %c100 : index
  %0 = uop.load %x[%i] mask %ok : memref<100xf32>
  uop.store %0, %out[%i] : memref<101xf32>
}

// -----

// Masks that are always false: nothing is read, 0 is; nothing is written.
// CHECK-LABEL: uop.kernel @never
// CHECK-NEXT:    %i = uop.range i = 8
// CHECK-NEXT:    %[[ZERO:.*]] = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    uop.store %[[ZERO]], %out[%i] : memref<8xf32>
// CHECK-NEXT:  }
uop.kernel @never(%out: memref<8xf32>, %x: memref<8xf32>) {
  %i = uop.range i = 8
  %c8 = uop.const 8 : index
  %never = uop.ge %i, %c8 : index
  %0 = uop.load %x[%i] mask %never : memref<8xf32>
  uop.store %0, %out[%i] : memref<8xf32>
  uop.store %0, %out[%i] mask %never : memref<8xf32>
}

// -----

// What is only so for finite numbers, or up to rounding, is asked for.
// FAST-LABEL: func.func @fast_math
// FAST-NEXT:    %[[S:.*]] = uop.add %y, %z : f32
// FAST-NEXT:    %[[M:.*]] = uop.mul %x, %[[S]] : f32
// FAST-NEXT:    func.return %[[M]] : f32
// CHECK-LABEL: func.func @fast_math
// CHECK-COUNT-2: uop.mul
func.func @fast_math(%x: f32, %y: f32, %z: f32) -> f32 {
  %0 = uop.mul %x, %y : f32
  %1 = uop.mul %x, %z : f32
  %2 = uop.add %0, %1 : f32
  %3 = uop.sub %y, %y : f32
  %4 = uop.add %2, %3 : f32
  func.return %4 : f32
}
