// RUN: uop-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Nothing is expected and nothing happens.
// CHECK: "test.op"() {fine}
"test.op"() {fine} : () -> ()

// -----

// Errors of the parser.
// expected-error@+1 {{Operation foo.bar is not registered}}
foo.bar

// -----

"test.op"(%missing) : (i32) -> () // expected-error {{value %missing is used but not defined}}

// -----

// Errors of the verifier; a comment may stand below, and several may stand together.
func.func @f() -> i32 {
  func.return
  // expected-error@-1 {{Expected arguments to have the same types as the function output types}}
}

// -----

func.func @f() -> i32 {
  // expected-error-re@below {{expected [{{i[0-9]+}}], got []}}
  func.return
}

// -----

func.func @f() -> i32 {
  func.return
  // A line between is no matter to a number.
  // expected-error@-2 {{function output types}}
}

// -----

"test.op"(%0) : (i32) -> ()
// expected-error@above {{does not dominate}}
// expected-note@+1 {{operand defined here}}
%0 = "test.op"() : () -> i32

// RUN: not uop-opt %S/inputs/unexpected.mlir --verify-diagnostics --split-input-file 2>&1 | filecheck %s --check-prefix=WRONG
// WRONG:      unexpected.mlir:2:21: error: unexpected error: value %missing is used but not defined
// WRONG-NEXT: {{^}}  {{.*}}"test.op"(%missing)
// WRONG:      unexpected.mlir:6:4: error: expected error "never comes" was not produced
// WRONG-NEXT: {{^}}// {{.*}}@+1 {{.*}}never comes
// WRONG-NEXT: {{^}}   ^
// WRONG:      unexpected.mlir:11:4: error: expected error "another text" was not produced
// WRONG:      unexpected.mlir:12:10: error: unexpected error: Operation foo.bar is not registered
// WRONG:      unexpected.mlir:16:4: error: expected warning "not a warning" was not produced
// WRONG:      unexpected.mlir:17:1: error: unexpected error: Operation foo.bar is not registered
// WRONG:      unexpected.mlir:21:4: error: malformed expectation
// WRONG:      unexpected.mlir:26:4: error: expected error "the wrong line" was not produced
