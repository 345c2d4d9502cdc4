// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify)' | filecheck %s

// Written by test/unit/update_rule_tests.py: a function for each rule of the family, in which it fires.

// floordiv[n, a] >> n.min // a for integer n when a > 0, n.min // a == n.max // a
// CHECK-LABEL: func.func @divisions_0
// CHECK-NEXT:    %0 = uop.const 0 : ui8
// CHECK-NEXT:    func.return %0 : ui8
// CHECK-NEXT:  }
func.func @divisions_0(%n: ui8) -> ui8 {
  %0 = uop.const 1 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.const 2 : ui8
  %5 = uop.floordiv %3, %4 : ui8
  func.return %5 : ui8
}

// floordiv[mul[i, a], a] >> i for index i when a != 0
// CHECK-LABEL: func.func @divisions_1
// CHECK-NEXT:    func.return %i : index
// CHECK-NEXT:  }
func.func @divisions_1(%i: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.floordiv %1, %0 : index
  func.return %2 : index
}

// floordiv[mul[i, a], b] >> mul[i, a // b] for index i when b > 0, a % b == 0
// CHECK-LABEL: func.func @divisions_2
// CHECK-NEXT:    %0 = uop.neg %i : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @divisions_2(%i: index) -> index {
  %0 = uop.const -2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.const 2 : index
  %3 = uop.floordiv %1, %2 : index
  func.return %3 : index
}

// floordiv[mul[i, a], b] >> floordiv[i, b // a] for index i when a > 0, b > 0, b % a == 0
// CHECK-LABEL: func.func @divisions_3
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.floordiv %i, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @divisions_3(%i: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.const 4 : index
  %3 = uop.floordiv %1, %2 : index
  func.return %3 : index
}

// floordiv[add[mul[i, a], j], b] >> add[mul[i, a // b], floordiv[j, b]] for index i, j when b > 0, a % b == 0
// CHECK-LABEL: func.func @divisions_4
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.floordiv %j, %0 : index
// CHECK-NEXT:    %2 = uop.add %i, %1 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @divisions_4(%i: index, %j: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.add %1, %j : index
  %3 = uop.floordiv %2, %0 : index
  func.return %3 : index
}

// floordiv[add[add[mul[i, a], j], k], b] >> add[mul[i, a // b], floordiv[add[j, k], b]] for index i, j, k when b > 0, a % b == 0
// CHECK-LABEL: func.func @divisions_5
// CHECK-NEXT:    %0 = uop.add %j, %k : index
// CHECK-NEXT:    %1 = uop.const 2 : index
// CHECK-NEXT:    %2 = uop.floordiv %0, %1 : index
// CHECK-NEXT:    %3 = uop.add %i, %2 : index
// CHECK-NEXT:    func.return %3 : index
// CHECK-NEXT:  }
func.func @divisions_5(%i: index, %j: index, %k: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.add %1, %j : index
  %3 = uop.add %2, %k : index
  %4 = uop.floordiv %3, %0 : index
  func.return %4 : index
}

// floordiv[sub[mul[i, a], j], b] >> add[mul[i, a // b], floordiv[neg[j], b]] for index i, j when b > 0, a % b == 0
// CHECK-LABEL: func.func @divisions_6
// CHECK-NEXT:    %0 = uop.neg %j : index
// CHECK-NEXT:    %1 = uop.const 2 : index
// CHECK-NEXT:    %2 = uop.floordiv %0, %1 : index
// CHECK-NEXT:    %3 = uop.add %i, %2 : index
// CHECK-NEXT:    func.return %3 : index
// CHECK-NEXT:  }
func.func @divisions_6(%i: index, %j: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.sub %1, %j : index
  %3 = uop.floordiv %2, %0 : index
  func.return %3 : index
}

