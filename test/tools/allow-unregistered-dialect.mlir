// RUN: uop-opt %s --allow-unregistered-dialect | filecheck %s
// RUN: not uop-opt %s 2>&1 | filecheck %s --check-prefix=REFUSED

// CHECK: %{{.*}} = "mine.op"() : () -> !mine.type
// REFUSED:      allow-unregistered-dialect.mlir:8:7: error: Operation mine.op is not registered
// REFUSED-NEXT: %0 = "mine.op"() : () -> !mine.type
// REFUSED-NEXT:       ^
%0 = "mine.op"() : () -> !mine.type
