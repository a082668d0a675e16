/* Jumps with the signal mask: the C library hands a place inside of the jump's buffer to the kernel. */
#include <omp.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#include "expect.h"

enum { page_bytes = 4096 };

/* The registers end one page, the mask begins the next. */
static _Alignas(page_bytes) char jump_room[4 * page_bytes];

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

static int wrong_masks(void) {
  struct __jmp_buf_tag* const jump = (void*)(jump_room + page_bytes - offsetof(struct __jmp_buf_tag, __saved_mask));
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  for (int thread = 0; thread < omp_get_num_threads(); ++thread) {
    if (thread == omp_get_thread_num()) wrong += !mask_comes_back_by_jump(jump);
#pragma omp barrier
  }
  return wrong;
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
  EXPECT(wrong_masks() == 0);
  EXPECT(handlers_touch());
  return expect_status();
}