// floordiv[p @ mul[n, a], a] >> n for integer p, n when a > 0, p.min == n.min * a, p.max == n.max * a
// CHECK-LABEL: func.func @divisions_7
// CHECK-NEXT:    %0 = uop.const 1 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    func.return %1 : ui8
// CHECK-NEXT:  }
func.func @divisions_7(%n: ui8) -> ui8 {
  %0 = uop.const 1 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.const 2 : ui8
  %5 = uop.mul %3, %4 : ui8
  %6 = uop.floordiv %5, %4 : ui8
  func.return %6 : ui8
}

// floordiv[add[i, j], a] >> add[floordiv[i, a], ((i % a).min + j.min) // a] for index i, j when a > 0, ((i % a).min + j.min) // a == ((i % a).max + j.max) // a
// CHECK-LABEL: func.func @divisions_8
// CHECK-NEXT:    %0 = uop.const 7 : index
// CHECK-NEXT:    %1 = uop.min %i, %0 : index
// CHECK-NEXT:    %2 = uop.const 0 : index
// CHECK-NEXT:    %3 = uop.max %1, %2 : index
// CHECK-NEXT:    %4 = uop.const 12 : index
// CHECK-NEXT:    %5 = uop.mul %3, %4 : index
// CHECK-NEXT:    %6 = uop.const 64 : index
// CHECK-NEXT:    %7 = uop.floordiv %5, %6 : index
// CHECK-NEXT:    func.return %7 : index
// CHECK-NEXT:  }
func.func @divisions_8(%i: index, %j: index) -> index {
  %0 = uop.const 7 : index
  %1 = uop.min %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.const 3 : index
  %5 = uop.min %j, %4 : index
  %6 = uop.max %5, %4 : index
  %7 = uop.const 12 : index
  %8 = uop.mul %3, %7 : index
  %9 = uop.add %8, %2 : index
  %10 = uop.add %9, %6 : index
  %11 = uop.const 64 : index
  %12 = uop.floordiv %10, %11 : index
  func.return %12 : index
}

// floordiv[add[mul[i, a], b], d] >> floordiv[add[mul[i, a // gcd(d, a)], b // gcd(d, a)], d // gcd(d, a)] for index i when d > 0, gcd(d, a) > 1
// CHECK-LABEL: func.func @divisions_9
// CHECK-NEXT:    %0 = uop.const -1 : index
// CHECK-NEXT:    %1 = uop.add %i, %0 : index
// CHECK-NEXT:    %2 = uop.const 2 : index
// CHECK-NEXT:    %3 = uop.floordiv %1, %2 : index
// CHECK-NEXT:    func.return %3 : index
// CHECK-NEXT:  }
func.func @divisions_9(%i: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.const -1 : index
  %3 = uop.add %1, %2 : index
  %4 = uop.const 4 : index
  %5 = uop.floordiv %3, %4 : index
  func.return %5 : index
}

// floordiv[add[mul[i, a], mul[j, b]], d] >> floordiv[add[mul[i, a // gcd(gcd(d, a), b)], mul[j, b // gcd(gcd(d, a), b)]], d // gcd(gcd(d, a), b)] for index i, j when d > 0, gcd(gcd(d, a), b) > 1
// CHECK-LABEL: func.func @divisions_10
// CHECK-NEXT:    %0 = uop.add %i, %j : index
// CHECK-NEXT:    %1 = uop.const 2 : index
// CHECK-NEXT:    %2 = uop.floordiv %0, %1 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @divisions_10(%i: index, %j: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.add %1, %2 : index
  %4 = uop.const 4 : index
  %5 = uop.floordiv %3, %4 : index
  func.return %5 : index
}

