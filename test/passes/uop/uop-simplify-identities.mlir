// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify)' | filecheck %s

// Written by test/unit/update_rule_tests.py: a function for each rule of the family, in which it fires.

// add[n, 0] >> n for integer n
// CHECK-LABEL: func.func @identities_0
// CHECK-NEXT:    func.return %n : index
// CHECK-NEXT:  }
func.func @identities_0(%n: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.add %n, %0 : index
  func.return %1 : index
}

// add[u, -0.0] >> u for float u
// CHECK-LABEL: func.func @identities_1
// CHECK-NEXT:    func.return %u : f32
// CHECK-NEXT:  }
func.func @identities_1(%u: f32) -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.add %u, %0 : f32
  func.return %1 : f32
}

// sub[x, 0] >> x
// CHECK-LABEL: func.func @identities_2
// CHECK-NEXT:    func.return %x : f32
// CHECK-NEXT:  }
func.func @identities_2(%x: f32) -> f32 {
  %0 = uop.const 0.000000e+00 : f32
  %1 = uop.sub %x, %0 : f32
  func.return %1 : f32
}

// mul[x, 1] >> x
// CHECK-LABEL: func.func @identities_3
// CHECK-NEXT:    func.return %x : f32
// CHECK-NEXT:  }
func.func @identities_3(%x: f32) -> f32 {
  %0 = uop.const 1.000000e+00 : f32
  %1 = uop.mul %x, %0 : f32
  func.return %1 : f32
}

// fma[u, 1, v] >> add[u, v] for float u, v
// CHECK-LABEL: func.func @identities_4
// CHECK-NEXT:    %0 = uop.add %u, %v : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_4(%u: f32, %v: f32) -> f32 {
  %0 = uop.const 1.000000e+00 : f32
  %1 = uop.fma %u, %0, %v : f32
  func.return %1 : f32
}

// fma[1, u, v] >> add[u, v] for float u, v
// CHECK-LABEL: func.func @identities_5
// CHECK-NEXT:    %0 = uop.add %u, %v : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_5(%u: f32, %v: f32) -> f32 {
  %0 = uop.const 1.000000e+00 : f32
  %1 = uop.fma %0, %u, %v : f32
  func.return %1 : f32
}

// fma[u, v, -0.0] >> mul[u, v] for float u, v
// CHECK-LABEL: func.func @identities_6
// CHECK-NEXT:    %0 = uop.mul %u, %v : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_6(%u: f32, %v: f32) -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.fma %u, %v, %0 : f32
  func.return %1 : f32
}

// div[x, 1] >> x
// CHECK-LABEL: func.func @identities_7
// CHECK-NEXT:    func.return %x : f32
// CHECK-NEXT:  }
func.func @identities_7(%x: f32) -> f32 {
  %0 = uop.const 1.000000e+00 : f32
  %1 = uop.div %x, %0 : f32
  func.return %1 : f32
}

// pow[x, 1] >> x
// CHECK-LABEL: func.func @identities_8
// CHECK-NEXT:    func.return %x : f32
// CHECK-NEXT:  }
func.func @identities_8(%x: f32) -> f32 {
  %0 = uop.const 1.000000e+00 : f32
  %1 = uop.pow %x, %0 : f32
  func.return %1 : f32
}

// floordiv[n, 1] >> n for integer n
// CHECK-LABEL: func.func @identities_9
// CHECK-NEXT:    func.return %n : index
// CHECK-NEXT:  }
func.func @identities_9(%n: index) -> index {
  %0 = uop.const 1 : index
  %1 = uop.floordiv %n, %0 : index
  func.return %1 : index
}

// truncdiv[n, 1] >> n for integer n
// CHECK-LABEL: func.func @identities_10
// CHECK-NEXT:    func.return %n : index
// CHECK-NEXT:  }
func.func @identities_10(%n: index) -> index {
  %0 = uop.const 1 : index
  %1 = uop.truncdiv %n, %0 : index
  func.return %1 : index
}

// shl[n, 0] >> n for integer n
// CHECK-LABEL: func.func @identities_11
// CHECK-NEXT:    func.return %n : index
// CHECK-NEXT:  }
func.func @identities_11(%n: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.shl %n, %0 : index
  func.return %1 : index
}

