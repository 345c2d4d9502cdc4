// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify)' | filecheck %s

// Written by test/unit/update_rule_tests.py: a function for each rule of the family, in which it fires.

// and[p, True] >> p for bool p
// CHECK-LABEL: func.func @logic_0
// CHECK-NEXT:    func.return %p : i1
// CHECK-NEXT:  }
func.func @logic_0(%p: i1) -> i1 {
  %0 = uop.const true
  %1 = uop.and %p, %0 : i1
  func.return %1 : i1
}

// and[p, False] >> False for bool p
// CHECK-LABEL: func.func @logic_1
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @logic_1(%p: i1) -> i1 {
  %0 = uop.const false
  %1 = uop.and %p, %0 : i1
  func.return %1 : i1
}

// or[p, True] >> True for bool p
// CHECK-LABEL: func.func @logic_2
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @logic_2(%p: i1) -> i1 {
  %0 = uop.const true
  %1 = uop.or %p, %0 : i1
  func.return %1 : i1
}

// or[p, False] >> p for bool p
// CHECK-LABEL: func.func @logic_3
// CHECK-NEXT:    func.return %p : i1
// CHECK-NEXT:  }
func.func @logic_3(%p: i1) -> i1 {
  %0 = uop.const false
  %1 = uop.or %p, %0 : i1
  func.return %1 : i1
}

// xor[p, True] >> not[p] for bool p
// CHECK-LABEL: func.func @logic_4
// CHECK-NEXT:    %0 = uop.not %p : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @logic_4(%p: i1) -> i1 {
  %0 = uop.const true
  %1 = uop.xor %p, %0 : i1
  func.return %1 : i1
}

// xor[p, False] >> p for bool p
// CHECK-LABEL: func.func @logic_5
// CHECK-NEXT:    func.return %p : i1
// CHECK-NEXT:  }
func.func @logic_5(%p: i1) -> i1 {
  %0 = uop.const false
  %1 = uop.xor %p, %0 : i1
  func.return %1 : i1
}

// eq[p, True] >> p for bool p
// CHECK-LABEL: func.func @logic_6
// CHECK-NEXT:    func.return %p : i1
// CHECK-NEXT:  }
func.func @logic_6(%p: i1) -> i1 {
  %0 = uop.const true
  %1 = uop.eq %p, %0 : i1
  func.return %1 : i1
}

// eq[p, False] >> not[p] for bool p
// CHECK-LABEL: func.func @logic_7
// CHECK-NEXT:    %0 = uop.not %p : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @logic_7(%p: i1) -> i1 {
  %0 = uop.const false
  %1 = uop.eq %p, %0 : i1
  func.return %1 : i1
}

// ne[p, True] >> not[p] for bool p
// CHECK-LABEL: func.func @logic_8
// CHECK-NEXT:    %0 = uop.not %p : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @logic_8(%p: i1) -> i1 {
  %0 = uop.const true
  %1 = uop.ne %p, %0 : i1
  func.return %1 : i1
}

// ne[p, False] >> p for bool p
// CHECK-LABEL: func.func @logic_9
// CHECK-NEXT:    func.return %p : i1
// CHECK-NEXT:  }
func.func @logic_9(%p: i1) -> i1 {
  %0 = uop.const false
  %1 = uop.ne %p, %0 : i1
  func.return %1 : i1
}

// and[n, 0] >> 0 for integer n
// CHECK-LABEL: func.func @logic_10
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @logic_10(%n: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.and %n, %0 : index
  func.return %1 : index
}

// and[n, -1] >> n for integer n
// CHECK-LABEL: func.func @logic_11
// CHECK-NEXT:    func.return %n : index
// CHECK-NEXT:  }
func.func @logic_11(%n: index) -> index {
  %0 = uop.const -1 : index
  %1 = uop.and %n, %0 : index
  func.return %1 : index
}

// or[n, 0] >> n for integer n
// CHECK-LABEL: func.func @logic_12
// CHECK-NEXT:    func.return %n : index
// CHECK-NEXT:  }
func.func @logic_12(%n: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.or %n, %0 : index
  func.return %1 : index
}

