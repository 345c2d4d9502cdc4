// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify)' | filecheck %s

// Written by test/unit/update_rule_tests.py: a function for each rule of the family, in which it fires.

// sub[n, a] >> add[n, -a] for integer n when a != 0
// CHECK-LABEL: func.func @indices_0
// CHECK-NEXT:    %0 = uop.const -1 : index
// CHECK-NEXT:    %1 = uop.add %n, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @indices_0(%n: index) -> index {
  %0 = uop.const 1 : index
  %1 = uop.sub %n, %0 : index
  func.return %1 : index
}

// sub[a, add[n, b]] >> sub[a - b, n] for integer n
// CHECK-LABEL: func.func @indices_1
// CHECK-NEXT:    %0 = uop.const 255 : ui8
// CHECK-NEXT:    %1 = uop.sub %0, %n : ui8
// CHECK-NEXT:    func.return %1 : ui8
// CHECK-NEXT:  }
func.func @indices_1(%n: ui8) -> ui8 {
  %0 = uop.const 1 : ui8
  %1 = uop.const 2 : ui8
  %2 = uop.add %n, %1 : ui8
  %3 = uop.sub %0, %2 : ui8
  func.return %3 : ui8
}

// add[add[n, a], b] >> add[n, a + b] for integer n
// CHECK-LABEL: func.func @indices_2
// CHECK-NEXT:    %0 = uop.const 2 : ui8
// CHECK-NEXT:    %1 = uop.add %n, %0 : ui8
// CHECK-NEXT:    func.return %1 : ui8
// CHECK-NEXT:  }
func.func @indices_2(%n: ui8) -> ui8 {
  %0 = uop.const 1 : ui8
  %1 = uop.add %n, %0 : ui8
  %2 = uop.add %1, %0 : ui8
  func.return %2 : ui8
}

// add[sub[a, n], b] >> sub[a + b, n] for integer n
// CHECK-LABEL: func.func @indices_3
// CHECK-NEXT:    %0 = uop.const 2 : ui8
// CHECK-NEXT:    %1 = uop.sub %0, %n : ui8
// CHECK-NEXT:    func.return %1 : ui8
// CHECK-NEXT:  }
func.func @indices_3(%n: ui8) -> ui8 {
  %0 = uop.const 1 : ui8
  %1 = uop.sub %0, %n : ui8
  %2 = uop.add %1, %0 : ui8
  func.return %2 : ui8
}

// sub[a, sub[b, n]] >> add[n, a - b] for integer n
// CHECK-LABEL: func.func @indices_4
// CHECK-NEXT:    %0 = uop.const 255 : ui8
// CHECK-NEXT:    %1 = uop.add %n, %0 : ui8
// CHECK-NEXT:    func.return %1 : ui8
// CHECK-NEXT:  }
func.func @indices_4(%n: ui8) -> ui8 {
  %0 = uop.const 1 : ui8
  %1 = uop.const 2 : ui8
  %2 = uop.sub %1, %n : ui8
  %3 = uop.sub %0, %2 : ui8
  func.return %3 : ui8
}

// mul[mul[n, a], b] >> mul[n, a * b] for integer n
// CHECK-LABEL: func.func @indices_5
// CHECK-NEXT:    %0 = uop.const 4 : ui8
// CHECK-NEXT:    %1 = uop.mul %n, %0 : ui8
// CHECK-NEXT:    func.return %1 : ui8
// CHECK-NEXT:  }
func.func @indices_5(%n: ui8) -> ui8 {
  %0 = uop.const 2 : ui8
  %1 = uop.mul %n, %0 : ui8
  %2 = uop.mul %1, %0 : ui8
  func.return %2 : ui8
}

// add[s @ add[n, a], m] >> add[add[n, m], a] for integer s, n, m when is_no_constant, is_only_used_here
// CHECK-LABEL: func.func @indices_6
// CHECK-NEXT:    %0 = uop.add %n, %m : ui8
// CHECK-NEXT:    %1 = uop.const 1 : ui8
// CHECK-NEXT:    %2 = uop.add %0, %1 : ui8
// CHECK-NEXT:    func.return %2 : ui8
// CHECK-NEXT:  }
func.func @indices_6(%n: ui8, %m: ui8) -> ui8 {
  %0 = uop.const 1 : ui8
  %1 = uop.add %n, %0 : ui8
  %2 = uop.add %1, %m : ui8
  func.return %2 : ui8
}

