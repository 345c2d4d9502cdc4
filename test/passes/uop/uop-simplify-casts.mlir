// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify)' | filecheck %s

// Written by test/unit/update_rule_tests.py: a function for each rule of the family, in which it fires.

// cast[a] >> fold_cast
// CHECK-LABEL: func.func @casts_0
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @casts_0() -> f32 {
  %0 = uop.const -0.000000e+00 : f64
  %1 = uop.cast %0 : f64 -> f32
  func.return %1 : f32
}

// cast[x] >> x when is_same_type
// CHECK-LABEL: func.func @casts_1
// CHECK-NEXT:    func.return %x : f32
// CHECK-NEXT:  }
func.func @casts_1(%x: f32) -> f32 {
  %0 = uop.cast %x : f32 -> f32
  func.return %0 : f32
}

// cast[y @ cast[x]] >> x when comes_back
// CHECK-LABEL: func.func @casts_2
// CHECK-NEXT:    func.return %x : f32
// CHECK-NEXT:  }
func.func @casts_2(%x: f32) -> f32 {
  %0 = uop.cast %x : f32 -> f64
  %1 = uop.cast %0 : f64 -> f32
  func.return %1 : f32
}

// cast[y @ cast[x]] >> cast[x] when is_widened_first
// CHECK-LABEL: func.func @casts_3
// CHECK-NEXT:    %0 = uop.cast %x : f32 -> f16
// CHECK-NEXT:    func.return %0 : f16
// CHECK-NEXT:  }
func.func @casts_3(%x: f32) -> f16 {
  %0 = uop.cast %x : f32 -> f64
  %1 = uop.cast %0 : f64 -> f16
  func.return %1 : f16
}

// cast[w @ cast[n]] >> cast[n] for integer w, n when are_integer_casts, w.min == n.min, w.max == n.max
// CHECK-LABEL: func.func @casts_4
// CHECK-NEXT:    %0 = uop.const 3 : index
// CHECK-NEXT:    %1 = uop.min %n, %0 : index
// CHECK-NEXT:    %2 = uop.const 0 : index
// CHECK-NEXT:    %3 = uop.max %1, %2 : index
// CHECK-NEXT:    func.return %3 : index
// CHECK-NEXT:  }
func.func @casts_4(%n: index) -> index {
  %0 = uop.const 3 : index
  %1 = uop.min %n, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.cast %3 : index -> i8
  %5 = uop.cast %4 : i8 -> index
  func.return %5 : index
}

// ne[cast[p], 0] >> p for bool p
// CHECK-LABEL: func.func @casts_5
// CHECK-NEXT:    func.return %p : i1
// CHECK-NEXT:  }
func.func @casts_5(%p: i1) -> i1 {
  %0 = uop.cast %p : i1 -> f64
  %1 = uop.const 0.000000e+00 : f64
  %2 = uop.ne %0, %1 : f64
  func.return %2 : i1
}

// ne[cast[p], 1] >> not[p] for bool p
// CHECK-LABEL: func.func @casts_6
// CHECK-NEXT:    %0 = uop.not %p : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @casts_6(%p: i1) -> i1 {
  %0 = uop.cast %p : i1 -> f64
  %1 = uop.const 1.000000e+00 : f64
  %2 = uop.ne %0, %1 : f64
  func.return %2 : i1
}

// eq[cast[p], 0] >> not[p] for bool p
// CHECK-LABEL: func.func @casts_7
// CHECK-NEXT:    %0 = uop.not %p : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @casts_7(%p: i1) -> i1 {
  %0 = uop.cast %p : i1 -> f64
  %1 = uop.const 0.000000e+00 : f64
  %2 = uop.eq %0, %1 : f64
  func.return %2 : i1
}

