// RUN: uop-opt %s -p 'dce,func.func(cse,cse)' --mlir-timing 2>&1 >%t | filecheck %s
// RUN: filecheck %s --check-prefix=OUTPUT --input-file %t
// RUN: uop-opt %s -p cse 2>&1 | not grep Execution

// A pass of the pipeline has one row, however often it runs.
// CHECK:      ... Execution time report ...
// CHECK:      Total Execution Time: {{[0-9.]+}} seconds
// CHECK:      ----CPU Time-----   ----Wall Time----   ----Name----
// CHECK-NEXT: {{ +[0-9.]+ \( *[0-9.]+%\) +[0-9.]+ \( *[0-9.]+%\)  }}(parse)
// CHECK-NEXT: (verify)
// CHECK-NEXT: {{ }}dce
// CHECK-NEXT: {{ }}cse
// CHECK-NEXT: {{ }}cse
// CHECK-NEXT: (print)
// CHECK-NEXT: (100.0%)  Total
// OUTPUT-NOT: Total
func.func @f() { func.return }
func.func @g() { func.return }