// sub[s @ add[n, a], m] >> add[sub[n, m], a] for integer s, n, m when is_only_used_here
// CHECK-LABEL: func.func @indices_7
// CHECK-NEXT:    %0 = uop.sub %n, %m : ui8
// CHECK-NEXT:    %1 = uop.const 1 : ui8
// CHECK-NEXT:    %2 = uop.add %0, %1 : ui8
// CHECK-NEXT:    func.return %2 : ui8
// CHECK-NEXT:  }
func.func @indices_7(%n: ui8, %m: ui8) -> ui8 {
  %0 = uop.const 1 : ui8
  %1 = uop.add %n, %0 : ui8
  %2 = uop.sub %1, %m : ui8
  func.return %2 : ui8
}

// sub[n, s @ add[m, a]] >> add[sub[n, m], -a] for integer n, s, m when is_only_used_here
// CHECK-LABEL: func.func @indices_8
// CHECK-NEXT:    %0 = uop.sub %n, %m : ui8
// CHECK-NEXT:    %1 = uop.const 255 : ui8
// CHECK-NEXT:    %2 = uop.add %0, %1 : ui8
// CHECK-NEXT:    func.return %2 : ui8
// CHECK-NEXT:  }
func.func @indices_8(%n: ui8, %m: ui8) -> ui8 {
  %0 = uop.const 1 : ui8
  %1 = uop.add %m, %0 : ui8
  %2 = uop.sub %n, %1 : ui8
  func.return %2 : ui8
}

// mul[s @ add[i, a], b] >> add[mul[i, b], a * b] for integer s and index i when is_only_used_here
// CHECK-LABEL: func.func @indices_9
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.mul %i, %0 : index
// CHECK-NEXT:    %2 = uop.add %1, %0 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @indices_9(%i: index) -> index {
  %0 = uop.const 1 : index
  %1 = uop.add %i, %0 : index
  %2 = uop.const 2 : index
  %3 = uop.mul %1, %2 : index
  func.return %3 : index
}

// add[n, n] >> mul[n, 2] for integer n
// CHECK-LABEL: func.func @indices_10
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.mul %n, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @indices_10(%n: index) -> index {
  %0 = uop.add %n, %n : index
  func.return %0 : index
}

// add[mul[n, a], n] >> mul[n, a + 1] for integer n
// CHECK-LABEL: func.func @indices_11
// CHECK-NEXT:    %0 = uop.const 3 : i8
// CHECK-NEXT:    %1 = uop.mul %n, %0 : i8
// CHECK-NEXT:    func.return %1 : i8
// CHECK-NEXT:  }
func.func @indices_11(%n: i8) -> i8 {
  %0 = uop.const 2 : i8
  %1 = uop.mul %n, %0 : i8
  %2 = uop.add %1, %n : i8
  func.return %2 : i8
}

// add[mul[n, a], mul[n, b]] >> mul[n, a + b] for integer n
// CHECK-LABEL: func.func @indices_12
// CHECK-NEXT:    %0 = uop.const 5 : ui8
// CHECK-NEXT:    %1 = uop.mul %n, %0 : ui8
// CHECK-NEXT:    func.return %1 : ui8
// CHECK-NEXT:  }
func.func @indices_12(%n: ui8) -> ui8 {
  %0 = uop.const 2 : ui8
  %1 = uop.mul %n, %0 : ui8
  %2 = uop.const 3 : ui8
  %3 = uop.mul %n, %2 : ui8
  %4 = uop.add %1, %3 : ui8
  func.return %4 : ui8
}

// sub[mul[n, a], n] >> mul[n, a - 1] for integer n
// CHECK-LABEL: func.func @indices_13
// CHECK-NEXT:    func.return %n : i8
// CHECK-NEXT:  }
func.func @indices_13(%n: i8) -> i8 {
  %0 = uop.const 2 : i8
  %1 = uop.mul %n, %0 : i8
  %2 = uop.sub %1, %n : i8
  func.return %2 : i8
}

// sub[n, mul[n, a]] >> mul[n, 1 - a] for integer n
// CHECK-LABEL: func.func @indices_14
// CHECK-NEXT:    %0 = uop.neg %n : i8
// CHECK-NEXT:    func.return %0 : i8
// CHECK-NEXT:  }
func.func @indices_14(%n: i8) -> i8 {
  %0 = uop.const 2 : i8
  %1 = uop.mul %n, %0 : i8
  %2 = uop.sub %n, %1 : i8
  func.return %2 : i8
}