// shr[n, 0] >> n for integer n
// CHECK-LABEL: func.func @identities_12
// CHECK-NEXT:    func.return %n : index
// CHECK-NEXT:  }
func.func @identities_12(%n: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.shr %n, %0 : index
  func.return %1 : index
}

// mul[n, 0] >> 0 for integer n
// CHECK-LABEL: func.func @identities_13
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_13(%n: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.mul %n, %0 : index
  func.return %1 : index
}

// floormod[n, 1] >> 0 for integer n
// CHECK-LABEL: func.func @identities_14
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_14(%n: index) -> index {
  %0 = uop.const 1 : index
  %1 = uop.floormod %n, %0 : index
  func.return %1 : index
}

// truncmod[n, 1] >> 0 for integer n
// CHECK-LABEL: func.func @identities_15
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_15(%n: index) -> index {
  %0 = uop.const 1 : index
  %1 = uop.truncmod %n, %0 : index
  func.return %1 : index
}

// truncdiv[0, n] >> 0 for integer n when n.min > 0
// CHECK-LABEL: func.func @identities_16
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_16(%n: index) -> index {
  %0 = uop.const 5 : index
  %1 = uop.min %n, %0 : index
  %2 = uop.const 1 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.const 0 : index
  %5 = uop.truncdiv %4, %3 : index
  func.return %5 : index
}

// floordiv[0, n] >> 0 for integer n when n.min > 0
// CHECK-LABEL: func.func @identities_17
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_17(%n: index) -> index {
  %0 = uop.const 5 : index
  %1 = uop.min %n, %0 : index
  %2 = uop.const 1 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.const 0 : index
  %5 = uop.floordiv %4, %3 : index
  func.return %5 : index
}

// truncmod[0, n] >> 0 for integer n when n.min > 0
// CHECK-LABEL: func.func @identities_18
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_18(%n: index) -> index {
  %0 = uop.const 5 : index
  %1 = uop.min %n, %0 : index
  %2 = uop.const 1 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.const 0 : index
  %5 = uop.truncmod %4, %3 : index
  func.return %5 : index
}

// floormod[0, n] >> 0 for integer n when n.min > 0
// CHECK-LABEL: func.func @identities_19
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_19(%n: index) -> index {
  %0 = uop.const 5 : index
  %1 = uop.min %n, %0 : index
  %2 = uop.const 1 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.const 0 : index
  %5 = uop.floormod %4, %3 : index
  func.return %5 : index
}

// shl[0, n] >> 0 for integer n
// CHECK-LABEL: func.func @identities_20
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_20(%n: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.shl %0, %n : index
  func.return %1 : index
}

// shr[0, n] >> 0 for integer n
// CHECK-LABEL: func.func @identities_21
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_21(%n: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.shr %0, %n : index
  func.return %1 : index
}

// pow[x, 0] >> 1
// CHECK-LABEL: func.func @identities_22
// CHECK-NEXT:    %0 = uop.const 1.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_22(%x: f32) -> f32 {
  %0 = uop.const 0.000000e+00 : f32
  %1 = uop.pow %x, %0 : f32
  func.return %1 : f32
}

// pow[1, n] >> 1 for integer n
// CHECK-LABEL: func.func @identities_23
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_23(%n: index) -> index {
  %0 = uop.const 1 : index
  %1 = uop.pow %0, %n : index
  func.return %1 : index
}

// sub[n, n] >> 0 for integer n
// CHECK-LABEL: func.func @identities_24
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_24(%n: index) -> index {
  %0 = uop.sub %n, %n : index
  func.return %0 : index
}

// max[x, x] >> x
// CHECK-LABEL: func.func @identities_25
// CHECK-NEXT:    func.return %x : f32
// CHECK-NEXT:  }
func.func @identities_25(%x: f32) -> f32 {
  %0 = uop.max %x, %x : f32
  func.return %0 : f32
}

// min[x, x] >> x
// CHECK-LABEL: func.func @identities_26
// CHECK-NEXT:    func.return %x : f32
// CHECK-NEXT:  }
func.func @identities_26(%x: f32) -> f32 {
  %0 = uop.min %x, %x : f32
  func.return %0 : f32
}

