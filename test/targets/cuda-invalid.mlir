// RUN: not uop-opt %s -t cuda --split-input-file 2>&1 | filecheck %s

// CHECK: error: kernel @early is not in gpu_kernel form
// CHECK: help: run the rest of the pipeline first, up to convert-tile-to-gpu-kernel
uop.kernel @early(%out: memref<4xf32>) {
}
