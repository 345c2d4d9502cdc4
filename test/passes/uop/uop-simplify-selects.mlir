// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify)' | filecheck %s

// Written by test/unit/update_rule_tests.py: a function for each rule of the family, in which it fires.

// where[True, x, y] >> x
// CHECK-LABEL: func.func @selects_0
// CHECK-NEXT:    func.return %x : f32
// CHECK-NEXT:  }
func.func @selects_0(%x: f32, %y: f32) -> f32 {
  %0 = uop.const true
  %1 = uop.where %0, %x, %y : f32
  func.return %1 : f32
}

// where[False, x, y] >> y
// CHECK-LABEL: func.func @selects_1
// CHECK-NEXT:    func.return %y : f32
// CHECK-NEXT:  }
func.func @selects_1(%x: f32, %y: f32) -> f32 {
  %0 = uop.const false
  %1 = uop.where %0, %x, %y : f32
  func.return %1 : f32
}

// where[c, x, x] >> x for bool c
// CHECK-LABEL: func.func @selects_2
// CHECK-NEXT:    func.return %x : f32
// CHECK-NEXT:  }
func.func @selects_2(%c: i1, %x: f32) -> f32 {
  %0 = uop.where %c, %x, %x : f32
  func.return %0 : f32
}

// where[c, True, False] >> c for bool c
// CHECK-LABEL: func.func @selects_3
// CHECK-NEXT:    func.return %c : i1
// CHECK-NEXT:  }
func.func @selects_3(%c: i1) -> i1 {
  %0 = uop.const true
  %1 = uop.const false
  %2 = uop.where %c, %0, %1 : i1
  func.return %2 : i1
}

// where[c, False, True] >> not[c] for bool c
// CHECK-LABEL: func.func @selects_4
// CHECK-NEXT:    %0 = uop.not %c : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @selects_4(%c: i1) -> i1 {
  %0 = uop.const false
  %1 = uop.const true
  %2 = uop.where %c, %0, %1 : i1
  func.return %2 : i1
}

// where[c, p, False] >> and[c, p] for bool c, p
// CHECK-LABEL: func.func @selects_5
// CHECK-NEXT:    %0 = uop.and %c, %p : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @selects_5(%c: i1, %p: i1) -> i1 {
  %0 = uop.const false
  %1 = uop.where %c, %p, %0 : i1
  func.return %1 : i1
}

// where[c, True, p] >> or[c, p] for bool c, p
// CHECK-LABEL: func.func @selects_6
// CHECK-NEXT:    %0 = uop.or %c, %p : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @selects_6(%c: i1, %p: i1) -> i1 {
  %0 = uop.const true
  %1 = uop.where %c, %0, %p : i1
  func.return %1 : i1
}

// where[c, p, True] >> or[not[c], p] for bool c, p
// CHECK-LABEL: func.func @selects_7
// CHECK-NEXT:    %0 = uop.not %c : i1
// CHECK-NEXT:    %1 = uop.or %0, %p : i1
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @selects_7(%c: i1, %p: i1) -> i1 {
  %0 = uop.const true
  %1 = uop.where %c, %p, %0 : i1
  func.return %1 : i1
}

// where[c, False, p] >> and[not[c], p] for bool c, p
// CHECK-LABEL: func.func @selects_8
// CHECK-NEXT:    %0 = uop.not %c : i1
// CHECK-NEXT:    %1 = uop.and %0, %p : i1
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @selects_8(%c: i1, %p: i1) -> i1 {
  %0 = uop.const false
  %1 = uop.where %c, %0, %p : i1
  func.return %1 : i1
}

// where[not[c], x, y] >> where[c, y, x] for bool c
// CHECK-LABEL: func.func @selects_9
// CHECK-NEXT:    %0 = uop.where %c, %y, %x : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @selects_9(%c: i1, %x: f32, %y: f32) -> f32 {
  %0 = uop.not %c : i1
  %1 = uop.where %0, %x, %y : f32
  func.return %1 : f32
}

// where[c, where[c, x, y], z] >> where[c, x, z] for bool c
// CHECK-LABEL: func.func @selects_10
// CHECK-NEXT:    %0 = uop.where %c, %x, %z : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @selects_10(%c: i1, %x: f32, %y: f32, %z: f32) -> f32 {
  %0 = uop.where %c, %x, %y : f32
  %1 = uop.where %c, %0, %z : f32
  func.return %1 : f32
}