// sub[mul[n, a], mul[n, b]] >> mul[n, a - b] for integer n
// CHECK-LABEL: func.func @indices_15
// CHECK-NEXT:    %0 = uop.const 255 : ui8
// CHECK-NEXT:    %1 = uop.mul %n, %0 : ui8
// CHECK-NEXT:    func.return %1 : ui8
// CHECK-NEXT:  }
func.func @indices_15(%n: ui8) -> ui8 {
  %0 = uop.const 2 : ui8
  %1 = uop.mul %n, %0 : ui8
  %2 = uop.const 3 : ui8
  %3 = uop.mul %n, %2 : ui8
  %4 = uop.sub %1, %3 : ui8
  func.return %4 : ui8
}

// add[add[m, n], n] >> add[m, mul[n, 2]] for integer m, n
// CHECK-LABEL: func.func @indices_16
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.mul %n, %0 : index
// CHECK-NEXT:    %2 = uop.add %m, %1 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @indices_16(%m: index, %n: index) -> index {
  %0 = uop.add %m, %n : index
  %1 = uop.add %0, %n : index
  func.return %1 : index
}

// add[add[m, mul[n, a]], n] >> add[m, mul[n, a + 1]] for integer m, n
// CHECK-LABEL: func.func @indices_17
// CHECK-NEXT:    %0 = uop.const 3 : i8
// CHECK-NEXT:    %1 = uop.mul %n, %0 : i8
// CHECK-NEXT:    %2 = uop.add %m, %1 : i8
// CHECK-NEXT:    func.return %2 : i8
// CHECK-NEXT:  }
func.func @indices_17(%m: i8, %n: i8) -> i8 {
  %0 = uop.const 2 : i8
  %1 = uop.mul %n, %0 : i8
  %2 = uop.add %m, %1 : i8
  %3 = uop.add %2, %n : i8
  func.return %3 : i8
}

// add[add[m, n], mul[n, a]] >> add[m, mul[n, a + 1]] for integer m, n
// CHECK-LABEL: func.func @indices_18
// CHECK-NEXT:    %0 = uop.const 3 : i8
// CHECK-NEXT:    %1 = uop.mul %n, %0 : i8
// CHECK-NEXT:    %2 = uop.add %m, %1 : i8
// CHECK-NEXT:    func.return %2 : i8
// CHECK-NEXT:  }
func.func @indices_18(%m: i8, %n: i8) -> i8 {
  %0 = uop.add %m, %n : i8
  %1 = uop.const 2 : i8
  %2 = uop.mul %n, %1 : i8
  %3 = uop.add %0, %2 : i8
  func.return %3 : i8
}

// add[add[m, mul[n, a]], mul[n, b]] >> add[m, mul[n, a + b]] for integer m, n
// CHECK-LABEL: func.func @indices_19
// CHECK-NEXT:    %0 = uop.const 5 : ui8
// CHECK-NEXT:    %1 = uop.mul %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.add %m, %1 : ui8
// CHECK-NEXT:    func.return %2 : ui8
// CHECK-NEXT:  }
func.func @indices_19(%m: ui8, %n: ui8) -> ui8 {
  %0 = uop.const 2 : ui8
  %1 = uop.mul %n, %0 : ui8
  %2 = uop.add %m, %1 : ui8
  %3 = uop.const 3 : ui8
  %4 = uop.mul %n, %3 : ui8
  %5 = uop.add %2, %4 : ui8
  func.return %5 : ui8
}

// add[sub[m, mul[n, a]], mul[n, b]] >> add[m, mul[n, b - a]] for integer m, n
// CHECK-LABEL: func.func @indices_20
// CHECK-NEXT:    %0 = uop.add %m, %n : ui8
// CHECK-NEXT:    func.return %0 : ui8
// CHECK-NEXT:  }
func.func @indices_20(%m: ui8, %n: ui8) -> ui8 {
  %0 = uop.const 2 : ui8
  %1 = uop.mul %n, %0 : ui8
  %2 = uop.sub %m, %1 : ui8
  %3 = uop.const 3 : ui8
  %4 = uop.mul %n, %3 : ui8
  %5 = uop.add %2, %4 : ui8
  func.return %5 : ui8
}

// add[sub[m, mul[n, a]], n] >> add[m, mul[n, 1 - a]] for integer m, n
// CHECK-LABEL: func.func @indices_21
// CHECK-NEXT:    %0 = uop.sub %m, %n : i8
// CHECK-NEXT:    func.return %0 : i8
// CHECK-NEXT:  }
func.func @indices_21(%m: i8, %n: i8) -> i8 {
  %0 = uop.const 2 : i8
  %1 = uop.mul %n, %0 : i8
  %2 = uop.sub %m, %1 : i8
  %3 = uop.add %2, %n : i8
  func.return %3 : i8
}

