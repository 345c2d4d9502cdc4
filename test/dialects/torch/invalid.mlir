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

// -----

func.func @f() {
  // expected-error@+1 {{argument size is a number, a string, nothing, or a list or dictionary of those, not array<i64: 1>}}
  %0 = torch.aten "full"() {size = array<i64: 1>} : () -> tensor<1xf32>
  func.return
}
