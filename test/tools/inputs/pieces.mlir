"test.op"() {first} : () -> ()

// -----

  "test.op"(%0) : (i32) -> ()
%0 = "test.op"() : () -> i32

// -----

"test.op"() {third} : () -> ()