// floordiv[add[add[mul[i, a], mul[j, b]], c], d] >> floordiv[add[add[mul[i, a // gcd(gcd(d, a), b)], mul[j, b // gcd(gcd(d, a), b)]], c // gcd(gcd(d, a), b)], d // gcd(gcd(d, a), b)] for index i, j when d > 0, gcd(gcd(d, a), b) > 1
// CHECK-LABEL: func.func @divisions_11
// CHECK-NEXT:    %0 = uop.add %i, %j : index
// CHECK-NEXT:    %1 = uop.const -4 : index
// CHECK-NEXT:    %2 = uop.add %0, %1 : index
// CHECK-NEXT:    %3 = uop.const 3 : index
// CHECK-NEXT:    %4 = uop.floordiv %2, %3 : index
// CHECK-NEXT:    func.return %4 : index
// CHECK-NEXT:  }
func.func @divisions_11(%i: index, %j: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.add %1, %2 : index
  %4 = uop.const -8 : index
  %5 = uop.add %3, %4 : index
  %6 = uop.const 6 : index
  %7 = uop.floordiv %5, %6 : index
  func.return %7 : index
}

// floordiv[floordiv[i, a], b] >> floordiv[i, a * b] for index i when a > 0, b > 0
// CHECK-LABEL: func.func @divisions_12
// CHECK-NEXT:    %0 = uop.const 4 : index
// CHECK-NEXT:    %1 = uop.floordiv %i, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @divisions_12(%i: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.floordiv %i, %0 : index
  %2 = uop.floordiv %1, %0 : index
  func.return %2 : index
}

// floordiv[floordiv[n, a], b] >> floordiv[n, a * b] for integer n when a > 0, b > 0, a * b <= n.max
// CHECK-LABEL: func.func @divisions_13
// CHECK-NEXT:    %0 = uop.const 7 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.const 4 : ui8
// CHECK-NEXT:    %3 = uop.floordiv %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : ui8
// CHECK-NEXT:  }
func.func @divisions_13(%n: ui8) -> ui8 {
  %0 = uop.const 7 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.const 2 : ui8
  %5 = uop.floordiv %3, %4 : ui8
  %6 = uop.floordiv %5, %4 : ui8
  func.return %6 : ui8
}

// floordiv[add[floordiv[i, a], b], c] >> floordiv[add[i, a * b], a * c] for index i when a > 0, c > 0
// CHECK-LABEL: func.func @divisions_14
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.add %i, %0 : index
// CHECK-NEXT:    %2 = uop.const 4 : index
// CHECK-NEXT:    %3 = uop.floordiv %1, %2 : index
// CHECK-NEXT:    func.return %3 : index
// CHECK-NEXT:  }
func.func @divisions_14(%i: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.floordiv %i, %0 : index
  %2 = uop.const 1 : index
  %3 = uop.add %1, %2 : index
  %4 = uop.floordiv %3, %0 : index
  func.return %4 : index
}

// floordiv[floormod[n, a], b] >> floormod[floordiv[n, b], a // b] for integer n when a > 0, b > 0, a % b == 0
// CHECK-LABEL: func.func @divisions_15
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.floordiv %n, %0 : index
// CHECK-NEXT:    %2 = uop.floormod %1, %0 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @divisions_15(%n: index) -> index {
  %0 = uop.const 4 : index
  %1 = uop.floormod %n, %0 : index
  %2 = uop.const 2 : index
  %3 = uop.floordiv %1, %2 : index
  func.return %3 : index
}

// floordiv[i, -1] >> neg[i] for index i
// CHECK-LABEL: func.func @divisions_16
// CHECK-NEXT:    %0 = uop.neg %i : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @divisions_16(%i: index) -> index {
  %0 = uop.const -1 : index
  %1 = uop.floordiv %i, %0 : index
  func.return %1 : index
}

// floordiv[i, a] >> floordiv[neg[i], -a] for index i when a < 0
// CHECK-LABEL: func.func @divisions_17
// CHECK-NEXT:    %0 = uop.neg %i : index
// CHECK-NEXT:    %1 = uop.const 2 : index
// CHECK-NEXT:    %2 = uop.floordiv %0, %1 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @divisions_17(%i: index) -> index {
  %0 = uop.const -2 : index
  %1 = uop.floordiv %i, %0 : index
  func.return %1 : index
}

