// RUN: uop-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{argument 0: no argument is the symbol s0 of #uop.extents<s0>}}
func.func @no_symbol(%x: tensor<8xf32> {uop.extents = #uop.extents<s0>}) {
  func.return
}

// -----

// expected-error@+1 {{argument 1: s0 + 1 is at most 9, which tensor<8xf32> does not have}}
func.func @bound(%s0: tensor<i64> {uop.symbol = #uop.symbol<s0, 1 to 8>}, %x: tensor<8xf32> {uop.extents = #uop.extents<s0 + 1>}) {
  func.return
}

// -----

// expected-error@+1 {{result 0: #uop.extents<s0, 2> are not the extents of tensor<8xf32>}}
func.func @rank(%s0: tensor<i64> {uop.symbol = #uop.symbol<s0, 1 to 8>}, %x: tensor<8xf32>) -> (tensor<8xf32> {uop.extents = #uop.extents<s0, 2>}) {
  func.return %x : tensor<8xf32>
}

// -----

// expected-error@+1 {{argument 0: a symbol is a tensor<i64>, not tensor<i32>}}
func.func @type(%s0: tensor<i32> {uop.symbol = #uop.symbol<s0, 1 to 8>}) {
  func.return
}

// -----

// expected-error@+1 {{argument 1: there is a symbol s0 already}}
func.func @twice(%a: tensor<i64> {uop.symbol = #uop.symbol<s0, 1 to 8>}, %b: tensor<i64> {uop.symbol = #uop.symbol<s0, 1 to 8>}) {
  func.return
}

// -----

// expected-error@+1 {{argument 0: uop.symbol is 1 : i64, not #uop.symbol<…>}}
func.func @attribute(%a: tensor<i64> {uop.symbol = 1}) {
  func.return
}

// -----

// expected-error@+1 {{symbol s0 is from 9 to 8: a size is 0 <= low <= high}}
func.func @bounds(%a: tensor<i64> {uop.symbol = #uop.symbol<s0, 9 to 8>}) {
  func.return
}

// -----

// expected-error@+1 {{an extent is divided by a positive number}}
func.func @zero(%s0: tensor<i64> {uop.symbol = #uop.symbol<s0, 1 to 8>}, %x: tensor<8xf32> {uop.extents = #uop.extents<s0 floordiv 0>}) {
  func.return
}
