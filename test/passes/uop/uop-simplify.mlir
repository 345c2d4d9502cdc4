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

// -----

// A value of which only one is possible is that number; reshapes in a row are one.
// CHECK-LABEL: uop.kernel @only_value
// CHECK-NEXT:    %i = uop.range i = 4
// CHECK-NEXT:    %[[X:.*]] = uop.load %x[%i] : memref<4xf32>
// CHECK-NEXT:    uop.store %[[X]], %out[%i] : memref<4xf32>
// CHECK-NEXT:  }
uop.kernel @only_value(%out: memref<4xf32>, %x: memref<4xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 1
  %l = uop.range l = 1
  %0 = uop.eq %j, %l : index
  %1 = uop.load %x[%i] mask %0 : memref<4xf32>
  %2 = uop.ne %j, %l : index
  %3 = uop.where %2, %1, %1 : f32
  %4 = uop.neg %3 : f32
  %5 = uop.where %2, %4, %3 : f32
  uop.store %5, %out[%i] : memref<4xf32>
}

// -----

// One-hot: the element is read, and the mask of the read says where it is 0. A sum begins at +0.
// CHECK-LABEL: uop.kernel @one_hot
// CHECK-NOT:     uop.reduce
// CHECK-NOT:     uop.where
// CHECK:         %[[IN:.*]] = uop.and %{{.*}}, %{{.*}} : i1
// CHECK-NEXT:    %[[P:.*]] = uop.cast %{{.*}} : i64 -> index
// CHECK-NEXT:    %[[X:.*]] = uop.load %w[%[[P]], %j] mask %[[IN]] : memref<50x33xf32>
// CHECK-NEXT:    %[[ZERO:.*]] = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %[[R:.*]] = uop.add %[[X]], %[[ZERO]] : f32
// CHECK-NEXT:    uop.store %[[R]], %out[%i, %j] : memref<7x33xf32>
uop.kernel @one_hot(%out: memref<7x33xf32>, %w: memref<50x33xf32>, %t: memref<7xi64>) {
  %i = uop.range i = 7
  %j = uop.range j = 33
  %k = uop.range k = 50
  %0 = uop.load %t[%i] : memref<7xi64>
  %1 = uop.cast %k : index -> i64
  %2 = uop.eq %0, %1 : i64
  %3 = uop.load %w[%k, %j] : memref<50x33xf32>
  %zero = uop.const 0.0 : f32
  %4 = uop.where %2, %3, %zero : f32
  %5 = uop.reduce add %4 over %k : f32
  uop.store %5, %out[%i, %j] : memref<7x33xf32>
}

// -----

// The same of integers and of bools: no zero to add.
// CHECK-LABEL: uop.kernel @one_hot_of_integers
// CHECK-NOT:     uop.reduce
// CHECK:         %[[X:.*]] = uop.load %w[%{{.*}}] mask %[[IN:.*]] : memref<50xi64>
// CHECK:         %[[P:.*]] = uop.load %p[%{{.*}}] mask %[[IN]] : memref<50xi1>
// CHECK:         uop.store %[[X]], %out[%i] : memref<7xi64>
// CHECK:         uop.store %[[P]], %some[%i] : memref<7xi1>
uop.kernel @one_hot_of_integers(%out: memref<7xi64>, %some: memref<7xi1>, %w: memref<50xi64>, %p: memref<50xi1>, %t: memref<7xi64>) {
  %i = uop.range i = 7
  %k = uop.range k = 50
  %0 = uop.load %t[%i] : memref<7xi64>
  %1 = uop.cast %k : index -> i64
  %2 = uop.eq %0, %1 : i64
  %3 = uop.load %w[%k] : memref<50xi64>
  %zero = uop.const 0 : i64
  %4 = uop.where %2, %3, %zero : i64
  %5 = uop.reduce add %4 over %k : i64
  %6 = uop.load %p[%k] : memref<50xi1>
  %false = uop.const false
  %7 = uop.where %2, %6, %false : i1
  %8 = uop.reduce or %7 over %k : i1
  uop.store %5, %out[%i] : memref<7xi64>
  uop.store %8, %some[%i] : memref<7xi1>
}

// -----