// floormod[n, a] >> (n % a).min for integer n when a != 0, (n % a).min == (n % a).max
// CHECK-LABEL: func.func @divisions_18
// CHECK-NEXT:    %0 = uop.const 0 : ui8
// CHECK-NEXT:    func.return %0 : ui8
// CHECK-NEXT:  }
func.func @divisions_18(%n: ui8) -> ui8 {
  %0 = uop.const 1 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.const 4 : ui8
  %5 = uop.mul %3, %4 : ui8
  %6 = uop.add %5, %2 : ui8
  %7 = uop.const 2 : ui8
  %8 = uop.floormod %6, %7 : ui8
  func.return %8 : ui8
}

// floormod[n, a] >> n for integer n when n.min >= 0, n.max < a
// CHECK-LABEL: func.func @divisions_19
// CHECK-NEXT:    %0 = uop.const 1 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    func.return %1 : ui8
// CHECK-NEXT:  }
func.func @divisions_19(%n: ui8) -> ui8 {
  %0 = uop.const 1 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.const 2 : ui8
  %5 = uop.floormod %3, %4 : ui8
  func.return %5 : ui8
}

// floormod[n, a] >> add[n, (-(n.min // a)) * a] for integer n when a > 0, n.min // a == n.max // a
// CHECK-LABEL: func.func @divisions_20
// CHECK-NEXT:    %0 = uop.const 11 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.const 8 : ui8
// CHECK-NEXT:    %3 = uop.max %1, %2 : ui8
// CHECK-NEXT:    %4 = uop.const 248 : ui8
// CHECK-NEXT:    %5 = uop.add %3, %4 : ui8
// CHECK-NEXT:    func.return %5 : ui8
// CHECK-NEXT:  }
func.func @divisions_20(%n: ui8) -> ui8 {
  %0 = uop.const 11 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 8 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.const 4 : ui8
  %5 = uop.floormod %3, %4 : ui8
  func.return %5 : ui8
}

// floormod[mul[i, a], b] >> mul[floormod[i, b // a], a] for index i when a > 0, b > 0, b % a == 0
// CHECK-LABEL: func.func @divisions_21
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.floormod %i, %0 : index
// CHECK-NEXT:    %2 = uop.mul %1, %0 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @divisions_21(%i: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.const 4 : index
  %3 = uop.floormod %1, %2 : index
  func.return %3 : index
}

// floormod[add[i, j], a] >> floormod[j, a] for index i, j when a > 0, i.divisible_by(a)
// CHECK-LABEL: func.func @divisions_22
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.floormod %j, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @divisions_22(%i: index, %j: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.min %i, %0 : index
  %2 = uop.max %1, %0 : index
  %3 = uop.const 4 : index
  %4 = uop.mul %2, %3 : index
  %5 = uop.const 2 : index
  %6 = uop.add %4, %5 : index
  %7 = uop.add %6, %j : index
  %8 = uop.floormod %7, %5 : index
  func.return %8 : index
}

// floormod[sub[i, j], a] >> floormod[neg[j], a] for index i, j when a > 0, i.divisible_by(a)
// CHECK-LABEL: func.func @divisions_23
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.neg %j : index
// CHECK-NEXT:    %2 = uop.floormod %1, %0 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @divisions_23(%i: index, %j: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.min %i, %0 : index
  %2 = uop.max %1, %0 : index
  %3 = uop.const 4 : index
  %4 = uop.mul %2, %3 : index
  %5 = uop.const 2 : index
  %6 = uop.add %4, %5 : index
  %7 = uop.sub %6, %j : index
  %8 = uop.floormod %7, %5 : index
  func.return %8 : index
}

