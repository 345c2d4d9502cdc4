// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify)' | filecheck %s

// Written by test/unit/update_rule_tests.py: a function for each rule of the family, in which it fires.

// floordiv[add[add[mul[i, a], k], mul[j, b]], d] >> floordiv[add[mul[i, a // gcd(gcd(d, a), b)], mul[j, b // gcd(gcd(d, a), b)]], d // gcd(gcd(d, a), b)] for index i, k, j when d > 0, k.min >= 0, k.max < gcd(gcd(d, a), b)
// CHECK-LABEL: func.func @dividends_0
// CHECK-NEXT:    %0 = uop.const 16 : index
// CHECK-NEXT:    %1 = uop.mul %i, %0 : index
// CHECK-NEXT:    %2 = uop.add %1, %j : index
// CHECK-NEXT:    %3 = uop.const 262144 : index
// CHECK-NEXT:    %4 = uop.floordiv %2, %3 : index
// CHECK-NEXT:    func.return %4 : index
// CHECK-NEXT:  }
func.func @dividends_0(%i: index, %k: index, %j: index) -> index {
  %0 = uop.const 1 : index
  %1 = uop.min %k, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.const 64 : index
  %5 = uop.mul %i, %4 : index
  %6 = uop.add %5, %3 : index
  %7 = uop.const 4 : index
  %8 = uop.mul %j, %7 : index
  %9 = uop.add %6, %8 : index
  %10 = uop.const 1048576 : index
  %11 = uop.floordiv %9, %10 : index
  func.return %11 : index
}

// floormod[add[mul[i, a], mul[j, b]], d] >> mul[floormod[add[i, mul[j, b // a]], d // a], a] for index i, j when d > 0, a > 1, b % a == 0, d % a == 0
// CHECK-LABEL: func.func @dividends_1
// CHECK-NEXT:    %0 = uop.add %i, %j : index
// CHECK-NEXT:    %1 = uop.const 2 : index
// CHECK-NEXT:    %2 = uop.floormod %0, %1 : index
// CHECK-NEXT:    %3 = uop.mul %2, %1 : index
// CHECK-NEXT:    func.return %3 : index
// CHECK-NEXT:  }
func.func @dividends_1(%i: index, %j: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.add %1, %2 : index
  %4 = uop.const 4 : index
  %5 = uop.floormod %3, %4 : index
  func.return %5 : index
}

// floormod[add[add[mul[i, a], mul[j, b]], c], d] >> mul[floormod[add[add[i, mul[j, b // a]], c // a], d // a], a] for index i, j when d > 0, a > 1, b % a == 0, c % a == 0, d % a == 0
// CHECK-LABEL: func.func @dividends_2
// CHECK-NEXT:    %0 = uop.add %i, %j : index
// CHECK-NEXT:    %1 = uop.const 2 : index
// CHECK-NEXT:    %2 = uop.add %0, %1 : index
// CHECK-NEXT:    %3 = uop.const 3 : index
// CHECK-NEXT:    %4 = uop.floormod %2, %3 : index
// CHECK-NEXT:    %5 = uop.mul %4, %1 : index
// CHECK-NEXT:    func.return %5 : index
// CHECK-NEXT:  }
func.func @dividends_2(%i: index, %j: index) -> index {
  %0 = uop.const 2 : index
  %1 = uop.mul %i, %0 : index
  %2 = uop.mul %j, %0 : index
  %3 = uop.add %1, %2 : index
  %4 = uop.const -8 : index
  %5 = uop.add %3, %4 : index
  %6 = uop.const 6 : index
  %7 = uop.floormod %5, %6 : index
  func.return %7 : index
}

// floordiv[add[mul[i, a], b], c] >> add[mul[i, (((i.max * a) + b) // c) - (((i.min * a) + b) // c)], (((i.min * a) + b) // c) - (((((i.max * a) + b) // c) - (((i.min * a) + b) // c)) * i.min)] for index i when c > 0, i.max == i.min + 1
// CHECK-LABEL: func.func @dividends_5
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.min %i, %0 : index
// CHECK-NEXT:    %2 = uop.const 0 : index
// CHECK-NEXT:    %3 = uop.max %1, %2 : index
// CHECK-NEXT:    %4 = uop.const 5 : index
// CHECK-NEXT:    %5 = uop.mul %3, %4 : index
// CHECK-NEXT:    %6 = uop.const 87381 : index
// CHECK-NEXT:    %7 = uop.add %5, %6 : index
// CHECK-NEXT:    func.return %7 : index
// CHECK-NEXT:  }
func.func @dividends_5(%i: index) -> index {
  %0 = uop.const 1 : index
  %1 = uop.min %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.const 64 : index
  %5 = uop.mul %3, %4 : index
  %6 = uop.const 1048576 : index
  %7 = uop.add %5, %6 : index
  %8 = uop.const 12 : index
  %9 = uop.floordiv %7, %8 : index
  func.return %9 : index
}

// floormod[add[mul[i, a], b], c] >> add[mul[i, (((i.max * a) + b) % c) - (((i.min * a) + b) % c)], (((i.min * a) + b) % c) - (((((i.max * a) + b) % c) - (((i.min * a) + b) % c)) * i.min)] for index i when c > 0, i.max == i.min + 1
// CHECK-LABEL: func.func @dividends_6
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.min %i, %0 : index
// CHECK-NEXT:    %2 = uop.const 0 : index
// CHECK-NEXT:    %3 = uop.max %1, %2 : index
// CHECK-NEXT:    %4 = uop.const 4 : index
// CHECK-NEXT:    %5 = uop.mul %3, %4 : index
// CHECK-NEXT:    %6 = uop.add %5, %4 : index
// CHECK-NEXT:    func.return %6 : index
// CHECK-NEXT:  }
func.func @dividends_6(%i: index) -> index {
  %0 = uop.const 1 : index
  %1 = uop.min %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.const 64 : index
  %5 = uop.mul %3, %4 : index
  %6 = uop.const 1048576 : index
  %7 = uop.add %5, %6 : index
  %8 = uop.const 12 : index
  %9 = uop.floormod %7, %8 : index
  func.return %9 : index
}

// floordiv[mul[i, a], c] >> add[mul[i, ((i.max * a) // c) - ((i.min * a) // c)], ((i.min * a) // c) - ((((i.max * a) // c) - ((i.min * a) // c)) * i.min)] for index i when c > 0, i.max == i.min + 1
// CHECK-LABEL: func.func @dividends_7
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    %1 = uop.min %i, %0 : index
// CHECK-NEXT:    %2 = uop.const 0 : index
// CHECK-NEXT:    %3 = uop.max %1, %2 : index
// CHECK-NEXT:    %4 = uop.neg %3 : index
// CHECK-NEXT:    func.return %4 : index
// CHECK-NEXT:  }
func.func @dividends_7(%i: index) -> index {
  %0 = uop.const 1 : index
  %1 = uop.min %i, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.const -2 : index
  %5 = uop.mul %3, %4 : index
  %6 = uop.const 3 : index
  %7 = uop.floordiv %5, %6 : index
  func.return %7 : index
}
