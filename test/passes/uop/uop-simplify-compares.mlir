// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify)' | filecheck %s

// Written by test/unit/update_rule_tests.py: a function for each rule of the family, in which it fires.

// eq[d, d] >> True for bits d
// CHECK-LABEL: func.func @compares_0
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_0(%d: index) -> i1 {
  %0 = uop.eq %d, %d : index
  func.return %0 : i1
}

// le[d, d] >> True for bits d
// CHECK-LABEL: func.func @compares_1
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_1(%d: index) -> i1 {
  %0 = uop.le %d, %d : index
  func.return %0 : i1
}

// ge[d, d] >> True for bits d
// CHECK-LABEL: func.func @compares_2
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_2(%d: index) -> i1 {
  %0 = uop.ge %d, %d : index
  func.return %0 : i1
}

// ne[d, d] >> False for bits d
// CHECK-LABEL: func.func @compares_3
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_3(%d: index) -> i1 {
  %0 = uop.ne %d, %d : index
  func.return %0 : i1
}

// lt[x, x] >> False
// CHECK-LABEL: func.func @compares_4
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_4(%x: f32) -> i1 {
  %0 = uop.lt %x, %x : f32
  func.return %0 : i1
}

// gt[x, x] >> False
// CHECK-LABEL: func.func @compares_5
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_5(%x: f32) -> i1 {
  %0 = uop.gt %x, %x : f32
  func.return %0 : i1
}

// lt[d, e] >> True for bits d, e when d.max < e.min
// CHECK-LABEL: func.func @compares_6
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_6(%d: index, %e: index) -> i1 {
  %0 = uop.const 0 : index
  %1 = uop.min %d, %0 : index
  %2 = uop.max %1, %0 : index
  %3 = uop.const 5 : index
  %4 = uop.min %e, %3 : index
  %5 = uop.const 1 : index
  %6 = uop.max %4, %5 : index
  %7 = uop.lt %2, %6 : index
  func.return %7 : i1
}

// lt[d, e] >> False for bits d, e when d.min >= e.max
// CHECK-LABEL: func.func @compares_7
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_7(%d: i1, %e: i1) -> i1 {
  %0 = uop.const true
  %1 = uop.min %d, %0 : i1
  %2 = uop.const false
  %3 = uop.max %1, %2 : i1
  %4 = uop.min %e, %2 : i1
  %5 = uop.max %4, %2 : i1
  %6 = uop.lt %3, %5 : i1
  func.return %6 : i1
}

// le[d, e] >> True for bits d, e when d.max <= e.min
// CHECK-LABEL: func.func @compares_8
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_8(%d: index, %e: index) -> i1 {
  %0 = uop.const 0 : index
  %1 = uop.min %d, %0 : index
  %2 = uop.max %1, %0 : index
  %3 = uop.const 1 : index
  %4 = uop.min %e, %3 : index
  %5 = uop.max %4, %0 : index
  %6 = uop.le %2, %5 : index
  func.return %6 : i1
}

// le[d, e] >> False for bits d, e when d.min > e.max
// CHECK-LABEL: func.func @compares_9
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_9(%d: index, %e: index) -> i1 {
  %0 = uop.const 0 : index
  %1 = uop.min %d, %0 : index
  %2 = uop.max %1, %0 : index
  %3 = uop.const -3 : index
  %4 = uop.min %e, %3 : index
  %5 = uop.const -9 : index
  %6 = uop.max %4, %5 : index
  %7 = uop.le %2, %6 : index
  func.return %7 : i1
}

// gt[d, e] >> True for bits d, e when d.min > e.max
// CHECK-LABEL: func.func @compares_10
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_10(%d: index, %e: index) -> i1 {
  %0 = uop.const 0 : index
  %1 = uop.min %d, %0 : index
  %2 = uop.max %1, %0 : index
  %3 = uop.const -3 : index
  %4 = uop.min %e, %3 : index
  %5 = uop.const -9 : index
  %6 = uop.max %4, %5 : index
  %7 = uop.gt %2, %6 : index
  func.return %7 : i1
}

// gt[d, e] >> False for bits d, e when d.max <= e.min
// CHECK-LABEL: func.func @compares_11
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_11(%d: index, %e: index) -> i1 {
  %0 = uop.const 0 : index
  %1 = uop.min %d, %0 : index
  %2 = uop.max %1, %0 : index
  %3 = uop.const 1 : index
  %4 = uop.min %e, %3 : index
  %5 = uop.max %4, %0 : index
  %6 = uop.gt %2, %5 : index
  func.return %6 : i1
}

// ge[d, e] >> True for bits d, e when d.min >= e.max
// CHECK-LABEL: func.func @compares_12
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_12(%d: i1, %e: i1) -> i1 {
  %0 = uop.const true
  %1 = uop.min %d, %0 : i1
  %2 = uop.const false
  %3 = uop.max %1, %2 : i1
  %4 = uop.min %e, %2 : i1
  %5 = uop.max %4, %2 : i1
  %6 = uop.ge %3, %5 : i1
  func.return %6 : i1
}

// ge[d, e] >> False for bits d, e when d.max < e.min
// CHECK-LABEL: func.func @compares_13
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_13(%d: index, %e: index) -> i1 {
  %0 = uop.const 0 : index
  %1 = uop.min %d, %0 : index
  %2 = uop.max %1, %0 : index
  %3 = uop.const 5 : index
  %4 = uop.min %e, %3 : index
  %5 = uop.const 1 : index
  %6 = uop.max %4, %5 : index
  %7 = uop.ge %2, %6 : index
  func.return %7 : i1
}

// eq[d, e] >> False for bits d, e when d.max < e.min
// CHECK-LABEL: func.func @compares_14
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_14(%d: index, %e: index) -> i1 {
  %0 = uop.const 0 : index
  %1 = uop.min %d, %0 : index
  %2 = uop.max %1, %0 : index
  %3 = uop.const 5 : index
  %4 = uop.min %e, %3 : index
  %5 = uop.const 1 : index
  %6 = uop.max %4, %5 : index
  %7 = uop.eq %2, %6 : index
  func.return %7 : i1
}

// ne[d, e] >> True for bits d, e when d.max < e.min
// CHECK-LABEL: func.func @compares_16
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_16(%d: index, %e: index) -> i1 {
  %0 = uop.const 0 : index
  %1 = uop.min %d, %0 : index
  %2 = uop.max %1, %0 : index
  %3 = uop.const 5 : index
  %4 = uop.min %e, %3 : index
  %5 = uop.const 1 : index
  %6 = uop.max %4, %5 : index
  %7 = uop.ne %2, %6 : index
  func.return %7 : i1
}

// max[n, m] >> n for integer n, m when n.min >= m.max
// CHECK-LABEL: func.func @compares_18
// CHECK-NEXT:    %0 = uop.const 1 : ui8
// CHECK-NEXT:    %1 = uop.min %m, %0 : ui8
// CHECK-NEXT:    func.return %1 : ui8
// CHECK-NEXT:  }
func.func @compares_18(%n: ui8, %m: ui8) -> ui8 {
  %0 = uop.const 0 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.max %1, %0 : ui8
  %3 = uop.const 1 : ui8
  %4 = uop.min %m, %3 : ui8
  %5 = uop.max %4, %0 : ui8
  %6 = uop.max %2, %5 : ui8
  func.return %6 : ui8
}

