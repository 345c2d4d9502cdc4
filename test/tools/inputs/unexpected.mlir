// Each piece has one thing wrong with its expectations.
          "test.op"(%missing) : (i32) -> ()

// -----

// expected-error@+1 {{never comes}}
"test.op"() : () -> ()

// -----

// expected-error@+1 {{another text}}
         foo.bar

// -----

// expected-warning@+1 {{not a warning}}
foo.bar

// -----

// expected-error@+1 {no double braces}
"test.op"() : () -> ()

// -----

// expected-error@+2 {{the wrong line}}
"test.op"() : () -> ()
"test.op"() : () -> ()
