// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify{fast-math=true})' | filecheck %s

// Written by test/unit/update_rule_tests.py: a function for each rule of the family, in which it fires.

// add[u, 0] >> u for float u
// CHECK-LABEL: func.func @fast_math_0
// CHECK-NEXT:    func.return %u : f32
// CHECK-NEXT:  }
func.func @fast_math_0(%u: f32) -> f32 {
  %0 = uop.const 0.000000e+00 : f32
  %1 = uop.add %u, %0 : f32
  func.return %1 : f32
}

// mul[u, 0] >> 0 for float u
// CHECK-LABEL: func.func @fast_math_1
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @fast_math_1(%u: f32) -> f32 {
  %0 = uop.const 0.000000e+00 : f32
  %1 = uop.mul %u, %0 : f32
  func.return %1 : f32
}

// sub[u, u] >> 0 for float u
// CHECK-LABEL: func.func @fast_math_2
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @fast_math_2(%u: f32) -> f32 {
  %0 = uop.sub %u, %u : f32
  func.return %0 : f32
}

// neg[sub[u, v]] >> sub[v, u] for float u, v
// CHECK-LABEL: func.func @fast_math_3
// CHECK-NEXT:    %0 = uop.sub %v, %u : f32
// CHECK-NEXT:    func.return %0 : f32
// CHECK-NEXT:  }
func.func @fast_math_3(%u: f32, %v: f32) -> f32 {
  %0 = uop.sub %u, %v : f32
  %1 = uop.neg %0 : f32
  func.return %1 : f32
}

// eq[u, u] >> True for float u
// CHECK-LABEL: func.func @fast_math_4
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @fast_math_4(%u: f32) -> i1 {
  %0 = uop.eq %u, %u : f32
  func.return %0 : i1
}

// ne[u, u] >> False for float u
// CHECK-LABEL: func.func @fast_math_5
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @fast_math_5(%u: f32) -> i1 {
  %0 = uop.ne %u, %u : f32
  func.return %0 : i1
}

// le[u, u] >> True for float u
// CHECK-LABEL: func.func @fast_math_6
// CHECK-NEXT:    %0 = uop.const true
// CHECK-NEXT:    func.return %0 : i1
// CHECK-NEXT:  }
func.func @fast_math_6(%u: f32) -> i1 {
  %0 = uop.le %u, %u : f32
  func.return %0 : i1
}

// mul[cast[p], u] >> where[p, u, 0] for bool p and float u
// CHECK-LABEL: func.func @fast_math_7
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.where %p, %u, %0 : f32
// CHECK-NEXT:    func.return %1 : f32
// CHECK-NEXT:  }
func.func @fast_math_7(%p: i1, %u: f32) -> f32 {
  %0 = uop.cast %p : i1 -> f32
  %1 = uop.mul %0, %u : f32
  func.return %1 : f32
}

// mul[where[p, u, 0], v] >> where[p, mul[u, v], 0] for bool p and float u, v
// CHECK-LABEL: func.func @fast_math_8
// CHECK-NEXT:    %0 = uop.mul %u, %v : f32
// CHECK-NEXT:    %1 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %2 = uop.where %p, %0, %1 : f32
// CHECK-NEXT:    func.return %2 : f32
// CHECK-NEXT:  }
func.func @fast_math_8(%p: i1, %u: f32, %v: f32) -> f32 {
  %0 = uop.const 0.000000e+00 : f32
  %1 = uop.where %p, %u, %0 : f32
  %2 = uop.mul %1, %v : f32
  func.return %2 : f32
}

// add[mul[u, v], mul[u, w]] >> mul[u, add[v, w]] for float u, v, w
// CHECK-LABEL: func.func @fast_math_9
// CHECK-NEXT:    %0 = uop.add %v, %w : f32
// CHECK-NEXT:    %1 = uop.mul %u, %0 : f32
// CHECK-NEXT:    func.return %1 : f32
// CHECK-NEXT:  }
func.func @fast_math_9(%u: f32, %v: f32, %w: f32) -> f32 {
  %0 = uop.mul %u, %v : f32
  %1 = uop.mul %u, %w : f32
  %2 = uop.add %0, %1 : f32
  func.return %2 : f32
}

// div[div[u, v], w] >> div[u, mul[v, w]] for float u, v, w
// CHECK-LABEL: func.func @fast_math_10
// CHECK-NEXT:    %0 = uop.mul %v, %w : f32
// CHECK-NEXT:    %1 = uop.div %u, %0 : f32
// CHECK-NEXT:    func.return %1 : f32
// CHECK-NEXT:  }
func.func @fast_math_10(%u: f32, %v: f32, %w: f32) -> f32 {
  %0 = uop.div %u, %v : f32
  %1 = uop.div %0, %w : f32
  func.return %1 : f32
}

// mul[div[u, v], v] >> u for float u, v
// CHECK-LABEL: func.func @fast_math_11
// CHECK-NEXT:    func.return %u : f32
// CHECK-NEXT:  }
func.func @fast_math_11(%u: f32, %v: f32) -> f32 {
  %0 = uop.div %u, %v : f32
  %1 = uop.mul %0, %v : f32
  func.return %1 : f32
}