// where[c, x, where[c, y, z]] >> where[c, x, z] for bool c
// CHECK-LABEL: func.func @selects_11
// CHECK-NEXT:    %0 = uop.where %c, %x, %z : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @selects_11(%c: i1, %x: f32, %y: f32, %z: f32) -> f32 {
  %0 = uop.where %c, %y, %z : f32
  %1 = uop.where %c, %x, %0 : f32
  func.return %1 : f32
}

// where[ne[x, y], z, w] >> where[eq[x, y], w, z]
// CHECK-LABEL: func.func @selects_12
// CHECK-NEXT:    %0 = uop.eq %x, %y : f32
// CHECK-NEXT:    %1 = uop.where %0, %w, %z : f32
// CHECK-NEXT:    func.return %1 : f32
// CHECK-NEXT:  }
func.func @selects_12(%x: f32, %y: f32, %z: f32, %w: f32) -> f32 {
  %0 = uop.ne %x, %y : f32
  %1 = uop.where %0, %z, %w : f32
  func.return %1 : f32
}

// where[c, where[p, x, y], y] >> where[and[c, p], x, y] for bool c, p
// CHECK-LABEL: func.func @selects_13
// CHECK-NEXT:    %0 = uop.and %c, %p : i1
// CHECK-NEXT:    %1 = uop.where %0, %x, %y : f32
// CHECK-NEXT:    func.return %1 : f32
// CHECK-NEXT:  }
func.func @selects_13(%c: i1, %p: i1, %x: f32, %y: f32) -> f32 {
  %0 = uop.where %p, %x, %y : f32
  %1 = uop.where %c, %0, %y : f32
  func.return %1 : f32
}

// where[c, x, where[p, x, y]] >> where[or[c, p], x, y] for bool c, p
// CHECK-LABEL: func.func @selects_14
// CHECK-NEXT:    %0 = uop.or %c, %p : i1
// CHECK-NEXT:    %1 = uop.where %0, %x, %y : f32
// CHECK-NEXT:    func.return %1 : f32
// CHECK-NEXT:  }
func.func @selects_14(%c: i1, %x: f32, %p: i1, %y: f32) -> f32 {
  %0 = uop.where %p, %x, %y : f32
  %1 = uop.where %c, %x, %0 : f32
  func.return %1 : f32
}

// where[c, where[p, x, y], x] >> where[and[c, not[p]], y, x] for bool c, p
// CHECK-LABEL: func.func @selects_15
// CHECK-NEXT:    %0 = uop.not %p : i1
// CHECK-NEXT:    %1 = uop.and %c, %0 : i1
// CHECK-NEXT:    %2 = uop.where %1, %y, %x : f32
// CHECK-NEXT:    func.return %2 : f32
// CHECK-NEXT:  }
func.func @selects_15(%c: i1, %p: i1, %x: f32, %y: f32) -> f32 {
  %0 = uop.where %p, %x, %y : f32
  %1 = uop.where %c, %0, %x : f32
  func.return %1 : f32
}

// where[c, y, where[p, x, y]] >> where[and[not[c], p], x, y] for bool c, p
// CHECK-LABEL: func.func @selects_16
// CHECK-NEXT:    %0 = uop.not %c : i1
// CHECK-NEXT:    %1 = uop.and %0, %p : i1
// CHECK-NEXT:    %2 = uop.where %1, %x, %y : f32
// CHECK-NEXT:    func.return %2 : f32
// CHECK-NEXT:  }
func.func @selects_16(%c: i1, %y: f32, %p: i1, %x: f32) -> f32 {
  %0 = uop.where %p, %x, %y : f32
  %1 = uop.where %c, %y, %0 : f32
  func.return %1 : f32
}

// where[and[c, p], where[c, x, y], z] >> where[and[c, p], x, z] for bool c, p
// CHECK-LABEL: func.func @selects_17
// CHECK-NEXT:    %0 = uop.and %c, %p : i1
// CHECK-NEXT:    %1 = uop.where %0, %x, %z : f32
// CHECK-NEXT:    func.return %1 : f32
// CHECK-NEXT:  }
func.func @selects_17(%c: i1, %p: i1, %x: f32, %y: f32, %z: f32) -> f32 {
  %0 = uop.and %c, %p : i1
  %1 = uop.where %c, %x, %y : f32
  %2 = uop.where %0, %1, %z : f32
  func.return %2 : f32
}

