// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify)' | filecheck %s

// Written by test/unit/update_rule_tests.py: a function for each rule of the family, in which it fires.

// and[lt[n, a], lt[n, b]] >> lt[n, a] for integer n when a <= b
// CHECK-LABEL: func.func @conditions_0
// CHECK-NEXT:    %0 = uop.const -8 : index
// CHECK-NEXT:    %1 = uop.lt %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @conditions_0(%n: index) -> i1 {
  %0 = uop.const -8 : index
  %1 = uop.lt %n, %0 : index
  %2 = uop.const 4 : index
  %3 = uop.lt %n, %2 : index
  %4 = uop.and %1, %3 : i1
  func.return %4 : i1
}

// and[ge[n, a], ge[n, b]] >> ge[n, a] for integer n when a >= b
// CHECK-LABEL: func.func @conditions_1
// CHECK-NEXT:    %0 = uop.const 12 : index
// CHECK-NEXT:    %1 = uop.ge %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @conditions_1(%n: index) -> i1 {
  %0 = uop.const 12 : index
  %1 = uop.ge %n, %0 : index
  %2 = uop.const 6 : index
  %3 = uop.ge %n, %2 : index
  %4 = uop.and %1, %3 : i1
  func.return %4 : i1
}

// and[lt[n, a], ge[n, b]] >> False for integer n when a <= b
// CHECK-LABEL: func.func @conditions_2
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @conditions_2(%n: index) -> i1 {
  %0 = uop.const -8 : index
  %1 = uop.lt %n, %0 : index
  %2 = uop.const 4 : index
  %3 = uop.ge %n, %2 : index
  %4 = uop.and %1, %3 : i1
  func.return %4 : i1
}

// and[eq[n, a], eq[n, b]] >> False for integer n when a != b
// CHECK-LABEL: func.func @conditions_3
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @conditions_3(%n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.eq %n, %0 : index
  %2 = uop.const 4 : index
  %3 = uop.eq %n, %2 : index
  %4 = uop.and %1, %3 : i1
  func.return %4 : i1
}

// and[eq[n, a], ne[n, b]] >> eq[n, a] for integer n when a != b
// CHECK-LABEL: func.func @conditions_4
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.eq %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @conditions_4(%n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.eq %n, %0 : index
  %2 = uop.const 4 : index
  %3 = uop.ne %n, %2 : index
  %4 = uop.and %1, %3 : i1
  func.return %4 : i1
}

// and[eq[n, a], lt[n, b]] >> eq[n, a] for integer n when a < b
// CHECK-LABEL: func.func @conditions_5
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.eq %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @conditions_5(%n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.eq %n, %0 : index
  %2 = uop.const 3 : index
  %3 = uop.lt %n, %2 : index
  %4 = uop.and %1, %3 : i1
  func.return %4 : i1
}

// and[eq[n, a], lt[n, b]] >> False for integer n when a >= b
// CHECK-LABEL: func.func @conditions_6
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @conditions_6(%n: index) -> i1 {
  %0 = uop.const 12 : index
  %1 = uop.eq %n, %0 : index
  %2 = uop.const 6 : index
  %3 = uop.lt %n, %2 : index
  %4 = uop.and %1, %3 : i1
  func.return %4 : i1
}

// and[eq[n, a], ge[n, b]] >> eq[n, a] for integer n when a >= b
// CHECK-LABEL: func.func @conditions_7
// CHECK-NEXT:    %0 = uop.const 12 : index
// CHECK-NEXT:    %1 = uop.eq %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @conditions_7(%n: index) -> i1 {
  %0 = uop.const 12 : index
  %1 = uop.eq %n, %0 : index
  %2 = uop.const 6 : index
  %3 = uop.ge %n, %2 : index
  %4 = uop.and %1, %3 : i1
  func.return %4 : i1
}

// and[eq[n, a], ge[n, b]] >> False for integer n when a < b
// CHECK-LABEL: func.func @conditions_8
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @conditions_8(%n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.eq %n, %0 : index
  %2 = uop.const 3 : index
  %3 = uop.ge %n, %2 : index
  %4 = uop.and %1, %3 : i1
  func.return %4 : i1
}

// and[ne[n, a], lt[n, b]] >> lt[n, b] for integer n when a >= b
// CHECK-LABEL: func.func @conditions_9
// CHECK-NEXT:    %0 = uop.const 6 : index
// CHECK-NEXT:    %1 = uop.lt %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @conditions_9(%n: index) -> i1 {
  %0 = uop.const 12 : index
  %1 = uop.ne %n, %0 : index
  %2 = uop.const 6 : index
  %3 = uop.lt %n, %2 : index
  %4 = uop.and %1, %3 : i1
  func.return %4 : i1
}

