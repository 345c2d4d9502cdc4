// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify)' | filecheck %s

// Written by test/unit/update_rule_tests.py: a function for each rule of the family, in which it fires.

// div[u, a] >> multiply_by_reciprocal for float u when is_power_of_two
// CHECK-LABEL: func.func @reals_0
// CHECK-NEXT:    %0 = uop.neg %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_0(%u: f32) -> f32 {
  %0 = uop.const -1.000000e+00 : f32
  %1 = uop.div %u, %0 : f32
  func.return %1 : f32
}

// div[1, u] >> reciprocal[u] for float u
// CHECK-LABEL: func.func @reals_1
// CHECK-NEXT:    %0 = uop.reciprocal %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_1(%u: f32) -> f32 {
  %0 = uop.const 1.000000e+00 : f32
  %1 = uop.div %0, %u : f32
  func.return %1 : f32
}

// reciprocal[neg[u]] >> neg[reciprocal[u]] for float u
// CHECK-LABEL: func.func @reals_2
// CHECK-NEXT:    %0 = uop.reciprocal %u : f32
// CHECK-NEXT:    %1 = uop.neg %0 : f32
// CHECK-NEXT:    func.return %1 : f32
// CHECK-NEXT:  }
func.func @reals_2(%u: f32) -> f32 {
  %0 = uop.neg %u : f32
  %1 = uop.reciprocal %0 : f32
  func.return %1 : f32
}

// floor[v @ floor[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_3
// CHECK-NEXT:    %0 = uop.floor %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_3(%u: f32) -> f32 {
  %0 = uop.floor %u : f32
  %1 = uop.floor %0 : f32
  func.return %1 : f32
}

// floor[v @ ceil[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_4
// CHECK-NEXT:    %0 = uop.ceil %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_4(%u: f32) -> f32 {
  %0 = uop.ceil %u : f32
  %1 = uop.floor %0 : f32
  func.return %1 : f32
}

// floor[v @ round[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_5
// CHECK-NEXT:    %0 = uop.round %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_5(%u: f32) -> f32 {
  %0 = uop.round %u : f32
  %1 = uop.floor %0 : f32
  func.return %1 : f32
}

// floor[v @ trunc[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_6
// CHECK-NEXT:    %0 = uop.trunc %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_6(%u: f32) -> f32 {
  %0 = uop.trunc %u : f32
  %1 = uop.floor %0 : f32
  func.return %1 : f32
}

// ceil[v @ floor[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_7
// CHECK-NEXT:    %0 = uop.floor %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_7(%u: f32) -> f32 {
  %0 = uop.floor %u : f32
  %1 = uop.ceil %0 : f32
  func.return %1 : f32
}

// ceil[v @ ceil[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_8
// CHECK-NEXT:    %0 = uop.ceil %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_8(%u: f32) -> f32 {
  %0 = uop.ceil %u : f32
  %1 = uop.ceil %0 : f32
  func.return %1 : f32
}

// ceil[v @ round[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_9
// CHECK-NEXT:    %0 = uop.round %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_9(%u: f32) -> f32 {
  %0 = uop.round %u : f32
  %1 = uop.ceil %0 : f32
  func.return %1 : f32
}

// ceil[v @ trunc[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_10
// CHECK-NEXT:    %0 = uop.trunc %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_10(%u: f32) -> f32 {
  %0 = uop.trunc %u : f32
  %1 = uop.ceil %0 : f32
  func.return %1 : f32
}

// round[v @ floor[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_11
// CHECK-NEXT:    %0 = uop.floor %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_11(%u: f32) -> f32 {
  %0 = uop.floor %u : f32
  %1 = uop.round %0 : f32
  func.return %1 : f32
}

// round[v @ ceil[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_12
// CHECK-NEXT:    %0 = uop.ceil %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_12(%u: f32) -> f32 {
  %0 = uop.ceil %u : f32
  %1 = uop.round %0 : f32
  func.return %1 : f32
}

// round[v @ round[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_13
// CHECK-NEXT:    %0 = uop.round %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_13(%u: f32) -> f32 {
  %0 = uop.round %u : f32
  %1 = uop.round %0 : f32
  func.return %1 : f32
}

// round[v @ trunc[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_14
// CHECK-NEXT:    %0 = uop.trunc %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_14(%u: f32) -> f32 {
  %0 = uop.trunc %u : f32
  %1 = uop.round %0 : f32
  func.return %1 : f32
}

// trunc[v @ floor[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_15
// CHECK-NEXT:    %0 = uop.floor %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_15(%u: f32) -> f32 {
  %0 = uop.floor %u : f32
  %1 = uop.trunc %0 : f32
  func.return %1 : f32
}

// trunc[v @ ceil[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_16
// CHECK-NEXT:    %0 = uop.ceil %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_16(%u: f32) -> f32 {
  %0 = uop.ceil %u : f32
  %1 = uop.trunc %0 : f32
  func.return %1 : f32
}

// trunc[v @ round[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_17
// CHECK-NEXT:    %0 = uop.round %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_17(%u: f32) -> f32 {
  %0 = uop.round %u : f32
  %1 = uop.trunc %0 : f32
  func.return %1 : f32
}

