/* The time that waits with a limit are given. */
#pragma once

#include <time.h>

static struct timespec from_now(clockid_t clock, long ms) {
  struct timespec at;
  clock_gettime(clock, &at);
  at.tv_nsec += ms * 1000000;
  at.tv_sec += at.tv_nsec / 1000000000;
  at.tv_nsec %= 1000000000;
  return at;
}