// and[ne[n, a], ge[n, b]] >> ge[n, b] for integer n when a < b
// CHECK-LABEL: func.func @conditions_10
// CHECK-NEXT:    %0 = uop.const 3 : index
// CHECK-NEXT:    %1 = uop.ge %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @conditions_10(%n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.ne %n, %0 : index
  %2 = uop.const 3 : index
  %3 = uop.ge %n, %2 : index
  %4 = uop.and %1, %3 : i1
  func.return %4 : i1
}

// and[and[p, lt[n, a]], lt[n, b]] >> and[p, lt[n, a]] for bool p and integer n when a <= b
// CHECK-LABEL: func.func @conditions_11
// CHECK-NEXT:    %0 = uop.const -8 : index
// CHECK-NEXT:    %1 = uop.lt %n, %0 : index
// CHECK-NEXT:    %2 = uop.and %p, %1 : i1
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @conditions_11(%p: i1, %n: index) -> i1 {
  %0 = uop.const -8 : index
  %1 = uop.lt %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 4 : index
  %4 = uop.lt %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, ge[n, a]], ge[n, b]] >> and[p, ge[n, a]] for bool p and integer n when a >= b
// CHECK-LABEL: func.func @conditions_12
// CHECK-NEXT:    %0 = uop.const 12 : index
// CHECK-NEXT:    %1 = uop.ge %n, %0 : index
// CHECK-NEXT:    %2 = uop.and %p, %1 : i1
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @conditions_12(%p: i1, %n: index) -> i1 {
  %0 = uop.const 12 : index
  %1 = uop.ge %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 6 : index
  %4 = uop.ge %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, lt[n, a]], ge[n, b]] >> False for bool p and integer n when a <= b
// CHECK-LABEL: func.func @conditions_13
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @conditions_13(%p: i1, %n: index) -> i1 {
  %0 = uop.const -8 : index
  %1 = uop.lt %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 4 : index
  %4 = uop.ge %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, eq[n, a]], eq[n, b]] >> False for bool p and integer n when a != b
// CHECK-LABEL: func.func @conditions_14
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @conditions_14(%p: i1, %n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.eq %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 4 : index
  %4 = uop.eq %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, eq[n, a]], ne[n, b]] >> and[p, eq[n, a]] for bool p and integer n when a != b
// CHECK-LABEL: func.func @conditions_15
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.eq %n, %0 : index
// CHECK-NEXT:    %2 = uop.and %p, %1 : i1
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @conditions_15(%p: i1, %n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.eq %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 4 : index
  %4 = uop.ne %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, eq[n, a]], lt[n, b]] >> and[p, eq[n, a]] for bool p and integer n when a < b
// CHECK-LABEL: func.func @conditions_16
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.eq %n, %0 : index
// CHECK-NEXT:    %2 = uop.and %p, %1 : i1
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @conditions_16(%p: i1, %n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.eq %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 3 : index
  %4 = uop.lt %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, eq[n, a]], lt[n, b]] >> False for bool p and integer n when a >= b
// CHECK-LABEL: func.func @conditions_17
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @conditions_17(%p: i1, %n: index) -> i1 {
  %0 = uop.const 12 : index
  %1 = uop.eq %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 6 : index
  %4 = uop.lt %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, eq[n, a]], ge[n, b]] >> and[p, eq[n, a]] for bool p and integer n when a >= b
// CHECK-LABEL: func.func @conditions_18
// CHECK-NEXT:    %0 = uop.const 12 : index
// CHECK-NEXT:    %1 = uop.eq %n, %0 : index
// CHECK-NEXT:    %2 = uop.and %p, %1 : i1
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @conditions_18(%p: i1, %n: index) -> i1 {
  %0 = uop.const 12 : index
  %1 = uop.eq %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 6 : index
  %4 = uop.ge %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, eq[n, a]], ge[n, b]] >> False for bool p and integer n when a < b
// CHECK-LABEL: func.func @conditions_19
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @conditions_19(%p: i1, %n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.eq %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 3 : index
  %4 = uop.ge %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, ne[n, a]], lt[n, b]] >> and[p, lt[n, b]] for bool p and integer n when a >= b
// CHECK-LABEL: func.func @conditions_20
// CHECK-NEXT:    %0 = uop.const 6 : index
// CHECK-NEXT:    %1 = uop.lt %n, %0 : index
// CHECK-NEXT:    %2 = uop.and %p, %1 : i1
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @conditions_20(%p: i1, %n: index) -> i1 {
  %0 = uop.const 12 : index
  %1 = uop.ne %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 6 : index
  %4 = uop.lt %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, ne[n, a]], ge[n, b]] >> and[p, ge[n, b]] for bool p and integer n when a < b