// floordiv[n, n] >> 1 for integer n when n.min > 0
// CHECK-LABEL: func.func @identities_27
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_27(%n: index) -> index {
  %0 = uop.const 5 : index
  %1 = uop.min %n, %0 : index
  %2 = uop.const 1 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.floordiv %3, %3 : index
  func.return %4 : index
}

// floormod[n, n] >> 0 for integer n when n.min > 0
// CHECK-LABEL: func.func @identities_28
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_28(%n: index) -> index {
  %0 = uop.const 5 : index
  %1 = uop.min %n, %0 : index
  %2 = uop.const 1 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.floormod %3, %3 : index
  func.return %4 : index
}

// truncdiv[n, n] >> 1 for integer n when n.min > 0
// CHECK-LABEL: func.func @identities_29
// CHECK-NEXT:    %0 = uop.const 1 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_29(%n: index) -> index {
  %0 = uop.const 5 : index
  %1 = uop.min %n, %0 : index
  %2 = uop.const 1 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.truncdiv %3, %3 : index
  func.return %4 : index
}

// truncmod[n, n] >> 0 for integer n when n.min > 0
// CHECK-LABEL: func.func @identities_30
// CHECK-NEXT:    %0 = uop.const 0 : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_30(%n: index) -> index {
  %0 = uop.const 5 : index
  %1 = uop.min %n, %0 : index
  %2 = uop.const 1 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.truncmod %3, %3 : index
  func.return %4 : index
}

// max[n, max[n, m]] >> max[n, m] for integer n, m
// CHECK-LABEL: func.func @identities_31
// CHECK-NEXT:    %0 = uop.max %n, %m : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_31(%n: index, %m: index) -> index {
  %0 = uop.max %n, %m : index
  %1 = uop.max %n, %0 : index
  func.return %1 : index
}

// min[n, min[n, m]] >> min[n, m] for integer n, m
// CHECK-LABEL: func.func @identities_32
// CHECK-NEXT:    %0 = uop.min %n, %m : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_32(%n: index, %m: index) -> index {
  %0 = uop.min %n, %m : index
  %1 = uop.min %n, %0 : index
  func.return %1 : index
}

// max.ordered[max.ordered[x, y], y] >> max[x, y]
// CHECK-LABEL: func.func @identities_33
// CHECK-NEXT:    %0 = uop.max %x, %y : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_33(%x: f32, %y: f32) -> f32 {
  %0 = uop.max %x, %y : f32
  %1 = uop.max %0, %y : f32
  func.return %1 : f32
}

// max.ordered[x, max.ordered[x, y]] >> max[x, y]
// CHECK-LABEL: func.func @identities_34
// CHECK-NEXT:    %0 = uop.max %x, %y : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_34(%x: f32, %y: f32) -> f32 {
  %0 = uop.max %x, %y : f32
  %1 = uop.max %x, %0 : f32
  func.return %1 : f32
}

// min.ordered[min.ordered[x, y], y] >> min[x, y]
// CHECK-LABEL: func.func @identities_35
// CHECK-NEXT:    %0 = uop.min %x, %y : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_35(%x: f32, %y: f32) -> f32 {
  %0 = uop.min %x, %y : f32
  %1 = uop.min %0, %y : f32
  func.return %1 : f32
}

// min.ordered[x, min.ordered[x, y]] >> min[x, y]
// CHECK-LABEL: func.func @identities_36
// CHECK-NEXT:    %0 = uop.min %x, %y : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_36(%x: f32, %y: f32) -> f32 {
  %0 = uop.min %x, %y : f32
  %1 = uop.min %x, %0 : f32
  func.return %1 : f32
}

// max[n, min[n, m]] >> n for integer n, m
// CHECK-LABEL: func.func @identities_37
// CHECK-NEXT:    func.return %n : index
// CHECK-NEXT:  }
func.func @identities_37(%n: index, %m: index) -> index {
  %0 = uop.min %n, %m : index
  %1 = uop.max %n, %0 : index
  func.return %1 : index
}

// min[n, max[n, m]] >> n for integer n, m
// CHECK-LABEL: func.func @identities_38
// CHECK-NEXT:    func.return %n : index
// CHECK-NEXT:  }
func.func @identities_38(%n: index, %m: index) -> index {
  %0 = uop.max %n, %m : index
  %1 = uop.min %n, %0 : index
  func.return %1 : index
}

