// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-simplify)' | filecheck %s

// Written by test/unit/update_rule_tests.py: a function for each rule of the family, in which it fires.

// expand[x] >> x when is_same_type
// CHECK-LABEL: func.func @movement_0
// CHECK-NEXT:    func.return %x : tensor<2x3x2xf32>
// CHECK-NEXT:  }
func.func @movement_0(%x: tensor<2x3x2xf32>) -> tensor<2x3x2xf32> {
  %0 = uop.expand %x : tensor<2x3x2xf32> -> tensor<2x3x2xf32>
  func.return %0 : tensor<2x3x2xf32>
}

// reshape[x] >> x when is_same_type
// CHECK-LABEL: func.func @movement_1
// CHECK-NEXT:    func.return %x : tensor<2x3x2xf32>
// CHECK-NEXT:  }
func.func @movement_1(%x: tensor<2x3x2xf32>) -> tensor<2x3x2xf32> {
  %0 = uop.reshape %x : tensor<2x3x2xf32> -> tensor<2x3x2xf32>
  func.return %0 : tensor<2x3x2xf32>
}

// pad[x] >> x when is_same_type
// CHECK-LABEL: func.func @movement_2
// CHECK-NEXT:    func.return %x : tensor<2x3x2xf32>
// CHECK-NEXT:  }
func.func @movement_2(%x: tensor<2x3x2xf32>) -> tensor<2x3x2xf32> {
  %0 = uop.pad %x low [0, 0, 0] high [0, 0, 0] : tensor<2x3x2xf32> -> tensor<2x3x2xf32>
  func.return %0 : tensor<2x3x2xf32>
}

// shrink[x] >> x when is_same_type
// CHECK-LABEL: func.func @movement_3
// CHECK-NEXT:    func.return %x : tensor<2x3x2xf32>
// CHECK-NEXT:  }
func.func @movement_3(%x: tensor<2x3x2xf32>) -> tensor<2x3x2xf32> {
  %0 = uop.shrink %x offsets [0, 0, 0] : tensor<2x3x2xf32> -> tensor<2x3x2xf32>
  func.return %0 : tensor<2x3x2xf32>
}

// permute[x] >> x when keeps_order
// CHECK-LABEL: func.func @movement_4
// CHECK-NEXT:    func.return %x : tensor<2x3x2xf32>
// CHECK-NEXT:  }
func.func @movement_4(%x: tensor<2x3x2xf32>) -> tensor<2x3x2xf32> {
  %0 = uop.permute %x order [0, 1, 2] : tensor<2x3x2xf32> -> tensor<2x3x2xf32>
  func.return %0 : tensor<2x3x2xf32>
}

// expand[expand[x]] >> expand[x]
// CHECK-LABEL: func.func @movement_5
// CHECK-NEXT:    %0 = uop.expand %x : f32 -> tensor<2x3x2xf32>
// CHECK-NEXT:    func.return %0 : tensor<2x3x2xf32>
// CHECK-NEXT:  }
func.func @movement_5(%x: f32) -> tensor<2x3x2xf32> {
  %0 = uop.expand %x : f32 -> tensor<1x3x2xf32>
  %1 = uop.expand %0 : tensor<1x3x2xf32> -> tensor<2x3x2xf32>
  func.return %1 : tensor<2x3x2xf32>
}

// permute[y @ permute[x]] >> permute_once
// CHECK-LABEL: func.func @movement_7
// CHECK-NEXT:    func.return %x : tensor<2x3x2xf32>
// CHECK-NEXT:  }
func.func @movement_7(%x: tensor<2x3x2xf32>) -> tensor<2x3x2xf32> {
  %0 = uop.permute %x order [2, 1, 0] : tensor<2x3x2xf32> -> tensor<2x3x2xf32>
  %1 = uop.permute %0 order [2, 1, 0] : tensor<2x3x2xf32> -> tensor<2x3x2xf32>
  func.return %1 : tensor<2x3x2xf32>
}

// reshape[a] >> a
// CHECK-LABEL: func.func @movement_8
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.expand %0 : f32 -> tensor<2x3x2xf32>
// CHECK-NEXT:    func.return %1 : tensor<2x3x2xf32>
// CHECK-NEXT:  }
func.func @movement_8() -> tensor<2x3x2xf32> {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.expand %0 : f32 -> tensor<1x12x1xf32>
  %2 = uop.reshape %1 : tensor<1x12x1xf32> -> tensor<2x3x2xf32>
  func.return %2 : tensor<2x3x2xf32>
}