// trunc[v @ trunc[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_18
// CHECK-NEXT:    %0 = uop.trunc %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_18(%u: f32) -> f32 {
  %0 = uop.trunc %u : f32
  %1 = uop.trunc %0 : f32
  func.return %1 : f32
}

// floor[v @ cast[n]] >> v for float v and integer n
// CHECK-LABEL: func.func @reals_19
// CHECK-NEXT:    %0 = uop.cast %n : index -> f64
// CHECK-NEXT:    func.return %0 : f64
// CHECK-NEXT:  }
func.func @reals_19(%n: index) -> f64 {
  %0 = uop.cast %n : index -> f64
  %1 = uop.floor %0 : f64
  func.return %1 : f64
}

// ceil[v @ cast[n]] >> v for float v and integer n
// CHECK-LABEL: func.func @reals_20
// CHECK-NEXT:    %0 = uop.cast %n : index -> f64
// CHECK-NEXT:    func.return %0 : f64
// CHECK-NEXT:  }
func.func @reals_20(%n: index) -> f64 {
  %0 = uop.cast %n : index -> f64
  %1 = uop.ceil %0 : f64
  func.return %1 : f64
}

// round[v @ cast[n]] >> v for float v and integer n
// CHECK-LABEL: func.func @reals_21
// CHECK-NEXT:    %0 = uop.cast %n : index -> f64
// CHECK-NEXT:    func.return %0 : f64
// CHECK-NEXT:  }
func.func @reals_21(%n: index) -> f64 {
  %0 = uop.cast %n : index -> f64
  %1 = uop.round %0 : f64
  func.return %1 : f64
}

// trunc[v @ cast[n]] >> v for float v and integer n
// CHECK-LABEL: func.func @reals_22
// CHECK-NEXT:    %0 = uop.cast %n : index -> f64
// CHECK-NEXT:    func.return %0 : f64
// CHECK-NEXT:  }
func.func @reals_22(%n: index) -> f64 {
  %0 = uop.cast %n : index -> f64
  %1 = uop.trunc %0 : f64
  func.return %1 : f64
}

// to_tf32[v @ cast[u]] >> v for float v, u when has_16_bits
// CHECK-LABEL: func.func @reals_23
// CHECK-NEXT:    %0 = uop.cast %u : f16 -> f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_23(%u: f16) -> f32 {
  %0 = uop.cast %u : f16 -> f32
  %1 = uop.to_tf32 %0 : f32
  func.return %1 : f32
}

// to_tf32[v @ to_tf32[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_24
// CHECK-NEXT:    %0 = uop.to_tf32 %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_24(%u: f32) -> f32 {
  %0 = uop.to_tf32 %u : f32
  %1 = uop.to_tf32 %0 : f32
  func.return %1 : f32
}

// abs[v @ exp[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_25
// CHECK-NEXT:    %0 = uop.exp %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_25(%u: f32) -> f32 {
  %0 = uop.exp %u : f32
  %1 = uop.abs %0 : f32
  func.return %1 : f32
}

// abs[v @ exp2[u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_26
// CHECK-NEXT:    %0 = uop.exp2 %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_26(%u: f32) -> f32 {
  %0 = uop.exp2 %u : f32
  %1 = uop.abs %0 : f32
  func.return %1 : f32
}

// abs[v @ mul[u, u]] >> v for float v, u
// CHECK-LABEL: func.func @reals_27
// CHECK-NEXT:    %0 = uop.mul %u, %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @reals_27(%u: f32) -> f32 {
  %0 = uop.mul %u, %u : f32
  %1 = uop.abs %0 : f32
  func.return %1 : f32
}

// isnan[neg[u]] >> isnan[u] for float u
// CHECK-LABEL: func.func @reals_28
// CHECK-NEXT:    %0 = uop.isnan %u : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @reals_28(%u: f32) -> i1 {
  %0 = uop.neg %u : f32
  %1 = uop.isnan %0 : f32
  func.return %1 : i1
}

// isnan[abs[u]] >> isnan[u] for float u
// CHECK-LABEL: func.func @reals_29
// CHECK-NEXT:    %0 = uop.isnan %u : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @reals_29(%u: f32) -> i1 {
  %0 = uop.abs %u : f32
  %1 = uop.isnan %0 : f32
  func.return %1 : i1
}

// isinf[neg[u]] >> isinf[u] for float u
// CHECK-LABEL: func.func @reals_30
// CHECK-NEXT:    %0 = uop.isinf %u : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @reals_30(%u: f32) -> i1 {
  %0 = uop.neg %u : f32
  %1 = uop.isinf %0 : f32
  func.return %1 : i1
}

// isinf[abs[u]] >> isinf[u] for float u
// CHECK-LABEL: func.func @reals_31
// CHECK-NEXT:    %0 = uop.isinf %u : f32
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @reals_31(%u: f32) -> i1 {
  %0 = uop.abs %u : f32
  %1 = uop.isinf %0 : f32
  func.return %1 : i1
}

// isnan[cast[n]] >> False for integer n
// CHECK-LABEL: func.func @reals_32
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @reals_32(%n: index) -> i1 {
  %0 = uop.cast %n : index -> f64
  %1 = uop.isnan %0 : f64
  func.return %1 : i1
}
