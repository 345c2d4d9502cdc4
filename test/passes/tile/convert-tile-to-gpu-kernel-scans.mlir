// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-tile-to-gpu-kernel)' --split-input-file | filecheck %s

// A lane scans a run of four, the lanes the totals of their runs; each of the two rows of lanes continues the last lane of
// the one before. Every element is combined once with what stands before its run.
uop.kernel @warp(%out: memref<256xf32>, %x: memref<256xf32>)
    schedule #tile.schedule<j = 2 register * 32 lane * 4 register> {
  %rj = tile.axis j = 2 register : vector<2x1xindex>
  %lj = tile.axis j = 32 lane : index
  %rk = tile.axis j = 4 register : vector<1x4xindex>
  %0 = uop.const 4 : index
  %1 = uop.mul %lj, %0 : index
  %2 = uop.const 128 : index
  %3 = uop.expand %2 : index -> vector<2x1xindex>
  %4 = uop.mul %rj, %3 : vector<2x1xindex>
  %5 = uop.expand %1 : index -> vector<2x1xindex>
  %6 = uop.add %5, %4 : vector<2x1xindex>
  %7 = uop.expand %6 : vector<2x1xindex> -> vector<2x4xindex>
  %8 = uop.expand %rk : vector<1x4xindex> -> vector<2x4xindex>
  %9 = uop.add %7, %8 : vector<2x4xindex>
  %10 = tile.read %x[%9] vector 4 : memref<256xf32>(vector<2x4xindex>) -> vector<2x4xf32>
  %11 = uop.const 0.0 : f32
  %12 = uop.expand %11 : f32 -> vector<1x1xf32>
  %13, %14 = tile.scan_across add %10 from %12 over %rj, %lj, %rk : vector<2x4xf32> from vector<1x1xf32>(vector<2x1xindex>, index, vector<1x4xindex>)
  tile.write %13, %out[%9] vector 4 : vector<2x4xf32> -> memref<256xf32>(vector<2x4xindex>)
}
// CHECK-LABEL: gpu_kernel.kernel @warp
// CHECK:         gpu_kernel.for %{{.*}} = %{{.*}} to 4 step 1 unroll {
// CHECK:           gpu_kernel.store %{{.*}}, %scan_r[
// CHECK:         %[[IS_FIRST:.*]] = uop.ge %lj, %[[ONE:.*]] : index
// CHECK:         %[[UP:.*]] = gpu_kernel.shuffle up %[[TOTAL:.*]], %[[ONE]] : f32
// CHECK-NEXT:    %[[SUM:.*]] = uop.add %[[UP]], %[[TOTAL]] : f32
// CHECK-NEXT:    uop.where %[[IS_FIRST]], %[[SUM]], %[[TOTAL]] : f32
// CHECK:         gpu_kernel.shuffle up %{{.*}}, %{{.*}} : f32
// CHECK:         gpu_kernel.shuffle up %{{.*}}, %{{.*}} : f32
// CHECK:         gpu_kernel.shuffle up %{{.*}}, %{{.*}} : f32
// CHECK:         %[[INCLUSIVE:.*]] = uop.where
// CHECK:         %[[BEFORE:.*]] = gpu_kernel.shuffle up %[[SCANNED:.*]], %[[ONE]] : f32
// CHECK-NEXT:    uop.where %[[IS_FIRST]], %[[BEFORE]], %{{.*}} : f32
// CHECK:         gpu_kernel.shuffle idx %[[SCANNED]], %{{.*}} : f32
// CHECK-NOT:     gpu_kernel.barrier
// CHECK:         gpu_kernel.store %{{.*}}, %out[%{{.*}}] : vector<4xf32> -> memref<256xf32>

// -----

// Four warps: their totals lie side by side in shared memory, the first lane of each writes its own. In a loop all threads
// have read them before they are written again.
uop.kernel @block(%out: memref<256xi32>, %x: memref<256xi32>) schedule #tile.schedule<j = 2 loop * 4 warp * 32 lane> {
  %wj = tile.axis j = 4 warp : index
  %lj = tile.axis j = 32 lane : index
  %0 = uop.const 32 : index
  %1 = uop.const 128 : index
  %2 = uop.mul %wj, %0 : index
  %3 = uop.add %2, %lj : index
  %4 = loop.for %j (j = 2 loop) carry (%acc = add : i32) {
    %5 = uop.mul %j, %1 : index
    %6 = uop.add %5, %3 : index
    %7 = tile.read %x[%6] : memref<256xi32>(index) -> i32
    %8, %9 = tile.scan_across add %7 from %acc over %wj, %lj : i32 from i32(index, index)
    tile.write %8, %out[%6] : i32 -> memref<256xi32>(index)
    loop.yield %9 : i32
  }
}
// CHECK-LABEL: gpu_kernel.kernel @block
// CHECK:         %partial = gpu_kernel.alloc : memref<4xi32, "shared">
// CHECK:         gpu_kernel.for %j = %{{.*}} to 2 step 1 {
// CHECK:           gpu_kernel.shuffle idx
// CHECK:           gpu_kernel.barrier
// CHECK:           gpu_kernel.store %{{.*}}, %partial[%wj] mask %{{.*}} : i32 -> memref<4xi32, "shared">
// CHECK-NEXT:      gpu_kernel.barrier
// CHECK:           %[[FIRST:.*]] = gpu_kernel.load %partial[%{{.*}}] : memref<4xi32, "shared"> -> i32
// CHECK:           gpu_kernel.for %part = %{{.*}} to 4 step 1 unroll {
// CHECK:             uop.eq %wj, %part : index
// CHECK-NOT:       gpu_kernel.barrier
// CHECK:           gpu_kernel.store %{{.*}}, %out[