// where[or[c, p], x, where[c, y, z]] >> where[or[c, p], x, z] for bool c, p
// CHECK-LABEL: func.func @selects_18
// CHECK-NEXT:    %0 = uop.or %c, %p : i1
// CHECK-NEXT:    %1 = uop.where %0, %x, %z : f32
// CHECK-NEXT:    func.return %1 : f32
// CHECK-NEXT:  }
func.func @selects_18(%c: i1, %p: i1, %x: f32, %y: f32, %z: f32) -> f32 {
  %0 = uop.or %c, %p : i1
  %1 = uop.where %c, %y, %z : f32
  %2 = uop.where %0, %x, %1 : f32
  func.return %2 : f32
}

// where[c, c, p] >> or[c, p] for bool c, p
// CHECK-LABEL: func.func @selects_19
// CHECK-NEXT:    %0 = uop.or %c, %p : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @selects_19(%c: i1, %p: i1) -> i1 {
  %0 = uop.where %c, %c, %p : i1
  func.return %0 : i1
}

// where[c, p, c] >> and[c, p] for bool c, p
// CHECK-LABEL: func.func @selects_20
// CHECK-NEXT:    %0 = uop.and %c, %p : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @selects_20(%c: i1, %p: i1) -> i1 {
  %0 = uop.where %c, %p, %c : i1
  func.return %0 : i1
}

// where[lt[n, m], n, m] >> min[n, m] for integer n, m
// CHECK-LABEL: func.func @selects_21
// CHECK-NEXT:    %0 = uop.min %n, %m : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @selects_21(%n: index, %m: index) -> index {
  %0 = uop.lt %n, %m : index
  %1 = uop.where %0, %n, %m : index
  func.return %1 : index
}

// where[le[n, m], n, m] >> min[n, m] for integer n, m
// CHECK-LABEL: func.func @selects_22
// CHECK-NEXT:    %0 = uop.min %n, %m : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @selects_22(%n: index, %m: index) -> index {
  %0 = uop.le %n, %m : index
  %1 = uop.where %0, %n, %m : index
  func.return %1 : index
}

// where[gt[n, m], n, m] >> max[n, m] for integer n, m
// CHECK-LABEL: func.func @selects_23
// CHECK-NEXT:    %0 = uop.max %n, %m : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @selects_23(%n: index, %m: index) -> index {
  %0 = uop.gt %n, %m : index
  %1 = uop.where %0, %n, %m : index
  func.return %1 : index
}

// where[ge[n, m], n, m] >> max[n, m] for integer n, m
// CHECK-LABEL: func.func @selects_24
// CHECK-NEXT:    %0 = uop.max %n, %m : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @selects_24(%n: index, %m: index) -> index {
  %0 = uop.ge %n, %m : index
  %1 = uop.where %0, %n, %m : index
  func.return %1 : index
}

// where[lt[n, m], m, n] >> max[n, m] for integer n, m
// CHECK-LABEL: func.func @selects_25
// CHECK-NEXT:    %0 = uop.max %n, %m : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @selects_25(%n: index, %m: index) -> index {
  %0 = uop.lt %n, %m : index
  %1 = uop.where %0, %m, %n : index
  func.return %1 : index
}

// where[le[n, m], m, n] >> max[n, m] for integer n, m
// CHECK-LABEL: func.func @selects_26
// CHECK-NEXT:    %0 = uop.max %n, %m : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @selects_26(%n: index, %m: index) -> index {
  %0 = uop.le %n, %m : index
  %1 = uop.where %0, %m, %n : index
  func.return %1 : index
}

// where[gt[n, m], m, n] >> min[n, m] for integer n, m
// CHECK-LABEL: func.func @selects_27
// CHECK-NEXT:    %0 = uop.min %n, %m : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @selects_27(%n: index, %m: index) -> index {
  %0 = uop.gt %n, %m : index
  %1 = uop.where %0, %m, %n : index
  func.return %1 : index
}

// where[ge[n, m], m, n] >> min[n, m] for integer n, m
// CHECK-LABEL: func.func @selects_28
// CHECK-NEXT:    %0 = uop.min %n, %m : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @selects_28(%n: index, %m: index) -> index {
  %0 = uop.ge %n, %m : index
  %1 = uop.where %0, %m, %n : index
  func.return %1 : index
}

// where[eq[e, f], e, f] >> f for bits e, f
// CHECK-LABEL: func.func @selects_29
// CHECK-NEXT:    func.return %f : index
// CHECK-NEXT:  }
func.func @selects_29(%e: index, %f: index) -> index {
  %0 = uop.eq %e, %f : index
  %1 = uop.where %0, %e, %f : index
  func.return %1 : index
}

