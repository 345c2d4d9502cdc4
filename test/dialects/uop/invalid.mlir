// RUN: uop-opt %s --split-input-file --verify-diagnostics

func.func @domain(%x: tensor<4xf32>) {
  // expected-error@+1 {{uop.and is not defined for tensor<4xf32>: its domain is bits}}
  %0 = uop.and %x, %x : tensor<4xf32>
  func.return
}

// -----

func.func @division(%x: i32) {
  // expected-error@+1 {{uop.div is not defined for i32: its domain is float}}
  %0 = uop.div %x, %x : i32
  func.return
}

// -----

func.func @arity(%x: f32) {
  // expected-error@+1 {{expected 2 operand types but had 1}}
  %0 = uop.add %x : f32
  func.return
}

// -----

// Broadcasting is never implied.
func.func @broadcast(%x: tensor<4x1xf32>, %y: tensor<4x5xf32>) {
  // expected-error@+1 {{uop.mul has an operand of type tensor<4x1xf32> where tensor<4x5xf32> is expected}}
  %0 = "uop.mul"(%x, %y) : (tensor<4x1xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  func.return
}

// -----

func.func @compare(%x: f32) {
  // expected-error@+1 {{uop.lt has result type f32 where i1 is expected}}
  %0 = "uop.lt"(%x, %x) : (f32, f32) -> f32
  func.return
}

// -----

func.func @constant() {
  // expected-error@+1 {{a constant of type i8 has result type i16}}
  %0 = "uop.const"() <{value = 3 : i8}> : () -> i16
  func.return
}

// -----

func.func @bitcast(%x: f32) {
  // expected-error@+1 {{f32 and i64 differ in width}}
  %0 = uop.bitcast %x : f32 -> i64
  func.return
}

// -----

func.func @cast(%x: tensor<4xf32>) {
  // expected-error@+1 {{uop.cast keeps the shape}}
  %0 = uop.cast %x : tensor<4xf32> -> tensor<5xf16>
  func.return
}

// -----

func.func @reshape(%x: tensor<4xf32>) {
  // expected-error@+1 {{reshape of [4] to [5] changes the number of elements}}
  %0 = uop.reshape %x : tensor<4xf32> -> tensor<5xf32>
  func.return
}

// -----

func.func @expand(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{expand repeats axes of extent 1; axis 1 has extent 2, not 1 or 3}}
  %0 = uop.expand %x : tensor<4x2xf32> -> tensor<4x3xf32>
  func.return
}

// -----

func.func @expand_rank(%x: tensor<4xf32>) {
  // expected-error@+1 {{expand keeps the rank: [4] -> [3, 4]}}
  %0 = uop.expand %x : tensor<4xf32> -> tensor<3x4xf32>
  func.return
}

// -----

func.func @permute(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{order [0, 0] is no permutation of the 2 axes}}
  %0 = uop.permute %x order [0, 0] : tensor<4x2xf32> -> tensor<4x4xf32>
  func.return
}

// -----

func.func @pad(%x: tensor<4xf32>) {
  // expected-error@+1 {{pad gives shape [6], not [7]}}
  %0 = uop.pad %x low [1] high [1] : tensor<4xf32> -> tensor<7xf32>
  func.return
}

// -----

func.func @shrink(%x: tensor<4xf32>) {
  // expected-error@+1 {{axis 0: 2 elements from 1 in steps of 3 leave its 4}}
  %0 = uop.shrink %x offsets [1] strides [3] : tensor<4xf32> -> tensor<2xf32>
  func.return
}

// -----

func.func @window_leaves(%x: tensor<4xf32>) {
  // expected-error@+1 {{axis 0: windows [2, 3] of strides [2, 1] leave its 4}}
  %0 = uop.window %x axis 0 strides [2, 1] : tensor<4xf32> -> tensor<2x3xf32>
  func.return
}

// -----

func.func @window_stride(%x: tensor<4xf32>) {
  // expected-error@+1 {{strides [0] are not one or more positive numbers}}
  %0 = uop.window %x axis 0 strides [0] : tensor<4xf32> -> tensor<2xf32>
  func.return
}

// -----

func.func @window_axes(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{window replaces axis 1 by 2: [4, 5] -> [3, 2, 3]}}
  %0 = uop.window %x axis 1 strides [2, 1] : tensor<4x5xf32> -> tensor<3x2x3xf32>
  func.return
}

// -----

func.func @window_axis(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{axis 2 is no axis of a shape of rank 2}}
  %0 = uop.window %x axis 2 strides [2, 1] : tensor<4x5xf32> -> tensor<4x2x3xf32>
  func.return
}