// min[n, m] >> n for integer n, m when n.max <= m.min
// CHECK-LABEL: func.func @compares_19
// CHECK-NEXT:    %0 = uop.const 0 : ui8
// CHECK-NEXT:    func.return %0 : ui8
// CHECK-NEXT:  }
func.func @compares_19(%n: ui8, %m: ui8) -> ui8 {
  %0 = uop.const 0 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.max %1, %0 : ui8
  %3 = uop.min %m, %0 : ui8
  %4 = uop.max %3, %0 : ui8
  %5 = uop.min %2, %4 : ui8
  func.return %5 : ui8
}

// not[lt[d, e]] >> ge[d, e] for bits d, e
// CHECK-LABEL: func.func @compares_20
// CHECK-NEXT:    %0 = uop.ge %d, %e : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_20(%d: index, %e: index) -> i1 {
  %0 = uop.lt %d, %e : index
  %1 = uop.not %0 : i1
  func.return %1 : i1
}

// not[le[d, e]] >> gt[d, e] for bits d, e
// CHECK-LABEL: func.func @compares_21
// CHECK-NEXT:    %0 = uop.gt %d, %e : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_21(%d: index, %e: index) -> i1 {
  %0 = uop.le %d, %e : index
  %1 = uop.not %0 : i1
  func.return %1 : i1
}

// not[gt[d, e]] >> le[d, e] for bits d, e
// CHECK-LABEL: func.func @compares_22
// CHECK-NEXT:    %0 = uop.le %d, %e : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_22(%d: index, %e: index) -> i1 {
  %0 = uop.gt %d, %e : index
  %1 = uop.not %0 : i1
  func.return %1 : i1
}

// not[ge[d, e]] >> lt[d, e] for bits d, e
// CHECK-LABEL: func.func @compares_23
// CHECK-NEXT:    %0 = uop.lt %d, %e : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_23(%d: index, %e: index) -> i1 {
  %0 = uop.ge %d, %e : index
  %1 = uop.not %0 : i1
  func.return %1 : i1
}

// not[eq[x, y]] >> ne[x, y]
// CHECK-LABEL: func.func @compares_24
// CHECK-NEXT:    %0 = uop.ne %x, %y : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_24(%x: f32, %y: f32) -> i1 {
  %0 = uop.eq %x, %y : f32
  %1 = uop.not %0 : i1
  func.return %1 : i1
}

// not[ne[x, y]] >> eq[x, y]
// CHECK-LABEL: func.func @compares_25
// CHECK-NEXT:    %0 = uop.eq %x, %y : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_25(%x: f32, %y: f32) -> i1 {
  %0 = uop.ne %x, %y : f32
  %1 = uop.not %0 : i1
  func.return %1 : i1
}

// lt[a, x] >> gt[x, a] when is_no_constant
// CHECK-LABEL: func.func @compares_26
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.gt %x, %0 : f32
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_26(%x: f32) -> i1 {
  %0 = uop.const 0.000000e+00 : f32
  %1 = uop.lt %0, %x : f32
  func.return %1 : i1
}

// le[a, x] >> ge[x, a] when is_no_constant
// CHECK-LABEL: func.func @compares_27
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.ge %x, %0 : f32
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_27(%x: f32) -> i1 {
  %0 = uop.const 0.000000e+00 : f32
  %1 = uop.le %0, %x : f32
  func.return %1 : i1
}

// gt[a, x] >> lt[x, a] when is_no_constant
// CHECK-LABEL: func.func @compares_28
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.lt %x, %0 : f32
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_28(%x: f32) -> i1 {
  %0 = uop.const 0.000000e+00 : f32
  %1 = uop.gt %0, %x : f32
  func.return %1 : i1
}

// ge[a, x] >> le[x, a] when is_no_constant
// CHECK-LABEL: func.func @compares_29
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.le %x, %0 : f32
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_29(%x: f32) -> i1 {
  %0 = uop.const 0.000000e+00 : f32
  %1 = uop.ge %0, %x : f32
  func.return %1 : i1
}

// le[n, a] >> lt[n, a + 1] for integer n when a < n.max
// CHECK-LABEL: func.func @compares_30
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.min %n, %0 : index
// CHECK-NEXT:    %2 = uop.const 0 : index
// CHECK-NEXT:    %3 = uop.max %1, %2 : index
// CHECK-NEXT:    %4 = uop.eq %3, %2 : index
// CHECK-NEXT:    func.return %4 : i1
// CHECK-NEXT:  }
func.func @compares_30(%n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.min %n, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.le %3, %2 : index
  func.return %4 : i1
}

// gt[n, a] >> ge[n, a + 1] for integer n when a < n.max
// CHECK-LABEL: func.func @compares_31
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.min %n, %0 : index
// CHECK-NEXT:    %2 = uop.const 0 : index
// CHECK-NEXT:    %3 = uop.max %1, %2 : index
// CHECK-NEXT:    %4 = uop.eq %3, %0 : index
// CHECK-NEXT:    func.return %4 : i1
// CHECK-NEXT:  }
func.func @compares_31(%n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.min %n, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.gt %3, %2 : index
  func.return %4 : i1
}

// lt[n, a] >> eq[n, a - 1] for integer n when n.min == a - 1
// CHECK-LABEL: func.func @compares_32
// CHECK-NEXT:    %0 = uop.const 1 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.const 0 : ui8
// CHECK-NEXT:    %3 = uop.eq %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : i1
// CHECK-NEXT:  }
func.func @compares_32(%n: ui8) -> i1 {
  %0 = uop.const 1 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.lt %3, %0 : ui8
  func.return %4 : i1
}

// ge[n, a] >> eq[n, a] for integer n when n.max == a
// CHECK-LABEL: func.func @compares_33
// CHECK-NEXT:    %0 = uop.const 1 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.eq %1, %0 : ui8
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @compares_33(%n: ui8) -> i1 {
  %0 = uop.const 1 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.ge %3, %0 : ui8
  func.return %4 : i1
}

// ne[n, a] >> ge[n, a + 1] for integer n when n.min == a, a < n.max
// CHECK-LABEL: func.func @compares_34
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.min %n, %0 : index
// CHECK-NEXT:    %2 = uop.const 0 : index
// CHECK-NEXT:    %3 = uop.max %1, %2 : index
// CHECK-NEXT:    %4 = uop.eq %3, %0 : index
// CHECK-NEXT:    func.return %4 : i1
// CHECK-NEXT:  }
func.func @compares_34(%n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.min %n, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.ne %3, %2 : index
  func.return %4 : i1
}

// ne[n, a] >> lt[n, a] for integer n when n.max == a, n.min < a
// CHECK-LABEL: func.func @compares_35
// CHECK-NEXT:    %0 = uop.const 1 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.const 0 : ui8
// CHECK-NEXT:    %3 = uop.eq %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : i1
// CHECK-NEXT:  }
func.func @compares_35(%n: ui8) -> i1 {
  %0 = uop.const 1 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.ne %3, %0 : ui8
  func.return %4 : i1
}

// lt[add[i, a], b] >> lt[i, b - a] for index i
// CHECK-LABEL: func.func @compares_36
// CHECK-NEXT:    %0 = uop.const -1 : index
// CHECK-NEXT:    %1 = uop.lt %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_36(%i: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.add %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.lt %1, %2 : index
  func.return %3 : i1
}

// ge[add[i, a], b] >> ge[i, b - a] for index i
// CHECK-LABEL: func.func @compares_37
// CHECK-NEXT:    %0 = uop.const -1 : index
// CHECK-NEXT:    %1 = uop.ge %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_37(%i: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.add %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.ge %1, %2 : index
  func.return %3 : i1
}

