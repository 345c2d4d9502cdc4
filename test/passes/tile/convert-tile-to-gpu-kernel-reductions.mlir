// RUN: uop-opt %s --pass-pipeline 'builtin.module(convert-tile-to-gpu-kernel)' --split-input-file | filecheck %s

// Four rows of a warp: half of them go to each half of the lanes, and again; then each lane has one, and writes
// it. 6 shuffles, where each row by itself would take 5.
// CHECK-LABEL: @four_rows
// CHECK:         %[[C0:.*]] = uop.const 0 : index
// CHECK:         %[[C2:.*]] = uop.const 2 : index
// CHECK:         %[[C16:.*]] = uop.const 16 : index
// CHECK-NEXT:    %[[UPPER:.*]] = uop.ge %k, %[[C16]] : index
// CHECK-NEXT:    %[[KEPT:.*]] = uop.where %[[UPPER]], %[[THIRD:.*]], %[[FIRST:.*]] : f32
// CHECK-NEXT:    %[[SENT:.*]] = uop.where %[[UPPER]], %[[FIRST]], %[[THIRD]] : f32
// CHECK-NEXT:    %[[OTHER:.*]] = gpu_kernel.shuffle xor %[[SENT]], %[[C16]] : f32
// CHECK-NEXT:    uop.add %[[KEPT]], %[[OTHER]] : f32
// CHECK:         gpu_kernel.shuffle xor %{{.*}}, %[[C16]] : f32
// CHECK:         %[[C8:.*]] = uop.const 8 : index
// CHECK:         gpu_kernel.shuffle xor %{{.*}}, %[[C8]] : f32
// CHECK:         gpu_kernel.shuffle xor
// CHECK:         gpu_kernel.shuffle xor %{{.*}}, %[[C2]] : f32
// CHECK:         gpu_kernel.shuffle xor
// CHECK-NEXT:    %[[TOTAL:.*]] = uop.add
// CHECK-NOT:     gpu_kernel.shuffle
// CHECK:         %[[ROW:.*]] = uop.truncdiv %k, %[[C8]] : index
// CHECK:         %[[LANE:.*]] = uop.truncmod %k, %[[C8]] : index
// CHECK:         %[[FIRST_LANE:.*]] = uop.eq %[[LANE]], %[[C0]] : index
// CHECK:         gpu_kernel.store %[[TOTAL]], %out[%[[ROW]]] mask %[[FIRST_LANE]] : f32
uop.kernel @four_rows(%out: memref<4xf32>, %x: memref<4x32xf32>)
    schedule #tile.schedule<i = 4 register, k = 32 lane> {
  %i = tile.axis i = 4 register : vector<4xindex>
  %k = tile.axis k = 32 lane : index
  %c0 = uop.const 0 : index
  %0 = tile.read %x[%i, %k] : memref<4x32xf32>(vector<4xindex>, index) -> vector<4xf32>
  %1 = tile.reduce_across add %0 over %k : vector<4xf32>
  %2 = uop.eq %k, %c0 : index
  %3 = uop.expand %2 : i1 -> vector<4xi1>
  tile.write %1, %out[%i] mask %3 : vector<4xf32> -> memref<4xf32>(vector<4xindex>)
}

// -----

// All lanes want all rows: in the end each is handed out. 10 shuffles, where each row by itself would take 5.
// CHECK-LABEL: @four_rows_for_all
// CHECK:         %[[C0:.*]] = uop.const 0 : index
// CHECK:         %[[C8:.*]] = uop.const 8 : index
// CHECK-COUNT-4: gpu_kernel.shuffle xor
// CHECK-NEXT:    %[[TOTAL:.*]] = uop.add
// CHECK-NEXT:    gpu_kernel.shuffle idx %[[TOTAL]], %[[C0]] : f32
// CHECK-NEXT:    gpu_kernel.shuffle idx %[[TOTAL]], %[[C8]] : f32
// CHECK-NEXT:    gpu_kernel.shuffle idx %[[TOTAL]], %[[C16:.*]] : f32
// CHECK-NEXT:    %[[C24:.*]] = uop.const 24 : index
// CHECK-NEXT:    gpu_kernel.shuffle idx %[[TOTAL]], %[[C24]] : f32
// CHECK-NOT:     gpu_kernel.shuffle
uop.kernel @four_rows_for_all(%out: memref<4x32xf32>, %x: memref<4x32xf32>)
    schedule #tile.schedule<i = 4 register, k = 32 lane> {
  %i = tile.axis i = 4 register : vector<4xindex>
  %k = tile.axis k = 32 lane : index
  %0 = tile.read %x[%i, %k] : memref<4x32xf32>(vector<4xindex>, index) -> vector<4xf32>
  %1 = tile.reduce_across add %0 over %k : vector<4xf32>
  tile.write %1, %out[%i, %k] : vector<4xf32> -> memref<4x32xf32>(vector<4xindex>, index)
}

