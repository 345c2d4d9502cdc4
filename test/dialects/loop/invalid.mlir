// RUN: uop-opt %s --split-input-file --verify-diagnostics

uop.kernel @no_kind() {
  // expected-error@+1 {{a loop's axis has a kind}}
  loop.for %i (i = 4) {
  }
}

// -----

uop.kernel @kind() {
  // expected-error@+1 {{how a loop.reduce is carried out is its kernel's schedule}}
  %0 = loop.reduce %i (i = 4 block) add : f32 {
    %1 = uop.const 1.0 : f32
    loop.yield %1 : f32
  }
}

// -----

uop.kernel @no_yield() {
  %0 = loop.reduce %i (i = 4) add : f32 {
    // expected-error@+1 {{is not a terminator}}
    %1 = uop.const 1.0 : f32
  }
}

// -----

uop.kernel @types() {
  // expected-error@+1 {{loop.yield gives other types than loop.reduce}}
  %0 = loop.reduce %i (i = 4) add : f32 {
    %1 = uop.const 1.0 : f64
    loop.yield %1 : f64
  }
}

// -----

uop.kernel @state_without_yield() {
  // expected-error@+1 {{a loop that carries state ends in loop.yield}}
  %0 = loop.for %i (i = 4 loop) carry (%acc = add : f32) {
  }
}

// -----

uop.kernel @monoid_types() {
  // expected-error@+1 {{the monoid or is not defined for f32}}
  %0 = loop.for %i (i = 4 loop) carry (%acc = or : f32) {
    loop.yield %acc : f32
  }
}

// -----

uop.kernel @outside() {
  %1 = uop.const 1.0 : f32
  // expected-error@+1 {{loop.yield}}
  loop.yield %1 : f32
}

// -----

uop.kernel @negative() {
  // expected-error@+1 {{}}
  loop.for %i (i = -4 parallel) {
  }
}

// -----

uop.kernel @nothing() {
  loop.for %i (i = 16 parallel) {
    // expected-error@+1 {{loop.yield gives at least one value}}
    "loop.yield"() : () -> ()
  }
}

// -----

uop.kernel @scan_of_no_loop(%x: memref<4xf32>) {
  loop.for %i (i = 4 parallel) {
    %0 = uop.load %x[%i] : memref<4xf32>
    %1 = uop.add %i, %i : index
    // expected-error@+1 {{loop.scan goes over the index of a loop}}
    %2 = loop.scan add %0 over %1 : f32
  }
}