// eq[add[i, a], b] >> eq[i, b - a] for index i
// CHECK-LABEL: func.func @compares_38
// CHECK-NEXT:    %0 = uop.const -1 : index
// CHECK-NEXT:    %1 = uop.eq %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_38(%i: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.add %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.eq %1, %2 : index
  func.return %3 : i1
}

// ne[add[i, a], b] >> ne[i, b - a] for index i
// CHECK-LABEL: func.func @compares_39
// CHECK-NEXT:    %0 = uop.const -1 : index
// CHECK-NEXT:    %1 = uop.ne %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_39(%i: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.add %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.ne %1, %2 : index
  func.return %3 : i1
}

// lt[sub[a, i], b] >> gt[i, a - b] for index i
// CHECK-LABEL: func.func @compares_40
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.ge %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_40(%i: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.sub %0, %i : index
  %2 = uop.const 0 : index
  %3 = uop.lt %1, %2 : index
  func.return %3 : i1
}

// ge[sub[a, i], b] >> le[i, a - b] for index i
// CHECK-LABEL: func.func @compares_41
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.lt %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_41(%i: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.sub %0, %i : index
  %2 = uop.const 0 : index
  %3 = uop.ge %1, %2 : index
  func.return %3 : i1
}

// eq[sub[a, n], b] >> eq[n, a - b] for integer n
// CHECK-LABEL: func.func @compares_42
// CHECK-NEXT:    %0 = uop.const 1 : ui8
// CHECK-NEXT:    %1 = uop.eq %n, %0 : ui8
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_42(%n: ui8) -> i1 {
  %0 = uop.const 1 : ui8
  %1 = uop.sub %0, %n : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.eq %1, %2 : ui8
  func.return %3 : i1
}

// ne[sub[a, n], b] >> ne[n, a - b] for integer n
// CHECK-LABEL: func.func @compares_43
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.ne %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_43(%n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.sub %0, %n : index
  %2 = uop.const 0 : index
  %3 = uop.ne %1, %2 : index
  func.return %3 : i1
}

// lt[add[i, k], add[j, k]] >> lt[i, j] for index i, j and integer k
// CHECK-LABEL: func.func @compares_44
// CHECK-NEXT:    %0 = uop.lt %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_44(%i: index, %k: index, %j: index) -> i1 {
  %0 = uop.add %i, %k : index
  %1 = uop.add %j, %k : index
  %2 = uop.lt %0, %1 : index
  func.return %2 : i1
}

// le[add[i, k], add[j, k]] >> le[i, j] for index i, j and integer k
// CHECK-LABEL: func.func @compares_45
// CHECK-NEXT:    %0 = uop.le %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_45(%i: index, %k: index, %j: index) -> i1 {
  %0 = uop.add %i, %k : index
  %1 = uop.add %j, %k : index
  %2 = uop.le %0, %1 : index
  func.return %2 : i1
}

// gt[add[i, k], add[j, k]] >> gt[i, j] for index i, j and integer k
// CHECK-LABEL: func.func @compares_46
// CHECK-NEXT:    %0 = uop.gt %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_46(%i: index, %k: index, %j: index) -> i1 {
  %0 = uop.add %i, %k : index
  %1 = uop.add %j, %k : index
  %2 = uop.gt %0, %1 : index
  func.return %2 : i1
}

// ge[add[i, k], add[j, k]] >> ge[i, j] for index i, j and integer k
// CHECK-LABEL: func.func @compares_47
// CHECK-NEXT:    %0 = uop.ge %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_47(%i: index, %k: index, %j: index) -> i1 {
  %0 = uop.add %i, %k : index
  %1 = uop.add %j, %k : index
  %2 = uop.ge %0, %1 : index
  func.return %2 : i1
}

// eq[add[i, k], add[j, k]] >> eq[i, j] for index i, j and integer k
// CHECK-LABEL: func.func @compares_48
// CHECK-NEXT:    %0 = uop.eq %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_48(%i: index, %k: index, %j: index) -> i1 {
  %0 = uop.add %i, %k : index
  %1 = uop.add %j, %k : index
  %2 = uop.eq %0, %1 : index
  func.return %2 : i1
}

// ne[add[i, k], add[j, k]] >> ne[i, j] for index i, j and integer k
// CHECK-LABEL: func.func @compares_49
// CHECK-NEXT:    %0 = uop.ne %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_49(%i: index, %k: index, %j: index) -> i1 {
  %0 = uop.add %i, %k : index
  %1 = uop.add %j, %k : index
  %2 = uop.ne %0, %1 : index
  func.return %2 : i1
}

// lt[add[i, k], k] >> lt[i, 0] for index i and integer k
// CHECK-LABEL: func.func @compares_50
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    %1 = uop.lt %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_50(%i: index, %k: index) -> i1 {
  %0 = uop.add %i, %k : index
  %1 = uop.lt %0, %k : index
  func.return %1 : i1
}

// le[add[i, k], k] >> le[i, 0] for index i and integer k
// CHECK-LABEL: func.func @compares_51
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.lt %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_51(%i: index, %k: index) -> i1 {
  %0 = uop.add %i, %k : index
  %1 = uop.le %0, %k : index
  func.return %1 : i1
}

// gt[add[i, k], k] >> gt[i, 0] for index i and integer k
// CHECK-LABEL: func.func @compares_52
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.ge %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_52(%i: index, %k: index) -> i1 {
  %0 = uop.add %i, %k : index
  %1 = uop.gt %0, %k : index
  func.return %1 : i1
}

// ge[add[i, k], k] >> ge[i, 0] for index i and integer k
// CHECK-LABEL: func.func @compares_53
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    %1 = uop.ge %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_53(%i: index, %k: index) -> i1 {
  %0 = uop.add %i, %k : index
  %1 = uop.ge %0, %k : index
  func.return %1 : i1
}

// eq[add[i, k], k] >> eq[i, 0] for index i and integer k
// CHECK-LABEL: func.func @compares_54
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    %1 = uop.eq %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_54(%i: index, %k: index) -> i1 {
  %0 = uop.add %i, %k : index
  %1 = uop.eq %0, %k : index
  func.return %1 : i1
}

// ne[add[i, k], k] >> ne[i, 0] for index i and integer k
// CHECK-LABEL: func.func @compares_55
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    %1 = uop.ne %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_55(%i: index, %k: index) -> i1 {
  %0 = uop.add %i, %k : index
  %1 = uop.ne %0, %k : index
  func.return %1 : i1
}

// lt[sub[i, j], 0] >> lt[i, j] for index i, j
// CHECK-LABEL: func.func @compares_56
// CHECK-NEXT:    %0 = uop.lt %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_56(%i: index, %j: index) -> i1 {
  %0 = uop.sub %i, %j : index
  %1 = uop.const 0 : index
  %2 = uop.lt %0, %1 : index
  func.return %2 : i1
}

// ge[sub[i, j], 0] >> ge[i, j] for index i, j
// CHECK-LABEL: func.func @compares_57
// CHECK-NEXT:    %0 = uop.ge %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_57(%i: index, %j: index) -> i1 {
  %0 = uop.sub %i, %j : index
  %1 = uop.const 0 : index
  %2 = uop.ge %0, %1 : index
  func.return %2 : i1
}

// eq[sub[i, j], 0] >> eq[i, j] for index i, j
// CHECK-LABEL: func.func @compares_58
// CHECK-NEXT:    %0 = uop.eq %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_58(%i: index, %j: index) -> i1 {
  %0 = uop.sub %i, %j : index
  %1 = uop.const 0 : index
  %2 = uop.eq %0, %1 : index
  func.return %2 : i1
}

