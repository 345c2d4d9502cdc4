// RUN: uop-opt %s | filecheck %s
// RUN: uop-opt %s --print-op-generic=false | filecheck %s
// RUN: uop-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: uop-opt %s --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: uop-opt %s -mlir-print-op-generic -mlir-print-debuginfo | uop-opt --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: uop-opt %s --print-debuginfo | filecheck %s --check-prefix=DEBUG
// RUN: uop-opt %s --mlir-print-debuginfo | uop-opt - --print-debuginfo | filecheck %s --check-prefix=DEBUG

// The positions that errors use do not show as locations: an operation without one has none.
// CHECK:        func.func @f() {
// CHECK-NEXT:     "test.op"() : () -> ()
// CHECK-NEXT:     func.return
// GENERIC:      "func.func"() <{
// GENERIC:        "func.return"() : () -> ()
// DEBUG:          "test.op"() : () -> () loc("model.py":7:0)
// DEBUG-NEXT:     func.return loc(unknown)
func.func @f() {
  "test.op"() : () -> () loc("model.py":7:0)
  func.return
}
