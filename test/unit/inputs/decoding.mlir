// Range form of decoding: 3 heads of queries share keys, of which those before a position are seen.

uop.kernel @decode(%out: memref<6x16xf16>, %q: memref<6x16xf16>, %k: memref<2x301x16xf16>, %v: memref<2x301x16xf16>, %position: memref<i64>) {
  %h = uop.range h = 6
  %l = uop.range l = 16
  %0 = uop.load %position[] : memref<i64>
  %last = uop.cast %0 : i64 -> index
  %k_1 = uop.range k = 301 to %last
  %k1 = uop.range k1 = 16
  %three = uop.const 3 : index
  %h0 = uop.floordiv %h, %three : index
  %1 = uop.load %q[%h, %k1] : memref<6x16xf16>
  %2 = uop.cast %1 : f16 -> f32
  %3 = uop.load %k[%h0, %k_1, %k1] : memref<2x301x16xf16>
  %4 = uop.cast %3 : f16 -> f32
  %5 = uop.mul %2, %4 : f32
  %6 = uop.reduce add %5 over %k1 : f32
  %seen = uop.lt %k_1, %last : index
  %nothing = uop.const 0xff800000 : f32
  %x = uop.where %seen, %6, %nothing : f32
  %one = uop.const 1.0 : f32
  %7 = uop.load %v[%h0, %k_1, %l] : memref<2x301x16xf16>
  %8 = uop.cast %7 : f16 -> f32
  %max, %sum, %acc = uop.reduce online_attention %x, %one, %8 over %k_1 : f32, f32, f32
  %9 = uop.div %acc, %sum : f32
  %10 = uop.cast %9 : f32 -> f16
  uop.store %10, %out[%h, %l] : memref<6x16xf16>
}
func.func @forward(%q: tensor<6x16xf16>, %k: tensor<2x301x16xf16>, %v: tensor<2x301x16xf16>, %position: tensor<i64>) -> tensor<6x16xf16> {
  %0 = uop.launch @decode(%q, %k, %v, %position) : (tensor<6x16xf16>, tensor<2x301x16xf16>, tensor<2x301x16xf16>, tensor<i64>) -> tensor<6x16xf16>
  func.return %0 : tensor<6x16xf16>
}