// ne[sub[i, j], 0] >> ne[i, j] for index i, j
// CHECK-LABEL: func.func @compares_59
// CHECK-NEXT:    %0 = uop.ne %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_59(%i: index, %j: index) -> i1 {
  %0 = uop.sub %i, %j : index
  %1 = uop.const 0 : index
  %2 = uop.ne %0, %1 : index
  func.return %2 : i1
}

// lt[sub[i, j], 1] >> le[i, j] for index i, j
// CHECK-LABEL: func.func @compares_60
// CHECK-NEXT:    %0 = uop.le %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_60(%i: index, %j: index) -> i1 {
  %0 = uop.sub %i, %j : index
  %1 = uop.const 1 : index
  %2 = uop.lt %0, %1 : index
  func.return %2 : i1
}

// ge[sub[i, j], 1] >> gt[i, j] for index i, j
// CHECK-LABEL: func.func @compares_61
// CHECK-NEXT:    %0 = uop.gt %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_61(%i: index, %j: index) -> i1 {
  %0 = uop.sub %i, %j : index
  %1 = uop.const 1 : index
  %2 = uop.ge %0, %1 : index
  func.return %2 : i1
}

// lt[neg[i], neg[j]] >> gt[i, j] for index i, j
// CHECK-LABEL: func.func @compares_62
// CHECK-NEXT:    %0 = uop.gt %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_62(%i: index, %j: index) -> i1 {
  %0 = uop.neg %i : index
  %1 = uop.neg %j : index
  %2 = uop.lt %0, %1 : index
  func.return %2 : i1
}

// le[neg[i], neg[j]] >> ge[i, j] for index i, j
// CHECK-LABEL: func.func @compares_63
// CHECK-NEXT:    %0 = uop.ge %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_63(%i: index, %j: index) -> i1 {
  %0 = uop.neg %i : index
  %1 = uop.neg %j : index
  %2 = uop.le %0, %1 : index
  func.return %2 : i1
}

// gt[neg[i], neg[j]] >> lt[i, j] for index i, j
// CHECK-LABEL: func.func @compares_64
// CHECK-NEXT:    %0 = uop.lt %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_64(%i: index, %j: index) -> i1 {
  %0 = uop.neg %i : index
  %1 = uop.neg %j : index
  %2 = uop.gt %0, %1 : index
  func.return %2 : i1
}

// ge[neg[i], neg[j]] >> le[i, j] for index i, j
// CHECK-LABEL: func.func @compares_65
// CHECK-NEXT:    %0 = uop.le %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_65(%i: index, %j: index) -> i1 {
  %0 = uop.neg %i : index
  %1 = uop.neg %j : index
  %2 = uop.ge %0, %1 : index
  func.return %2 : i1
}

// lt[neg[i], a] >> gt[i, -a] for index i
// CHECK-LABEL: func.func @compares_66
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.ge %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_66(%i: index) -> i1 {
  %0 = uop.neg %i : index
  %1 = uop.const 0 : index
  %2 = uop.lt %0, %1 : index
  func.return %2 : i1
}

// ge[neg[i], a] >> le[i, -a] for index i
// CHECK-LABEL: func.func @compares_67
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.lt %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_67(%i: index) -> i1 {
  %0 = uop.neg %i : index
  %1 = uop.const 0 : index
  %2 = uop.ge %0, %1 : index
  func.return %2 : i1
}

// eq[neg[n], a] >> eq[n, -a] for integer n
// CHECK-LABEL: func.func @compares_68
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    %1 = uop.eq %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_68(%n: index) -> i1 {
  %0 = uop.neg %n : index
  %1 = uop.const 0 : index
  %2 = uop.eq %0, %1 : index
  func.return %2 : i1
}

// ne[neg[n], a] >> ne[n, -a] for integer n
// CHECK-LABEL: func.func @compares_69
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    %1 = uop.ne %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_69(%n: index) -> i1 {
  %0 = uop.neg %n : index
  %1 = uop.const 0 : index
  %2 = uop.ne %0, %1 : index
  func.return %2 : i1
}

// eq[add[n, m], add[n, k]] >> eq[m, k] for integer n, m, k
// CHECK-LABEL: func.func @compares_70
// CHECK-NEXT:    %0 = uop.eq %m, %k : i8
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_70(%n: i8, %m: i8, %k: i8) -> i1 {
  %0 = uop.add %n, %m : i8
  %1 = uop.add %n, %k : i8
  %2 = uop.eq %0, %1 : i8
  func.return %2 : i1
}

// ne[add[n, m], add[n, k]] >> ne[m, k] for integer n, m, k
// CHECK-LABEL: func.func @compares_71
// CHECK-NEXT:    %0 = uop.ne %m, %k : i8
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_71(%n: i8, %m: i8, %k: i8) -> i1 {
  %0 = uop.add %n, %m : i8
  %1 = uop.add %n, %k : i8
  %2 = uop.ne %0, %1 : i8
  func.return %2 : i1
}

// eq[add[n, a], b] >> eq[n, b - a] for integer n
// CHECK-LABEL: func.func @compares_72
// CHECK-NEXT:    %0 = uop.const 255 : ui8
// CHECK-NEXT:    %1 = uop.eq %n, %0 : ui8
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_72(%n: ui8) -> i1 {
  %0 = uop.const 1 : ui8
  %1 = uop.add %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.eq %1, %2 : ui8
  func.return %3 : i1
}

// ne[add[n, a], b] >> ne[n, b - a] for integer n
// CHECK-LABEL: func.func @compares_73
// CHECK-NEXT:    %0 = uop.const 1 : ui8
// CHECK-NEXT:    %1 = uop.ge %n, %0 : ui8
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_73(%n: ui8) -> i1 {
  %0 = uop.const 1 : ui8
  %1 = uop.add %n, %0 : ui8
  %2 = uop.ne %1, %0 : ui8
  func.return %2 : i1
}

// eq[sub[n, m], 0] >> eq[n, m] for integer n, m
// CHECK-LABEL: func.func @compares_74
// CHECK-NEXT:    %0 = uop.eq %n, %m : i8
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_74(%n: i8, %m: i8) -> i1 {
  %0 = uop.sub %n, %m : i8
  %1 = uop.const 0 : i8
  %2 = uop.eq %0, %1 : i8
  func.return %2 : i1
}

// ne[sub[n, m], 0] >> ne[n, m] for integer n, m
// CHECK-LABEL: func.func @compares_75
// CHECK-NEXT:    %0 = uop.ne %n, %m : i8
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_75(%n: i8, %m: i8) -> i1 {
  %0 = uop.sub %n, %m : i8
  %1 = uop.const 0 : i8
  %2 = uop.ne %0, %1 : i8
  func.return %2 : i1
}

// eq[neg[n], neg[m]] >> eq[n, m] for integer n, m
// CHECK-LABEL: func.func @compares_76
// CHECK-NEXT:    %0 = uop.eq %n, %m : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_76(%n: index, %m: index) -> i1 {
  %0 = uop.neg %n : index
  %1 = uop.neg %m : index
  %2 = uop.eq %0, %1 : index
  func.return %2 : i1
}

// ne[neg[n], neg[m]] >> ne[n, m] for integer n, m
// CHECK-LABEL: func.func @compares_77
// CHECK-NEXT:    %0 = uop.ne %n, %m : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_77(%n: index, %m: index) -> i1 {
  %0 = uop.neg %n : index
  %1 = uop.neg %m : index
  %2 = uop.ne %0, %1 : index
  func.return %2 : i1
}

