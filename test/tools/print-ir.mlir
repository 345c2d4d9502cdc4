// RUN: uop-opt %s -p dce,cse,cse --print-ir-before=cse 2>&1 >%t | filecheck %s --check-prefix=BEFORE
// RUN: uop-opt %s -p dce,cse,cse --print-ir-after=cse,dce 2>&1 >%t | filecheck %s --check-prefix=AFTER
// RUN: uop-opt %s -p dce,cse,cse --print-ir-before-all --mlir-print-ir-after-all 2>&1 >%t | filecheck %s --check-prefix=ALL
// RUN: uop-opt %s -p dce,cse,cse --print-ir-after-change 2>&1 >%t | filecheck %s --check-prefix=CHANGE
// RUN: uop-opt %s -p dce,cse,cse --print-ir-after=dce --print-ir-after-change 2>&1 >%t | not grep Dump
// RUN: uop-opt %s -p dce,cse,cse --print-ir-diff 2>&1 >%t | filecheck %s --check-prefix=DIFF
// RUN: uop-opt %s -p dce,cse,cse --print-ir-after-failure 2>&1 >%t | not grep Dump
// RUN: uop-opt %s --pass-pipeline 'func.func(cse)' --print-ir-after-all 2>&1 >%t | filecheck %s --check-prefix=NESTED

// What is printed on standard output stays the result alone.
// RUN: uop-opt %s -p dce,cse,cse --print-ir-before-all --print-ir-after-all --print-ir-diff | filecheck %s

// CHECK:      builtin.module {
// CHECK-NEXT:   func.func @f() -> i32 {
// CHECK-NOT:  IR Dump
func.func @f() -> i32 {
  %a = arith.constant 1 : i32
  %b = arith.constant 1 : i32
  %c = arith.addi %a, %b : i32
  func.return %c : i32
}

// BEFORE-NOT:   Dump Before dce
// BEFORE:       // -----// IR Dump Before cse (cse) //----- //
// BEFORE-NEXT:  builtin.module {
// BEFORE-COUNT-2: arith.constant 1
// BEFORE:       // -----// IR Dump Before cse (cse) //----- //
// BEFORE:       arith.constant 1
// BEFORE-NOT:   arith.constant 1

// AFTER:        // -----// IR Dump After dce (dce) //----- //
// AFTER:        // -----// IR Dump After cse (cse) //----- //
// AFTER:        // -----// IR Dump After cse (cse) //----- //

// ALL:          Dump Before dce
// ALL:          Dump After dce
// ALL:          Dump Before cse
// ALL:          Dump After cse
// ALL:          Dump Before cse
// ALL:          Dump After cse

// CHANGE-NOT:   Dump After dce
// CHANGE:       Dump After cse
// CHANGE-NOT:   Dump After cse

// DIFF-NOT:     dce
// DIFF:         // -----// IR Diff After cse (cse) //----- //
// DIFF-NEXT:    --- before
// DIFF-NEXT:    +++ after
// DIFF:         {{^-}}    %b = arith.constant 1 : i32
// DIFF-NEXT:    {{^-}}    %c = arith.addi %a, %b : i32
// DIFF-NEXT:    {{^\+}}    %c = arith.addi %a, %a : i32
// DIFF-NOT:     IR Diff

// NESTED:       // -----// IR Dump After cse (cse) ('func.func' operation: @f) //----- //
// NESTED-NEXT:  func.func @f() -> i32 {

// RUN: not uop-opt %s -p cse --print-ir-after=csee 2>&1 | filecheck %s --check-prefix=UNKNOWN
// UNKNOWN: uop-opt: error: --print-ir-after: unknown pass 'csee'; did you mean 'cse'
