"test.op"(%0) : (i32) -> ()
%0 = "test.op"() : () -> i32