// eq[not[d], not[e]] >> eq[d, e] for bits d, e
// CHECK-LABEL: func.func @compares_78
// CHECK-NEXT:    %0 = uop.eq %d, %e : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_78(%d: index, %e: index) -> i1 {
  %0 = uop.not %d : index
  %1 = uop.not %e : index
  %2 = uop.eq %0, %1 : index
  func.return %2 : i1
}

// ne[not[d], not[e]] >> ne[d, e] for bits d, e
// CHECK-LABEL: func.func @compares_79
// CHECK-NEXT:    %0 = uop.ne %d, %e : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_79(%d: index, %e: index) -> i1 {
  %0 = uop.not %d : index
  %1 = uop.not %e : index
  %2 = uop.ne %0, %1 : index
  func.return %2 : i1
}

// eq[xor[n, m], 0] >> eq[n, m] for integer n, m
// CHECK-LABEL: func.func @compares_80
// CHECK-NEXT:    %0 = uop.eq %n, %m : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_80(%n: index, %m: index) -> i1 {
  %0 = uop.xor %n, %m : index
  %1 = uop.const 0 : index
  %2 = uop.eq %0, %1 : index
  func.return %2 : i1
}

// ne[xor[n, m], 0] >> ne[n, m] for integer n, m
// CHECK-LABEL: func.func @compares_81
// CHECK-NEXT:    %0 = uop.ne %n, %m : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_81(%n: index, %m: index) -> i1 {
  %0 = uop.xor %n, %m : index
  %1 = uop.const 0 : index
  %2 = uop.ne %0, %1 : index
  func.return %2 : i1
}

// lt[neg[u], neg[v]] >> gt[u, v] for float u, v
// CHECK-LABEL: func.func @compares_82
// CHECK-NEXT:    %0 = uop.gt %u, %v : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_82(%u: f32, %v: f32) -> i1 {
  %0 = uop.neg %u : f32
  %1 = uop.neg %v : f32
  %2 = uop.lt %0, %1 : f32
  func.return %2 : i1
}

// le[neg[u], neg[v]] >> ge[u, v] for float u, v
// CHECK-LABEL: func.func @compares_83
// CHECK-NEXT:    %0 = uop.ge %u, %v : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_83(%u: f32, %v: f32) -> i1 {
  %0 = uop.neg %u : f32
  %1 = uop.neg %v : f32
  %2 = uop.le %0, %1 : f32
  func.return %2 : i1
}

// gt[neg[u], neg[v]] >> lt[u, v] for float u, v
// CHECK-LABEL: func.func @compares_84
// CHECK-NEXT:    %0 = uop.lt %u, %v : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_84(%u: f32, %v: f32) -> i1 {
  %0 = uop.neg %u : f32
  %1 = uop.neg %v : f32
  %2 = uop.gt %0, %1 : f32
  func.return %2 : i1
}

// ge[neg[u], neg[v]] >> le[u, v] for float u, v
// CHECK-LABEL: func.func @compares_85
// CHECK-NEXT:    %0 = uop.le %u, %v : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_85(%u: f32, %v: f32) -> i1 {
  %0 = uop.neg %u : f32
  %1 = uop.neg %v : f32
  %2 = uop.ge %0, %1 : f32
  func.return %2 : i1
}

// lt[neg[u], a] >> gt[u, -a] for float u
// CHECK-LABEL: func.func @compares_86
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.gt %u, %0 : f32
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_86(%u: f32) -> i1 {
  %0 = uop.neg %u : f32
  %1 = uop.const 0.000000e+00 : f32
  %2 = uop.lt %0, %1 : f32
  func.return %2 : i1
}

// le[neg[u], a] >> ge[u, -a] for float u
// CHECK-LABEL: func.func @compares_87
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.ge %u, %0 : f32
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_87(%u: f32) -> i1 {
  %0 = uop.neg %u : f32
  %1 = uop.const 0.000000e+00 : f32
  %2 = uop.le %0, %1 : f32
  func.return %2 : i1
}

// gt[neg[u], a] >> lt[u, -a] for float u
// CHECK-LABEL: func.func @compares_88
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.lt %u, %0 : f32
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_88(%u: f32) -> i1 {
  %0 = uop.neg %u : f32
  %1 = uop.const 0.000000e+00 : f32
  %2 = uop.gt %0, %1 : f32
  func.return %2 : i1
}

// ge[neg[u], a] >> le[u, -a] for float u
// CHECK-LABEL: func.func @compares_89
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.le %u, %0 : f32
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_89(%u: f32) -> i1 {
  %0 = uop.neg %u : f32
  %1 = uop.const 0.000000e+00 : f32
  %2 = uop.ge %0, %1 : f32
  func.return %2 : i1
}

// eq[neg[u], neg[v]] >> eq[u, v] for float u, v
// CHECK-LABEL: func.func @compares_90
// CHECK-NEXT:    %0 = uop.eq %u, %v : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_90(%u: f32, %v: f32) -> i1 {
  %0 = uop.neg %u : f32
  %1 = uop.neg %v : f32
  %2 = uop.eq %0, %1 : f32
  func.return %2 : i1
}

// ne[neg[u], neg[v]] >> ne[u, v] for float u, v
// CHECK-LABEL: func.func @compares_91
// CHECK-NEXT:    %0 = uop.ne %u, %v : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_91(%u: f32, %v: f32) -> i1 {
  %0 = uop.neg %u : f32
  %1 = uop.neg %v : f32
  %2 = uop.ne %0, %1 : f32
  func.return %2 : i1
}

// lt[s @ add[n, a], b] >> lt[n, b - a] for integer s, n when s.min == n.min + a, s.max == n.max + a, n.min <= b - a, b - a <= n.max
// CHECK-LABEL: func.func @compares_92
// CHECK-NEXT:    %0 = uop.const 2 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.lt %1, %0 : ui8
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @compares_92(%n: ui8) -> i1 {
  %0 = uop.const 2 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.const 1 : ui8
  %5 = uop.add %3, %4 : ui8
  %6 = uop.const 3 : ui8
  %7 = uop.lt %5, %6 : ui8
  func.return %7 : i1
}

// ge[s @ add[n, a], b] >> ge[n, b - a] for integer s, n when s.min == n.min + a, s.max == n.max + a, n.min <= b - a, b - a <= n.max
// CHECK-LABEL: func.func @compares_93
// CHECK-NEXT:    %0 = uop.const 2 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.const 1 : ui8
// CHECK-NEXT:    %3 = uop.ge %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : i1
// CHECK-NEXT:  }
func.func @compares_93(%n: ui8) -> i1 {
  %0 = uop.const 2 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.const 1 : ui8
  %5 = uop.add %3, %4 : ui8
  %6 = uop.ge %5, %0 : ui8
  func.return %6 : i1
}

// lt[s @ sub[n, m], 0] >> lt[n, m] for integer s, n, m when s.min == n.min - m.max, s.max == n.max - m.min
// CHECK-LABEL: func.func @compares_94
// CHECK-NEXT:    %0 = uop.const 1 : i8
// CHECK-NEXT:    %1 = uop.min %n, %0 : i8
// CHECK-NEXT:    %2 = uop.const 0 : i8
// CHECK-NEXT:    %3 = uop.max %1, %2 : i8
// CHECK-NEXT:    %4 = uop.const 2 : i8
// CHECK-NEXT:    %5 = uop.min %m, %4 : i8
// CHECK-NEXT:    %6 = uop.max %5, %2 : i8
// CHECK-NEXT:    %7 = uop.lt %3, %6 : i8
// CHECK-NEXT:    func.return %7 : i1
// CHECK-NEXT:  }
func.func @compares_94(%n: i8, %m: i8) -> i1 {
  %0 = uop.const 1 : i8
  %1 = uop.min %n, %0 : i8
  %2 = uop.const 0 : i8
  %3 = uop.max %1, %2 : i8
  %4 = uop.const 2 : i8
  %5 = uop.min %m, %4 : i8
  %6 = uop.max %5, %2 : i8
  %7 = uop.sub %3, %6 : i8
  %8 = uop.lt %7, %2 : i8
  func.return %8 : i1
}

