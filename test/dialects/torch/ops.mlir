// RUN: UOP_ROUNDTRIP
// RUN: UOP_GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @forward
// GENERIC-LABEL: "func.func"
func.func @forward(%x: tensor<16x64xf32>, %w: tensor<64x16xf32>) -> tensor<16xf32> {
  // CHECK: %[[Y:.*]] = torch.aten "mm"(%{{.*}}, %{{.*}}) : (tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
  // GENERIC: "torch.aten"(%{{.*}}, %{{.*}}) <{overload = "mm", arguments = {}}> : (tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
  %0 = torch.aten "mm"(%x, %w) : (tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
  // CHECK-NEXT: %{{.*}}, %{{.*}} = torch.aten "max.dim"(%[[Y]]) {dim = -1 : i64, keepdim = false} : (tensor<16x16xf32>) -> (tensor<16xf32>, tensor<16xi64>)
  %1, %2 = torch.aten "max.dim"(%0) {dim = -1 : i64, keepdim = false} : (tensor<16x16xf32>) -> (tensor<16xf32>, tensor<16xi64>)
  // No tensors at all, and discardable attributes.
  // CHECK-NEXT: torch.aten "full"() {size = [16 : i64], fill_value = 1.000000e+00 : f64} attributes {test.note = "kept"} : () -> tensor<16xf32>
  %3 = torch.aten "full"() {size = [16 : i64], fill_value = 1.0 : f64} attributes {test.note = "kept"} : () -> tensor<16xf32>
  // CHECK-NEXT: torch.aten "addmm"(%{{.*}}, %{{.*}}, %{{.*}}) {beta = 0 : i64} allow_tf32 attributes {test.note = "kept"} : (
  // GENERIC: "torch.aten"(%{{.*}}) <{overload = "addmm", arguments = {beta = 0 : i64}, allow_tf32}>
  %4 = torch.aten "addmm"(%0, %x, %w) {beta = 0 : i64} allow_tf32 attributes {test.note = "kept"} : (tensor<16x16xf32>, tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
  func.return %1 : tensor<16xf32>
}