// or[n, -1] >> -1 for integer n
// CHECK-LABEL: func.func @logic_13
// CHECK-NEXT:    %0 = uop.const -1 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @logic_13(%n: index) -> index {
  %0 = uop.const -1 : index
  %1 = uop.or %n, %0 : index
  func.return %1 : index
}

// xor[n, 0] >> n for integer n
// CHECK-LABEL: func.func @logic_14
// CHECK-NEXT:    func.return %n : index
// CHECK-NEXT:  }
func.func @logic_14(%n: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.xor %n, %0 : index
  func.return %1 : index
}

// xor[n, -1] >> not[n] for integer n
// CHECK-LABEL: func.func @logic_15
// CHECK-NEXT:    %0 = uop.not %n : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @logic_15(%n: index) -> index {
  %0 = uop.const -1 : index
  %1 = uop.xor %n, %0 : index
  func.return %1 : index
}

// and[x, x] >> x for bits x
// CHECK-LABEL: func.func @logic_16
// CHECK-NEXT:    func.return %x : index
// CHECK-NEXT:  }
func.func @logic_16(%x: index) -> index {
  %0 = uop.and %x, %x : index
  func.return %0 : index
}

// or[x, x] >> x for bits x
// CHECK-LABEL: func.func @logic_17
// CHECK-NEXT:    func.return %x : index
// CHECK-NEXT:  }
func.func @logic_17(%x: index) -> index {
  %0 = uop.or %x, %x : index
  func.return %0 : index
}

// xor[p, p] >> False for bool p
// CHECK-LABEL: func.func @logic_18
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @logic_18(%p: i1) -> i1 {
  %0 = uop.xor %p, %p : i1
  func.return %0 : i1
}

// xor[n, n] >> 0 for integer n
// CHECK-LABEL: func.func @logic_19
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @logic_19(%n: index) -> index {
  %0 = uop.xor %n, %n : index
  func.return %0 : index
}

// not[not[x]] >> x for bits x
// CHECK-LABEL: func.func @logic_20
// CHECK-NEXT:    func.return %x : index
// CHECK-NEXT:  }
func.func @logic_20(%x: index) -> index {
  %0 = uop.not %x : index
  %1 = uop.not %0 : index
  func.return %1 : index
}

// and[p, not[p]] >> False for bool p
// CHECK-LABEL: func.func @logic_21
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @logic_21(%p: i1) -> i1 {
  %0 = uop.not %p : i1
  %1 = uop.and %p, %0 : i1
  func.return %1 : i1
}

// or[p, not[p]] >> True for bool p
// CHECK-LABEL: func.func @logic_22
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @logic_22(%p: i1) -> i1 {
  %0 = uop.not %p : i1
  %1 = uop.or %p, %0 : i1
  func.return %1 : i1
}

// and[x, and[x, y]] >> and[x, y] for bits x, y
// CHECK-LABEL: func.func @logic_23
// CHECK-NEXT:    %0 = uop.and %x, %y : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @logic_23(%x: index, %y: index) -> index {
  %0 = uop.and %x, %y : index
  %1 = uop.and %x, %0 : index
  func.return %1 : index
}

// or[x, or[x, y]] >> or[x, y] for bits x, y
// CHECK-LABEL: func.func @logic_24
// CHECK-NEXT:    %0 = uop.or %x, %y : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @logic_24(%x: index, %y: index) -> index {
  %0 = uop.or %x, %y : index
  %1 = uop.or %x, %0 : index
  func.return %1 : index
}

// and[x, or[x, y]] >> x for bits x, y
// CHECK-LABEL: func.func @logic_25
// CHECK-NEXT:    func.return %x : index
// CHECK-NEXT:  }
func.func @logic_25(%x: index, %y: index) -> index {
  %0 = uop.or %x, %y : index
  %1 = uop.and %x, %0 : index
  func.return %1 : index
}

// or[x, and[x, y]] >> x for bits x, y
// CHECK-LABEL: func.func @logic_26
// CHECK-NEXT:    func.return %x : index
// CHECK-NEXT:  }
func.func @logic_26(%x: index, %y: index) -> index {
  %0 = uop.and %x, %y : index
  %1 = uop.or %x, %0 : index
  func.return %1 : index
}

