// RUN: uop-opt %s --pass-pipeline 'builtin.module(func.func(cse))' | filecheck %s
// RUN: uop-opt %s -pass-pipeline='builtin.module( func.func ( cse , dce{ } ) ,builtin.module(cse) )' | filecheck %s
// RUN: uop-opt %s --pass-pipeline 'any(any(cse))' | filecheck %s
// RUN: uop-opt %s -p cse | filecheck %s
// RUN: uop-opt %s --passes dce,cse | filecheck %s

// A pass in an anchor runs on each operation of that name directly inside, and the operation stays in its place.
// CHECK-LABEL: func.func @first
// CHECK:         %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-NEXT:    arith.addi %[[ONE]], %[[ONE]] : i32
func.func @first() -> i32 {
  %a = arith.constant 1 : i32
  %b = arith.constant 1 : i32
  %c = arith.addi %a, %b : i32
  func.return %c : i32
}

// CHECK-LABEL: func.func @second
// CHECK:         %[[TWO:.*]] = arith.constant 2 : i32
// CHECK-NEXT:    arith.addi %[[TWO]], %[[TWO]] : i32
func.func @second() -> i32 {
  %a = arith.constant 2 : i32
  %b = arith.constant 2 : i32
  %c = arith.addi %a, %b : i32
  func.return %c : i32
}

// Nothing runs on other operations, nor further inside.
// RUN: uop-opt %s --pass-pipeline 'builtin.module(scf.for(cse))' | filecheck %s --check-prefix=SAME
// RUN: uop-opt %s --pass-pipeline 'builtin.module(arith.addi(cse))' | filecheck %s --check-prefix=SAME
// RUN: uop-opt %s --pass-pipeline 'builtin.module()' | filecheck %s --check-prefix=SAME
// RUN: uop-opt %s --pass-pipeline '' | filecheck %s --check-prefix=SAME
// SAME-LABEL: func.func @first
// SAME-NEXT:    %{{.*}} = arith.constant 1 : i32
// SAME-NEXT:    %{{.*}} = arith.constant 1 : i32
// SAME-LABEL: func.func @second
// SAME-NEXT:    %{{.*}} = arith.constant 2 : i32
// SAME-NEXT:    %{{.*}} = arith.constant 2 : i32

// Refused: an operation that uses values from around it cannot be cut out.
// RUN: not uop-opt %s --pass-pipeline 'func.func(arith.addi(cse))' 2>&1 | filecheck %s --check-prefix=INSIDE
// INSIDE:      pass-pipeline.mlir:14:8: error: cannot run 'cse' on 'arith.addi' alone: it is not isolated from what is around it
// INSIDE-NEXT:   %c = arith.addi %a, %b : i32
// INSIDE-NEXT:        ^
// INSIDE-NEXT: note: in pass 'cse'
// INSIDE-NEXT: note: see operation: {{.*}} = arith.addi
// INSIDE-NEXT: help: run it on what holds the operation, such as builtin.module(cse)

// RUN: not uop-opt %s --pass-pipeline 'builtin.module(cse,canonicalise)' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// UNKNOWN:      --pass-pipeline:1:20: error: unknown pass 'canonicalise'; did you mean 'canonicalize'
// UNKNOWN-NEXT: builtin.module(cse,canonicalise)
// UNKNOWN-NEXT:                    ^

// RUN: not uop-opt %s --pass-pipeline 'builtin.module(cse' 2>&1 | filecheck %s --check-prefix=OPEN
// OPEN: --pass-pipeline:1:15: error: '(' is never closed

// RUN: not uop-opt %s -p 'cse{fast}' 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: -p:1:5: error: pass 'cse' has no option 'fast' (it takes none)

// RUN: not uop-opt %s -p cse --pass-pipeline 'builtin.module(cse)' 2>&1 | filecheck %s --check-prefix=TWICE
// TWICE: uop-opt: error: -p must be the only flag that gives passes
