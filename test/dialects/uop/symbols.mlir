// RUN: uop-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect > %t
// RUN: filecheck %s --input-file %t
// RUN: uop-opt %t --split-input-file --allow-unregistered-dialect --mlir-print-op-generic | uop-opt --split-input-file --allow-unregistered-dialect | diff %t -

// The symbols of a function, and the extents of its arguments and results.
// CHECK-LABEL: func.func @bounded
// CHECK-SAME: %s0: tensor<i64> {uop.symbol = #uop.symbol<s0, 1 to 4096>}
// CHECK-SAME: %x: tensor<1x4096x8xf32> {uop.extents = #uop.extents<1, s0, 8>}
// CHECK-SAME: -> (tensor<2047xf32> {uop.extents = #uop.extents<(s0 + 1) floordiv 2 - 1>})
func.func @bounded(
  %s0: tensor<i64> {uop.symbol = #uop.symbol<s0, 1 to 4096>},
  %x: tensor<1x4096x8xf32> {uop.extents = #uop.extents<1, s0, 8>}
) -> (tensor<2047xf32> {uop.extents = #uop.extents<(s0 + 1) floordiv 2 - 1 + s0 * 0>}) {
  // CHECK: a = #uop.extent<2 * s0 * s1 + 4 * s0 + 4 * (s0 floordiv 2) + s1 floordiv 3 + 1>, b = #uop.extent<-s0 + 4>, c = #uop.extent<0>
  %y = "test.op"() {
    a = #uop.extent<2 * s1 * s0 - 3 + 4 * ((s0 * 3 + 2) floordiv 2) + s1 floordiv 3>, b = #uop.extent<-s0 + 4>, c = #uop.extent<s0 - s0>
  } : () -> tensor<2047xf32>
  func.return %y : tensor<2047xf32>
}