// floormod[sub[i, j], a] >> floormod[i, a] for index i, j when a > 0, j.divisible_by(a)
// CHECK-LABEL: func.func @divisions_24
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.floormod %i, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @divisions_24(%i: index, %j: index) -> index {
  %0 = uop.const 1 : index
  %1 = uop.min %j, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.const 4 : index
  %5 = uop.mul %3, %4 : index
  %6 = uop.add %5, %2 : index
  %7 = uop.sub %i, %6 : index
  %8 = uop.const 2 : index
  %9 = uop.floormod %7, %8 : index
  func.return %9 : index
}

// floormod[add[add[mul[i, a], j], k], b] >> floormod[add[j, k], b] for index i, j, k when b > 0, a % b == 0
// CHECK-LABEL: func.func @divisions_25
// CHECK-NEXT:    %0 = uop.add %j, %k : index
// CHECK-NEXT:    %1 = uop.const 2 : index
// CHECK-NEXT:    %2 = uop.floormod %0, %1 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @divisions_25(%i: index, %j: index, %k: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.add %1, %j : index
  %3 = uop.add %2, %k : index
  %4 = uop.floormod %3, %0 : index
  func.return %4 : index
}

// floormod[add[i, j], a] >> add[floormod[i, a], add[j, (-(((i % a).min + j.min) // a)) * a]] for index i, j when a > 0, ((i % a).min + j.min) // a == ((i % a).max + j.max) // a
// CHECK-LABEL: func.func @divisions_26
// CHECK-NEXT:    %0 = uop.const 7 : index
// CHECK-NEXT:    %1 = uop.min %i, %0 : index
// CHECK-NEXT:    %2 = uop.const 0 : index
// CHECK-NEXT:    %3 = uop.max %1, %2 : index
// CHECK-NEXT:    %4 = uop.const 12 : index
// CHECK-NEXT:    %5 = uop.mul %3, %4 : index
// CHECK-NEXT:    %6 = uop.const 64 : index
// CHECK-NEXT:    %7 = uop.floormod %5, %6 : index
// CHECK-NEXT:    %8 = uop.const 3 : index
// CHECK-NEXT:    %9 = uop.add %7, %8 : index
// CHECK-NEXT:    func.return %9 : index
// CHECK-NEXT:  }
func.func @divisions_26(%i: index, %j: index) -> index {
  %0 = uop.const 7 : index
  %1 = uop.min %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.const 3 : index
  %5 = uop.min %j, %4 : index
  %6 = uop.max %5, %4 : index
  %7 = uop.const 12 : index
  %8 = uop.mul %3, %7 : index
  %9 = uop.add %8, %2 : index
  %10 = uop.add %9, %6 : index
  %11 = uop.const 64 : index
  %12 = uop.floormod %10, %11 : index
  func.return %12 : index
}

// floormod[add[i, a], b] >> floormod[add[i, a % b], b] for index i when b > 0, a != a % b
// CHECK-LABEL: func.func @divisions_27
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.add %i, %0 : index
// CHECK-NEXT:    %2 = uop.const 2 : index
// CHECK-NEXT:    %3 = uop.floormod %1, %2 : index
// CHECK-NEXT:    func.return %3 : index
// CHECK-NEXT:  }
func.func @divisions_27(%i: index) -> index {
  %0 = uop.const -1 : index
  %1 = uop.add %i, %0 : index
  %2 = uop.const 2 : index
  %3 = uop.floormod %1, %2 : index
  func.return %3 : index
}

// floormod[mul[i, a], b] >> floormod[mul[i, a % b], b] for index i when b > 0, a != a % b
// CHECK-LABEL: func.func @divisions_28
// CHECK-NEXT:    %0 = uop.const 3 : index
// CHECK-NEXT:    %1 = uop.floormod %i, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @divisions_28(%i: index) -> index {
  %0 = uop.const -2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.const 3 : index
  %3 = uop.floormod %1, %2 : index
  func.return %3 : index
}

