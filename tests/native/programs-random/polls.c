/* Thread 0 polls nothing for a millisecond at a time while thread 1 stores to its stack, which lets thread 0 stand
 * still. Prints how many polls ended in another way than by their limit, and whether one ended far too early.
 *
 *   polls poll|ppoll|pselect|epoll_pwait2 */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>

static int poll_nothing(const char* how, int epoll) {
  const struct timespec millisecond = {0, 1000000};
  struct epoll_event event;
  if (strcmp(how, "ppoll") == 0) return ppoll(NULL, 0, &millisecond, NULL);
  if (strcmp(how, "pselect") == 0) return pselect(0, NULL, NULL, NULL, &millisecond, NULL);
  if (strcmp(how, "epoll_pwait2") == 0) return epoll_pwait2(epoll, &event, 1, &millisecond, NULL);
  return poll(NULL, 0, 1);
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "poll";
  const int epoll = epoll_create1(0);
  struct {
    volatile int low;
    char between[1024];
    volatile int high;
  } stored __attribute__((aligned(2048))) = {0, {0}, 0};
  static volatile int stop __attribute__((aligned(4096)));
  int polls = 0, interrupted = 0, early = 0;
#pragma omp parallel reduction(+ : polls, interrupted, early)
  {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (omp_get_thread_num() == 0) {
      for (polls = 0; polls < 1000; ++polls) {
        const double begun = omp_get_wtime();
        errno = 0;
        const int found = poll_nothing(how, epoll);
        interrupted += found != 0 || errno == EINTR;
        early += omp_get_wtime() - begun < 0.0009;
      }
      stop = 1;
    } else if (omp_get_thread_num() == 1) {
      for (int round = 1; !stop; ++round) {
        stored.high = round;
        stored.low = round;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
      }
    }
  }
  printf("%d interrupted, %d early\n", interrupted, early);
  return interrupted != 0 || early != 0;
}
