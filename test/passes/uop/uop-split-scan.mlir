// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-split-scan{steps=4 rows=8 row_steps=4 few_rows=8})' --split-input-file | filecheck %s
// RUN: uop-opt %s --pass-pipeline 'builtin.module(uop-split-scan)' --split-input-file | filecheck %s --check-prefix=DEFAULT

// 22 elements are six blocks of 4, of which the last is padded: a scan in each block, one of the last elements, and each
// element combined with what is before its block.
func.func @sums(%x: tensor<3x22xf32>) -> tensor<3x22xf32> {
  %0 = uop.scan_axis add %x axis 1 : tensor<3x22xf32>
  func.return %0 : tensor<3x22xf32>
}
// CHECK-LABEL: func.func @sums
// CHECK:         %[[PADDED:.*]] = uop.pad %x low [0, 0] high [0, 2] : tensor<3x22xf32> -> tensor<3x24xf32>
// CHECK-NEXT:    %[[BLOCKS:.*]] = uop.reshape %[[PADDED]] : tensor<3x24xf32> -> tensor<3x6x4xf32>
// CHECK-NEXT:    %[[INNER:.*]] = uop.scan_axis add %[[BLOCKS]] axis 2 : tensor<3x6x4xf32>
// CHECK-NEXT:    %[[LAST:.*]] = uop.shrink %[[INNER]] offsets [0, 0, 3] : tensor<3x6x4xf32> -> tensor<3x6x1xf32>
// CHECK-NEXT:    %[[TOTALS:.*]] = uop.reshape %[[LAST]] : tensor<3x6x1xf32> -> tensor<3x6xf32>
// CHECK-NEXT:    %[[OUTER:.*]] = uop.scan_axis add %[[TOTALS]] axis 1 : tensor<3x6xf32>
// CHECK:         %[[SHIFTED:.*]] = uop.pad %[[OUTER]] low [0, 1] high [0, 0] : tensor<3x6xf32> -> tensor<3x7xf32>
// CHECK-NEXT:    %[[BEFORE:.*]] = uop.shrink %[[SHIFTED]] offsets [0, 0] : tensor<3x7xf32> -> tensor<3x6xf32>
// CHECK-NEXT:    uop.where %{{.*}}, %{{.*}}, %[[BEFORE]] : tensor<3x6xf32>
// CHECK:         uop.add %{{.*}}, %[[INNER]] : tensor<3x6x4xf32>
// CHECK:         uop.shrink %{{.*}} offsets [0, 0] : tensor<3x24xf32> -> tensor<3x22xf32>
// DEFAULT-LABEL: func.func @sums
// DEFAULT-NEXT:    uop.scan_axis add %x axis 1
// DEFAULT-NEXT:    func.return

// -----

// The last elements of many blocks are split again; a monoid of two values is, too.
func.func @again(%x: tensor<80xi64>, %y: tensor<80xi64>) -> tensor<80xi64> {
  %0, %1 = uop.scan_axis argmax_last %x, %y axis 0 : tensor<80xi64>, tensor<80xi64>
  func.return %1 : tensor<80xi64>
}
// CHECK-LABEL: func.func @again
// CHECK:         uop.scan_axis argmax_last %{{.*}}, %{{.*}} axis 1 : tensor<20x4xi64>, tensor<20x4xi64>
// CHECK:         uop.scan_axis argmax_last %{{.*}}, %{{.*}} axis 1 : tensor<5x4xi64>, tensor<5x4xi64>
// CHECK:         uop.scan_axis argmax_last %{{.*}}, %{{.*}} axis 0 : tensor<5xi64>, tensor<5xi64>

// -----

// Left alone: four blocks, rows for all threads, products of floats; those of integers wrap, and are split.
func.func @few_steps(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = uop.scan_axis add %x axis 0 : tensor<16xf32>
  func.return %0 : tensor<16xf32>
}
func.func @many_rows(%x: tensor<32x9xf32>) -> tensor<32x9xf32> {
  %0 = uop.scan_axis add %x axis 0 : tensor<32x9xf32>
  func.return %0 : tensor<32x9xf32>
}
func.func @products(%x: tensor<32xf32>, %n: tensor<32xi64>) -> (tensor<32xf32>, tensor<32xi64>) {
  %0 = uop.scan_axis mul %x axis 0 : tensor<32xf32>
  %1 = uop.scan_axis mul %n axis 0 : tensor<32xi64>
  func.return %0, %1 : tensor<32xf32>, tensor<32xi64>
}
// CHECK-LABEL: func.func @few_steps
// CHECK-NEXT:    uop.scan_axis add %x axis 0 : tensor<16xf32>
// CHECK-NEXT:    func.return
// CHECK-LABEL: func.func @many_rows
// CHECK-NEXT:    uop.scan_axis add %x axis 0 : tensor<32x9xf32>
// CHECK-NEXT:    func.return
// CHECK-LABEL: func.func @products
// CHECK-NEXT:    uop.scan_axis mul %x axis 0 : tensor<32xf32>
// CHECK:         uop.scan_axis mul %{{.*}} axis 1 : tensor<8x4xi64>

// -----

// By themselves, columns of more than 256 elements are split, and few rows of more than 65536.
func.func @long(%x: tensor<300x2xf32>, %y: tensor<2x4096xf32>, %z: tensor<70000xf32>, %w: tensor<17x70000xf32>)
    -> (tensor<300x2xf32>, tensor<2x4096xf32>, tensor<70000xf32>, tensor<17x70000xf32>) {
  %0 = uop.scan_axis add %x axis 0 : tensor<300x2xf32>
  %1 = uop.scan_axis add %y axis 1 : tensor<2x4096xf32>
  %2 = uop.scan_axis add %z axis 0 : tensor<70000xf32>
  %3 = uop.scan_axis add %w axis 1 : tensor<17x70000xf32>
  func.return %0, %1, %2, %3 : tensor<300x2xf32>, tensor<2x4096xf32>, tensor<70000xf32>, tensor<17x70000xf32>
}
// DEFAULT-LABEL: func.func @long
// DEFAULT:         uop.scan_axis add %{{.*}} axis 1 : tensor<5x64x2xf32>
// DEFAULT:         uop.scan_axis add %{{.*}} axis 0 : tensor<5x2xf32>
// DEFAULT:         uop.scan_axis add %y axis 1 : tensor<2x4096xf32>
// DEFAULT:         uop.scan_axis add %{{.*}} axis 1 : tensor<5x16384xf32>
// DEFAULT:         uop.scan_axis add %{{.*}} axis 0 : tensor<5xf32>
// DEFAULT:         uop.scan_axis add %w axis 1 : tensor<17x70000xf32>