// eq[cast[p], 1] >> p for bool p
// CHECK-LABEL: func.func @casts_8
// CHECK-NEXT:    func.return %p : i1
// CHECK-NEXT:  }
func.func @casts_8(%p: i1) -> i1 {
  %0 = uop.cast %p : i1 -> f64
  %1 = uop.const 1.000000e+00 : f64
  %2 = uop.eq %0, %1 : f64
  func.return %2 : i1
}

// gt[cast[p], 0] >> p for bool p
// CHECK-LABEL: func.func @casts_9
// CHECK-NEXT:    func.return %p : i1
// CHECK-NEXT:  }
func.func @casts_9(%p: i1) -> i1 {
  %0 = uop.cast %p : i1 -> f64
  %1 = uop.const 0.000000e+00 : f64
  %2 = uop.gt %0, %1 : f64
  func.return %2 : i1
}

// mul[cast[p], n] >> where[p, n, 0] for bool p and integer n
// CHECK-LABEL: func.func @casts_10
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    %1 = uop.where %p, %n, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @casts_10(%p: i1, %n: index) -> index {
  %0 = uop.cast %p : i1 -> index
  %1 = uop.mul %0, %n : index
  func.return %1 : index
}

// lt[w @ cast[n], z @ cast[m]] >> lt[n, m] for integer w, n, z, m when are_casts_of_one_type, w.min == n.min, w.max == n.max, z.min == m.min, z.max == m.max
// CHECK-LABEL: func.func @casts_11
// CHECK-NEXT:    %0 = uop.const 2 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.min %m, %0 : ui8
// CHECK-NEXT:    %3 = uop.lt %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : i1
// CHECK-NEXT:  }
func.func @casts_11(%n: ui8, %m: ui8) -> i1 {
  %0 = uop.const 2 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.min %m, %0 : ui8
  %5 = uop.max %4, %2 : ui8
  %6 = uop.cast %3 : ui8 -> i8
  %7 = uop.cast %5 : ui8 -> i8
  %8 = uop.lt %6, %7 : i8
  func.return %8 : i1
}

// le[w @ cast[n], z @ cast[m]] >> le[n, m] for integer w, n, z, m when are_casts_of_one_type, w.min == n.min, w.max == n.max, z.min == m.min, z.max == m.max
// CHECK-LABEL: func.func @casts_12
// CHECK-NEXT:    %0 = uop.const 2 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.min %m, %0 : ui8
// CHECK-NEXT:    %3 = uop.le %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : i1
// CHECK-NEXT:  }
func.func @casts_12(%n: ui8, %m: ui8) -> i1 {
  %0 = uop.const 2 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.min %m, %0 : ui8
  %5 = uop.max %4, %2 : ui8
  %6 = uop.cast %3 : ui8 -> i8
  %7 = uop.cast %5 : ui8 -> i8
  %8 = uop.le %6, %7 : i8
  func.return %8 : i1
}

// gt[w @ cast[n], z @ cast[m]] >> gt[n, m] for integer w, n, z, m when are_casts_of_one_type, w.min == n.min, w.max == n.max, z.min == m.min, z.max == m.max
// CHECK-LABEL: func.func @casts_13
// CHECK-NEXT:    %0 = uop.const 2 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.min %m, %0 : ui8
// CHECK-NEXT:    %3 = uop.gt %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : i1
// CHECK-NEXT:  }
func.func @casts_13(%n: ui8, %m: ui8) -> i1 {
  %0 = uop.const 2 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.min %m, %0 : ui8
  %5 = uop.max %4, %2 : ui8
  %6 = uop.cast %3 : ui8 -> i8
  %7 = uop.cast %5 : ui8 -> i8
  %8 = uop.gt %6, %7 : i8
  func.return %8 : i1
}

