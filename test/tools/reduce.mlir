// RUN: uop-opt %s --reduce='grep -q uop.sqrt' 2>%t.log | filecheck %s --check-prefix COMMAND
// RUN: filecheck %s --check-prefix LOG --input-file %t.log
// RUN: uop-opt %s --reduce='grep -q uop.sqrt %%s; exit $?' --reduce-tries=1 2>&1 | filecheck %s --check-prefix TRIES
// RUN: uop-opt %s --load %S/inputs/wrong_rules.py --interpret-each --bisect -p uop-simplify --reduce -o %t.mlir 2>&1 | filecheck %s --check-prefix LOG
// RUN: filecheck %s --check-prefix WRONG --input-file %t.mlir
// RUN: uop-opt %s -p uop-partition,convert-uop-to-loop --reduce 2>&1 | filecheck %s --check-prefix REFUSED
// RUN: not uop-opt %s --reduce='echo sorry; exit 3' 2>&1 | filecheck %s --check-prefix UNINTERESTING

// COMMAND:      func.func @forward(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
// COMMAND-NEXT:   %0 = uop.sqrt %x : tensor<1x1xf32>
// COMMAND-NEXT:   func.return %0 : tensor<1x1xf32>
// COMMAND-NOT:  uop.
// LOG:          reduce: 8 ops to {{[12]}} in {{[0-9]+}} tries, {{[0-9.]+}} s
// TRIES:        reduce: 8 ops to {{[0-9]+}} in 1 tries, {{[0-9.]+}} s; stopped before the end (--reduce-tries=1 or --reduce-seconds=600)

// In the process, what is kept is that the same pass, and with --bisect the same rule, changes what is computed.
// WRONG:        func.func @forward(%x: tensor<1x1xf32>)
// WRONG-NEXT:     %0 = uop.mul %x, %x : tensor<1x1xf32>
// WRONG-NEXT:     %1 = uop.sqrt %0 : tensor<1x1xf32>
// WRONG-NEXT:     func.return %1 : tensor<1x1xf32>

// Without --interpret-each it is that the same pass refuses the program with the same words.
// REFUSED:      reduce: 8 ops to {{[0-2]}} in

// UNINTERESTING: error: the command does not fail on the input: it exits with 3, and 0 says that a file is of interest
// UNINTERESTING: note: the command: sorry
// UNINTERESTING: help: turn a status around with `not`
func.func private @unused(%x: f32) -> f32 {
  func.return %x : f32
}
func.func @forward(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>) {
  %0 = uop.reshape %y : tensor<8xf32> -> tensor<1x8xf32>
  %1 = uop.expand %0 : tensor<1x8xf32> -> tensor<4x8xf32>
  %2 = uop.add %x, %1 : tensor<4x8xf32>
  %3 = uop.mul %2, %2 : tensor<4x8xf32>
  %4 = uop.sqrt %3 : tensor<4x8xf32>
  %5 = uop.exp %4 : tensor<4x8xf32>
  %6 = uop.neg %5 : tensor<4x8xf32>
  %7 = uop.reduce_axis add %6 axes [1] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %6, %7 : tensor<4x8xf32>, tensor<4x1xf32>
}