// CHECK-LABEL: func.func @conditions_21
// CHECK-NEXT:    %0 = uop.const 3 : index
// CHECK-NEXT:    %1 = uop.ge %n, %0 : index
// CHECK-NEXT:    %2 = uop.and %p, %1 : i1
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @conditions_21(%p: i1, %n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.ne %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 3 : index
  %4 = uop.ge %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, lt[n, b]], lt[n, a]] >> and[p, lt[n, a]] for bool p and integer n when a <= b
// CHECK-LABEL: func.func @conditions_22
// CHECK-NEXT:    %0 = uop.const 6 : index
// CHECK-NEXT:    %1 = uop.lt %n, %0 : index
// CHECK-NEXT:    %2 = uop.and %p, %1 : i1
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @conditions_22(%p: i1, %n: index) -> i1 {
  %0 = uop.const 12 : index
  %1 = uop.lt %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 6 : index
  %4 = uop.lt %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, ge[n, b]], ge[n, a]] >> and[p, ge[n, a]] for bool p and integer n when a >= b
// CHECK-LABEL: func.func @conditions_23
// CHECK-NEXT:    %0 = uop.const 4 : index
// CHECK-NEXT:    %1 = uop.ge %n, %0 : index
// CHECK-NEXT:    %2 = uop.and %p, %1 : i1
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @conditions_23(%p: i1, %n: index) -> i1 {
  %0 = uop.const -8 : index
  %1 = uop.ge %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 4 : index
  %4 = uop.ge %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, ne[n, b]], eq[n, a]] >> and[p, eq[n, a]] for bool p and integer n when a != b
// CHECK-LABEL: func.func @conditions_24
// CHECK-NEXT:    %0 = uop.const 4 : index
// CHECK-NEXT:    %1 = uop.eq %n, %0 : index
// CHECK-NEXT:    %2 = uop.and %p, %1 : i1
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @conditions_24(%p: i1, %n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.ne %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 4 : index
  %4 = uop.eq %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, lt[n, b]], eq[n, a]] >> and[p, eq[n, a]] for bool p and integer n when a < b
// CHECK-LABEL: func.func @conditions_25
// CHECK-NEXT:    %0 = uop.const -8 : index
// CHECK-NEXT:    %1 = uop.eq %n, %0 : index
// CHECK-NEXT:    %2 = uop.and %p, %1 : i1
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @conditions_25(%p: i1, %n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.lt %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const -8 : index
  %4 = uop.eq %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, ge[n, b]], eq[n, a]] >> and[p, eq[n, a]] for bool p and integer n when a >= b
// CHECK-LABEL: func.func @conditions_26
// CHECK-NEXT:    %0 = uop.const 4 : index
// CHECK-NEXT:    %1 = uop.eq %n, %0 : index
// CHECK-NEXT:    %2 = uop.and %p, %1 : i1
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @conditions_26(%p: i1, %n: index) -> i1 {
  %0 = uop.const -8 : index
  %1 = uop.ge %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 4 : index
  %4 = uop.eq %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, lt[n, b]], ne[n, a]] >> and[p, lt[n, b]] for bool p and integer n when a >= b
// CHECK-LABEL: func.func @conditions_27
// CHECK-NEXT:    %0 = uop.const -8 : index
// CHECK-NEXT:    %1 = uop.lt %n, %0 : index
// CHECK-NEXT:    %2 = uop.and %p, %1 : i1
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @conditions_27(%p: i1, %n: index) -> i1 {
  %0 = uop.const -8 : index
  %1 = uop.lt %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const 4 : index
  %4 = uop.ne %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// and[and[p, ge[n, b]], ne[n, a]] >> and[p, ge[n, b]] for bool p and integer n when a < b
// CHECK-LABEL: func.func @conditions_28
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.ge %n, %0 : index
// CHECK-NEXT:    %2 = uop.and %p, %1 : i1
// CHECK-NEXT:    func.return %2 : i1
// CHECK-NEXT:  }
func.func @conditions_28(%p: i1, %n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.ge %n, %0 : index
  %2 = uop.and %p, %1 : i1
  %3 = uop.const -8 : index
  %4 = uop.ne %n, %3 : index
  %5 = uop.and %2, %4 : i1
  func.return %5 : i1
}

// or[lt[n, a], lt[n, b]] >> lt[n, a] for integer n when a >= b
// CHECK-LABEL: func.func @conditions_29
// CHECK-NEXT:    %0 = uop.const 12 : index
// CHECK-NEXT:    %1 = uop.lt %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @conditions_29(%n: index) -> i1 {
  %0 = uop.const 12 : index
  %1 = uop.lt %n, %0 : index
  %2 = uop.const 6 : index
  %3 = uop.lt %n, %2 : index
  %4 = uop.or %1, %3 : i1
  func.return %4 : i1
}