// ge[w @ cast[n], z @ cast[m]] >> ge[n, m] for integer w, n, z, m when are_casts_of_one_type, w.min == n.min, w.max == n.max, z.min == m.min, z.max == m.max
// CHECK-LABEL: func.func @casts_14
// CHECK-NEXT:    %0 = uop.const 2 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.min %m, %0 : ui8
// CHECK-NEXT:    %3 = uop.ge %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : i1
// CHECK-NEXT:  }
func.func @casts_14(%n: ui8, %m: ui8) -> i1 {
  %0 = uop.const 2 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.min %m, %0 : ui8
  %5 = uop.max %4, %2 : ui8
  %6 = uop.cast %3 : ui8 -> i8
  %7 = uop.cast %5 : ui8 -> i8
  %8 = uop.ge %6, %7 : i8
  func.return %8 : i1
}

// eq[w @ cast[n], z @ cast[m]] >> eq[n, m] for integer w, n, z, m when are_casts_of_one_type, w.min == n.min, w.max == n.max, z.min == m.min, z.max == m.max
// CHECK-LABEL: func.func @casts_15
// CHECK-NEXT:    %0 = uop.const 2 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.min %m, %0 : ui8
// CHECK-NEXT:    %3 = uop.eq %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : i1
// CHECK-NEXT:  }
func.func @casts_15(%n: ui8, %m: ui8) -> i1 {
  %0 = uop.const 2 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.min %m, %0 : ui8
  %5 = uop.max %4, %2 : ui8
  %6 = uop.cast %3 : ui8 -> i8
  %7 = uop.cast %5 : ui8 -> i8
  %8 = uop.eq %6, %7 : i8
  func.return %8 : i1
}

// ne[w @ cast[n], z @ cast[m]] >> ne[n, m] for integer w, n, z, m when are_casts_of_one_type, w.min == n.min, w.max == n.max, z.min == m.min, z.max == m.max
// CHECK-LABEL: func.func @casts_16
// CHECK-NEXT:    %0 = uop.const 2 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.min %m, %0 : ui8
// CHECK-NEXT:    %3 = uop.ne %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : i1
// CHECK-NEXT:  }
func.func @casts_16(%n: ui8, %m: ui8) -> i1 {
  %0 = uop.const 2 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.min %m, %0 : ui8
  %5 = uop.max %4, %2 : ui8
  %6 = uop.cast %3 : ui8 -> i8
  %7 = uop.cast %5 : ui8 -> i8
  %8 = uop.ne %6, %7 : i8
  func.return %8 : i1
}

// lt[w @ cast[n], a] >> lt[n, a] for integer w, n when is_integer_cast, w.min == n.min, w.max == n.max, n.min <= a, a <= n.max
// CHECK-LABEL: func.func @casts_17
// CHECK-NEXT:    %0 = uop.const 7 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.const 6 : ui8
// CHECK-NEXT:    %3 = uop.lt %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : i1
// CHECK-NEXT:  }
func.func @casts_17(%n: ui8) -> i1 {
  %0 = uop.const 7 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.cast %3 : ui8 -> index
  %5 = uop.const 6 : index
  %6 = uop.lt %4, %5 : index
  func.return %6 : i1
}

// ge[w @ cast[n], a] >> ge[n, a] for integer w, n when is_integer_cast, w.min == n.min, w.max == n.max, n.min <= a, a <= n.max
// CHECK-LABEL: func.func @casts_18
// CHECK-NEXT:    %0 = uop.const 3 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.const 1 : ui8
// CHECK-NEXT:    %3 = uop.ge %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : i1
// CHECK-NEXT:  }
func.func @casts_18(%n: ui8) -> i1 {
  %0 = uop.const 3 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.cast %3 : ui8 -> index
  %5 = uop.const 1 : index
  %6 = uop.ge %4, %5 : index
  func.return %6 : i1
}

