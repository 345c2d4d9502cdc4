// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-partition{machine=cpu})' --print-debuginfo | filecheck %s
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-partition{machine=cpu cut=model.py:4})' | filecheck %s --check-prefix CUT
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-partition{machine=cpu join=%norm})' | filecheck %s --check-prefix JOIN
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-partition{machine=cpu join=model.py:3})' | filecheck %s --check-prefix JOIN
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-partition{machine=cpu join=model.py:3 cut=%norm})' | filecheck %s --check-prefix JOIN
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-partition)' | filecheck %s --check-prefix JOIN
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-partition{cut=model.py:3})' | filecheck %s --check-prefix APART
// RUN: not uop-opt %s --pass-pipeline 'builtin.module(uop-partition{cut=model.py:9})' 2>&1 | filecheck %s --check-prefix UNKNOWN
// RUN: not uop-opt %s --pass-pipeline 'builtin.module(uop-partition{join=model.py:5})' 2>&1 | filecheck %s --check-prefix RETURNED

// A norm, a product and what follows it: where products compute no statistics of rows (machine=cpu), the norm is cut from the
// product, which keeps what follows it. A user may cut that, too, or join the norm. Else the norm joins, and a user may cut it.
func.func @f(%x: tensor<8x64xf32>, %w: tensor<32x64xf32>) -> tensor<8x32xf32> {
  %0 = uop.mul %x, %x : tensor<8x64xf32> loc("src/model.py":3:0)
  %1 = uop.reduce_axis add %0 axes [1] : (tensor<8x64xf32>) -> tensor<8x1xf32> loc("src/model.py":3:0)
  %2 = uop.rsqrt %1 : tensor<8x1xf32> loc("src/model.py":3:0)
  %3 = uop.expand %2 : tensor<8x1xf32> -> tensor<8x64xf32> loc("src/model.py":3:0)
  %norm = uop.mul %x, %3 : tensor<8x64xf32> loc("src/model.py":3:0)
  %5 = uop.reshape %norm : tensor<8x64xf32> -> tensor<8x1x64xf32> loc("src/model.py":4:0)
  %6 = uop.expand %5 : tensor<8x1x64xf32> -> tensor<8x32x64xf32> loc("src/model.py":4:0)
  %7 = uop.reshape %w : tensor<32x64xf32> -> tensor<1x32x64xf32> loc("src/model.py":4:0)
  %8 = uop.expand %7 : tensor<1x32x64xf32> -> tensor<8x32x64xf32> loc("src/model.py":4:0)
  %9 = uop.mul %6, %8 : tensor<8x32x64xf32> loc("src/model.py":4:0)
  %10 = uop.reduce_axis add %9 axes [2] : (tensor<8x32x64xf32>) -> tensor<8x32x1xf32> loc("src/model.py":4:0)
  %11 = uop.reshape %10 : tensor<8x32x1xf32> -> tensor<8x32xf32> loc("src/model.py":4:0)
  %12 = uop.exp %11 : tensor<8x32xf32> loc("src/model.py":5:0)
  func.return %12 : tensor<8x32xf32>
}
// CHECK-LABEL: func.func @f(
// CHECK-NEXT:    %norm = uop.launch @f_0(%x)
// CHECK-NEXT:    %{{.*}} = uop.launch @f_1(%w, %norm)
// CHECK-NEXT:    func.return

// CUT-LABEL: func.func @f(
// CUT-NEXT:    %norm = uop.launch @f_0(%x)
// CUT-NEXT:    %{{.*}} = uop.launch @f_1(%w, %norm)
// CUT-NEXT:    %{{.*}} = uop.launch @f_2(
// CUT-NEXT:    func.return

// APART-LABEL: func.func @f(
// APART-NEXT:    %norm = uop.launch @f_0(%x)
// APART-NEXT:    %{{.*}} = uop.launch @f_1(%w, %norm)
// APART-NEXT:    func.return

// JOIN-LABEL: func.func @f(
// JOIN-NEXT:    %{{.*}} = uop.launch @f_0(%x, %w)
// JOIN-NEXT:    func.return

// UNKNOWN: error: cut 'model.py:9': no value is called that
// UNKNOWN: help: there are: src/model.py:5, src/model.py:4, src/model.py:3, %norm

// RETURNED: error: join 'model.py:5': the function returns it
