// RUN: uop-opt %s --split-input-file --verify-diagnostics

func.func @no_name(%x: tensor<4xf32>) {
  // expected-error@+1 {{names its overload}}
  %0 = torch.aten ""(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @scalar(%x: f32) {
  // expected-error@+1 {{tensor}}
  %0 = torch.aten "relu"(%x) : (f32) -> tensor<f32>
  func.return
}
