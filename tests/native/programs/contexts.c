/* Fibres that the initial thread makes, each resumed by other threads in turn, and jumps with the signal mask: the C
 * library hands a place inside of the context, or of the jump's buffer, to the kernel. */
#include <execinfo.h>
#include <omp.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

#include "expect.h"

enum { fibres = 6, steps = 5, stack_bytes = 65536, page_bytes = 4096 };

struct fibre {
  ucontext_t* resumer;
  long sum;
  int failed;
};

static struct fibre made[fibres];
/* On pages that only these functions touch. */
static _Alignas(page_bytes) ucontext_t contexts[fibres];

static void body(unsigned low, unsigned high) {
  struct fibre* const own = (struct fibre*)((uintptr_t)high << 32 | low);  // NOLINT
  long local = 0;
  ucontext_t* const self = &contexts[own - made];
  for (int step = 1; step <= steps; ++step) {
    local += step * (own - made + 1);
    if (swapcontext(self, own->resumer) != 0) own->failed = 1;
  }
  own->sum = local;
  setcontext(own->resumer);
}

static void make(int i) {
  ucontext_t* const context = &contexts[i];
  EXPECT(getcontext(context) == 0);
  context->uc_stack.ss_sp = malloc(stack_bytes);
  context->uc_stack.ss_size = stack_bytes;
  const uintptr_t address = (uintptr_t)&made[i];
  makecontext(context, (void (*)(void))body, 2, (unsigned)address, (unsigned)(address >> 32));
}

static void resume_all_in_turn(void) {
  for (int step = 0; step <= steps; ++step) {
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < fibres; ++i) {
      const int number = (i + step) % fibres;
      /* Nobody has set the link of a context that is saved: what it points to stays as it is. */
      ucontext_t here, unrelated;
      sigfillset(&unrelated.uc_sigmask);
      here.uc_link = &unrelated;
      made[number].resumer = &here;
      if (swapcontext(&here, &contexts[number]) != 0) made[number].failed = 1;
      for (int signal = 1; signal < 32; ++signal) {
        if (!sigismember(&unrelated.uc_sigmask, signal)) made[number].failed = 1;
      }
    }
  }
}

/* The registers end one page, the mask begins the next; and a context of which that is so. */
static _Alignas(page_bytes) char jump_room[4 * page_bytes];
static _Alignas(page_bytes) char context_room[4 * page_bytes];

static int is_blocked(int signal) {
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  return sigismember(&now, signal);
}

static void block(int how, int signal) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(how, &one, NULL);
}

static int mask_comes_back_by_jump(struct __jmp_buf_tag* place) {
  block(SIG_BLOCK, SIGUSR2);
  volatile int came_back = 0;
  if (sigsetjmp(place, 1) == 0) {
    block(SIG_UNBLOCK, SIGUSR2);
    came_back = 1;
    siglongjmp(place, 1);
  }
  const int is_right = came_back && is_blocked(SIGUSR2);
  block(SIG_UNBLOCK, SIGUSR2);
  return is_right;
}

static int mask_comes_back_by_context(ucontext_t* place) {
  block(SIG_BLOCK, SIGUSR2);
  volatile int came_back = 0;
  if (getcontext(place) != 0) return 0;
  if (!came_back) {
    block(SIG_UNBLOCK, SIGUSR2);
    came_back = 1;
    setcontext(place);
    return 0;
  }
  const int is_right = is_blocked(SIGUSR2);
  block(SIG_UNBLOCK, SIGUSR2);
  return is_right;
}

static int wrong_masks(void) {
  struct __jmp_buf_tag* const jump = (void*)(jump_room + page_bytes - offsetof(struct __jmp_buf_tag, __saved_mask));
  ucontext_t* const context = (void*)(context_room + page_bytes - offsetof(ucontext_t, uc_sigmask));
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  for (int thread = 0; thread < omp_get_num_threads(); ++thread) {
    if (thread == omp_get_thread_num()) {
      wrong += !mask_comes_back_by_jump(jump);
      wrong += !mask_comes_back_by_context(context);
    }
#pragma omp barrier
  }
  return wrong;
}

/* A chain that the initial thread makes and the last one runs: the end of the first context resumes the second. */
static _Alignas(page_bytes) ucontext_t first, second, resumer;
static _Alignas(page_bytes) int links;

/* Its stack ends with it: who follows the calls finds an end there. */
static void end_of_first(void) {
  void* callers[64];
  const int count = backtrace(callers, 64);
  if (count > 0 && count < 64) ++links;
}
static void end_of_chain(void) {
  ++links;
  setcontext(&resumer);
}

static void make_linked(ucontext_t* context, ucontext_t* next, void (*function)(void)) {
  EXPECT(getcontext(context) == 0);
  context->uc_stack.ss_sp = malloc(stack_bytes);
  context->uc_stack.ss_size = stack_bytes;
  context->uc_link = next;
  sigfillset(&context->uc_sigmask); /* what the run-time needs stays unblocked */
  makecontext(context, function, 0);
}

static int passes_chain(void) {
  make_linked(&second, NULL, end_of_chain);
  make_linked(&first, &second, end_of_first);
#pragma omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) EXPECT(swapcontext(&resumer, &first) == 0);
  return links == 2;
}

/* A handler that holds all signals touches what others wrote. */
static volatile int handled[8 * page_bytes];
static void handle(int signal) {
  for (int page = 0; page < 8; ++page) handled[page * page_bytes + signal] += 1;
}

static int handlers_touch(void) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    struct sigaction action = {.sa_handler = handle};
    sigfillset(&action.sa_mask);
    wrong += sigaction(SIGUSR1, &action, NULL) != 0;
#pragma omp barrier
    for (int thread = 0; thread < omp_get_num_threads(); ++thread) {
      if (thread == omp_get_thread_num()) raise(SIGUSR1);
#pragma omp barrier
    }
    wrong += handled[SIGUSR1] != omp_get_num_threads();
  }
  return wrong == 0;
}

int main(void) {
  for (int i = 0; i < fibres; ++i) make(i);
  resume_all_in_turn();
  for (int i = 0; i < fibres; ++i) {
    EXPECT(made[i].failed == 0);
    EXPECT(made[i].sum == (long)(i + 1) * steps * (steps + 1) / 2);
    free(contexts[i].uc_stack.ss_sp);
  }
  EXPECT(wrong_masks() == 0);
  EXPECT(passes_chain());
  EXPECT(handlers_touch());
  return expect_status();
}