// ge[s @ sub[n, m], 0] >> ge[n, m] for integer s, n, m when s.min == n.min - m.max, s.max == n.max - m.min
// CHECK-LABEL: func.func @compares_95
// CHECK-NEXT:    %0 = uop.const 1 : i8
// CHECK-NEXT:    %1 = uop.min %n, %0 : i8
// CHECK-NEXT:    %2 = uop.const 0 : i8
// CHECK-NEXT:    %3 = uop.max %1, %2 : i8
// CHECK-NEXT:    %4 = uop.min %m, %0 : i8
// CHECK-NEXT:    %5 = uop.max %4, %2 : i8
// CHECK-NEXT:    %6 = uop.ge %3, %5 : i8
// CHECK-NEXT:    func.return %6 : i1
// CHECK-NEXT:  }
func.func @compares_95(%n: i8, %m: i8) -> i1 {
  %0 = uop.const 1 : i8
  %1 = uop.min %n, %0 : i8
  %2 = uop.const 0 : i8
  %3 = uop.max %1, %2 : i8
  %4 = uop.min %m, %0 : i8
  %5 = uop.max %4, %2 : i8
  %6 = uop.sub %3, %5 : i8
  %7 = uop.ge %6, %2 : i8
  func.return %7 : i1
}

// lt[s @ sub[n, m], 1] >> le[n, m] for integer s, n, m when s.min == n.min - m.max, s.max == n.max - m.min
// CHECK-LABEL: func.func @compares_96
// CHECK-NEXT:    %0 = uop.const 1 : i8
// CHECK-NEXT:    %1 = uop.min %n, %0 : i8
// CHECK-NEXT:    %2 = uop.const 0 : i8
// CHECK-NEXT:    %3 = uop.max %1, %2 : i8
// CHECK-NEXT:    %4 = uop.min %m, %0 : i8
// CHECK-NEXT:    %5 = uop.max %4, %2 : i8
// CHECK-NEXT:    %6 = uop.le %3, %5 : i8
// CHECK-NEXT:    func.return %6 : i1
// CHECK-NEXT:  }
func.func @compares_96(%n: i8, %m: i8) -> i1 {
  %0 = uop.const 1 : i8
  %1 = uop.min %n, %0 : i8
  %2 = uop.const 0 : i8
  %3 = uop.max %1, %2 : i8
  %4 = uop.min %m, %0 : i8
  %5 = uop.max %4, %2 : i8
  %6 = uop.sub %3, %5 : i8
  %7 = uop.lt %6, %0 : i8
  func.return %7 : i1
}

// ge[s @ sub[n, m], 1] >> gt[n, m] for integer s, n, m when s.min == n.min - m.max, s.max == n.max - m.min
// CHECK-LABEL: func.func @compares_97
// CHECK-NEXT:    %0 = uop.const 1 : i8
// CHECK-NEXT:    %1 = uop.min %n, %0 : i8
// CHECK-NEXT:    %2 = uop.const 0 : i8
// CHECK-NEXT:    %3 = uop.max %1, %2 : i8
// CHECK-NEXT:    %4 = uop.const 5 : i8
// CHECK-NEXT:    %5 = uop.min %m, %4 : i8
// CHECK-NEXT:    %6 = uop.const -6 : i8
// CHECK-NEXT:    %7 = uop.max %5, %6 : i8
// CHECK-NEXT:    %8 = uop.gt %3, %7 : i8
// CHECK-NEXT:    func.return %8 : i1
// CHECK-NEXT:  }
func.func @compares_97(%n: i8, %m: i8) -> i1 {
  %0 = uop.const 1 : i8
  %1 = uop.min %n, %0 : i8
  %2 = uop.const 0 : i8
  %3 = uop.max %1, %2 : i8
  %4 = uop.const 5 : i8
  %5 = uop.min %m, %4 : i8
  %6 = uop.const -6 : i8
  %7 = uop.max %5, %6 : i8
  %8 = uop.sub %3, %7 : i8
  %9 = uop.ge %8, %0 : i8
  func.return %9 : i1
}

// lt[mul[i, a], mul[j, a]] >> lt[i, j] for index i, j when a > 0
// CHECK-LABEL: func.func @compares_98
// CHECK-NEXT:    %0 = uop.lt %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_98(%i: index, %j: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.lt %1, %2 : index
  func.return %3 : i1
}

// le[mul[i, a], mul[j, a]] >> le[i, j] for index i, j when a > 0
// CHECK-LABEL: func.func @compares_99
// CHECK-NEXT:    %0 = uop.le %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_99(%i: index, %j: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.le %1, %2 : index
  func.return %3 : i1
}

// gt[mul[i, a], mul[j, a]] >> gt[i, j] for index i, j when a > 0
// CHECK-LABEL: func.func @compares_100
// CHECK-NEXT:    %0 = uop.gt %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_100(%i: index, %j: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.gt %1, %2 : index
  func.return %3 : i1
}

// ge[mul[i, a], mul[j, a]] >> ge[i, j] for index i, j when a > 0
// CHECK-LABEL: func.func @compares_101
// CHECK-NEXT:    %0 = uop.ge %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_101(%i: index, %j: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.ge %1, %2 : index
  func.return %3 : i1
}

// eq[mul[i, a], mul[j, a]] >> eq[i, j] for index i, j when a > 0
// CHECK-LABEL: func.func @compares_102
// CHECK-NEXT:    %0 = uop.eq %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_102(%i: index, %j: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.eq %1, %2 : index
  func.return %3 : i1
}

// ne[mul[i, a], mul[j, a]] >> ne[i, j] for index i, j when a > 0
// CHECK-LABEL: func.func @compares_103
// CHECK-NEXT:    %0 = uop.ne %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_103(%i: index, %j: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.ne %1, %2 : index
  func.return %3 : i1
}

// lt[mul[i, a], mul[j, a]] >> gt[i, j] for index i, j when a < 0
// CHECK-LABEL: func.func @compares_104
// CHECK-NEXT:    %0 = uop.gt %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_104(%i: index, %j: index) -> i1 {
  %0 = uop.const -2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.lt %1, %2 : index
  func.return %3 : i1
}

// le[mul[i, a], mul[j, a]] >> ge[i, j] for index i, j when a < 0
// CHECK-LABEL: func.func @compares_105
// CHECK-NEXT:    %0 = uop.ge %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_105(%i: index, %j: index) -> i1 {
  %0 = uop.const -2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.le %1, %2 : index
  func.return %3 : i1
}

// gt[mul[i, a], mul[j, a]] >> lt[i, j] for index i, j when a < 0
// CHECK-LABEL: func.func @compares_106
// CHECK-NEXT:    %0 = uop.lt %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_106(%i: index, %j: index) -> i1 {
  %0 = uop.const -2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.gt %1, %2 : index
  func.return %3 : i1
}

// ge[mul[i, a], mul[j, a]] >> le[i, j] for index i, j when a < 0
// CHECK-LABEL: func.func @compares_107
// CHECK-NEXT:    %0 = uop.le %i, %j : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_107(%i: index, %j: index) -> i1 {
  %0 = uop.const -2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.ge %1, %2 : index
  func.return %3 : i1
}