// and[p, or[not[p], q]] >> and[p, q] for bool p, q
// CHECK-LABEL: func.func @logic_27
// CHECK-NEXT:    %0 = uop.and %p, %q : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @logic_27(%p: i1, %q: i1) -> i1 {
  %0 = uop.not %p : i1
  %1 = uop.or %0, %q : i1
  %2 = uop.and %p, %1 : i1
  func.return %2 : i1
}

// or[p, and[not[p], q]] >> or[p, q] for bool p, q
// CHECK-LABEL: func.func @logic_28
// CHECK-NEXT:    %0 = uop.or %p, %q : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @logic_28(%p: i1, %q: i1) -> i1 {
  %0 = uop.not %p : i1
  %1 = uop.and %0, %q : i1
  %2 = uop.or %p, %1 : i1
  func.return %2 : i1
}

// and[not[p], or[p, q]] >> and[not[p], q] for bool p, q
// CHECK-LABEL: func.func @logic_29
// CHECK-NEXT:    %0 = uop.not %p : i1
// CHECK-NEXT:    %1 = uop.and %0, %q : i1
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @logic_29(%p: i1, %q: i1) -> i1 {
  %0 = uop.not %p : i1
  %1 = uop.or %p, %q : i1
  %2 = uop.and %0, %1 : i1
  func.return %2 : i1
}

// or[not[p], and[p, q]] >> or[not[p], q] for bool p, q
// CHECK-LABEL: func.func @logic_30
// CHECK-NEXT:    %0 = uop.not %p : i1
// CHECK-NEXT:    %1 = uop.or %0, %q : i1
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @logic_30(%p: i1, %q: i1) -> i1 {
  %0 = uop.not %p : i1
  %1 = uop.and %p, %q : i1
  %2 = uop.or %0, %1 : i1
  func.return %2 : i1
}

// and[n, not[n]] >> 0 for integer n
// CHECK-LABEL: func.func @logic_31
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @logic_31(%n: index) -> index {
  %0 = uop.not %n : index
  %1 = uop.and %n, %0 : index
  func.return %1 : index
}

// or[n, not[n]] >> -1 for integer n
// CHECK-LABEL: func.func @logic_32
// CHECK-NEXT:    %0 = uop.const -1 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @logic_32(%n: index) -> index {
  %0 = uop.not %n : index
  %1 = uop.or %n, %0 : index
  func.return %1 : index
}

// xor[xor[x, y], y] >> x for bits x, y
// CHECK-LABEL: func.func @logic_33
// CHECK-NEXT:    func.return %x : index
// CHECK-NEXT:  }
func.func @logic_33(%x: index, %y: index) -> index {
  %0 = uop.xor %x, %y : index
  %1 = uop.xor %0, %y : index
  func.return %1 : index
}

// xor[p, not[p]] >> True for bool p
// CHECK-LABEL: func.func @logic_34
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @logic_34(%p: i1) -> i1 {
  %0 = uop.not %p : i1
  %1 = uop.xor %p, %0 : i1
  func.return %1 : i1
}

// and[not[x], not[y]] >> not[or[x, y]] for bits x, y
// CHECK-LABEL: func.func @logic_35
// CHECK-NEXT:    %0 = uop.or %x, %y : index
// CHECK-NEXT:    %1 = uop.not %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @logic_35(%x: index, %y: index) -> index {
  %0 = uop.not %x : index
  %1 = uop.not %y : index
  %2 = uop.and %0, %1 : index
  func.return %2 : index
}

// or[not[x], not[y]] >> not[and[x, y]] for bits x, y
// CHECK-LABEL: func.func @logic_36
// CHECK-NEXT:    %0 = uop.and %x, %y : index
// CHECK-NEXT:    %1 = uop.not %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @logic_36(%x: index, %y: index) -> index {
  %0 = uop.not %x : index
  %1 = uop.not %y : index
  %2 = uop.or %0, %1 : index
  func.return %2 : index
}

