// RUN: uop-opt %s -p uop-simplify --debug-rewrites 2>&1 >%t | filecheck %s
// RUN: filecheck %s --check-prefix=OUTPUT --input-file %t
// RUN: uop-opt %s -p uop-simplify 2>&1 | filecheck %s --check-prefix=OUTPUT

// Each rewrite: the pass, the rule and where it stands, where the op comes from; the term before and after.
// CHECK:      uop-simplify: mul[x, 1] >> x (identities.py:{{[0-9]+}}) at model.py:7 in @f
// CHECK-NEXT:   - mul(%n, 1) : i32
// CHECK-NEXT:   + %n
// CHECK-NEXT: uop-simplify: add[add[n, a], b] >> add[n, a + b] for integer n (indices.py:{{[0-9]+}}) at model.py:9 in @f
// CHECK-NEXT:   - add(add(%n, 1), 2) : i32
// CHECK-NEXT:   + add(%n, 3)
// CHECK-NEXT: uop-simplify: permute[y @ permute[x]] >> permute_once (movement.py:{{[0-9]+}}) in @f
// CHECK-NEXT:   - permute(permute(%t, order=(1, 0)), order=(1, 0)) : tensor<2x3xf32>
// CHECK-NEXT:   + %t
// CHECK-NOT:  uop-simplify
// OUTPUT-NOT: uop-simplify
// OUTPUT:     func.func @f
func.func @f(%n: i32, %t: tensor<2x3xf32>) -> (i32, tensor<2x3xf32>) {
  %one = uop.const 1 : i32
  %two = uop.const 2 : i32
  %0 = uop.mul %n, %one : i32 loc("model.py":7:0)
  %1 = uop.add %0, %one : i32 loc("model.py":8:0)
  %2 = uop.add %1, %two : i32 loc("model.py":9:0)
  %3 = uop.permute %t order [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %4 = uop.permute %3 order [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>
  func.return %2, %4 : i32, tensor<2x3xf32>
}