// floormod[floormod[n, a], b] >> floormod[n, b] for integer n when a != 0, b > 0, a % b == 0
// CHECK-LABEL: func.func @divisions_29
// CHECK-NEXT:    %0 = uop.const 2 : i8
// CHECK-NEXT:    %1 = uop.floormod %n, %0 : i8
// CHECK-NEXT:    func.return %1 : i8
// CHECK-NEXT:  }
func.func @divisions_29(%n: i8) -> i8 {
  %0 = uop.const 4 : i8
  %1 = uop.floormod %n, %0 : i8
  %2 = uop.const 2 : i8
  %3 = uop.floormod %1, %2 : i8
  func.return %3 : i8
}

// floormod[add[floormod[i, a], j], b] >> floormod[add[i, j], b] for index i, j when a != 0, b > 0, a % b == 0
// CHECK-LABEL: func.func @divisions_30
// CHECK-NEXT:    %0 = uop.add %i, %j : index
// CHECK-NEXT:    %1 = uop.const 2 : index
// CHECK-NEXT:    %2 = uop.floormod %0, %1 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @divisions_30(%i: index, %j: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.floormod %i, %0 : index
  %2 = uop.add %1, %j : index
  %3 = uop.floormod %2, %0 : index
  func.return %3 : index
}

// floormod[sub[floormod[i, a], j], b] >> floormod[sub[i, j], b] for index i, j when a != 0, b > 0, a % b == 0
// CHECK-LABEL: func.func @divisions_31
// CHECK-NEXT:    %0 = uop.sub %i, %j : index
// CHECK-NEXT:    %1 = uop.const 2 : index
// CHECK-NEXT:    %2 = uop.floormod %0, %1 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @divisions_31(%i: index, %j: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.floormod %i, %0 : index
  %2 = uop.sub %1, %j : index
  %3 = uop.floormod %2, %0 : index
  func.return %3 : index
}

// floormod[sub[j, floormod[i, a]], b] >> floormod[sub[j, i], b] for index j, i when a != 0, b > 0, a % b == 0
// CHECK-LABEL: func.func @divisions_32
// CHECK-NEXT:    %0 = uop.sub %j, %i : index
// CHECK-NEXT:    %1 = uop.const 2 : index
// CHECK-NEXT:    %2 = uop.floormod %0, %1 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @divisions_32(%j: index, %i: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.floormod %i, %0 : index
  %2 = uop.sub %j, %1 : index
  %3 = uop.floormod %2, %0 : index
  func.return %3 : index
}

// floormod[mul[floormod[i, a], b], c] >> floormod[mul[i, b], c] for index i when a != 0, c > 0, (a * b) % c == 0
// CHECK-LABEL: func.func @divisions_33
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.mul %i, %0 : index
// CHECK-NEXT:    %2 = uop.const 3 : index
// CHECK-NEXT:    %3 = uop.floormod %1, %2 : index
// CHECK-NEXT:    func.return %3 : index
// CHECK-NEXT:  }
func.func @divisions_33(%i: index) -> index {
  %0 = uop.const 3 : index
  %1 = uop.floormod %i, %0 : index
  %2 = uop.const 2 : index
  %3 = uop.mul %1, %2 : index
  %4 = uop.floormod %3, %0 : index
  func.return %4 : index
}

// floormod[i, a] >> neg[floormod[neg[i], -a]] for index i when a < 0
// CHECK-LABEL: func.func @divisions_34
// CHECK-NEXT:    %0 = uop.neg %i : index
// CHECK-NEXT:    %1 = uop.const 2 : index
// CHECK-NEXT:    %2 = uop.floormod %0, %1 : index
// CHECK-NEXT:    %3 = uop.neg %2 : index
// CHECK-NEXT:    func.return %3 : index
// CHECK-NEXT:  }
func.func @divisions_34(%i: index) -> index {
  %0 = uop.const -2 : index
  %1 = uop.floormod %i, %0 : index
  func.return %1 : index
}