// eq[w @ cast[n], a] >> eq[n, a] for integer w, n when is_integer_cast, w.min == n.min, w.max == n.max, n.min <= a, a <= n.max
// CHECK-LABEL: func.func @casts_19
// CHECK-NEXT:    %0 = uop.const 3 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.const 1 : ui8
// CHECK-NEXT:    %3 = uop.eq %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : i1
// CHECK-NEXT:  }
func.func @casts_19(%n: ui8) -> i1 {
  %0 = uop.const 3 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.cast %3 : ui8 -> index
  %5 = uop.const 1 : index
  %6 = uop.eq %4, %5 : index
  func.return %6 : i1
}

// ne[w @ cast[n], a] >> ne[n, a] for integer w, n when is_integer_cast, w.min == n.min, w.max == n.max, n.min <= a, a <= n.max
// CHECK-LABEL: func.func @casts_20
// CHECK-NEXT:    %0 = uop.const 3 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.const 1 : ui8
// CHECK-NEXT:    %3 = uop.ne %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : i1
// CHECK-NEXT:  }
func.func @casts_20(%n: ui8) -> i1 {
  %0 = uop.const 3 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.cast %3 : ui8 -> index
  %5 = uop.const 1 : index
  %6 = uop.ne %4, %5 : index
  func.return %6 : i1
}

// add[w @ cast[i], z @ cast[j]] >> cast_of_op for integer w, z and index i, j when is_integer_cast, i.min + j.min >= -2147483648, i.max + j.max <= 2147483647
// CHECK-LABEL: func.func @casts_21
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.min %i, %0 : index
// CHECK-NEXT:    %2 = uop.const 0 : index
// CHECK-NEXT:    %3 = uop.max %1, %2 : index
// CHECK-NEXT:    %4 = uop.const 11 : index
// CHECK-NEXT:    %5 = uop.min %j, %4 : index
// CHECK-NEXT:    %6 = uop.const 8 : index
// CHECK-NEXT:    %7 = uop.max %5, %6 : index
// CHECK-NEXT:    %8 = uop.add %3, %7 : index
// CHECK-NEXT:    %9 = uop.cast %8 : index -> i8
// CHECK-NEXT:    func.return %9 : i8
// CHECK-NEXT:  }
func.func @casts_21(%i: index, %j: index) -> i8 {
  %0 = uop.const 2 : index
  %1 = uop.min %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.const 11 : index
  %5 = uop.min %j, %4 : index
  %6 = uop.const 8 : index
  %7 = uop.max %5, %6 : index
  %8 = uop.cast %3 : index -> i8
  %9 = uop.cast %7 : index -> i8
  %10 = uop.add %8, %9 : i8
  func.return %10 : i8
}

// sub[w @ cast[i], z @ cast[j]] >> cast_of_op for integer w, z and index i, j when is_integer_cast, i.min - j.max >= -2147483648, i.max - j.min <= 2147483647
// CHECK-LABEL: func.func @casts_22
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.min %i, %0 : index
// CHECK-NEXT:    %2 = uop.const 0 : index
// CHECK-NEXT:    %3 = uop.max %1, %2 : index
// CHECK-NEXT:    %4 = uop.const 11 : index
// CHECK-NEXT:    %5 = uop.min %j, %4 : index
// CHECK-NEXT:    %6 = uop.const 8 : index
// CHECK-NEXT:    %7 = uop.max %5, %6 : index
// CHECK-NEXT:    %8 = uop.sub %3, %7 : index
// CHECK-NEXT:    %9 = uop.cast %8 : index -> i8
// CHECK-NEXT:    func.return %9 : i8
// CHECK-NEXT:  }
func.func @casts_22(%i: index, %j: index) -> i8 {
  %0 = uop.const 2 : index
  %1 = uop.min %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.const 11 : index
  %5 = uop.min %j, %4 : index
  %6 = uop.const 8 : index
  %7 = uop.max %5, %6 : index
  %8 = uop.cast %3 : index -> i8
  %9 = uop.cast %7 : index -> i8
  %10 = uop.sub %8, %9 : i8
  func.return %10 : i8
}

