// The input is a file, `-` or nothing.
// RUN: uop-opt %s | filecheck %s
// RUN: uop-opt - < %s | filecheck %s
// RUN: uop-opt < %s | filecheck %s
// RUN: cat %s | uop-opt --split-input-file | filecheck %s

// The output is standard output, `-` or a file, whose old content is replaced.
// RUN: uop-opt %s -o - | filecheck %s
// RUN: echo old > %t && uop-opt %s -o %t && filecheck %s --input-file %t
// RUN: cp %s %t && uop-opt %t -o %t && filecheck %s --input-file %t

// CHECK:      builtin.module {
// CHECK-NEXT:   %{{.*}} = "test.op"() : () -> i32
// CHECK-NEXT: }
// CHECK-NOT:  old
%0 = "test.op"() : () -> i32

// Bad input never loses the file, and prints nothing but the error.
// RUN: cp %s %t && not uop-opt %S/inputs/broken.mlir -o %t && uop-opt %t | filecheck %s
// RUN: not uop-opt %S/inputs/broken.mlir 2>%t.errors >%t.output; filecheck %s --check-prefix=ERROR --input-file %t.errors
// RUN: cat %t.output | not grep .
// ERROR:      {{.*}}broken.mlir:2:1: error: Operation builtin.modul is not registered
// ERROR-NEXT: builtin.modul {}
// ERROR-NEXT: ^

// RUN: not uop-opt %t.missing 2>&1 | filecheck %s --check-prefix=MISSING
// MISSING: {{.*}}.missing: error: cannot read the input: No such file or directory
// RUN: not uop-opt %S 2>&1 | filecheck %s --check-prefix=FOLDER
// FOLDER: error: cannot read the input: Is a directory
// RUN: not uop-opt %s -o %t.missing/x 2>&1 | filecheck %s --check-prefix=OUTPUT
// OUTPUT: {{.*}}.missing/x: error: cannot write the output: No such file or directory
// RUN: echo "// only a comment" | not uop-opt 2>&1 | filecheck %s --check-prefix=EMPTY
// EMPTY: <stdin>: error: the input is empty: it has no operation