// add[mul[floordiv[n, a], a], floormod[n, a]] >> n for integer n when a != 0
// CHECK-LABEL: func.func @divisions_35
// CHECK-NEXT:    func.return %n : i8
// CHECK-NEXT:  }
func.func @divisions_35(%n: i8) -> i8 {
  %0 = uop.const 2 : i8
  %1 = uop.floordiv %n, %0 : i8
  %2 = uop.mul %1, %0 : i8
  %3 = uop.floormod %n, %0 : i8
  %4 = uop.add %2, %3 : i8
  func.return %4 : i8
}

// add[mul[floordiv[i, c], b], floormod[floordiv[i, a], b]] >> floordiv[i, a] for index i when a > 0, b > 0, a * b == c
// CHECK-LABEL: func.func @divisions_36
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.floordiv %i, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @divisions_36(%i: index) -> index {
  %0 = uop.const 4 : index
  %1 = uop.floordiv %i, %0 : index
  %2 = uop.const 2 : index
  %3 = uop.mul %1, %2 : index
  %4 = uop.floordiv %i, %2 : index
  %5 = uop.floormod %4, %2 : index
  %6 = uop.add %3, %5 : index
  func.return %6 : index
}

// add[add[j, mul[floordiv[i, c], b]], floormod[floordiv[i, a], b]] >> add[j, floordiv[i, a]] for index j, i when a > 0, b > 0, a * b == c
// CHECK-LABEL: func.func @divisions_37
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.floordiv %i, %0 : index
// CHECK-NEXT:    %2 = uop.add %j, %1 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @divisions_37(%j: index, %i: index) -> index {
  %0 = uop.const 4 : index
  %1 = uop.floordiv %i, %0 : index
  %2 = uop.const 2 : index
  %3 = uop.mul %1, %2 : index
  %4 = uop.add %j, %3 : index
  %5 = uop.floordiv %i, %2 : index
  %6 = uop.floormod %5, %2 : index
  %7 = uop.add %4, %6 : index
  func.return %7 : index
}

// add[add[j, floormod[floordiv[i, a], b]], mul[floordiv[i, c], b]] >> add[j, floordiv[i, a]] for index j, i when a > 0, b > 0, a * b == c
// CHECK-LABEL: func.func @divisions_38
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.floordiv %i, %0 : index
// CHECK-NEXT:    %2 = uop.add %j, %1 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @divisions_38(%j: index, %i: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.floordiv %i, %0 : index
  %2 = uop.floormod %1, %0 : index
  %3 = uop.add %j, %2 : index
  %4 = uop.const 4 : index
  %5 = uop.floordiv %i, %4 : index
  %6 = uop.mul %5, %0 : index
  %7 = uop.add %3, %6 : index
  func.return %7 : index
}

// add[mul[floordiv[i, a], c], mul[floormod[i, a], b]] >> mul[i, b] for index i when a != 0, a * b == c
// CHECK-LABEL: func.func @divisions_39
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.mul %i, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @divisions_39(%i: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.floordiv %i, %0 : index
  %2 = uop.const 4 : index
  %3 = uop.mul %1, %2 : index
  %4 = uop.floormod %i, %0 : index
  %5 = uop.mul %4, %0 : index
  %6 = uop.add %3, %5 : index
  func.return %6 : index
}

// add[add[j, mul[floordiv[i, a], a]], floormod[i, a]] >> add[j, i] for index j, i when a != 0
// CHECK-LABEL: func.func @divisions_40
// CHECK-NEXT:    %0 = uop.add %j, %i : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @divisions_40(%j: index, %i: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.floordiv %i, %0 : index
  %2 = uop.mul %1, %0 : index
  %3 = uop.add %j, %2 : index
  %4 = uop.floormod %i, %0 : index
  %5 = uop.add %3, %4 : index
  func.return %5 : index
}