// -----

func.func @flip(%x: tensor<4xf32>) {
  // expected-error@+1 {{axes [1] are not ascending axes of a shape of rank 1}}
  %0 = uop.flip %x axes [1] : tensor<4xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @iota() {
  // expected-error@+1 {{iota gives a tensor of one axis}}
  %0 = uop.iota : tensor<4x4xi64>
  func.return
}

// -----

func.func @reduce(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{reduce_axis gives tensor<4x1xf32>, not tensor<4xf32>}}
  %0 = uop.reduce_axis add %x axes [1] : (tensor<4x5xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @width(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{uop.reduce_axis argmax takes 2 values, not 1}}
  %0 = uop.reduce_axis argmax %x axes [1] : (tensor<4x5xf32>) -> tensor<4x1xf32>
  func.return
}

// -----

func.func @monoid(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{the monoid and is not defined for tensor<4x5xf32>}}
  %0 = uop.reduce_axis and %x axes [1] : (tensor<4x5xf32>) -> tensor<4x1xf32>
  func.return
}

// -----

func.func @no_monoid(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{expected a monoid: add, mul, max, min}}
  %0 = uop.reduce_axis average %x axes [1] : (tensor<4x5xf32>) -> tensor<4x1xf32>
  func.return
}

// -----

func.func @gather(%x: tensor<4x5xf32>, %i: tensor<3x2xi64>) {
  // expected-error@+1 {{indices have extent 3 in axis 0, the input 4}}
  %0 = uop.gather %x, %i axis 1 : (tensor<4x5xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  func.return
}

// -----

func.func @scatter(%x: tensor<4x5xf32>, %i: tensor<4x2xf32>) {
  // expected-error@+1 {{indices are integers, not tensor<4x2xf32>}}
  %0 = uop.scatter %x, %i, %i axis 1 : (tensor<4x5xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x5xf32>
  func.return
}

// -----

// expected-error@+1 {{uop.yield gives other types than the kernel declares}}
uop.kernel @wrong(%x: tensor<4xf32>) -> (tensor<5xf32>) {
  uop.yield %x : tensor<4xf32>
}

// -----

uop.kernel @parts(%x: tensor<4xf32>) -> (tensor<4xf32>) {
  // expected-error@+1 {{tensor<4xf32> is not cut into [3] equal parts}}
  uop.yield %x parts [3] : tensor<4xf32>
}

// -----

// expected-error@+1 {{a kernel that does not end in uop.yield takes memrefs}}
uop.kernel @mixed(%x: tensor<4xf32>) {
  %i = uop.range i = 4
}

// -----

uop.kernel @rank(%out: memref<4x4xf32>) {
  %i = uop.range i = 4
  // expected-error@+1 {{uop.load gives 1 indices to a buffer of rank 2}}
  %0 = uop.load %out[%i] : memref<4x4xf32>
}

// -----

uop.kernel @bound(%out: memref<4xf32>, %x: memref<4xf32>) {
  %i = uop.range i = 4
  %c = uop.const 0 : index
  %0 = uop.load %x[%i] : memref<4xf32>
  // expected-error@+1 {{uop.reduce goes over the results of uop.range}}
  %1 = uop.reduce add %0 over %c : f32
}

// -----

uop.kernel @scan_of_two(%x: memref<4xf32>) {
  %i = uop.range i = 4
  %j = uop.range j = 4
  %0 = uop.load %x[%i] : memref<4xf32>
  // expected-error@+1 {{uop.scan goes over one axis, not 2}}
  %1 = uop.scan add %0 over %i, %j : f32
}

// -----

uop.kernel @scan_of_nothing(%x: memref<4xf32>) {
  %c = uop.const 0 : index
  %0 = uop.load %x[%c] : memref<4xf32>
  // expected-error@+1 {{uop.scan goes over the result of uop.range}}
  %1 = uop.scan add %0 over %c : f32
}

// -----

func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error@+1 {{uop.exp is not defined for tensor<?xf32>}}
  %0 = uop.exp %x : tensor<?xf32>
  func.return
}

// -----

func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error@+1 {{uop.flip is not defined for tensor<?xf32> -> tensor<?xf32>}}
  %0 = uop.flip %x axes [0] : tensor<?xf32> -> tensor<?xf32>
  func.return
}

// -----

func.func @element(%x: tensor<2xi4>) {
  // expected-error@+1 {{uop.flip is not defined for tensor<2xi4>}}
  %0 = uop.flip %x axes [0] : tensor<2xi4> -> tensor<2xi4>
  func.return
}

