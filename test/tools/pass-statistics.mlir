// RUN: uop-opt %s -p uop-simplify,cse,uop-simplify --pass-statistics 2>&1 >%t | filecheck %s
// RUN: filecheck %s --check-prefix=OUTPUT --input-file %t
// RUN: uop-opt %s -p cse --mlir-pass-statistics 2>&1 | filecheck %s --check-prefix=NONE
// RUN: uop-opt %s -p uop-simplify 2>&1 | filecheck %s --check-prefix=OUTPUT

// For each pass what it did; for each rule on how many ops it was tried and how often it fired, most first.
// CHECK:      ... Pass statistics report ...
// CHECK:      {{^}}uop-simplify
// CHECK-NEXT: {{^ +1 }}equal ops merged
// CHECK-NEXT: {{^ +1 }}dead ops removed
// CHECK-NEXT: fired   tried  rule
// CHECK-NEXT: {{^ +2 +3  }}mul[x, 1] >> x (identities.py:{{[0-9]+}})
// CHECK:      {{^ +0 +3  }}mul
// CHECK:      {{^}}uop-simplify
// CHECK-NEXT: fired   tried  rule
// CHECK-NEXT: {{^ +0 +1  }}
// NONE:       no pass has rewritten by rules
// OUTPUT-NOT: statistics
// OUTPUT:     func.func @f
func.func @f(%n: i32, %m: i32) -> i32 {
  %one = uop.const 1 : i32
  %0 = uop.mul %n, %one : i32
  %1 = uop.mul %m, %one : i32
  %same = uop.mul %m, %one : i32
  %2 = uop.mul %0, %1 : i32
  %3 = uop.xor %2, %same : i32
  func.return %3 : i32
}
