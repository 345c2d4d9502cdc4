// RUN: uop-opt %s -t c | filecheck %s

// Macros, vector types and functions come first, those that are used; then threads.
// CHECK:      #define PRAGMA(text) _Pragma(#text)
// CHECK:      #define UNROLL(n) PRAGMA(GCC unroll n)
// CHECK:      #define LANES(n)
// CHECK:      #define SHUFFLE(integers, a, b, ...)
// CHECK:      typedef unsigned short f16x8_at __attribute__((vector_size(16), aligned(2), may_alias));
// CHECK:      typedef float f32x8_at __attribute__((vector_size(32), aligned(4), may_alias));
// CHECK-NOT:  exp_f32x8
// CHECK:      f32x8 load_first3_f32x8(const float *from)
// CHECK:      void scatter_masked_f32x8_i32(float *to, f32x8 value, i32x8 at, i1x8 mask)
// CHECK:      void stream_f32x8(float *to, f32x8 value)
// CHECK:      static inline void uop_parallel(

// CHECK:      // everything: 8 tasks, 2 or more a thread
// CHECK-NEXT: static void everything_tasks(
// CHECK-NEXT:     float *restrict out,
// CHECK-NEXT:     const float *restrict x,
// CHECK-NEXT:     const unsigned short *restrict h,
// CHECK-NEXT:     const unsigned char *restrict keep,
// CHECK-NEXT:     long long first,
// CHECK-NEXT:     long long end) {
// CHECK-NEXT:   for (long long task = first; task < end; ++task) {
cpu_kernel.kernel @everything(%out: memref<256xf32>, %x: memref<256xf32>, %h: memref<256xf16>, %keep: memref<256xi1>) outputs 1 tasks 8 grain 2 vector_bytes 32 index_bits 32 {
  // CHECK-NEXT: const long long t = task;
  %t = cpu_kernel.task_id
  %c0 = uop.const 0 : index
  %c8 = uop.const 8 : index
  %c32 = uop.const 32 : index
  // CHECK-NEXT: const long long row = t * 32;
  %row = uop.mul %t, %c32 : index
  // CHECK-NEXT: float copy[32] __attribute__((aligned(32)));
  %copy = cpu_kernel.alloc : memref<32xf32, "local">
  // CHECK-NEXT: const i32x8 lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  %lanes = cpu_kernel.lanes : vector<8xindex>
  // CHECK-NEXT: const f32x8 a = *(const f32x8_at *)&x[row];        // model.py:7
  %a = cpu_kernel.load %x[%row] : memref<256xf32> -> vector<8xf32> loc("model.py":7:0)
  // The same line is told once.
  // CHECK-NEXT: const f32x8 b = load_first3_f32x8(&x[row]);
  %b = cpu_kernel.load %x[%row] count 3 : memref<256xf32> -> vector<8xf32> loc("model.py":7:0)
  // CHECK-NEXT: const f16x8 half = *(const f16x8_at *)&h[row];     // model.py:8
  %half = cpu_kernel.load %h[%row] : memref<256xf16> -> vector<8xf16> loc("model.py":8:0)
  // CHECK-NEXT: const f32x8 wide = f32_from_f16x8(half);
  %wide = uop.cast %half : vector<8xf16> -> vector<8xf32>
  // A bool is a byte in memory, and a lane of a mask is an integer.
  // CHECK-NEXT: const i1x8 mask = {{.*}}*(const ui8x8_at *)&keep[row] != 0{{.*}};
  %mask = cpu_kernel.load %keep[%row] : memref<256xi1> -> vector<8xi1>
  // CHECK-NEXT: const _Bool ok = keep[row] != 0;
  %ok = cpu_kernel.load %keep[%row] : memref<256xi1> -> i1
  // CHECK-NEXT: const f32x8 s = SHUFFLE(i32x8, a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  %s = cpu_kernel.shuffle %a, %b [0, 8, 1, 9, 2, 10, 3, 11] : vector<8xf32>
  // CHECK-NEXT: const float e = s[3];
  %e = cpu_kernel.extract %s [3] : vector<8xf32> -> f32
  // CHECK-NEXT: const float q = ok ? x[row] : 0;
  %q = cpu_kernel.load %x[%row] mask %ok : memref<256xf32> -> f32
  // Carried values are variables; those that change places go by way of others.
  // CHECK-NEXT: float u = e;
  // CHECK-NEXT: float v = q;
  // CHECK-NEXT: f32x8 sum = a;
  // CHECK-NEXT: UNROLL(2)
  // CHECK-NEXT: for (long long i = 0; i < 32; i += 8) {
  %1, %2, %total = cpu_kernel.for %i = %c0 to %c32 step 8 unroll 2 carry (%u = %e : f32, %v = %q : f32, %sum = %a : vector<8xf32>) {
    // CHECK-NEXT: *(f32x8_at *)&copy[i] = sum;
    cpu_kernel.store %sum, %copy[%i] : vector<8xf32> -> memref<32xf32, "local">
    // CHECK-NEXT: const f32x8 more = sum + wide;
    %more = uop.add %sum, %wide : vector<8xf32>
    // CHECK-NEXT: const float last_v = v;
    // CHECK-NEXT: const float last_u = u;
    // CHECK-NEXT: u = last_v;
    // CHECK-NEXT: v = last_u;
    // CHECK-NEXT: sum = more;
    // CHECK-NEXT: }
    cpu_kernel.yield %v, %u, %more : f32, f32, vector<8xf32>
  }
  // CHECK-NEXT: if (ok) {
  // CHECK-NEXT:   out[row] = u;
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   out[row] = v;
  // CHECK-NEXT: }
  cpu_kernel.if %ok {
    cpu_kernel.store %1, %out[%row] : f32 -> memref<256xf32>
  } else {
    cpu_kernel.store %2, %out[%row] : f32 -> memref<256xf32>
  }
  // CHECK-NEXT: scatter_masked_f32x8_i32(out, sum, lanes, mask);
  cpu_kernel.store %total, %out[%lanes] mask %mask : vector<8xf32> -> memref<256xf32> each lanewise
  // CHECK-NEXT: if (ok) *(f32x8_at *)&out[row] = sum;
  cpu_kernel.store %total, %out[%row] mask %ok : vector<8xf32> -> memref<256xf32>
  // CHECK-NEXT: const long long next = row + 8;
  %next = uop.add %row, %c8 : index
  // CHECK-NEXT: stream_f32x8(&out[next], sum);
  cpu_kernel.store %total, %out[%next] stream : vector<8xf32> -> memref<256xf32>
}
// What is streamed is there before the threads join.
// CHECK-NEXT:   }
// CHECK-NEXT:   stream_fence();
// CHECK-NEXT: }

