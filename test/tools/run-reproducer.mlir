// uop-opt writes such a file when a pass crashes (test/unit/test_uop_opt_crash.py); the passes come from its comment.
// configuration: '--pass-pipeline=builtin.module(func.func(cse))' --target=mlir --allow-unregistered-dialect
//
// RUN: uop-opt %s --run-reproducer | filecheck %s
// CHECK:      arith.constant 1 : i32
// CHECK-NEXT: "mine.op"
// CHECK-NOT:  arith.constant
func.func @f() {
  %a = arith.constant 1 : i32
  %b = arith.constant 1 : i32
  "mine.op"(%a, %b) : (i32, i32) -> ()
  func.return
}

// RUN: not uop-opt %s --run-reproducer -p cse 2>&1 | filecheck %s --check-prefix=TWICE
// TWICE: uop-opt: error: --run-reproducer brings its own passes: leave out -p
// RUN: not uop-opt %S/inputs/broken.mlir --run-reproducer 2>&1 | filecheck %s --check-prefix=NONE
// NONE: broken.mlir: error: expected one line `// configuration: …`, found 0