// permute[a] >> a
// CHECK-LABEL: func.func @movement_9
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.expand %0 : f32 -> tensor<2x3x2xf32>
// CHECK-NEXT:    func.return %1 : tensor<2x3x2xf32>
// CHECK-NEXT:  }
func.func @movement_9() -> tensor<2x3x2xf32> {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.expand %0 : f32 -> tensor<2x3x2xf32>
  %2 = uop.permute %1 order [2, 1, 0] : tensor<2x3x2xf32> -> tensor<2x3x2xf32>
  func.return %2 : tensor<2x3x2xf32>
}

// shrink[a] >> a
// CHECK-LABEL: func.func @movement_10
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.expand %0 : f32 -> tensor<2x3x2xf32>
// CHECK-NEXT:    func.return %1 : tensor<2x3x2xf32>
// CHECK-NEXT:  }
func.func @movement_10() -> tensor<2x3x2xf32> {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.expand %0 : f32 -> tensor<2x3x5xf32>
  %2 = uop.shrink %1 offsets [0, 0, 1] strides [1, 1, 2] : tensor<2x3x5xf32> -> tensor<2x3x2xf32>
  func.return %2 : tensor<2x3x2xf32>
}

// window[a] >> a
// CHECK-LABEL: func.func @movement_11
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.expand %0 : f32 -> tensor<2x3x2xf32>
// CHECK-NEXT:    func.return %1 : tensor<2x3x2xf32>
// CHECK-NEXT:  }
func.func @movement_11() -> tensor<2x3x2xf32> {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.expand %0 : f32 -> tensor<2x8xf32>
  %2 = uop.window %1 axis 1 strides [2, 1] : tensor<2x8xf32> -> tensor<2x3x2xf32>
  func.return %2 : tensor<2x3x2xf32>
}

// flip[a] >> a
// CHECK-LABEL: func.func @movement_12
// CHECK-NEXT:    %0 = uop.const -0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.expand %0 : f32 -> tensor<2x3x2xf32>
// CHECK-NEXT:    func.return %1 : tensor<2x3x2xf32>
// CHECK-NEXT:  }
func.func @movement_12() -> tensor<2x3x2xf32> {
  %0 = uop.const -0.000000e+00 : f32
  %1 = uop.expand %0 : f32 -> tensor<2x3x2xf32>
  %2 = uop.flip %1 axes [2] : tensor<2x3x2xf32> -> tensor<2x3x2xf32>
  func.return %2 : tensor<2x3x2xf32>
}

// pad[0] >> 0
// CHECK-LABEL: func.func @movement_13
// CHECK-NEXT:    %0 = uop.const 0.000000e+00 : f32
// CHECK-NEXT:    %1 = uop.expand %0 : f32 -> tensor<2x3x2xf32>
// CHECK-NEXT:    func.return %1 : tensor<2x3x2xf32>
// CHECK-NEXT:  }
func.func @movement_13() -> tensor<2x3x2xf32> {
  %0 = uop.const 0.000000e+00 : f32
  %1 = uop.expand %0 : f32 -> tensor<2x3x1xf32>
  %2 = uop.pad %1 low [0, 0, 0] high [0, 0, 1] : tensor<2x3x1xf32> -> tensor<2x3x2xf32>
  func.return %2 : tensor<2x3x2xf32>
}

// pad[False] >> False
// CHECK-LABEL: func.func @movement_14
// CHECK-NEXT:    %0 = uop.const false
// CHECK-NEXT:    %1 = uop.expand %0 : i1 -> tensor<2x3x2xi1>
// CHECK-NEXT:    func.return %1 : tensor<2x3x2xi1>
// CHECK-NEXT:  }
func.func @movement_14() -> tensor<2x3x2xi1> {
  %0 = uop.const false
  %1 = uop.expand %0 : i1 -> tensor<2x3x1xi1>
  %2 = uop.pad %1 low [0, 0, 0] high [0, 0, 1] : tensor<2x3x1xi1> -> tensor<2x3x2xi1>
  func.return %2 : tensor<2x3x2xi1>
}
