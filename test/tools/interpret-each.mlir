// RUN: not uop-opt %s --load %S/inputs/wrong_rules.py --interpret-each --bisect -p uop-simplify,uop-partition 2>&1 | filecheck %s
// RUN: uop-opt %s --interpret-each=7 --uop-to-cuda=to=tile 2>&1 | filecheck %s --check-prefix RIGHT
// RUN: uop-opt %s --interpret-each --uop-to-c='vector-bytes=32' 2>&1 | filecheck %s --check-prefix RIGHT
// RUN: not uop-opt %s --load %S/inputs/wrong_rules.py --interpret-each --bisect -p uop-partition,uop-rangeify,convert-uop-to-loop,wrong-pass 2>&1 | filecheck %s --check-prefix PASS
// RUN: uop-opt %s -p uop-partition,uop-rangeify --print-debuginfo | not uop-opt --load %S/inputs/wrong_rules.py --interpret-each --bisect --pass-pipeline 'builtin.module(uop.kernel(uop-simplify))' 2>&1 | filecheck %s --check-prefix NESTED
// RUN: not uop-opt %s --load %S/inputs/wrong_rules.py --interpret-each -p uop-partition,uop-rangeify,wrong-bounds 2>&1 | filecheck %s --check-prefix BOUNDS
// RUN: uop-opt %s -p uop-partition,uop-rangeify,uop-simplify,convert-uop-to-loop --mlir-timing --interpret-each --verify-each -o %t 2>&1 | filecheck %s --check-prefix TIMING

// The first pass after which the results differ is named, and of its rewrites the first.
// CHECK:      error: 'uop-simplify' changes what @forward computes
// CHECK-NEXT: note: in pass 'uop-simplify'
// CHECK-NEXT: note: on inputs normal (seed 0): result 0, element [0, {{[0-9]}}], is {{.*}}, not {{.*}} of 32 elements differ
// CHECK-NEXT: note: bisect: rewrite 2 of 2 is the first that differs
// CHECK-NEXT: uop-simplify: sqrt[mul[x, x]] >> x for float x (wrong_rules.py:{{[0-9]+}}) at model.py:12 in @forward
// CHECK-NEXT:   - sqrt(mul(%x, %x)) : tensor<4x8xf32>
// CHECK-NEXT:   + %x
// CHECK:      -    %{{.*}} = uop.sqrt
// CHECK-NOT:  Traceback

// RIGHT:      interpret-each: {{[0-9]+}} passes that change the program agree
// RIGHT:      func.func @forward

// Of a pass that is not made of rules, the kernel is named.
// PASS:      error: 'wrong-pass' changes what @forward computes
// PASS:      note: the first kernel that differs is @forward_0
// PASS-NEXT: note: bisect: the change is that of 'wrong-pass' itself, which rewrites by no rules
// PASS:      -        %{{.*}} = uop.add
// PASS-NEXT: +        %{{.*}} = uop.sub

// NESTED:      error: 'uop-simplify' changes what @forward computes
// NESTED:      uop-simplify: sqrt[mul[x, x]] >> x for float x (wrong_rules.py:{{[0-9]+}}) at model.py:12 in @forward_0

// A program that fails where it did not is a difference.
// BOUNDS:      error: 'wrong-bounds' changes what @forward computes
// BOUNDS:      note: on inputs normal (seed 0): it fails: uop.load uses index 8 in dimension 1 of %x

// TIMING:    interpret-each: 4 passes
// TIMING:    (interpret)
func.func @forward(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %3 = uop.const 1.0 : f32
  %4 = uop.expand %3 : f32 -> tensor<4x8xf32>
  %5 = uop.mul %y, %4 : tensor<4x8xf32>
  %0 = uop.mul %x, %x : tensor<4x8xf32>
  %1 = uop.sqrt %0 : tensor<4x8xf32> loc("model.py":12:0)
  %2 = uop.add %1, %5 : tensor<4x8xf32>
  func.return %2 : tensor<4x8xf32>
}