// add[add[j, floormod[i, a]], mul[floordiv[i, a], a]] >> add[j, i] for index j, i when a != 0
// CHECK-LABEL: func.func @divisions_41
// CHECK-NEXT:    %0 = uop.add %j, %i : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @divisions_41(%j: index, %i: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.floormod %i, %0 : index
  %2 = uop.add %j, %1 : index
  %3 = uop.floordiv %i, %0 : index
  %4 = uop.mul %3, %0 : index
  %5 = uop.add %2, %4 : index
  func.return %5 : index
}

// add[add[j, mul[floordiv[i, a], c]], mul[floormod[i, a], b]] >> add[j, mul[i, b]] for index j, i when a != 0, a * b == c
// CHECK-LABEL: func.func @divisions_42
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.mul %i, %0 : index
// CHECK-NEXT:    %2 = uop.add %j, %1 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @divisions_42(%j: index, %i: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.floordiv %i, %0 : index
  %2 = uop.const 4 : index
  %3 = uop.mul %1, %2 : index
  %4 = uop.add %j, %3 : index
  %5 = uop.floormod %i, %0 : index
  %6 = uop.mul %5, %0 : index
  %7 = uop.add %4, %6 : index
  func.return %7 : index
}

// add[add[j, mul[floormod[i, a], b]], mul[floordiv[i, a], c]] >> add[j, mul[i, b]] for index j, i when a != 0, a * b == c
// CHECK-LABEL: func.func @divisions_43
// CHECK-NEXT:    %0 = uop.const 2 : index
// CHECK-NEXT:    %1 = uop.mul %i, %0 : index
// CHECK-NEXT:    %2 = uop.add %j, %1 : index
// CHECK-NEXT:    func.return %2 : index
// CHECK-NEXT:  }
func.func @divisions_43(%j: index, %i: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.floormod %i, %0 : index
  %2 = uop.mul %1, %0 : index
  %3 = uop.add %j, %2 : index
  %4 = uop.floordiv %i, %0 : index
  %5 = uop.const 4 : index
  %6 = uop.mul %4, %5 : index
  %7 = uop.add %3, %6 : index
  func.return %7 : index
}

// sub[n, mul[floordiv[n, a], a]] >> floormod[n, a] for integer n when a != 0
// CHECK-LABEL: func.func @divisions_44
// CHECK-NEXT:    %0 = uop.const 2 : i8
// CHECK-NEXT:    %1 = uop.floormod %n, %0 : i8
// CHECK-NEXT:    func.return %1 : i8
// CHECK-NEXT:  }
func.func @divisions_44(%n: i8) -> i8 {
  %0 = uop.const 2 : i8
  %1 = uop.floordiv %n, %0 : i8
  %2 = uop.mul %1, %0 : i8
  %3 = uop.sub %n, %2 : i8
  func.return %3 : i8
}

// mul[floordiv[n, a], a] >> n for integer n when a != 0, n.divisible_by(a)
// CHECK-LABEL: func.func @divisions_45
// CHECK-NEXT:    %0 = uop.const 1 : ui8
// CHECK-NEXT:    %1 = uop.min %n, %0 : ui8
// CHECK-NEXT:    %2 = uop.const 4 : ui8
// CHECK-NEXT:    %3 = uop.mul %1, %2 : ui8
// CHECK-NEXT:    func.return %3 : ui8
// CHECK-NEXT:  }
func.func @divisions_45(%n: ui8) -> ui8 {
  %0 = uop.const 1 : ui8
  %1 = uop.min %n, %0 : ui8
  %2 = uop.const 0 : ui8
  %3 = uop.max %1, %2 : ui8
  %4 = uop.const 4 : ui8
  %5 = uop.mul %3, %4 : ui8
  %6 = uop.add %5, %2 : ui8
  %7 = uop.const 2 : ui8
  %8 = uop.floordiv %6, %7 : ui8
  %9 = uop.mul %8, %7 : ui8
  func.return %9 : ui8
}
