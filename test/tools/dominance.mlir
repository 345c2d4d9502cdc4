// RUN: uop-opt %s --split-input-file --verify-diagnostics | filecheck %s

// A value that is defined before its use, on every path, may be used anywhere below, also in regions.
// CHECK-LABEL: func.func @branches
func.func @branches(%condition: i1, %a: i32) -> i32 {
  %0 = "test.op"(%a) : (i32) -> i32
  "test.op"() ({
    %1 = "test.op"(%0) : (i32) -> i32
    "test.termop"(%1) : (i32) -> ()
  }) : () -> ()
  "cf.cond_br"(%condition)[^left, ^right] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
^left:
  "cf.br"(%0)[^join] : (i32) -> ()
^right:
  "cf.br"(%a)[^join] : (i32) -> ()
^join(%2: i32):
  %3 = "test.op"(%0, %2) : (i32, i32) -> i32
  func.return %3 : i32
}

// -----

// Blocks stand in any order: what counts are the paths.
// CHECK-LABEL: func.func @order
func.func @order() -> i32 {
  "cf.br"()[^second] : () -> ()
^third:
  func.return %0 : i32
^second:
  %0 = "test.op"() : () -> i32
  "cf.br"()[^third] : () -> ()
}

// -----

func.func @later(%z: i32) {
  // expected-error@+1 {{operand #1 does not dominate this use}}
  %0 = "test.op"(%z, %1) : (i32, i32) -> i32
  // expected-note@+1 {{operand defined here}}
  %1 = "test.op"() : () -> i32
  func.return
}

// -----

func.func @itself() {
  // expected-error@+1 {{operand #0 does not dominate this use}}
  %0 = "test.op"(%0) : (i32) -> i32
  func.return
}

// -----

func.func @one_path(%condition: i1) -> i32 {
  "cf.cond_br"(%condition)[^left, ^join] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
^left:
  %0 = "test.op"() : () -> i32
  "cf.br"()[^join] : () -> ()
^join:
  // expected-error@below {{operand #0 does not dominate this use}}
  func.return %0 : i32
}

// -----

// A region inside an operation ends its values.
func.func @out_of_region() -> i32 {
  "test.op"() ({
    %0 = "test.op"() : () -> i32
    "test.termop"() : () -> ()
  }) : () -> ()
  // expected-error@+1 {{value %0 is used but not defined}}
  func.return %0 : i32
}

// RUN: uop-opt %S/inputs/later.mlir --disable-verify | filecheck %s --check-prefix=UNCHECKED
// UNCHECKED: "test.op"(%[[X:.*]]) : (i32) -> ()
// UNCHECKED: %[[X]] = "test.op"() : () -> i32