// A product with a one-hot matrix is a sum with 0 · ∞ in it: only for finite numbers.
// CHECK-LABEL: uop.kernel @one_hot_product
// CHECK:         uop.reduce add
// FAST-LABEL: uop.kernel @one_hot_product
// FAST-NOT:     uop.reduce
// FAST:         uop.store
uop.kernel @one_hot_product(%out: memref<7xf32>, %w: memref<50xf32>, %t: memref<7xi64>) {
  %i = uop.range i = 7
  %k = uop.range k = 50
  %0 = uop.load %t[%i] : memref<7xi64>
  %1 = uop.cast %k : index -> i64
  %2 = uop.eq %0, %1 : i64
  %3 = uop.cast %2 : i1 -> f32
  %4 = uop.load %w[%k] : memref<50xf32>
  %5 = uop.mul %3, %4 : f32
  %6 = uop.reduce add %5 over %k : f32
  uop.store %6, %out[%i] : memref<7xf32>
}

// -----

// How many positions lie below a number, and a causal mask as arithmetic on indices.
// CHECK-LABEL: uop.kernel @positions
// CHECK:         %[[LOW:.*]] = uop.max %[[T:.*]], %{{.*}} : i64
// CHECK-NEXT:    %[[COUNT:.*]] = uop.min %[[LOW]], %{{.*}} : i64
// CHECK:         %[[M:.*]] = uop.le %l, %i : index
// CHECK:         uop.store %[[COUNT]], %out[%i] : memref<7xi64>
// CHECK:         uop.store %[[M]], %mask[%i, %l] : memref<7x7xi1>
uop.kernel @positions(%out: memref<7xi64>, %mask: memref<7x7xi1>, %t: memref<7xi64>) {
  %i = uop.range i = 7
  %l = uop.range l = 7
  %k = uop.range k = 50
  %0 = uop.load %t[%i] : memref<7xi64>
  %1 = uop.cast %k : index -> i64
  %2 = uop.lt %1, %0 : i64
  %3 = uop.cast %2 : i1 -> i64
  %4 = uop.reduce add %3 over %k : i64
  %5 = uop.cast %l : index -> i64
  %6 = uop.cast %i : index -> i64
  %7 = uop.sub %5, %6 : i64
  %zero = uop.const 0 : i64
  %8 = uop.le %7, %zero : i64
  uop.store %4, %out[%i] : memref<7xi64>
  uop.store %8, %mask[%i, %l] : memref<7x7xi1>
}

// -----

// What does not change along a reduced axis is not added up; 8 · x is 8 equal numbers' sum to the last bit.
// CHECK-LABEL: uop.kernel @invariant
// CHECK:         %[[X:.*]] = uop.load %x[%i] : memref<4xf32>
// CHECK-NEXT:    %[[EIGHT:.*]] = uop.const 8.000000e+00 : f32
// CHECK-NEXT:    %[[M:.*]] = uop.mul %[[X]], %[[EIGHT]] : f32
// CHECK-NEXT:    %[[ZERO:.*]] = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %[[S:.*]] = uop.add %[[M]], %[[ZERO]] : f32
// CHECK-NEXT:    %k = uop.range k = 4
// CHECK-NEXT:    %[[Y:.*]] = uop.load %x[%k] : memref<4xf32>
// CHECK-NEXT:    %[[C:.*]] = uop.reduce add %[[Y]] over %k : f32
// CHECK-NEXT:    %[[W:.*]] = uop.where %{{.*}}, %[[C]], %[[ZERO]] : f32
// CHECK-NEXT:    uop.store %[[S]], %out[%i] : memref<4xf32>
// CHECK-NEXT:    uop.store %[[X]], %greatest[%i] : memref<4xf32>
// CHECK-NEXT:    uop.store %[[ZERO]], %nothing[%i] : memref<4xf32>
// CHECK-NEXT:    uop.store %[[W]], %chosen[%i] : memref<4xf32>
uop.kernel @invariant(%out: memref<4xf32>, %greatest: memref<4xf32>, %nothing: memref<4xf32>, %chosen: memref<4xf32>, %x: memref<4xf32>, %p: memref<4xi1>) {
  %i = uop.range i = 4
  %c = uop.load %p[%i] : memref<4xi1>
  %0 = uop.load %x[%i] : memref<4xf32>
  %j = uop.range j = 8
  %1 = uop.reduce add %0 over %j : f32
  %2 = uop.reduce max %0 over %j : f32
  %l = uop.range l = 0
  %3 = uop.reduce add %0 over %l : f32
  %k = uop.range k = 4
  %4 = uop.load %x[%k] : memref<4xf32>
  %zero = uop.const 0.0 : f32
  %5 = uop.where %c, %4, %zero : f32
  %6 = uop.reduce add %5 over %k : f32
  uop.store %1, %out[%i] : memref<4xf32>
  uop.store %2, %greatest[%i] : memref<4xf32>
  uop.store %3, %nothing[%i] : memref<4xf32>
  uop.store %6, %chosen[%i] : memref<4xf32>
}