// neg[neg[x]] >> x
// CHECK-LABEL: func.func @identities_39
// CHECK-NEXT:    func.return %x : f32
// CHECK-NEXT:  }
func.func @identities_39(%x: f32) -> f32 {
  %0 = uop.neg %x : f32
  %1 = uop.neg %0 : f32
  func.return %1 : f32
}

// add[x, neg[y]] >> sub[x, y]
// CHECK-LABEL: func.func @identities_40
// CHECK-NEXT:    %0 = uop.sub %x, %y : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_40(%x: f32, %y: f32) -> f32 {
  %0 = uop.neg %y : f32
  %1 = uop.add %x, %0 : f32
  func.return %1 : f32
}

// sub[x, neg[y]] >> add[x, y]
// CHECK-LABEL: func.func @identities_41
// CHECK-NEXT:    %0 = uop.add %x, %y : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_41(%x: f32, %y: f32) -> f32 {
  %0 = uop.neg %y : f32
  %1 = uop.sub %x, %0 : f32
  func.return %1 : f32
}

// neg[sub[n, m]] >> sub[m, n] for integer n, m
// CHECK-LABEL: func.func @identities_42
// CHECK-NEXT:    %0 = uop.sub %m, %n : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_42(%n: index, %m: index) -> index {
  %0 = uop.sub %n, %m : index
  %1 = uop.neg %0 : index
  func.return %1 : index
}

// sub[0, n] >> neg[n] for integer n
// CHECK-LABEL: func.func @identities_43
// CHECK-NEXT:    %0 = uop.neg %n : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_43(%n: index) -> index {
  %0 = uop.const 0 : index
  %1 = uop.sub %0, %n : index
  func.return %1 : index
}

// sub[-0.0, u] >> neg[u] for float u
// CHECK-LABEL: func.func @identities_44
// CHECK-NEXT:    %0 = uop.neg %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_44(%u: f32) -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.sub %0, %u : f32
  func.return %1 : f32
}

// mul[x, -1] >> neg[x]
// CHECK-LABEL: func.func @identities_45
// CHECK-NEXT:    %0 = uop.neg %x : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_45(%x: f32) -> f32 {
  %0 = uop.const -1.000000e+00 : f32
  %1 = uop.mul %x, %0 : f32
  func.return %1 : f32
}

// mul[neg[x], neg[y]] >> mul[x, y]
// CHECK-LABEL: func.func @identities_46
// CHECK-NEXT:    %0 = uop.mul %x, %y : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_46(%x: f32, %y: f32) -> f32 {
  %0 = uop.neg %x : f32
  %1 = uop.neg %y : f32
  %2 = uop.mul %0, %1 : f32
  func.return %2 : f32
}

// mul[neg[x], a] >> mul[x, -a]
// CHECK-LABEL: func.func @identities_47
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.mul %x, %0 : f32
// CHECK-NEXT:    func.return %1 : f32
// CHECK-NEXT:  }
func.func @identities_47(%x: f32) -> f32 {
  %0 = uop.neg %x : f32
  %1 = uop.const -0.000000e+00 : f32
  %2 = uop.mul %0, %1 : f32
  func.return %2 : f32
}

// neg[mul[x, a]] >> mul[x, -a]
// CHECK-LABEL: func.func @identities_48
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.mul %x, %0 : f32
// CHECK-NEXT:    func.return %1 : f32
// CHECK-NEXT:  }
func.func @identities_48(%x: f32) -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.mul %x, %0 : f32
  %2 = uop.neg %1 : f32
  func.return %2 : f32
}

// div[neg[u], neg[v]] >> div[u, v] for float u, v
// CHECK-LABEL: func.func @identities_49
// CHECK-NEXT:    %0 = uop.div %u, %v : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_49(%u: f32, %v: f32) -> f32 {
  %0 = uop.neg %u : f32
  %1 = uop.neg %v : f32
  %2 = uop.div %0, %1 : f32
  func.return %2 : f32
}

// div[neg[u], a] >> div[u, -a] for float u
// CHECK-LABEL: func.func @identities_50
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.div %u, %0 : f32
// CHECK-NEXT:    func.return %1 : f32
// CHECK-NEXT:  }
func.func @identities_50(%u: f32) -> f32 {
  %0 = uop.neg %u : f32
  %1 = uop.const -0.000000e+00 : f32
  %2 = uop.div %0, %1 : f32
  func.return %2 : f32
}

