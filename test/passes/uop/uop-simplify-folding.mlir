// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify)' | filecheck %s

// Written by test/unit/update_rule_tests.py: a function for each rule of the family, in which it fires.

// neg.ordered[a] >> fold
// CHECK-LABEL: func.func @folding_0
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_0() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.neg %0 : f32
  func.return %1 : f32
}

// abs.ordered[a] >> fold
// CHECK-LABEL: func.func @folding_1
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_1() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.abs %0 : f32
  func.return %1 : f32
}

// sign.ordered[a] >> fold
// CHECK-LABEL: func.func @folding_2
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_2() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.sign %0 : f32
  func.return %1 : f32
}

// reciprocal.ordered[a] >> fold
// CHECK-LABEL: func.func @folding_3
// CHECK-NEXT:    %0 = uop.const 0xff800000 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_3() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.reciprocal %0 : f32
  func.return %1 : f32
}

// sqrt.ordered[a] >> fold
// CHECK-LABEL: func.func @folding_4
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_4() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.sqrt %0 : f32
  func.return %1 : f32
}

// floor.ordered[a] >> fold
// CHECK-LABEL: func.func @folding_5
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_5() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.floor %0 : f32
  func.return %1 : f32
}

// ceil.ordered[a] >> fold
// CHECK-LABEL: func.func @folding_6
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_6() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.ceil %0 : f32
  func.return %1 : f32
}

// round.ordered[a] >> fold
// CHECK-LABEL: func.func @folding_7
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_7() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.round %0 : f32
  func.return %1 : f32
}

// trunc.ordered[a] >> fold
// CHECK-LABEL: func.func @folding_8
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_8() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.trunc %0 : f32
  func.return %1 : f32
}

// not.ordered[a] >> fold
// CHECK-LABEL: func.func @folding_9
// CHECK-NEXT:    %0 = uop.const -9 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @folding_9() -> index {
  %0 = uop.const 8 : index
  %1 = uop.not %0 : index
  func.return %1 : index
}

// isnan.ordered[a] >> fold
// CHECK-LABEL: func.func @folding_10
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @folding_10() -> i1 {
  %0 = uop.const -0.000000e+00 : f64
  %1 = uop.isnan %0 : f64
  func.return %1 : i1
}

// isinf.ordered[a] >> fold
// CHECK-LABEL: func.func @folding_11
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @folding_11() -> i1 {
  %0 = uop.const -0.000000e+00 : f64
  %1 = uop.isinf %0 : f64
  func.return %1 : i1
}

// add.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_12
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_12() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.const 0.000000e+00 : f32
  %2 = uop.add %0, %1 : f32
  func.return %2 : f32
}

// sub.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_13
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_13() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.const 0.000000e+00 : f32
  %2 = uop.sub %0, %1 : f32
  func.return %2 : f32
}

// mul.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_14
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_14() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.const 0.000000e+00 : f32
  %2 = uop.mul %0, %1 : f32
  func.return %2 : f32
}

// div.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_15
// CHECK-NEXT:    %0 = uop.const 0x7fc00000 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_15() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.const 0.000000e+00 : f32
  %2 = uop.div %0, %1 : f32
  func.return %2 : f32
}

// floordiv.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_16
// CHECK-NEXT:    %0 = uop.const 0x7fc00000 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_16() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.const 0.000000e+00 : f32
  %2 = uop.floordiv %0, %1 : f32
  func.return %2 : f32
}

// floormod.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_17
// CHECK-NEXT:    %0 = uop.const 0x7fc00000 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_17() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.const 0.000000e+00 : f32
  %2 = uop.floormod %0, %1 : f32
  func.return %2 : f32
}

// truncdiv.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_18
// CHECK-NEXT:    %0 = uop.const 0x7fc00000 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_18() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.const 0.000000e+00 : f32
  %2 = uop.truncdiv %0, %1 : f32
  func.return %2 : f32
}