// add[sub[m, n], mul[n, a]] >> add[m, mul[n, a - 1]] for integer m, n
// CHECK-LABEL: func.func @indices_22
// CHECK-NEXT:    %0 = uop.add %m, %n : i8
// CHECK-NEXT:    func.return %0 : i8
// CHECK-NEXT:  }
func.func @indices_22(%m: i8, %n: i8) -> i8 {
  %0 = uop.sub %m, %n : i8
  %1 = uop.const 2 : i8
  %2 = uop.mul %n, %1 : i8
  %3 = uop.add %0, %2 : i8
  func.return %3 : i8
}

// sub[add[m, mul[n, a]], mul[n, b]] >> add[m, mul[n, a - b]] for integer m, n
// CHECK-LABEL: func.func @indices_23
// CHECK-NEXT:    %0 = uop.const 255 : ui8
// CHECK-NEXT:    %1 = uop.mul %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.add %m, %1 : ui8
// CHECK-NEXT:    func.return %2 : ui8
// CHECK-NEXT:  }
func.func @indices_23(%m: ui8, %n: ui8) -> ui8 {
  %0 = uop.const 2 : ui8
  %1 = uop.mul %n, %0 : ui8
  %2 = uop.add %m, %1 : ui8
  %3 = uop.const 3 : ui8
  %4 = uop.mul %n, %3 : ui8
  %5 = uop.sub %2, %4 : ui8
  func.return %5 : ui8
}

// sub[add[m, mul[n, a]], n] >> add[m, mul[n, a - 1]] for integer m, n
// CHECK-LABEL: func.func @indices_24
// CHECK-NEXT:    %0 = uop.add %m, %n : i8
// CHECK-NEXT:    func.return %0 : i8
// CHECK-NEXT:  }
func.func @indices_24(%m: i8, %n: i8) -> i8 {
  %0 = uop.const 2 : i8
  %1 = uop.mul %n, %0 : i8
  %2 = uop.add %m, %1 : i8
  %3 = uop.sub %2, %n : i8
  func.return %3 : i8
}

// sub[add[m, n], mul[n, a]] >> add[m, mul[n, 1 - a]] for integer m, n
// CHECK-LABEL: func.func @indices_25
// CHECK-NEXT:    %0 = uop.sub %m, %n : i8
// CHECK-NEXT:    func.return %0 : i8
// CHECK-NEXT:  }
func.func @indices_25(%m: i8, %n: i8) -> i8 {
  %0 = uop.add %m, %n : i8
  %1 = uop.const 2 : i8
  %2 = uop.mul %n, %1 : i8
  %3 = uop.sub %0, %2 : i8
  func.return %3 : i8
}

// sub[sub[m, mul[n, a]], mul[n, b]] >> sub[m, mul[n, a + b]] for integer m, n
// CHECK-LABEL: func.func @indices_26
// CHECK-NEXT:    %0 = uop.const 4 : ui8
// CHECK-NEXT:    %1 = uop.mul %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.sub %m, %1 : ui8
// CHECK-NEXT:    func.return %2 : ui8
// CHECK-NEXT:  }
func.func @indices_26(%m: ui8, %n: ui8) -> ui8 {
  %0 = uop.const 2 : ui8
  %1 = uop.mul %n, %0 : ui8
  %2 = uop.sub %m, %1 : ui8
  %3 = uop.sub %2, %1 : ui8
  func.return %3 : ui8
}

// sub[sub[m, mul[n, a]], n] >> sub[m, mul[n, a + 1]] for integer m, n
// CHECK-LABEL: func.func @indices_27
// CHECK-NEXT:    %0 = uop.const 3 : i8
// CHECK-NEXT:    %1 = uop.mul %n, %0 : i8
// CHECK-NEXT:    %2 = uop.sub %m, %1 : i8
// CHECK-NEXT:    func.return %2 : i8
// CHECK-NEXT:  }
func.func @indices_27(%m: i8, %n: i8) -> i8 {
  %0 = uop.const 2 : i8
  %1 = uop.mul %n, %0 : i8
  %2 = uop.sub %m, %1 : i8
  %3 = uop.sub %2, %n : i8
  func.return %3 : i8
}