// where[lt[s, 0], neg[s], s] >> abs[s] for signed s
// CHECK-LABEL: func.func @selects_30
// CHECK-NEXT:    %0 = uop.abs %s : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @selects_30(%s: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.lt %s, %0 : index
  %2 = uop.neg %s : index
  %3 = uop.where %1, %2, %s : index
  func.return %3 : index
}

// where[ge[s, 0], s, neg[s]] >> abs[s] for signed s
// CHECK-LABEL: func.func @selects_31
// CHECK-NEXT:    %0 = uop.abs %s : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @selects_31(%s: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.ge %s, %0 : index
  %2 = uop.neg %s : index
  %3 = uop.where %1, %s, %2 : index
  func.return %3 : index
}

// add[where[c, n, 0], where[c, 0, m]] >> where[c, n, m] for bool c and integer n, m
// CHECK-LABEL: func.func @selects_32
// CHECK-NEXT:    %0 = uop.where %c, %n, %m : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @selects_32(%c: i1, %n: index, %m: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.where %c, %n, %0 : index
  %2 = uop.where %c, %0, %m : index
  %3 = uop.add %1, %2 : index
  func.return %3 : index
}

// or[where[c, n, 0], where[c, 0, m]] >> where[c, n, m] for bool c and integer n, m
// CHECK-LABEL: func.func @selects_33
// CHECK-NEXT:    %0 = uop.where %c, %n, %m : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @selects_33(%c: i1, %n: index, %m: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.where %c, %n, %0 : index
  %2 = uop.where %c, %0, %m : index
  %3 = uop.or %1, %2 : index
  func.return %3 : index
}

// add[where[c, n, 0], where[c, m, 0]] >> where[c, add[n, m], 0] for bool c and integer n, m
// CHECK-LABEL: func.func @selects_34
// CHECK-NEXT:    %0 = uop.add %n, %m : index
// CHECK-NEXT:    %1 = uop.const 0 : index
// CHECK-NEXT:    %2 = uop.where %c, %0, %1 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @selects_34(%c: i1, %n: index, %m: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.where %c, %n, %0 : index
  %2 = uop.where %c, %m, %0 : index
  %3 = uop.add %1, %2 : index
  func.return %3 : index
}

// neg[where[c, a, b]] >> fold_choice for bool c
// CHECK-LABEL: func.func @selects_35
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f64
// CHECK-NEXT:    %1 = uop.const 0.000000e+00 : f64
// CHECK-NEXT:    %2 = uop.where %c, %0, %1 : f64
// CHECK-NEXT:    func.return %2 : f64
// CHECK-NEXT:  }
func.func @selects_35(%c: i1) -> f64 {
  %0 = uop.const 0.000000e+00 : f64
  %1 = uop.const -0.000000e+00 : f64
  %2 = uop.where %c, %0, %1 : f64
  %3 = uop.neg %2 : f64
  func.return %3 : f64
}

// not[where[c, a, b]] >> fold_choice for bool c
// CHECK-LABEL: func.func @selects_36
// CHECK-NEXT:    %0 = uop.const -1 : i8
// CHECK-NEXT:    %1 = uop.const -2 : i8
// CHECK-NEXT:    %2 = uop.where %c, %0, %1 : i8
// CHECK-NEXT:    func.return %2 : i8
// CHECK-NEXT:  }
func.func @selects_36(%c: i1) -> i8 {
  %0 = uop.const 0 : i8
  %1 = uop.const 1 : i8
  %2 = uop.where %c, %0, %1 : i8
  %3 = uop.not %2 : i8
  func.return %3 : i8
}

// add.ordered[where[c, a, b], d] >> fold_choice for bool c
// CHECK-LABEL: func.func @selects_37
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f64
// CHECK-NEXT:    func.return %0 : f64
// CHECK-NEXT:  }
func.func @selects_37(%c: i1) -> f64 {
  %0 = uop.const 0.000000e+00 : f64
  %1 = uop.const -0.000000e+00 : f64
  %2 = uop.where %c, %0, %1 : f64
  %3 = uop.add %2, %0 : f64
  func.return %3 : f64
}

// sub.ordered[where[c, a, b], d] >> fold_choice for bool c
// CHECK-LABEL: func.func @selects_38
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f64
// CHECK-NEXT:    func.return %0 : f64
// CHECK-NEXT:  }
func.func @selects_38(%c: i1) -> f64 {
  %0 = uop.const 0.000000e+00 : f64
  %1 = uop.const -0.000000e+00 : f64
  %2 = uop.where %c, %0, %1 : f64
  %3 = uop.sub %2, %1 : f64
  func.return %3 : f64
}

