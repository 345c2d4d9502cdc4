// RUN: UOP_ROUNDTRIP
// RUN: UOP_GENERIC_ROUNDTRIP

// ALU ops take tensors, vectors and scalars alike.
// CHECK-LABEL: func.func @alu
// GENERIC-LABEL: "func.func"() <{sym_name = "alu"
func.func @alu(%t: tensor<4x5xf32>, %v: vector<2x1xindex>, %s: i32, %b: i1, %h: bf16, %u: ui8) {
  // CHECK: uop.add %{{.*}}, %{{.*}} : tensor<4x5xf32>
  // GENERIC: "uop.add"(%{{.*}}, %{{.*}}) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %0 = uop.add %t, %t : tensor<4x5xf32>
  // CHECK-NEXT: uop.floordiv %{{.*}}, %{{.*}} : vector<2x1xindex>
  %1 = uop.floordiv %v, %v : vector<2x1xindex>
  // CHECK-NEXT: uop.lt %{{.*}}, %{{.*}} : i32
  // GENERIC: "uop.lt"(%{{.*}}, %{{.*}}) : (i32, i32) -> i1
  %2 = uop.lt %s, %s : i32
  // CHECK-NEXT: uop.where %{{.*}}, %{{.*}}, %{{.*}} : bf16
  %3 = uop.where %b, %h, %h : bf16
  // CHECK-NEXT: uop.isnan %{{.*}} : tensor<4x5xf32>
  // GENERIC: "uop.isnan"(%{{.*}}) : (tensor<4x5xf32>) -> tensor<4x5xi1>
  %4 = uop.isnan %t : tensor<4x5xf32>
  // CHECK-NEXT: uop.max %{{.*}}, %{{.*}} : ui8
  %5 = uop.max %u, %u : ui8
  // CHECK-NEXT: uop.fma %{{.*}}, %{{.*}}, %{{.*}} {test.note = 1 : i64} : bf16
  %6 = uop.fma %h, %h, %h {test.note = 1} : bf16
  // CHECK-NEXT: uop.cast %{{.*}} : tensor<4x5xf32> -> tensor<4x5xf16>
  %7 = uop.cast %t : tensor<4x5xf32> -> tensor<4x5xf16>
  // CHECK-NEXT: uop.bitcast %{{.*}} : bf16 -> i16
  %8 = uop.bitcast %h : bf16 -> i16
  func.return
}

// Constants are exact: NaN payloads, signed zeros, infinities, bounds of integers.
// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK: uop.const 0x7fc00001 : f32
  %0 = uop.const 0x7fc00001 : f32
  // CHECK-NEXT: uop.const -0.000000e+00 : f32
  %1 = uop.const -0.0 : f32
  // CHECK-NEXT: uop.const 0xff80 : bf16
  %2 = uop.const 0xff80 : bf16
  // CHECK-NEXT: uop.const true
  %3 = uop.const true
  // CHECK-NEXT: uop.const -128 : i8
  %4 = uop.const -128 : i8
  // CHECK-NEXT: uop.const 255 : ui8
  %5 = uop.const 255 : ui8
  // CHECK-NEXT: uop.const -9223372036854775808 : i64
  %6 = uop.const -9223372036854775808 : i64
  // CHECK-NEXT: uop.const 7 : index
  %7 = uop.const 7 : index
  func.return
}