// -----

// The same in tensor form and in loop form; seven equal floats are not seven times one of them.
// CHECK-LABEL: func.func @expanded
// CHECK-NEXT:    %[[E:.*]] = uop.expand %x : tensor<4x1xf32> -> tensor<4x7xf32>
// CHECK-NEXT:    %[[S:.*]] = uop.reduce_axis add %[[E]] axes [1]
// CHECK-NEXT:    func.return %x, %[[S]]
func.func @expanded(%x: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>) {
  %0 = uop.expand %x : tensor<4x1xf32> -> tensor<4x7xf32>
  %1 = uop.reduce_axis max %0 axes [1] : (tensor<4x7xf32>) -> tensor<4x1xf32>
  %2 = uop.reduce_axis add %0 axes [1] : (tensor<4x7xf32>) -> tensor<4x1xf32>
  func.return %1, %2 : tensor<4x1xf32>, tensor<4x1xf32>
}

// -----

// CHECK-LABEL: uop.kernel @invariant_loop
// CHECK-NEXT:    loop.for %i (i = 4 parallel) {
// CHECK-NEXT:      %[[X:.*]] = uop.load %x[%i] : memref<4xf32>
// CHECK-NEXT:      uop.store %[[X]], %out[%i] : memref<4xf32>
uop.kernel @invariant_loop(%out: memref<4xf32>, %x: memref<4xf32>) {
  loop.for %i (i = 4 parallel) {
    %0 = uop.load %x[%i] : memref<4xf32>
    %1 = loop.reduce %k (k = 7) max : f32 {
      loop.yield %0 : f32
    }
    uop.store %1, %out[%i] : memref<4xf32>
  }
}

// -----

// A read under a mask is 0 where the mask is false: no choice is needed. A write whose mask is true needs none.
// CHECK-LABEL: uop.kernel @read_under_a_mask
// CHECK:         %[[X:.*]] = tile.read %x[%ti] mask %[[OK:.*]] : memref<7xf32>(index) -> f32
// CHECK-NEXT:    tile.write %[[X]], %out[%ti] : f32 -> memref<8xf32>(index)
// CHECK:         %[[P:.*]] = tile.read %p[%ti] mask %[[OK]] : memref<7xi1>(index) -> i1
// CHECK-NEXT:    tile.write %[[P]], %q[%ti] : i1 -> memref<8xi1>(index)
uop.kernel @read_under_a_mask(%out: memref<8xf32>, %q: memref<8xi1>, %x: memref<7xf32>, %p: memref<7xi1>) {
  %ti = tile.axis i = 8 thread : index
  %seven = uop.const 7 : index
  %eight = uop.const 8 : index
  %0 = uop.lt %ti, %seven : index
  %1 = tile.read %x[%ti] mask %0 : memref<7xf32>(index) -> f32
  %zero = uop.const 0.0 : f32
  %2 = uop.where %0, %1, %zero : f32
  %inside = uop.lt %ti, %eight : index
  tile.write %2, %out[%ti] mask %inside : f32 -> memref<8xf32>(index)
  %3 = tile.read %p[%ti] mask %0 : memref<7xi1>(index) -> i1
  %false = uop.const false
  %4 = uop.where %0, %3, %false : i1
  tile.write %4, %q[%ti] mask %inside : i1 -> memref<8xi1>(index)
}

// -----