// mul.ordered[where[c, a, b], d] >> fold_choice for bool c
// CHECK-LABEL: func.func @selects_39
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f64
// CHECK-NEXT:    %1 = uop.const -0.000000e+00 : f64
// CHECK-NEXT:    %2 = uop.where %c, %0, %1 : f64
// CHECK-NEXT:    func.return %2 : f64
// CHECK-NEXT:  }
func.func @selects_39(%c: i1) -> f64 {
  %0 = uop.const 0.000000e+00 : f64
  %1 = uop.const -0.000000e+00 : f64
  %2 = uop.where %c, %0, %1 : f64
  %3 = uop.mul %2, %0 : f64
  func.return %3 : f64
}

// min.ordered[where[c, a, b], d] >> fold_choice for bool c
// CHECK-LABEL: func.func @selects_40
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f64
// CHECK-NEXT:    %1 = uop.const -0.000000e+00 : f64
// CHECK-NEXT:    %2 = uop.min %1, %0 : f64
// CHECK-NEXT:    %3 = uop.where %c, %0, %2 : f64
// CHECK-NEXT:    func.return %3 : f64
// CHECK-NEXT:  }
func.func @selects_40(%c: i1) -> f64 {
  %0 = uop.const 0.000000e+00 : f64
  %1 = uop.const -0.000000e+00 : f64
  %2 = uop.where %c, %0, %1 : f64
  %3 = uop.min %2, %0 : f64
  func.return %3 : f64
}

// max.ordered[where[c, a, b], d] >> fold_choice for bool c
// CHECK-LABEL: func.func @selects_41
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f64
// CHECK-NEXT:    %1 = uop.const -0.000000e+00 : f64
// CHECK-NEXT:    %2 = uop.max %1, %0 : f64
// CHECK-NEXT:    %3 = uop.where %c, %0, %2 : f64
// CHECK-NEXT:    func.return %3 : f64
// CHECK-NEXT:  }
func.func @selects_41(%c: i1) -> f64 {
  %0 = uop.const 0.000000e+00 : f64
  %1 = uop.const -0.000000e+00 : f64
  %2 = uop.where %c, %0, %1 : f64
  %3 = uop.max %2, %0 : f64
  func.return %3 : f64
}

// eq.ordered[where[c, a, b], d] >> fold_choice for bool c
// CHECK-LABEL: func.func @selects_42
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @selects_42(%c: i1) -> i1 {
  %0 = uop.const 0.000000e+00 : f64
  %1 = uop.const -0.000000e+00 : f64
  %2 = uop.where %c, %0, %1 : f64
  %3 = uop.eq %2, %0 : f64
  func.return %3 : i1
}

// ne.ordered[where[c, a, b], d] >> fold_choice for bool c
// CHECK-LABEL: func.func @selects_43
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @selects_43(%c: i1) -> i1 {
  %0 = uop.const 0.000000e+00 : f64
  %1 = uop.const -0.000000e+00 : f64
  %2 = uop.where %c, %0, %1 : f64
  %3 = uop.ne %2, %0 : f64
  func.return %3 : i1
}

// lt.ordered[where[c, a, b], d] >> fold_choice for bool c
// CHECK-LABEL: func.func @selects_44
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @selects_44(%c: i1) -> i1 {
  %0 = uop.const 0.000000e+00 : f64
  %1 = uop.const -0.000000e+00 : f64
  %2 = uop.where %c, %0, %1 : f64
  %3 = uop.lt %2, %0 : f64
  func.return %3 : i1
}

// le.ordered[where[c, a, b], d] >> fold_choice for bool c
// CHECK-LABEL: func.func @selects_45
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @selects_45(%c: i1) -> i1 {
  %0 = uop.const 0.000000e+00 : f64
  %1 = uop.const -0.000000e+00 : f64
  %2 = uop.where %c, %0, %1 : f64
  %3 = uop.le %2, %0 : f64
  func.return %3 : i1
}

// gt.ordered[where[c, a, b], d] >> fold_choice for bool c
// CHECK-LABEL: func.func @selects_46
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @selects_46(%c: i1) -> i1 {
  %0 = uop.const 0.000000e+00 : f64
  %1 = uop.const -0.000000e+00 : f64
  %2 = uop.where %c, %0, %1 : f64
  %3 = uop.gt %2, %0 : f64
  func.return %3 : i1
}