// -----

// Warps that each have a part of 32 columns: the first, which alone goes on, keeps its own in registers; the others
// leave theirs in memory.
// CHECK-LABEL: @columns
// CHECK:         %[[OTHERS:.*]] = uop.ne %{{.*}}, %{{.*}} : index
// CHECK:         gpu_kernel.store %[[OWN:.*]], %partial[%{{.*}}] mask %[[OTHERS]] : f32 -> memref<96xf32, "shared">
// CHECK-NEXT:    gpu_kernel.barrier
// CHECK:         gpu_kernel.if
// CHECK:           gpu_kernel.store %[[OWN]], %acc[] : f32
// CHECK-NEXT:      gpu_kernel.for %part = %{{.*}} to 4 step 1 unroll {
// CHECK:             gpu_kernel.load %partial[%{{.*}}] : memref<96xf32, "shared"> -> f32
// CHECK:           gpu_kernel.store %{{.*}}, %out[%{{.*}}] : f32
uop.kernel @columns(%out: memref<32xf32>, %x: memref<4x32xf32>)
    schedule #tile.schedule<k = 4 thread, i = 32 thread> {
  %k = tile.axis k = 4 thread : index
  %i = tile.axis i = 32 thread : index
  %c0 = uop.const 0 : index
  %0 = tile.read %x[%k, %i] : memref<4x32xf32>(index, index) -> f32
  %1 = tile.reduce_across add %0 over %k : f32
  %2 = uop.eq %k, %c0 : index
  tile.write %1, %out[%i] mask %2 : f32 -> memref<32xf32>(index)
}

// -----

// Neighbours of a thread's tile lie side by side in memory, and are moved at once.
// CHECK-LABEL: @tiles
// CHECK:         gpu_kernel.store %{{.*}}, %partial[%{{.*}}] mask %{{.*}} : vector<4xf32> -> memref<768xf32, "shared">
// CHECK:         gpu_kernel.barrier
// CHECK:           gpu_kernel.for %part = %{{.*}} to 4 step 1 unroll {
// CHECK-NEXT:        %{{.*}} = uop.mul %part
// CHECK:             gpu_kernel.load %partial[%{{.*}}] : memref<768xf32, "shared"> -> vector<4xf32>
uop.kernel @tiles(%out: memref<64x4xf32>, %x: memref<4x64x4xf32>)
    schedule #tile.schedule<k = 4 thread, i = 2 register * 32 thread, j = 4 register> {
  %r = tile.axis i = 2 register : vector<2x1xindex>
  %t = tile.axis i = 32 thread : index
  %k = tile.axis k = 4 thread : index
  %j = tile.axis j = 4 register : vector<1x4xindex>
  %c0 = uop.const 0 : index
  %c32 = uop.const 32 : index
  %0 = uop.expand %c32 : index -> vector<2x1xindex>
  %1 = uop.mul %r, %0 : vector<2x1xindex>
  %2 = uop.expand %t : index -> vector<2x1xindex>
  %3 = uop.add %1, %2 : vector<2x1xindex>
  %4 = tile.read %x[%k, %3, %j] : memref<4x64x4xf32>(index, vector<2x1xindex>, vector<1x4xindex>) -> vector<2x4xf32>
  %5 = tile.reduce_across add %4 over %k : vector<2x4xf32>
  %6 = uop.eq %k, %c0 : index
  %7 = uop.expand %6 : i1 -> vector<2x4xi1>
  tile.write %5, %out[%3, %j] mask %7 : vector<2x4xf32> -> memref<64x4xf32>(vector<2x1xindex>, vector<1x4xindex>)
}
