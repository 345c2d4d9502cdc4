// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-merge-kernels)' --split-input-file --verify-diagnostics | filecheck %s
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-merge-kernels)' --split-input-file --mlir-print-debuginfo 2>/dev/null | filecheck %s --check-prefix=LINES

// Names of kernels and values are none of the structure.
// expected-remark@+1 {{@layer_0 stands for 2 kernels that are equal}}
uop.kernel @layer_0(%x: tensor<8xf32>, %w: tensor<8xf32>) -> (tensor<8xf32>) {
  %0 = uop.mul %x, %w : tensor<8xf32>
  uop.yield %0 : tensor<8xf32>
}
uop.kernel @layer_1(%y: tensor<8xf32>, %v: tensor<8xf32>) -> (tensor<8xf32>) {
  %product = uop.mul %y, %v : tensor<8xf32>
  uop.yield %product : tensor<8xf32>
}
func.func @model(%x: tensor<8xf32>, %a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = uop.launch @layer_0(%x, %a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = uop.launch @layer_1(%0, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %1 : tensor<8xf32>
}
// CHECK:      uop.kernel @layer_0
// CHECK-NOT:  uop.kernel
// CHECK:      func.func @model
// CHECK-NEXT:   %0 = uop.launch @layer_0(%x, %a)
// CHECK-NEXT:   %1 = uop.launch @layer_0(%0, %b)

// -----

// Which operand is which, types, constants and the number of operations are. What two kernels take may be in another order, though.
// expected-remark@+1 {{@base stands for 2 kernels}}
uop.kernel @base(%x: tensor<8xf32>, %w: tensor<8xf32>) -> (tensor<8xf32>) {
  %0 = uop.sub %x, %w : tensor<8xf32>
  uop.yield %0 : tensor<8xf32>
}
uop.kernel @operands(%x: tensor<8xf32>, %w: tensor<8xf32>) -> (tensor<8xf32>) {
  %0 = uop.sub %w, %x : tensor<8xf32>
  uop.yield %0 : tensor<8xf32>
}
uop.kernel @operation(%x: tensor<8xf32>, %w: tensor<8xf32>) -> (tensor<8xf32>) {
  %0 = uop.add %x, %w : tensor<8xf32>
  uop.yield %0 : tensor<8xf32>
}
uop.kernel @types(%x: tensor<8xf16>, %w: tensor<8xf16>) -> (tensor<8xf16>) {
  %0 = uop.sub %x, %w : tensor<8xf16>
  uop.yield %0 : tensor<8xf16>
}
uop.kernel @shorter(%x: tensor<8xf32>, %w: tensor<8xf32>) -> (tensor<8xf32>) {
  uop.yield %x : tensor<8xf32>
}
// expected-remark@+1 {{@later stands for 2 kernels}}
uop.kernel @later(%x: tensor<8xf32>, %w: tensor<8xf32>) -> (tensor<8xf32>) {
  %0 = uop.exp %w : tensor<8xf32>
  %1 = uop.neg %x : tensor<8xf32>
  %2 = uop.sub %1, %0 : tensor<8xf32>
  uop.yield %2 : tensor<8xf32>
}
uop.kernel @earlier(%w: tensor<8xf32>, %x: tensor<8xf32>) -> (tensor<8xf32>) {
  %0 = uop.neg %x : tensor<8xf32>
  %1 = uop.exp %w : tensor<8xf32>
  %2 = uop.sub %0, %1 : tensor<8xf32>
  uop.yield %2 : tensor<8xf32>
}
uop.kernel @same(%x: tensor<8xf16>) -> (tensor<8xf16>) {
  %0 = uop.sub %x, %x : tensor<8xf16>
  uop.yield %0 : tensor<8xf16>
}
func.func @f(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = uop.launch @base(%a, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = uop.launch @operands(%a, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = uop.launch @earlier(%a, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %0, %2 : tensor<8xf32>, tensor<8xf32>
}
// CHECK: uop.kernel @base
// CHECK-NOT: @operands
// CHECK: uop.kernel @operation
// CHECK: uop.kernel @types
// CHECK: uop.kernel @shorter
// CHECK: uop.kernel @later
// CHECK-NOT: @earlier
// CHECK: uop.kernel @same
// CHECK: uop.launch @base(%a, %b)
// CHECK: uop.launch @base(%b, %a)
// CHECK: uop.launch @later(%b, %a)

// -----

// The same in range form. Axes have names there, which schedules speak of: they are part of the structure. So are
// limits, properties, and what is stored where.
// expected-remark@+1 {{@a stands for 3 kernels}}
uop.kernel @a(%out: memref<64xf32>, %x: memref<64xf32>) {
  %i = uop.range i = 64
  %0 = uop.load %x[%i] : memref<64xf32>
  %1 = uop.exp %0 : f32
  uop.store %1, %out[%i] : memref<64xf32>
}
uop.kernel @b(%out: memref<64xf32>, %y: memref<64xf32>) {
  %k = uop.range i = 64
  %0 = uop.load %y[%k] : memref<64xf32>
  %1 = uop.exp %0 : f32
  uop.store %1, %out[%k] : memref<64xf32>
}
uop.kernel @axis(%out: memref<64xf32>, %x: memref<64xf32>) {
  %i = uop.range k = 64
  %0 = uop.load %x[%i] : memref<64xf32>
  %1 = uop.exp %0 : f32
  uop.store %1, %out[%i] : memref<64xf32>
}
uop.kernel @scheduled(%out: memref<64xf32>, %x: memref<64xf32>) schedule #tile.schedule<i = 2 block * 32 thread> {
  %i = uop.range i = 64
  %0 = uop.load %x[%i] : memref<64xf32>
  %1 = uop.exp %0 : f32
  uop.store %1, %out[%i] : memref<64xf32>
}
uop.kernel @c(%out: memref<64xf32>, %y: memref<64xf32>) {
  %i = uop.range i = 64
  %0 = uop.load %y[%i] : memref<64xf32>
  %1 = uop.exp %0 : f32
  uop.store %1, %out[%i] : memref<64xf32>
}
func.func @f(%x: tensor<64xf32>) -> (tensor<64xf32>) {
  %0 = uop.launch @b(%x) arena [0] : (tensor<64xf32>) -> tensor<64xf32>
  %1 = uop.launch @axis(%0) arena [256] : (tensor<64xf32>) -> tensor<64xf32>
  %2 = uop.launch @scheduled(%1) arena [512] : (tensor<64xf32>) -> tensor<64xf32>
  %3 = uop.launch @c(%2) : (tensor<64xf32>) -> tensor<64xf32>
  func.return %3 : tensor<64xf32>
}
// CHECK-NOT: uop.kernel @b
// CHECK-NOT: uop.kernel @c
// CHECK:     uop.launch @a(%x) arena [0]
// CHECK:     uop.launch @axis(%0) arena [256]
// CHECK:     uop.launch @scheduled(%1) arena [512]
// CHECK:     uop.launch @a(%2)

// -----

// What is inside loops counts too.
uop.kernel @sum(%out: memref<8xf32>, %x: memref<8x4xf32>) {
  loop.for %i (i = 8 parallel) {
    %0 = loop.reduce %k (k = 4) add : f32 {
      %1 = uop.load %x[%i, %k] : memref<8x4xf32>
      loop.yield %1 : f32
    }
    uop.store %0, %out[%i] : memref<8xf32>
  }
}
uop.kernel @sum_of_squares(%out: memref<8xf32>, %x: memref<8x4xf32>) {
  loop.for %i (i = 8 parallel) {
    %0 = loop.reduce %k (k = 4) add : f32 {
      %1 = uop.load %x[%i, %k] : memref<8x4xf32>
      %2 = uop.mul %1, %1 : f32
      loop.yield %2 : f32
    }
    uop.store %0, %out[%i] : memref<8xf32>
  }
}
// CHECK: uop.kernel @sum(
// CHECK: uop.kernel @sum_of_squares(

// -----

// What stays comes from both lines of the user's program.
// expected-remark@+1 {{@a stands for 2 kernels}}
uop.kernel @a(%x: tensor<8xf32>) -> (tensor<8xf32>) {
  %0 = uop.exp %x : tensor<8xf32> loc("model.py":7:0)
  uop.yield %0 : tensor<8xf32>
}
uop.kernel @b(%x: tensor<8xf32>) -> (tensor<8xf32>) {
  %0 = uop.exp %x : tensor<8xf32> loc("model.py":9:0)
  uop.yield %0 : tensor<8xf32>
}
// CHECK: uop.kernel @a
// LINES: uop.exp %x : tensor<8xf32> loc(fused["model.py":7:0, "model.py":9:0])