// truncmod.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_19
// CHECK-NEXT:    %0 = uop.const 0x7fc00000 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_19() -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.const 0.000000e+00 : f32
  %2 = uop.truncmod %0, %1 : f32
  func.return %2 : f32
}

// min.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_20
// CHECK-NEXT:    %0 = uop.const -2 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @folding_20() -> index {
  %0 = uop.const 1 : index
  %1 = uop.const -2 : index
  %2 = uop.min %0, %1 : index
  func.return %2 : index
}

// max.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_21
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @folding_21() -> index {
  %0 = uop.const 1 : index
  %1 = uop.const -2 : index
  %2 = uop.max %0, %1 : index
  func.return %2 : index
}

// pow.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_22
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @folding_22() -> index {
  %0 = uop.const 1 : index
  %1 = uop.const -2 : index
  %2 = uop.pow %0, %1 : index
  func.return %2 : index
}

// and.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_23
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @folding_23() -> index {
  %0 = uop.const 1 : index
  %1 = uop.const -2 : index
  %2 = uop.and %0, %1 : index
  func.return %2 : index
}

// or.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_24
// CHECK-NEXT:    %0 = uop.const -1 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @folding_24() -> index {
  %0 = uop.const 1 : index
  %1 = uop.const -2 : index
  %2 = uop.or %0, %1 : index
  func.return %2 : index
}

// xor.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_25
// CHECK-NEXT:    %0 = uop.const -1 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @folding_25() -> index {
  %0 = uop.const 1 : index
  %1 = uop.const -2 : index
  %2 = uop.xor %0, %1 : index
  func.return %2 : index
}

// shl.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_26
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @folding_26() -> index {
  %0 = uop.const 1 : index
  %1 = uop.const -2 : index
  %2 = uop.shl %0, %1 : index
  func.return %2 : index
}

// shr.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_27
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @folding_27() -> index {
  %0 = uop.const 1 : index
  %1 = uop.const -2 : index
  %2 = uop.shr %0, %1 : index
  func.return %2 : index
}

// eq.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_28
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @folding_28() -> i1 {
  %0 = uop.const -0.000000e+00 : f64
  %1 = uop.const 0.000000e+00 : f64
  %2 = uop.eq %0, %1 : f64
  func.return %2 : i1
}

// ne.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_29
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @folding_29() -> i1 {
  %0 = uop.const -0.000000e+00 : f64
  %1 = uop.const 0.000000e+00 : f64
  %2 = uop.ne %0, %1 : f64
  func.return %2 : i1
}

// lt.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_30
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @folding_30() -> i1 {
  %0 = uop.const -0.000000e+00 : f64
  %1 = uop.const 0.000000e+00 : f64
  %2 = uop.lt %0, %1 : f64
  func.return %2 : i1
}

// le.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_31
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @folding_31() -> i1 {
  %0 = uop.const -0.000000e+00 : f64
  %1 = uop.const 0.000000e+00 : f64
  %2 = uop.le %0, %1 : f64
  func.return %2 : i1
}

// gt.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_32
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @folding_32() -> i1 {
  %0 = uop.const -0.000000e+00 : f64
  %1 = uop.const 0.000000e+00 : f64
  %2 = uop.gt %0, %1 : f64
  func.return %2 : i1
}

// ge.ordered[a, b] >> fold
// CHECK-LABEL: func.func @folding_33
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @folding_33() -> i1 {
  %0 = uop.const -0.000000e+00 : f64
  %1 = uop.const 0.000000e+00 : f64
  %2 = uop.ge %0, %1 : f64
  func.return %2 : i1
}

// where.ordered[a, b, c] >> fold
// CHECK-LABEL: func.func @folding_34
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @folding_34() -> f32 {
  %0 = uop.const false
  %1 = uop.const 1.000000e+00 : f32
  %2 = uop.const 0.000000e+00 : f32
  %3 = uop.where %0, %1, %2 : f32
  func.return %3 : f32
}