// lt[mul[i, a], b] >> lt[i, -((-b) // a)] for index i when a > 0
// CHECK-LABEL: func.func @compares_108
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    %1 = uop.lt %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_108(%i: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.lt %1, %2 : index
  func.return %3 : i1
}

// ge[mul[i, a], b] >> ge[i, -((-b) // a)] for index i when a > 0
// CHECK-LABEL: func.func @compares_109
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    %1 = uop.ge %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_109(%i: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.ge %1, %2 : index
  func.return %3 : i1
}

// lt[mul[i, a], b] >> ge[i, ((-b) // (-a)) + 1] for index i when a < 0
// CHECK-LABEL: func.func @compares_110
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.ge %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_110(%i: index) -> i1 {
  %0 = uop.const -2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.lt %1, %2 : index
  func.return %3 : i1
}

// ge[mul[i, a], b] >> lt[i, ((-b) // (-a)) + 1] for index i when a < 0
// CHECK-LABEL: func.func @compares_111
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.lt %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_111(%i: index) -> i1 {
  %0 = uop.const -2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.ge %1, %2 : index
  func.return %3 : i1
}

// lt[add[mul[i, a], j], b] >> lt[i, b // a] for index i, j when a > 0, b % a == 0, j.min >= 0, j.max < a
// CHECK-LABEL: func.func @compares_112
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    %1 = uop.lt %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_112(%i: index, %j: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.min %j, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.const 2 : index
  %5 = uop.mul %i, %4 : index
  %6 = uop.add %5, %3 : index
  %7 = uop.lt %6, %2 : index
  func.return %7 : i1
}

// ge[add[mul[i, a], j], b] >> ge[i, b // a] for index i, j when a > 0, b % a == 0, j.min >= 0, j.max < a
// CHECK-LABEL: func.func @compares_113
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    %1 = uop.ge %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_113(%i: index, %j: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.min %j, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.const 2 : index
  %5 = uop.mul %i, %4 : index
  %6 = uop.add %5, %3 : index
  %7 = uop.ge %6, %2 : index
  func.return %7 : i1
}

// eq[mul[i, a], b] >> eq[i, b // a] for index i when a != 0, b % a == 0
// CHECK-LABEL: func.func @compares_114
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    %1 = uop.eq %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_114(%i: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.eq %1, %2 : index
  func.return %3 : i1
}

// ne[mul[i, a], b] >> ne[i, b // a] for index i when a != 0, b % a == 0
// CHECK-LABEL: func.func @compares_115
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    %1 = uop.ne %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_115(%i: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.ne %1, %2 : index
  func.return %3 : i1
}

// eq[mul[i, a], b] >> False for index i when a != 0, b % a != 0
// CHECK-LABEL: func.func @compares_116
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_116(%i: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.const 1 : index
  %3 = uop.eq %1, %2 : index
  func.return %3 : i1
}

// ne[mul[i, a], b] >> True for index i when a != 0, b % a != 0
// CHECK-LABEL: func.func @compares_117
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_117(%i: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.const 1 : index
  %3 = uop.ne %1, %2 : index
  func.return %3 : i1
}

// eq[add[mul[i, a], mul[j, b]], c] >> False for index i, j when a != 0, c % gcd(a, b) != 0
// CHECK-LABEL: func.func @compares_118
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_118(%i: index, %j: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.add %1, %2 : index
  %4 = uop.const 1 : index
  %5 = uop.eq %3, %4 : index
  func.return %5 : i1
}

// ne[add[mul[i, a], mul[j, b]], c] >> True for index i, j when a != 0, c % gcd(a, b) != 0
// CHECK-LABEL: func.func @compares_119
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_119(%i: index, %j: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.add %1, %2 : index
  %4 = uop.const 1 : index
  %5 = uop.ne %3, %4 : index
  func.return %5 : i1
}

// lt[floordiv[i, a], b] >> lt[i, b * a] for index i when a > 0
// CHECK-LABEL: func.func @compares_120
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    %1 = uop.lt %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_120(%i: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.floordiv %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.lt %1, %2 : index
  func.return %3 : i1
}

// ge[floordiv[i, a], b] >> ge[i, b * a] for index i when a > 0
// CHECK-LABEL: func.func @compares_121
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    %1 = uop.ge %i, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @compares_121(%i: index) -> i1 {
  %0 = uop.const 2 : index
  %1 = uop.floordiv %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.ge %1, %2 : index
  func.return %3 : i1
}

// lt[s @ mul[n, a], 0] >> lt[n, 0] for integer s, n when a > 0, s.min == n.min * a, s.max == n.max * a
// CHECK-LABEL: func.func @compares_122
// CHECK-NEXT:    %0 = uop.const 5 : i8
// CHECK-NEXT:    %1 = uop.min %n, %0 : i8
// CHECK-NEXT:    %2 = uop.const -6 : i8
// CHECK-NEXT:    %3 = uop.max %1, %2 : i8
// CHECK-NEXT:    %4 = uop.const 0 : i8
// CHECK-NEXT:    %5 = uop.lt %3, %4 : i8
// CHECK-NEXT:    func.return %5 : i1
// CHECK-NEXT:  }
func.func @compares_122(%n: i8) -> i1 {
  %0 = uop.const 5 : i8
  %1 = uop.min %n, %0 : i8
  %2 = uop.const -6 : i8
  %3 = uop.max %1, %2 : i8
  %4 = uop.const 2 : i8
  %5 = uop.mul %3, %4 : i8
  %6 = uop.const 0 : i8
  %7 = uop.lt %5, %6 : i8
  func.return %7 : i1
}

// ge[s @ mul[n, a], 0] >> ge[n, 0] for integer s, n when a > 0, s.min == n.min * a, s.max == n.max * a
// CHECK-LABEL: func.func @compares_123
// CHECK-NEXT:    %0 = uop.const 5 : i8
// CHECK-NEXT:    %1 = uop.min %n, %0 : i8
// CHECK-NEXT:    %2 = uop.const -6 : i8
// CHECK-NEXT:    %3 = uop.max %1, %2 : i8
// CHECK-NEXT:    %4 = uop.const 0 : i8
// CHECK-NEXT:    %5 = uop.ge %3, %4 : i8
// CHECK-NEXT:    func.return %5 : i1
// CHECK-NEXT:  }
func.func @compares_123(%n: i8) -> i1 {
  %0 = uop.const 5 : i8
  %1 = uop.min %n, %0 : i8
  %2 = uop.const -6 : i8
  %3 = uop.max %1, %2 : i8
  %4 = uop.const 2 : i8
  %5 = uop.mul %3, %4 : i8
  %6 = uop.const 0 : i8
  %7 = uop.ge %5, %6 : i8
  func.return %7 : i1
}

// eq[s @ mul[n, a], 0] >> eq[n, 0] for integer s, n when a > 0, s.min == n.min * a, s.max == n.max * a
// CHECK-LABEL: func.func @compares_124
// CHECK-NEXT:    %0 = uop.const 1 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.const 0 : ui8
// CHECK-NEXT:    %3 = uop.eq %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : i1
// CHECK-NEXT:  }
func.func @compares_124(%n: ui8) -> i1 {
  %0 = uop.const 1 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.const 2 : ui8
  %5 = uop.mul %3, %4 : ui8
  %6 = uop.eq %5, %2 : ui8
  func.return %6 : i1
}