// CHECK:      static void everything_part(void *const *buffers, long long first, long long end) {
// CHECK-NEXT:   everything_tasks(buffers[0], buffers[1], buffers[2], buffers[3], first, end);
// CHECK-NEXT: }
// CHECK:      void *const buffers[] = {(void *)out, (void *)x, (void *)h, (void *)keep};
// CHECK-NEXT: uop_parallel(everything_part, buffers, 8, 2, threads);

// What C, its library or the text itself calls something has another name.
// CHECK:      // exp_1: 1 task, 1 or more a thread
cpu_kernel.kernel @exp(%out: memref<8xf32>, %double: memref<8xf32>) outputs 1 tasks 1 grain 1 vector_bytes 32 index_bits 32 {
  %threads = uop.const 0 : index
  // CHECK: const float f32x8_ = double_1[0];
  %f32x8 = cpu_kernel.load %double[%threads] : memref<8xf32> -> f32
  // CHECK-NEXT: const float exp_f32_ = exp_f32(f32x8_);
  %exp_f32 = uop.exp %f32x8 : f32
  // CHECK-NEXT: out[0] = exp_f32_;
  cpu_kernel.store %exp_f32, %out[%threads] : f32 -> memref<8xf32>
}

// A program takes its arguments, what its launches make, and memory for what lies between.
// CHECK:      void forward(
// CHECK-NEXT:     const float *x,
// CHECK-NEXT:     const unsigned short *h,
// CHECK-NEXT:     const unsigned char *keep,
// CHECK-NEXT:     float *r,
// CHECK-NEXT:     char *arena,
// CHECK-NEXT:     int threads) {
// CHECK-NEXT:   float *const a = (float *)(arena + 64);
// CHECK-NEXT:   everything(a, x, h, keep, threads);
// CHECK-NEXT:   everything(r, a, h, keep, threads);
// CHECK-NEXT: }
// CHECK:      void forward_run(void *const *buffers, int threads) {
// CHECK-NEXT:   forward(buffers[0], buffers[1], buffers[2], buffers[3], buffers[4], threads);
// CHECK-NEXT: }
func.func @forward(%x: tensor<256xf32>, %h: tensor<256xf16>, %keep: tensor<16x16xi1>) -> (tensor<256xf32>, tensor<16x16xf32>) {
  %k = uop.reshape %keep : tensor<16x16xi1> -> tensor<256xi1>
  %a = uop.launch @everything(%x, %h, %k) arena [64] : (tensor<256xf32>, tensor<256xf16>, tensor<256xi1>) -> tensor<256xf32>
  %r = uop.launch @everything(%a, %h, %k) arena [own] : (tensor<256xf32>, tensor<256xf16>, tensor<256xi1>) -> tensor<256xf32>
  %s = uop.reshape %r : tensor<256xf32> -> tensor<16x16xf32>
  func.return %r, %s : tensor<256xf32>, tensor<16x16xf32>
}