// sub[sub[n, m], n] >> neg[m] for integer n, m
// CHECK-LABEL: func.func @identities_51
// CHECK-NEXT:    %0 = uop.neg %m : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_51(%n: index, %m: index) -> index {
  %0 = uop.sub %n, %m : index
  %1 = uop.sub %0, %n : index
  func.return %1 : index
}

// abs[abs[x]] >> abs[x]
// CHECK-LABEL: func.func @identities_52
// CHECK-NEXT:    %0 = uop.abs %x : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_52(%x: f32) -> f32 {
  %0 = uop.abs %x : f32
  %1 = uop.abs %0 : f32
  func.return %1 : f32
}

// abs[neg[s]] >> abs[s] for signed s
// CHECK-LABEL: func.func @identities_53
// CHECK-NEXT:    %0 = uop.abs %s : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_53(%s: index) -> index {
  %0 = uop.neg %s : index
  %1 = uop.abs %0 : index
  func.return %1 : index
}

// abs[neg[u]] >> abs[u] for float u
// CHECK-LABEL: func.func @identities_54
// CHECK-NEXT:    %0 = uop.abs %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @identities_54(%u: f32) -> f32 {
  %0 = uop.neg %u : f32
  %1 = uop.abs %0 : f32
  func.return %1 : f32
}

// abs[n] >> n for integer n when n.min >= 0
// CHECK-LABEL: func.func @identities_55
// CHECK-NEXT:    %0 = uop.const 3 : index
// CHECK-NEXT:    %1 = uop.min %n, %0 : index
// CHECK-NEXT:    %2 = uop.const 0 : index
// CHECK-NEXT:    %3 = uop.max %1, %2 : index
// CHECK-NEXT:    func.return %3 : index
// CHECK-NEXT:  }
func.func @identities_55(%n: index) -> index {
  %0 = uop.const 3 : index
  %1 = uop.min %n, %0 : index
  %2 = uop.const 0 : index
  %3 = uop.max %1, %2 : index
  %4 = uop.abs %3 : index
  func.return %4 : index
}

// add[sub[n, m], m] >> n for integer n, m
// CHECK-LABEL: func.func @identities_56
// CHECK-NEXT:    func.return %n : index
// CHECK-NEXT:  }
func.func @identities_56(%n: index, %m: index) -> index {
  %0 = uop.sub %n, %m : index
  %1 = uop.add %0, %m : index
  func.return %1 : index
}

// sub[add[n, m], m] >> n for integer n, m
// CHECK-LABEL: func.func @identities_57
// CHECK-NEXT:    func.return %n : index
// CHECK-NEXT:  }
func.func @identities_57(%n: index, %m: index) -> index {
  %0 = uop.add %n, %m : index
  %1 = uop.sub %0, %m : index
  func.return %1 : index
}

// sub[n, add[n, m]] >> neg[m] for integer n, m
// CHECK-LABEL: func.func @identities_58
// CHECK-NEXT:    %0 = uop.neg %m : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_58(%n: index, %m: index) -> index {
  %0 = uop.add %n, %m : index
  %1 = uop.sub %n, %0 : index
  func.return %1 : index
}

// sub[n, sub[n, m]] >> m for integer n, m
// CHECK-LABEL: func.func @identities_59
// CHECK-NEXT:    func.return %m : index
// CHECK-NEXT:  }
func.func @identities_59(%n: index, %m: index) -> index {
  %0 = uop.sub %n, %m : index
  %1 = uop.sub %n, %0 : index
  func.return %1 : index
}

// sub[add[n, m], add[n, k]] >> sub[m, k] for integer n, m, k
// CHECK-LABEL: func.func @identities_60
// CHECK-NEXT:    %0 = uop.sub %m, %k : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_60(%n: index, %m: index, %k: index) -> index {
  %0 = uop.add %n, %m : index
  %1 = uop.add %n, %k : index
  %2 = uop.sub %0, %1 : index
  func.return %2 : index
}