// ne[s @ mul[n, a], 0] >> ne[n, 0] for integer s, n when a > 0, s.min == n.min * a, s.max == n.max * a
// CHECK-LABEL: func.func @compares_125
// CHECK-NEXT:    %0 = uop.const 5 : i8
// CHECK-NEXT:    %1 = uop.min %n, %0 : i8
// CHECK-NEXT:    %2 = uop.const -6 : i8
// CHECK-NEXT:    %3 = uop.max %1, %2 : i8
// CHECK-NEXT:    %4 = uop.const 0 : i8
// CHECK-NEXT:    %5 = uop.ne %3, %4 : i8
// CHECK-NEXT:    func.return %5 : i1
// CHECK-NEXT:  }
func.func @compares_125(%n: i8) -> i1 {
  %0 = uop.const 5 : i8
  %1 = uop.min %n, %0 : i8
  %2 = uop.const -6 : i8
  %3 = uop.max %1, %2 : i8
  %4 = uop.const 2 : i8
  %5 = uop.mul %3, %4 : i8
  %6 = uop.const 0 : i8
  %7 = uop.ne %5, %6 : i8
  func.return %7 : i1
}

// or[lt[x, y], eq[x, y]] >> le[x, y]
// CHECK-LABEL: func.func @compares_126
// CHECK-NEXT:    %0 = uop.le %x, %y : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_126(%x: f32, %y: f32) -> i1 {
  %0 = uop.lt %x, %y : f32
  %1 = uop.eq %x, %y : f32
  %2 = uop.or %0, %1 : i1
  func.return %2 : i1
}

// or[gt[x, y], eq[x, y]] >> ge[x, y]
// CHECK-LABEL: func.func @compares_127
// CHECK-NEXT:    %0 = uop.ge %x, %y : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_127(%x: f32, %y: f32) -> i1 {
  %0 = uop.gt %x, %y : f32
  %1 = uop.eq %x, %y : f32
  %2 = uop.or %0, %1 : i1
  func.return %2 : i1
}

// or[lt[d, e], gt[d, e]] >> ne[d, e] for bits d, e
// CHECK-LABEL: func.func @compares_128
// CHECK-NEXT:    %0 = uop.ne %d, %e : index
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_128(%d: index, %e: index) -> i1 {
  %0 = uop.lt %d, %e : index
  %1 = uop.gt %d, %e : index
  %2 = uop.or %0, %1 : i1
  func.return %2 : i1
}

// and[le[x, y], ge[x, y]] >> eq[x, y]
// CHECK-LABEL: func.func @compares_129
// CHECK-NEXT:    %0 = uop.eq %x, %y : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_129(%x: f32, %y: f32) -> i1 {
  %0 = uop.le %x, %y : f32
  %1 = uop.ge %x, %y : f32
  %2 = uop.and %0, %1 : i1
  func.return %2 : i1
}

// and[le[x, y], ne[x, y]] >> lt[x, y]
// CHECK-LABEL: func.func @compares_130
// CHECK-NEXT:    %0 = uop.lt %x, %y : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_130(%x: f32, %y: f32) -> i1 {
  %0 = uop.le %x, %y : f32
  %1 = uop.ne %x, %y : f32
  %2 = uop.and %0, %1 : i1
  func.return %2 : i1
}

// and[ge[x, y], ne[x, y]] >> gt[x, y]
// CHECK-LABEL: func.func @compares_131
// CHECK-NEXT:    %0 = uop.gt %x, %y : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_131(%x: f32, %y: f32) -> i1 {
  %0 = uop.ge %x, %y : f32
  %1 = uop.ne %x, %y : f32
  %2 = uop.and %0, %1 : i1
  func.return %2 : i1
}

// and[lt[x, y], le[x, y]] >> lt[x, y]
// CHECK-LABEL: func.func @compares_132
// CHECK-NEXT:    %0 = uop.lt %x, %y : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_132(%x: f32, %y: f32) -> i1 {
  %0 = uop.lt %x, %y : f32
  %1 = uop.le %x, %y : f32
  %2 = uop.and %0, %1 : i1
  func.return %2 : i1
}

// and[gt[x, y], ge[x, y]] >> gt[x, y]
// CHECK-LABEL: func.func @compares_133
// CHECK-NEXT:    %0 = uop.gt %x, %y : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_133(%x: f32, %y: f32) -> i1 {
  %0 = uop.gt %x, %y : f32
  %1 = uop.ge %x, %y : f32
  %2 = uop.and %0, %1 : i1
  func.return %2 : i1
}

// or[lt[x, y], le[x, y]] >> le[x, y]
// CHECK-LABEL: func.func @compares_134
// CHECK-NEXT:    %0 = uop.le %x, %y : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_134(%x: f32, %y: f32) -> i1 {
  %0 = uop.lt %x, %y : f32
  %1 = uop.le %x, %y : f32
  %2 = uop.or %0, %1 : i1
  func.return %2 : i1
}

// or[gt[x, y], ge[x, y]] >> ge[x, y]
// CHECK-LABEL: func.func @compares_135
// CHECK-NEXT:    %0 = uop.ge %x, %y : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_135(%x: f32, %y: f32) -> i1 {
  %0 = uop.gt %x, %y : f32
  %1 = uop.ge %x, %y : f32
  %2 = uop.or %0, %1 : i1
  func.return %2 : i1
}

// and[lt[x, y], gt[x, y]] >> False
// CHECK-LABEL: func.func @compares_136
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_136(%x: f32, %y: f32) -> i1 {
  %0 = uop.lt %x, %y : f32
  %1 = uop.gt %x, %y : f32
  %2 = uop.and %0, %1 : i1
  func.return %2 : i1
}

// and[lt[x, y], ge[x, y]] >> False
// CHECK-LABEL: func.func @compares_137
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_137(%x: f32, %y: f32) -> i1 {
  %0 = uop.lt %x, %y : f32
  %1 = uop.ge %x, %y : f32
  %2 = uop.and %0, %1 : i1
  func.return %2 : i1
}

// and[gt[x, y], le[x, y]] >> False
// CHECK-LABEL: func.func @compares_138
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_138(%x: f32, %y: f32) -> i1 {
  %0 = uop.gt %x, %y : f32
  %1 = uop.le %x, %y : f32
  %2 = uop.and %0, %1 : i1
  func.return %2 : i1
}

// and[eq[x, y], ne[x, y]] >> False
// CHECK-LABEL: func.func @compares_139
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_139(%x: f32, %y: f32) -> i1 {
  %0 = uop.eq %x, %y : f32
  %1 = uop.ne %x, %y : f32
  %2 = uop.and %0, %1 : i1
  func.return %2 : i1
}

// or[lt[d, e], ge[d, e]] >> True for bits d, e
// CHECK-LABEL: func.func @compares_140
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_140(%d: index, %e: index) -> i1 {
  %0 = uop.lt %d, %e : index
  %1 = uop.ge %d, %e : index
  %2 = uop.or %0, %1 : i1
  func.return %2 : i1
}

// or[gt[d, e], le[d, e]] >> True for bits d, e
// CHECK-LABEL: func.func @compares_141
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_141(%d: index, %e: index) -> i1 {
  %0 = uop.gt %d, %e : index
  %1 = uop.le %d, %e : index
  %2 = uop.or %0, %1 : i1
  func.return %2 : i1
}

// or[eq[x, y], ne[x, y]] >> True
// CHECK-LABEL: func.func @compares_142
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @compares_142(%x: f32, %y: f32) -> i1 {
  %0 = uop.eq %x, %y : f32
  %1 = uop.ne %x, %y : f32
  %2 = uop.or %0, %1 : i1
  func.return %2 : i1
}