// CHECK-LABEL: func.func @movement
func.func @movement(%x: tensor<4x5xf32>, %s: f32, %v: vector<2x1xf32>) {
  // CHECK: uop.reshape %{{.*}} : tensor<4x5xf32> -> tensor<1x20xf32>
  %0 = uop.reshape %x : tensor<4x5xf32> -> tensor<1x20xf32>
  // CHECK-NEXT: uop.expand %{{.*}} : tensor<1x20xf32> -> tensor<3x20xf32>
  %1 = uop.expand %0 : tensor<1x20xf32> -> tensor<3x20xf32>
  // CHECK-NEXT: uop.expand %{{.*}} : f32 -> vector<2x2xf32>
  %2 = uop.expand %s : f32 -> vector<2x2xf32>
  // CHECK-NEXT: uop.expand %{{.*}} : vector<2x1xf32> -> vector<2x2xf32>
  %3 = uop.expand %v : vector<2x1xf32> -> vector<2x2xf32>
  // CHECK-NEXT: uop.permute %{{.*}} order [1, 0] : tensor<4x5xf32> -> tensor<5x4xf32>
  %4 = uop.permute %x order [1, 0] : tensor<4x5xf32> -> tensor<5x4xf32>
  // CHECK-NEXT: uop.pad %{{.*}} low [1, 0] high [0, 2] : tensor<4x5xf32> -> tensor<5x7xf32>
  %5 = uop.pad %x low [1, 0] high [0, 2] : tensor<4x5xf32> -> tensor<5x7xf32>
  // CHECK-NEXT: uop.shrink %{{.*}} offsets [1, 0] : tensor<4x5xf32> -> tensor<2x5xf32>
  %6 = uop.shrink %x offsets [1, 0] : tensor<4x5xf32> -> tensor<2x5xf32>
  // CHECK-NEXT: uop.shrink %{{.*}} offsets [1, 0] strides [1, 2] : tensor<4x5xf32> -> tensor<2x3xf32>
  %7 = uop.shrink %x offsets [1, 0] strides [1, 2] : tensor<4x5xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: uop.flip %{{.*}} axes [0, 1] : tensor<4x5xf32> -> tensor<4x5xf32>
  %8 = uop.flip %x axes [0, 1] : tensor<4x5xf32> -> tensor<4x5xf32>
  // CHECK-NEXT: uop.window %{{.*}} axis 1 strides [2, 1] : tensor<4x5xf32> -> tensor<4x2x3xf32>
  %w = uop.window %x axis 1 strides [2, 1] : tensor<4x5xf32> -> tensor<4x2x3xf32>
  // CHECK-NEXT: uop.iota : tensor<16xi64>
  %9 = uop.iota : tensor<16xi64>
  func.return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<4x5xf32>, %i: tensor<4x5xi64>, %j: tensor<4x2xi64>, %u: tensor<4x2xf32>, %e: tensor<0x3xf32>) {
  // CHECK: uop.reduce_axis add %{{.*}} axes [0, 1] : (tensor<4x5xf32>) -> tensor<1x1xf32>
  %0 = uop.reduce_axis add %x axes [0, 1] : (tensor<4x5xf32>) -> tensor<1x1xf32>
  // CHECK-NEXT: uop.reduce_axis argmax %{{.*}}, %{{.*}} axes [1] : (tensor<4x5xf32>, tensor<4x5xi64>) -> (tensor<4x1xf32>, tensor<4x1xi64>)
  // GENERIC: "uop.reduce_axis"(%{{.*}}, %{{.*}}) <{monoid = #uop.monoid<argmax>, axes = array<i64: 1>}>
  %1, %2 = uop.reduce_axis argmax %x, %i axes [1] : (tensor<4x5xf32>, tensor<4x5xi64>) -> (tensor<4x1xf32>, tensor<4x1xi64>)
  // CHECK-NEXT: uop.reduce_axis max %{{.*}} axes [0] : (tensor<0x3xf32>) -> tensor<1x3xf32>
  %3 = uop.reduce_axis max %e axes [0] : (tensor<0x3xf32>) -> tensor<1x3xf32>
  // CHECK-NEXT: uop.scan_axis mul %{{.*}} axis 1 : tensor<4x5xf32>
  %4 = uop.scan_axis mul %x axis 1 : tensor<4x5xf32>
  // CHECK-NEXT: uop.scan_axis online_softmax %{{.*}}, %{{.*}} axis 0 : tensor<4x5xf32>, tensor<4x5xf32>
  %5, %6 = uop.scan_axis online_softmax %x, %x axis 0 : tensor<4x5xf32>, tensor<4x5xf32>
  // CHECK-NEXT: uop.gather %{{.*}}, %{{.*}} axis 1 : (tensor<4x5xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
  %7 = uop.gather %x, %j axis 1 : (tensor<4x5xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
  // CHECK-NEXT: uop.scatter %{{.*}}, %{{.*}}, %{{.*}} axis 1 : (tensor<4x5xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<4x5xf32>
  %8 = uop.scatter %x, %j, %u axis 1 : (tensor<4x5xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<4x5xf32>
  // CHECK-NEXT: uop.scatter add %{{.*}}, %{{.*}}, %{{.*}} axis 1 : (tensor<4x5xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<4x5xf32>
  %9 = uop.scatter add %x, %j, %u axis 1 : (tensor<4x5xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<4x5xf32>
  func.return
}

// A kernel in tensor form and its program.
// CHECK: uop.kernel @double(%x: tensor<4xf32>) -> (tensor<4xf32>) {
uop.kernel @double(%x: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = uop.add %x, %x : tensor<4xf32>
  // CHECK: uop.yield %{{.*}} parts [2] : tensor<4xf32>
  uop.yield %0 parts [2] : tensor<4xf32>
}
func.func @program(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: uop.launch @double(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = uop.launch @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: uop.launch @split(%{{.*}}) arena [256, own] : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>)
  %1, %2 = uop.launch @split(%0) arena [256, own] : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>)
  func.return %0 : tensor<4xf32>
}
// CHECK: func.func @updates(%x: tensor<4xf32> {uop.mutated = 1 : i64}) ->
func.func @updates(%x: tensor<4xf32> {uop.mutated = 1 : i64}) -> (tensor<2xf32>, tensor<4xf32>) {
  // CHECK-NEXT: uop.launch @both(%{{.*}}) reuse [own, 0] arena [0, own] : (tensor<4xf32>) -> (tensor<2xf32>, tensor<4xf32>)
  %0, %1 = uop.launch @both(%x) reuse [own, 0] arena [0, own] : (tensor<4xf32>) -> (tensor<2xf32>, tensor<4xf32>)
  func.return %0, %1 : tensor<2xf32>, tensor<4xf32>
}

// A kernel in range form; two ranges that look alike stay two.
// CHECK: uop.kernel @softmax(%out: memref<64x1000xf32>, %x: memref<64x1000xf32>) schedule #tile.schedule<i = 64 block, j = 4 register * 32 lane * 8 loop> attributes {test.note} {
uop.kernel @softmax(%out: memref<64x1000xf32>, %x: memref<64x1000xf32>) schedule #tile.schedule<i = 64 block, j = 4 register * 32 lane * 8 loop> attributes {test.note} {
  // CHECK-NEXT: %[[I:.*]] = uop.range i = 64
  %i = uop.range i = 64
  // CHECK-NEXT: %[[J:.*]] = uop.range j = 1000
  %j = uop.range j = 1000
  // CHECK-NEXT: uop.range j = 1000
  %j2 = uop.range j = 1000
  // CHECK-NEXT: uop.load %x[%[[I]], %[[J]]] : memref<64x1000xf32>
  %0 = uop.load %x[%i, %j] : memref<64x1000xf32>
  // CHECK-NEXT: uop.reduce max %{{.*}} over %[[J]] : f32
  %1 = uop.reduce max %0 over %j : f32
  %ok = uop.lt %i, %j : index
  // CHECK: uop.load %x[%[[I]], %[[J]]] mask %{{.*}} : memref<64x1000xf32>
  %2 = uop.load %x[%i, %j] mask %ok : memref<64x1000xf32>
  // CHECK-NEXT: uop.reduce online_softmax %{{.*}}, %{{.*}} over %[[I]], %[[J]] : f32, f32
  %3, %4 = uop.reduce online_softmax %0, %2 over %i, %j : f32, f32
  // CHECK-NEXT: uop.scan add %{{.*}} over %[[J]] : f32
  %5 = uop.scan add %0 over %j : f32
  // CHECK-NEXT: uop.scan online_softmax %{{.*}}, %{{.*}} over %[[J]] : f32, f32
  %6, %7 = uop.scan online_softmax %0, %2 over %j : f32, f32
  // CHECK-NEXT: uop.store %{{.*}}, %out[%[[I]], %[[J]]] mask %{{.*}} : memref<64x1000xf32>
  uop.store %1, %out[%i, %j] mask %ok : memref<64x1000xf32>
}