// sub[sub[n, m], sub[n, k]] >> sub[k, m] for integer n, m, k
// CHECK-LABEL: func.func @identities_61
// CHECK-NEXT:    %0 = uop.sub %k, %m : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_61(%n: index, %m: index, %k: index) -> index {
  %0 = uop.sub %n, %m : index
  %1 = uop.sub %n, %k : index
  %2 = uop.sub %0, %1 : index
  func.return %2 : index
}

// add[sub[n, m], sub[m, k]] >> sub[n, k] for integer n, m, k
// CHECK-LABEL: func.func @identities_62
// CHECK-NEXT:    %0 = uop.sub %n, %k : index
// CHECK-NEXT:    func.return %0 : index
// CHECK-NEXT:  }
func.func @identities_62(%n: index, %m: index, %k: index) -> index {
  %0 = uop.sub %n, %m : index
  %1 = uop.sub %m, %k : index
  %2 = uop.add %0, %1 : index
  func.return %2 : index
}

// add.ordered[a, x] >> add[x, a] when is_no_constant
// CHECK-LABEL: func.func @identities_63
// CHECK-NEXT:    %0 = uop.const 8 : index
// CHECK-NEXT:    %1 = uop.add %x, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @identities_63(%x: index) -> index {
  %0 = uop.const 8 : index
  %1 = uop.add %0, %x : index
  func.return %1 : index
}

// mul.ordered[a, x] >> mul[x, a] when is_no_constant
// CHECK-LABEL: func.func @identities_64
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.mul %x, %0 : f32
// CHECK-NEXT:    func.return %1 : f32
// CHECK-NEXT:  }
func.func @identities_64(%x: f32) -> f32 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.mul %0, %x : f32
  func.return %1 : f32
}

// eq.ordered[a, x] >> eq[x, a] when is_no_constant
// CHECK-LABEL: func.func @identities_65
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.eq %x, %0 : f32
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @identities_65(%x: f32) -> i1 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.eq %0, %x : f32
  func.return %1 : i1
}

// ne.ordered[a, x] >> ne[x, a] when is_no_constant
// CHECK-LABEL: func.func @identities_66
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.ne %x, %0 : f32
// CHECK-NEXT:    func.return %1 : i1
// CHECK-NEXT:  }
func.func @identities_66(%x: f32) -> i1 {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.ne %0, %x : f32
  func.return %1 : i1
}

// and.ordered[a, x] >> and[x, a] when is_no_constant
// CHECK-LABEL: func.func @identities_67
// CHECK-NEXT:    %0 = uop.const 8 : index
// CHECK-NEXT:    %1 = uop.and %x, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @identities_67(%x: index) -> index {
  %0 = uop.const 8 : index
  %1 = uop.and %0, %x : index
  func.return %1 : index
}

// or.ordered[a, x] >> or[x, a] when is_no_constant
// CHECK-LABEL: func.func @identities_68
// CHECK-NEXT:    %0 = uop.const 8 : index
// CHECK-NEXT:    %1 = uop.or %x, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @identities_68(%x: index) -> index {
  %0 = uop.const 8 : index
  %1 = uop.or %0, %x : index
  func.return %1 : index
}

// xor.ordered[a, x] >> xor[x, a] when is_no_constant
// CHECK-LABEL: func.func @identities_69
// CHECK-NEXT:    %0 = uop.const 8 : index
// CHECK-NEXT:    %1 = uop.xor %x, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @identities_69(%x: index) -> index {
  %0 = uop.const 8 : index
  %1 = uop.xor %0, %x : index
  func.return %1 : index
}

// min.ordered[a, n] >> min[n, a] for integer n when is_no_constant
// CHECK-LABEL: func.func @identities_70
// CHECK-NEXT:    %0 = uop.const 8 : index
// CHECK-NEXT:    %1 = uop.min %n, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @identities_70(%n: index) -> index {
  %0 = uop.const 8 : index
  %1 = uop.min %0, %n : index
  func.return %1 : index
}

// max.ordered[a, n] >> max[n, a] for integer n when is_no_constant
// CHECK-LABEL: func.func @identities_71
// CHECK-NEXT:    %0 = uop.const 8 : index
// CHECK-NEXT:    %1 = uop.max %n, %0 : index
// CHECK-NEXT:    func.return %1 : index
// CHECK-NEXT:  }
func.func @identities_71(%n: index) -> index {
  %0 = uop.const 8 : index
  %1 = uop.max %0, %n : index
  func.return %1 : index
}