// sub[sub[m, n], mul[n, a]] >> sub[m, mul[n, a + 1]] for integer m, n
// CHECK-LABEL: func.func @indices_28
// CHECK-NEXT:    %0 = uop.const 3 : i8
// CHECK-NEXT:    %1 = uop.mul %n, %0 : i8
// CHECK-NEXT:    %2 = uop.sub %m, %1 : i8
// CHECK-NEXT:    func.return %2 : i8
// CHECK-NEXT:  }
func.func @indices_28(%m: i8, %n: i8) -> i8 {
  %0 = uop.sub %m, %n : i8
  %1 = uop.const 2 : i8
  %2 = uop.mul %n, %1 : i8
  %3 = uop.sub %0, %2 : i8
  func.return %3 : i8
}

// sub[sub[m, n], n] >> sub[m, mul[n, 2]] for integer m, n
// CHECK-LABEL: func.func @indices_29
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.mul %n, %0 : index
// CHECK-NEXT:    %2 = uop.sub %m, %1 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @indices_29(%m: index, %n: index) -> index {
  %0 = uop.sub %m, %n : index
  %1 = uop.sub %0, %n : index
  func.return %1 : index
}

// add[add[k, mul[n, a]], add[m, mul[n, b]]] >> add[add[k, m], mul[n, a + b]] for integer k, n, m
// CHECK-LABEL: func.func @indices_30
// CHECK-NEXT:    %0 = uop.add %k, %m : ui8
// CHECK-NEXT:    %1 = uop.const 4 : ui8
// CHECK-NEXT:    %2 = uop.mul %n, %1 : ui8
// CHECK-NEXT:    %3 = uop.add %0, %2 : ui8
// CHECK-NEXT:    func.return %3 : ui8
// CHECK-NEXT:  }
func.func @indices_30(%k: ui8, %n: ui8, %m: ui8) -> ui8 {
  %0 = uop.const 2 : ui8
  %1 = uop.mul %n, %0 : ui8
  %2 = uop.add %k, %1 : ui8
  %3 = uop.add %m, %1 : ui8
  %4 = uop.add %2, %3 : ui8
  func.return %4 : ui8
}

// add[add[k, mul[n, a]], add[m, n]] >> add[add[k, m], mul[n, a + 1]] for integer k, n, m
// CHECK-LABEL: func.func @indices_31
// CHECK-NEXT:    %0 = uop.add %k, %m : i8
// CHECK-NEXT:    %1 = uop.const 3 : i8
// CHECK-NEXT:    %2 = uop.mul %n, %1 : i8
// CHECK-NEXT:    %3 = uop.add %0, %2 : i8
// CHECK-NEXT:    func.return %3 : i8
// CHECK-NEXT:  }
func.func @indices_31(%k: i8, %n: i8, %m: i8) -> i8 {
  %0 = uop.const 2 : i8
  %1 = uop.mul %n, %0 : i8
  %2 = uop.add %k, %1 : i8
  %3 = uop.add %m, %n : i8
  %4 = uop.add %2, %3 : i8
  func.return %4 : i8
}

// add[add[k, n], add[m, n]] >> add[add[k, m], mul[n, 2]] for integer k, n, m
// CHECK-LABEL: func.func @indices_32
// CHECK-NEXT:    %0 = uop.add %k, %m : index
// CHECK-NEXT:    %1 = uop.const 2 : index
// CHECK-NEXT:    %2 = uop.mul %n, %1 : index
// CHECK-NEXT:    %3 = uop.add %0, %2 : index
// CHECK-NEXT:    func.return %3 : index
// CHECK-NEXT:  }
func.func @indices_32(%k: index, %n: index, %m: index) -> index {
  %0 = uop.add %k, %n : index
  %1 = uop.add %m, %n : index
  %2 = uop.add %0, %1 : index
  func.return %2 : index
}

// add[mul[n, m], mul[n, k]] >> mul[n, add[m, k]] for integer n, m, k when varies
// CHECK-LABEL: func.func @indices_33
// CHECK-NEXT:    %0 = uop.add %m, %k : index
// CHECK-NEXT:    %1 = uop.mul %n, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @indices_33(%n: index, %m: index, %k: index) -> index {
  %0 = uop.mul %n, %m : index
  %1 = uop.mul %n, %k : index
  %2 = uop.add %0, %1 : index
  func.return %2 : index
}

// sub[mul[n, m], mul[n, k]] >> mul[n, sub[m, k]] for integer n, m, k when varies
// CHECK-LABEL: func.func @indices_34
// CHECK-NEXT:    %0 = uop.sub %m, %k : index
// CHECK-NEXT:    %1 = uop.mul %n, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @indices_34(%n: index, %m: index, %k: index) -> index {
  %0 = uop.mul %n, %m : index
  %1 = uop.mul %n, %k : index
  %2 = uop.sub %0, %1 : index
  func.return %2 : index
}
