// RUN: uop-opt %s --split-input-file | filecheck %s
// RUN: uop-opt %s --split-input-file=true --split-input-file | filecheck %s
// RUN: not uop-opt %s 2>&1 | filecheck %s --check-prefix=WHOLE

// CHECK:      func.func @f() {
// CHECK:      // -----
// CHECK-NEXT: builtin.module {
// CHECK-NEXT:   func.func @f(%{{.*}}: i32) {
// CHECK:      // -----
// CHECK-NEXT: builtin.module {
// CHECK-NEXT: }
// WHOLE: split-input-file.mlir:20:1: error: Redefinition of symbol "f"
func.func @f() {
  func.return
}

// A marker stands alone on its line: // ----- is not one here.
// -----

func.func @f(%a: i32) {
  func.return
}

// -----

// A piece with no operation is an empty module.

// Positions are those in the file; the other pieces are still printed; the command fails.
// RUN: not uop-opt %S/inputs/pieces.mlir --split-input-file 2>&1 >%t | filecheck %s --check-prefix=ERROR
// RUN: filecheck %s --check-prefix=REST --input-file %t
// ERROR: pieces.mlir:5:3: error: operand #0 does not dominate this use
// REST:      "test.op"() {first}
// REST:      // -----
// REST:      "test.op"() {third}
