// RUN: uop-opt %s | filecheck %s
// RUN: uop-opt %s -t mlir | filecheck %s
// RUN: uop-opt %s --target=mlir | filecheck %s
// RUN: uop-opt %s -t 'mlir{ print-generic-format = true }' | filecheck %s --check-prefix=GENERIC

// CHECK:   func.func @f()
// GENERIC: "func.func"()
func.func @f() {
  func.return
}

// RUN: not uop-opt %s -t mlri 2>&1 | filecheck %s --check-prefix=UNKNOWN
// UNKNOWN:      --target:1:1: error: unknown target 'mlri'; did you mean 'mlir'? (known: {{.*}}cuda{{.*}}mlir{{.*}})
// UNKNOWN-NEXT: mlri
// UNKNOWN-NEXT: ^

// RUN: not uop-opt %s -t 'mlir{colour=red}' 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: --target:1:6: error: target 'mlir' has no option 'colour' (its options: print-generic-format,

// RUN: not uop-opt %s -t 'mlir{print-debuginfo=red}' 2>&1 | filecheck %s --check-prefix=TYPE
// TYPE: --target:1:6: error: option 'print-debuginfo' of target 'mlir' takes true or false, not 'red'

// RUN: not uop-opt %s -t 'mlir,mlir' 2>&1 | filecheck %s --check-prefix=ONE
// ONE: --target:1:1: error: expected the name of one target