// or[ge[n, a], ge[n, b]] >> ge[n, a] for integer n when a <= b
// CHECK-LABEL: func.func @conditions_30
// CHECK-NEXT:    %0 = uop.const -8 : index
// CHECK-NEXT:    %1 = uop.ge %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @conditions_30(%n: index) -> i1 {
  %0 = uop.const -8 : index
  %1 = uop.ge %n, %0 : index
  %2 = uop.const 4 : index
  %3 = uop.ge %n, %2 : index
  %4 = uop.or %1, %3 : i1
  func.return %4 : i1
}

// or[lt[n, a], ge[n, b]] >> True for integer n when a >= b
// CHECK-LABEL: func.func @conditions_31
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @conditions_31(%n: index) -> i1 {
  %0 = uop.const 12 : index
  %1 = uop.lt %n, %0 : index
  %2 = uop.const 6 : index
  %3 = uop.ge %n, %2 : index
  %4 = uop.or %1, %3 : i1
  func.return %4 : i1
}

// or[ne[n, a], ne[n, b]] >> True for integer n when a != b
// CHECK-LABEL: func.func @conditions_32
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @conditions_32(%n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.ne %n, %0 : index
  %2 = uop.const 4 : index
  %3 = uop.ne %n, %2 : index
  %4 = uop.or %1, %3 : i1
  func.return %4 : i1
}

// or[eq[n, a], lt[n, b]] >> lt[n, b] for integer n when a < b
// CHECK-LABEL: func.func @conditions_33
// CHECK-NEXT:    %0 = uop.const 3 : index
// CHECK-NEXT:    %1 = uop.lt %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @conditions_33(%n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.eq %n, %0 : index
  %2 = uop.const 3 : index
  %3 = uop.lt %n, %2 : index
  %4 = uop.or %1, %3 : i1
  func.return %4 : i1
}

// or[eq[n, a], ge[n, b]] >> ge[n, b] for integer n when a >= b
// CHECK-LABEL: func.func @conditions_34
// CHECK-NEXT:    %0 = uop.const 6 : index
// CHECK-NEXT:    %1 = uop.ge %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @conditions_34(%n: index) -> i1 {
  %0 = uop.const 12 : index
  %1 = uop.eq %n, %0 : index
  %2 = uop.const 6 : index
  %3 = uop.ge %n, %2 : index
  %4 = uop.or %1, %3 : i1
  func.return %4 : i1
}

// or[ne[n, a], lt[n, b]] >> ne[n, a] for integer n when a >= b
// CHECK-LABEL: func.func @conditions_35
// CHECK-NEXT:    %0 = uop.const 12 : index
// CHECK-NEXT:    %1 = uop.ne %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @conditions_35(%n: index) -> i1 {
  %0 = uop.const 12 : index
  %1 = uop.ne %n, %0 : index
  %2 = uop.const 6 : index
  %3 = uop.lt %n, %2 : index
  %4 = uop.or %1, %3 : i1
  func.return %4 : i1
}

// or[ne[n, a], lt[n, b]] >> True for integer n when a < b
// CHECK-LABEL: func.func @conditions_36
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @conditions_36(%n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.ne %n, %0 : index
  %2 = uop.const 3 : index
  %3 = uop.lt %n, %2 : index
  %4 = uop.or %1, %3 : i1
  func.return %4 : i1
}

// or[ne[n, a], ge[n, b]] >> ne[n, a] for integer n when a < b
// CHECK-LABEL: func.func @conditions_37
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.ne %n, %0 : index
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @conditions_37(%n: index) -> i1 {
  %0 = uop.const 1 : index
  %1 = uop.ne %n, %0 : index
  %2 = uop.const 3 : index
  %3 = uop.ge %n, %2 : index
  %4 = uop.or %1, %3 : i1
  func.return %4 : i1
}

// or[ne[n, a], ge[n, b]] >> True for integer n when a >= b
// CHECK-LABEL: func.func @conditions_38
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @conditions_38(%n: index) -> i1 {
  %0 = uop.const 12 : index
  %1 = uop.ne %n, %0 : index
  %2 = uop.const 6 : index
  %3 = uop.ge %n, %2 : index
  %4 = uop.or %1, %3 : i1
  func.return %4 : i1
}
