"""Threads in C: how a kernel's tasks are spread over them. No header is included."""

THREADS = """\
typedef void uop_part(void *const *buffers, long long first, long long end);

#ifdef _OPENMP
extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);
#else
// Runs parts of tasks on so many threads: whoever loads the program may set it. It is one for all parts of a program.
__attribute__((weak)) void (*uop_pool)(uop_part *part, void *const *buffers, long long tasks, int threads) = 0;
#endif

// Run [0, tasks) in ranges of at least `grain`, on at most so many threads.
static inline void uop_parallel(uop_part *part, void *const *buffers, long long tasks, long long grain, int threads) {
  long long parts = tasks / grain < threads ? tasks / grain : threads;
#ifdef _OPENMP
  if (parts > 1) {
    // The team is always the same: one of another size would end threads and start others.
    #pragma omp parallel num_threads(threads)
    {
      long long part_number = omp_get_thread_num(), team = omp_get_num_threads(), n = parts < team ? parts : team;
      if (part_number < n) part(buffers, tasks * part_number / n, tasks * (part_number + 1) / n);
    }
    return;
  }
#else
  if (parts > 1 && uop_pool) {
    uop_pool(part, buffers, tasks, (int)parts);
    return;
  }
#endif
  part(buffers, 0, tasks);
}"""
"""`uop_parallel`: OpenMP where the compiler has it, else the pool that `uop_pool` points to, else one thread."""