// The same behind casts, and where the mask is the conjunction in another order; a part of it that the mask lacks keeps
// the choice.
// CHECK-LABEL: uop.kernel @cast_from_under_a_mask
// CHECK:         %[[X:.*]] = uop.load %x[%i] mask %[[OK:.*]] : memref<6xf16>
// CHECK-NEXT:    %[[WIDE:.*]] = uop.cast %[[X]] : f16 -> f32
// CHECK-NEXT:    uop.store %[[WIDE]], %out[%i] : memref<8xf32>
// CHECK-NEXT:    %[[PART:.*]] = uop.load %x[%i] mask %{{.*}} : memref<6xf16>
// CHECK:         %[[CHOSEN:.*]] = uop.where %[[OK]], %[[PART]], %{{.*}} : f16
// CHECK-NEXT:    uop.store %[[CHOSEN]], %part[%i] : memref<8xf16>
uop.kernel @cast_from_under_a_mask(%out: memref<8xf32>, %part: memref<8xf16>, %x: memref<6xf16>, %p: memref<8xi1>) {
  %i = uop.range i = 8
  %six = uop.const 6 : index
  %one = uop.const 1 : index
  %0 = uop.lt %i, %six : index
  %1 = uop.ge %i, %one : index
  %2 = uop.load %p[%i] : memref<8xi1>
  %3 = uop.and %0, %1 : i1
  %4 = uop.and %3, %2 : i1
  %5 = uop.and %1, %2 : i1
  %6 = uop.and %0, %5 : i1
  %7 = uop.load %x[%i] mask %4 : memref<6xf16>
  %8 = uop.cast %7 : f16 -> f32
  %zero = uop.const 0.0 : f32
  %9 = uop.where %6, %8, %zero : f32
  uop.store %9, %out[%i] : memref<8xf32>
  %10 = uop.load %x[%i] mask %3 : memref<6xf16>
  %none = uop.const 0.0 : f16
  %11 = uop.where %4, %10, %none : f16
  uop.store %11, %part[%i] : memref<8xf16>
}

// -----

// Where nothing is accessed, the index does not matter: within the mask, the remainder and the quotient are known.
// CHECK-LABEL: uop.kernel @within_a_mask
// CHECK-NOT:     uop.floor
// CHECK:         %[[I:.*]] = uop.add %i, %{{.*}} : index
// CHECK-NOT:     uop.floor
// CHECK:         uop.load %x[%{{.*}}, %[[I]]] mask %[[OK:.*]] : memref<4x10xf32>
// CHECK-NEXT:    uop.store %{{.*}}, %out[%[[I]]] mask %[[OK]] : memref<10xf32>
uop.kernel @within_a_mask(%out: memref<10xf32>, %x: memref<4x10xf32>) {
  %i = uop.range i = 12
  %one = uop.const -1 : index
  %ten = uop.const 10 : index
  %zero = uop.const 0 : index
  %0 = uop.add %i, %one : index
  %1 = uop.floormod %0, %ten : index
  %2 = uop.floordiv %0, %ten : index
  %3 = uop.ge %0, %zero : index
  %4 = uop.lt %0, %ten : index
  %5 = uop.and %3, %4 : i1
  %6 = uop.load %x[%2, %1] mask %5 : memref<4x10xf32>
  uop.store %6, %out[%1] mask %5 : memref<10xf32>
}

// -----

// What is 3 or 4, and 3 or 6 when multiplied, has linear quotients and remainders.
// CHECK-LABEL: func.func @one_of_two
// CHECK-NOT:     uop.floor
// CHECK:         func.return
func.func @one_of_two(%x: index) -> (index, index, index) {
  %c1 = uop.const 1 : index
  %c2 = uop.const 2 : index
  %c3 = uop.const 3 : index
  %c4 = uop.const 4 : index
  %0 = uop.max %x, %c3 : index
  %1 = uop.min %0, %c4 : index
  %2 = uop.floordiv %1, %c4 : index
  %3 = uop.floormod %1, %c4 : index
  %4 = uop.max %x, %c1 : index
  %5 = uop.min %4, %c2 : index
  %6 = uop.mul %5, %c3 : index
  %7 = uop.floormod %6, %c4 : index
  func.return %2, %3, %7 : index, index, index
}
