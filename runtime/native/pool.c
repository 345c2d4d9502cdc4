// The threads of programs whose compiler has no OpenMP: one pool for a process, which all programs share.
//
// A thread waits for work of its own: it spins for about a millisecond, as work often follows work, and sleeps then.
// Whoever finds the pool at work, from another thread or from inside a part, runs all parts itself.

#define _GNU_SOURCE 1
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

enum { MOST_THREADS = 256, SPINS = 20000 };

typedef void part_function(void *const *buffers, long long first, long long end);

typedef struct {
  _Alignas(64) atomic_uint ticket;  // of the last work for this thread
  atomic_uint asleep;
  pthread_mutex_t lock;
  pthread_cond_t wake;
} worker;

static worker workers[MOST_THREADS];
static int count;          // threads that there are, besides those that call
static atomic_flag busy = ATOMIC_FLAG_INIT;

// The work at hand.
static part_function *part;
static void *const *buffers;
static long long tasks;
static int parts;
static _Alignas(64) atomic_int unfinished;

static inline void relax(void) {
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

static void run_part(int number) { part(buffers, tasks * number / parts, tasks * (number + 1) / parts); }

static void *work(void *argument) {
  int number = (int)(long)argument;
  worker *self = &workers[number];
  for (unsigned done = 0;; ++done) {
    for (int spins = 0; atomic_load_explicit(&self->ticket, memory_order_acquire) == done;) {
      if (++spins < SPINS) {
        relax();
        continue;
      }
      pthread_mutex_lock(&self->lock);
      atomic_store(&self->asleep, 1);
      while (atomic_load(&self->ticket) == done) pthread_cond_wait(&self->wake, &self->lock);
      atomic_store(&self->asleep, 0);
      pthread_mutex_unlock(&self->lock);
    }
    run_part(number + 1);
    atomic_fetch_sub_explicit(&unfinished, 1, memory_order_release);
  }
  return 0;
}

// Start threads until there are `wanted`; fewer where the system has no more.
static void grow(int wanted) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the threads of the program
  for (; count < wanted; ++count) {
    worker *next = &workers[count];
    atomic_store(&next->ticket, 0);
    atomic_store(&next->asleep, 0);
    pthread_mutex_init(&next->lock, 0);
    pthread_cond_init(&next->wake, 0);
    pthread_t thread;
    if (pthread_create(&thread, 0, work, (void *)(long)count)) break;
    pthread_detach(thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, 0);
}

static void give(worker *to) {
  atomic_fetch_add(&to->ticket, 1);
  if (atomic_load(&to->asleep)) {
    pthread_mutex_lock(&to->lock);
    pthread_cond_signal(&to->wake);
    pthread_mutex_unlock(&to->lock);
  }
}

// Run `function` on [0, all) in so many ranges, of which this thread runs the first.
void uop_pool_run(part_function *function, void *const *arguments, long long all, int threads) {
  if (threads > MOST_THREADS) threads = MOST_THREADS;
  if (threads < 2 || atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {
    function(arguments, 0, all);
    return;
  }
  if (count < threads - 1) grow(threads - 1);
  part = function;
  buffers = arguments;
  tasks = all;
  parts = count + 1 < threads ? count + 1 : threads;
  atomic_store(&unfinished, parts - 1);
  for (int number = 0; number < parts - 1; ++number) give(&workers[number]);
  run_part(0);
  for (int spins = 0; atomic_load_explicit(&unfinished, memory_order_acquire);) {
    if (++spins < SPINS) relax();
    else sched_yield();
  }
  atomic_flag_clear_explicit(&busy, memory_order_release);
}

// A child process has none of its parent's threads.
static void begin_again(void) {
  count = 0;
  atomic_flag_clear(&busy);
}

__attribute__((constructor)) static void at_load(void) { pthread_atfork(0, 0, begin_again); }