// add[w @ cast[i], a] >> cast_of_op_with_constant for integer w and index i when is_integer_cast, a >= -2147483648, a <= 2147483647, i.min + a >= -2147483648, i.max + a <= 2147483647
// CHECK-LABEL: func.func @casts_23
// CHECK-NEXT:    %0 = uop.const 3 : index
// CHECK-NEXT:    %1 = uop.min %i, %0 : index
// CHECK-NEXT:    %2 = uop.const 0 : index
// CHECK-NEXT:    %3 = uop.max %1, %2 : index
// CHECK-NEXT:    %4 = uop.const 64 : index
// CHECK-NEXT:    %5 = uop.add %3, %4 : index
// CHECK-NEXT:    %6 = uop.cast %5 : index -> i8
// CHECK-NEXT:    func.return %6 : i8
// CHECK-NEXT:  }
func.func @casts_23(%i: index) -> i8 {
  %0 = uop.const 3 : index
  %1 = uop.min %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.cast %3 : index -> i8
  %5 = uop.const 64 : i8
  %6 = uop.add %4, %5 : i8
  func.return %6 : i8
}

// mul[w @ cast[i], a] >> cast_of_op_with_constant for integer w and index i when is_integer_cast, i.min >= 0, a >= 0, i.max * a <= 2147483647
// CHECK-LABEL: func.func @casts_24
// CHECK-NEXT:    %0 = uop.const 3 : index
// CHECK-NEXT:    %1 = uop.min %i, %0 : index
// CHECK-NEXT:    %2 = uop.const 0 : index
// CHECK-NEXT:    %3 = uop.max %1, %2 : index
// CHECK-NEXT:    %4 = uop.const 128 : index
// CHECK-NEXT:    %5 = uop.mul %3, %4 : index
// CHECK-NEXT:    %6 = uop.cast %5 : index -> ui8
// CHECK-NEXT:    func.return %6 : ui8
// CHECK-NEXT:  }
func.func @casts_24(%i: index) -> ui8 {
  %0 = uop.const 3 : index
  %1 = uop.min %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.cast %3 : index -> ui8
  %5 = uop.const 128 : ui8
  %6 = uop.mul %4, %5 : ui8
  func.return %6 : ui8
}

// floordiv[w @ cast[i], a] >> cast_of_op_with_constant for integer w and index i when is_integer_cast, i.min >= -2147483648, i.max <= 2147483647, w.min == i.min, w.max == i.max, a > 0
// CHECK-LABEL: func.func @casts_25
// CHECK-NEXT:    %0 = uop.const 0 : i8
// CHECK-NEXT:    func.return %0 : i8
// CHECK-NEXT:  }
func.func @casts_25(%i: index) -> i8 {
  %0 = uop.const 3 : index
  %1 = uop.min %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.cast %3 : index -> i8
  %5 = uop.const 127 : i8
  %6 = uop.floordiv %4, %5 : i8
  func.return %6 : i8
}

// floormod[w @ cast[i], a] >> cast_of_op_with_constant for integer w and index i when is_integer_cast, i.min >= -2147483648, i.max <= 2147483647, w.min == i.min, w.max == i.max, a > 0
// CHECK-LABEL: func.func @casts_26
// CHECK-NEXT:    %0 = uop.const 3 : index
// CHECK-NEXT:    %1 = uop.min %i, %0 : index
// CHECK-NEXT:    %2 = uop.const 0 : index
// CHECK-NEXT:    %3 = uop.max %1, %2 : index
// CHECK-NEXT:    %4 = uop.cast %3 : index -> i8
// CHECK-NEXT:    func.return %4 : i8
// CHECK-NEXT:  }
func.func @casts_26(%i: index) -> i8 {
  %0 = uop.const 3 : index
  %1 = uop.min %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.cast %3 : index -> i8
  %5 = uop.const 127 : i8
  %6 = uop.floormod %4, %5 : i8
  func.return %6 : i8
}
