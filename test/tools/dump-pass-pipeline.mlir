// Printed on standard error, in one spelling: parsing it gives the same pipeline again.
// RUN: uop-opt %s --dump-pass-pipeline -p 'func.func ( cse ,dce ), canonicalize{}' 2>&1 >%t | filecheck %s
// RUN: uop-opt %s --dump-pass-pipeline --pass-pipeline 'builtin.module(func.func(cse,dce),canonicalize)' 2>&1 >%t | filecheck %s
// RUN: uop-opt %s --dump-pass-pipeline 2>&1 | not grep '(cse'

// CHECK: {{^}}builtin.module(func.func(cse,dce),canonicalize){{$}}
func.func @f() { func.return }