// xor[not[x], y] >> not[xor[x, y]] for bits x, y
// CHECK-LABEL: func.func @logic_37
// CHECK-NEXT:    %0 = uop.xor %x, %y : index
// CHECK-NEXT:    %1 = uop.not %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @logic_37(%x: index, %y: index) -> index {
  %0 = uop.not %x : index
  %1 = uop.xor %0, %y : index
  func.return %1 : index
}

// eq[not[p], q] >> ne[p, q] for bool p, q
// CHECK-LABEL: func.func @logic_38
// CHECK-NEXT:    %0 = uop.ne %p, %q : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @logic_38(%p: i1, %q: i1) -> i1 {
  %0 = uop.not %p : i1
  %1 = uop.eq %0, %q : i1
  func.return %1 : i1
}

// ne[not[p], q] >> eq[p, q] for bool p, q
// CHECK-LABEL: func.func @logic_39
// CHECK-NEXT:    %0 = uop.eq %p, %q : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @logic_39(%p: i1, %q: i1) -> i1 {
  %0 = uop.not %p : i1
  %1 = uop.ne %0, %q : i1
  func.return %1 : i1
}

// and[and[n, a], b] >> fold_bits for integer n
// CHECK-LABEL: func.func @logic_40
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @logic_40(%n: index) -> index {
  %0 = uop.const 1 : index
  %1 = uop.and %n, %0 : index
  %2 = uop.const -2 : index
  %3 = uop.and %1, %2 : index
  func.return %3 : index
}

// or[or[n, a], b] >> fold_bits for integer n
// CHECK-LABEL: func.func @logic_41
// CHECK-NEXT:    %0 = uop.const -1 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @logic_41(%n: index) -> index {
  %0 = uop.const 1 : index
  %1 = uop.or %n, %0 : index
  %2 = uop.const -2 : index
  %3 = uop.or %1, %2 : index
  func.return %3 : index
}

// xor[xor[n, a], b] >> fold_bits for integer n
// CHECK-LABEL: func.func @logic_42
// CHECK-NEXT:    %0 = uop.not %n : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @logic_42(%n: index) -> index {
  %0 = uop.const 1 : index
  %1 = uop.xor %n, %0 : index
  %2 = uop.const -2 : index
  %3 = uop.xor %1, %2 : index
  func.return %3 : index
}

// shl[shl[n, a], b] >> shl[n, a + b] for integer n when a >= 0, b >= 0, a < 64, b < 64
// CHECK-LABEL: func.func @logic_43
// CHECK-NEXT:    %0 = uop.const 6 : i8
// CHECK-NEXT:    %1 = uop.shl %n, %0 : i8
// CHECK-NEXT:    func.return %1 : i8
// CHECK-NEXT:  }
func.func @logic_43(%n: i8) -> i8 {
  %0 = uop.const 3 : i8
  %1 = uop.shl %n, %0 : i8
  %2 = uop.shl %1, %0 : i8
  func.return %2 : i8
}

// shr[shr[n, a], b] >> shr[n, a + b] for integer n when a >= 0, b >= 0, a < 64, b < 64
// CHECK-LABEL: func.func @logic_44
// CHECK-NEXT:    %0 = uop.const 6 : i8
// CHECK-NEXT:    %1 = uop.shr %n, %0 : i8
// CHECK-NEXT:    func.return %1 : i8
// CHECK-NEXT:  }
func.func @logic_44(%n: i8) -> i8 {
  %0 = uop.const 3 : i8
  %1 = uop.shr %n, %0 : i8
  %2 = uop.shr %1, %0 : i8
  func.return %2 : i8
}

// max[p, q] >> or[p, q] for bool p, q
// CHECK-LABEL: func.func @logic_45
// CHECK-NEXT:    %0 = uop.or %p, %q : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @logic_45(%p: i1, %q: i1) -> i1 {
  %0 = uop.max %p, %q : i1
  func.return %0 : i1
}

// min[p, q] >> and[p, q] for bool p, q
// CHECK-LABEL: func.func @logic_46
// CHECK-NEXT:    %0 = uop.and %p, %q : i1
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @logic_46(%p: i1, %q: i1) -> i1 {
  %0 = uop.min %p, %q : i1
  func.return %0 : i1
}