// ge.ordered[where[c, a, b], d] >> fold_choice for bool c
// CHECK-LABEL: func.func @selects_47
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @selects_47(%c: i1) -> i1 {
  %0 = uop.const 0.000000e+00 : f64
  %1 = uop.const -0.000000e+00 : f64
  %2 = uop.where %c, %0, %1 : f64
  %3 = uop.ge %2, %0 : f64
  func.return %3 : i1
}

// sub[d, where[c, a, b]] >> fold_choice for bool c
// CHECK-LABEL: func.func @selects_48
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f64
// CHECK-NEXT:    func.return %0 : f64
// CHECK-NEXT:  }
func.func @selects_48(%c: i1) -> f64 {
  %0 = uop.const 0.000000e+00 : f64
  %1 = uop.const -0.000000e+00 : f64
  %2 = uop.where %c, %0, %1 : f64
  %3 = uop.sub %0, %2 : f64
  func.return %3 : f64
}

// cast[where[c, a, b]] >> cast_choice for bool c
// CHECK-LABEL: func.func @selects_49
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f64
// CHECK-NEXT:    %1 = uop.const -0.000000e+00 : f64
// CHECK-NEXT:    %2 = uop.where %c, %0, %1 : f64
// CHECK-NEXT:    func.return %2 : f64
// CHECK-NEXT:  }
func.func @selects_49(%c: i1) -> f64 {
  %0 = uop.const 0.000000e+00 : f64
  %1 = uop.const -0.000000e+00 : f64
  %2 = uop.where %c, %0, %1 : f64
  %3 = uop.cast %2 : f64 -> f64
  func.return %3 : f64
}

// where[c, v @ cast[u], 0] >> cast[where[c, u, 0]] for bool c and float v, u when widens_16_bits
// CHECK-LABEL: func.func @selects_50
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f16
// CHECK-NEXT:    %1 = uop.where %c, %u, %0 : f16
// CHECK-NEXT:    %2 = uop.cast %1 : f16 -> f64
// CHECK-NEXT:    func.return %2 : f64
// CHECK-NEXT:  }
func.func @selects_50(%c: i1, %u: f16) -> f64 {
  %0 = uop.cast %u : f16 -> f64
  %1 = uop.const 0.000000e+00 : f64
  %2 = uop.where %c, %0, %1 : f64
  func.return %2 : f64
}

// where[c, 0, v @ cast[u]] >> cast[where[c, 0, u]] for bool c and float v, u when widens_16_bits
// CHECK-LABEL: func.func @selects_51
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f16
// CHECK-NEXT:    %1 = uop.where %c, %0, %u : f16
// CHECK-NEXT:    %2 = uop.cast %1 : f16 -> f64
// CHECK-NEXT:    func.return %2 : f64
// CHECK-NEXT:  }
func.func @selects_51(%c: i1, %u: f16) -> f64 {
  %0 = uop.const 0.000000e+00 : f64
  %1 = uop.cast %u : f16 -> f64
  %2 = uop.where %c, %0, %1 : f64
  func.return %2 : f64
}

// where[c, to_tf32[u], 0] >> to_tf32[where[c, u, 0]] for bool c and float u
// CHECK-LABEL: func.func @selects_52
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.where %c, %u, %0 : f32
// CHECK-NEXT:    %2 = uop.to_tf32 %1 : f32
// CHECK-NEXT:    func.return %2 : f32
// CHECK-NEXT:  }
func.func @selects_52(%c: i1, %u: f32) -> f32 {
  %0 = uop.to_tf32 %u : f32
  %1 = uop.const 0.000000e+00 : f32
  %2 = uop.where %c, %0, %1 : f32
  func.return %2 : f32
}

// where[c, 0, to_tf32[u]] >> to_tf32[where[c, 0, u]] for bool c and float u
// CHECK-LABEL: func.func @selects_53
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.where %c, %0, %u : f32
// CHECK-NEXT:    %2 = uop.to_tf32 %1 : f32
// CHECK-NEXT:    func.return %2 : f32
// CHECK-NEXT:  }
func.func @selects_53(%c: i1, %u: f32) -> f32 {
  %0 = uop.const 0.000000e+00 : f32
  %1 = uop.to_tf32 %u : f32
  %2 = uop.where %c, %0, %1 : f32
  func.return %2 : f32
}