// -----

func.func @element(%x: tensor<?xf32>) {
  // expected-error@+1 {{the monoid add is not defined for tensor<?xf32>}}
  %0 = uop.reduce_axis add %x axes [0] : (tensor<?xf32>) -> tensor<1xf32>
  func.return
}

// -----

func.func @count() {
  // expected-error@+1 {{iota is not defined for tensor<3xi1>}}
  %0 = uop.iota : tensor<3xi1>
  func.return
}

// -----

uop.kernel @element(%x: memref<2xi4>, %y: memref<?xf32>) {
  %c0 = uop.const 0 : index
  // expected-error@+1 {{uop.load is not defined for a buffer of type memref<2xi4>}}
  %0 = uop.load %x[%c0] : memref<2xi4>
}

// -----

func.func @large() {
  // expected-error@+1 {{9223372036854775808 does not fit an index}}
  %0 = uop.const 9223372036854775808 : index
  func.return
}

// -----

func.func @places(%x: tensor<4xf32>) {
  // expected-error@+1 {{1 results have 2 places in the arena}}
  %0 = uop.launch @f(%x) arena [0, own] : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @place(%x: tensor<4xf32>) {
  // expected-error@+1 {{a place in the arena is an offset in bytes from 0 on, or own}}
  %0 = uop.launch @f(%x) arena [-4] : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @reuse_count(%x: tensor<4xf32> {uop.mutated = 0 : i64}) -> tensor<4xf32> {
  // expected-error@+1 {{reuse names an operand's place for each result, or own}}
  %0 = uop.launch @f(%x) reuse [0, own] : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @reuse_of_none(%x: tensor<4xf32> {uop.mutated = 0 : i64}) -> tensor<4xf32> {
  // expected-error@+1 {{there is no operand 1 whose buffer a result could take}}
  %0 = uop.launch @f(%x) reuse [1] : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @reuse_and_arena(%x: tensor<4xf32> {uop.mutated = 0 : i64}) -> tensor<4xf32> {
  // expected-error@+1 {{a result that takes an operand's buffer has no place of its own in the arena}}
  %0 = uop.launch @f(%x) reuse [0] arena [0] : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @reuse_of_other_size(%x: tensor<4xf32> {uop.mutated = 0 : i64}) -> tensor<8xf32> {
  // expected-error@+1 {{it has elements of another type, or another number of them}}
  %0 = uop.launch @f(%x) reuse [0] : (tensor<4xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}

// -----

func.func @reuse_of_what_the_caller_keeps(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{result 0 must not take the buffer of operand 0: the caller keeps what it gives}}
  %0 = uop.launch @f(%x) reuse [0] : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @reuse_of_what_is_read_later(%x: tensor<4xf32> {uop.mutated = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>) {
  %v = uop.reshape %x : tensor<4xf32> -> tensor<2x2xf32>
  // expected-error@+1 {{a later operation reads the old value, the launch of @g}}
  %0 = uop.launch @f(%x) reuse [0] : (tensor<4xf32>) -> tensor<4xf32>
  %1 = uop.launch @g(%v) : (tensor<2x2xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @reuse_of_what_is_returned(%x: tensor<4xf32> {uop.mutated = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error@+1 {{a later operation reads the old value, func.return}}
  %0 = uop.launch @f(%x) reuse [0] : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @reuse_of_what_the_launch_reads(%x: tensor<4xf32> {uop.mutated = 0 : i64}) -> tensor<4xf32> {
  // expected-error@+1 {{this launch itself reads the old value}}
  %0 = uop.launch @f(%x, %x) reuse [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

uop.kernel @f(%out: memref<4xf32>, %x: memref<4xf32>) {
  %i = uop.range i = 4
  %0 = uop.load %x[%i] : memref<4xf32>
  uop.store %0, %out[%i] : memref<4xf32>
}
func.func @reuse_of_what_the_kernel_reads(%x: tensor<4xf32> {uop.mutated = 0 : i64}) -> tensor<4xf32> {
  // expected-error@+1 {{result 0 must not take the buffer of operand 0: the kernel reads it}}
  %0 = uop.launch @f(%x) reuse [0] : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @reuse_for_another_result(%x: tensor<4xf32> {uop.mutated = 0 : i64}, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error@+1 {{what the function gives as the new value of that argument lies elsewhere}}
  %0 = uop.launch @f(%x) reuse [0] : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y, %0 : tensor<4xf32>, tensor<4xf32>
}
