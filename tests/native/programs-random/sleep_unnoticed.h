/* A sleep by the kernel's call alone: the run-time notices the C library's, and sends home what its thread has changed
 * before. */
#pragma once

#include <sys/syscall.h>
#include <time.h>

static inline void sleep_unnoticed_ms(long ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  long result = SYS_nanosleep;
  __asm__ volatile("syscall" : "+a"(result) : "D"(&time), "S"(0L) : "rcx", "r11", "memory");
}

/* In steps that are long beside what the run-time does in between. */
static inline void sleep_unnoticed(long steps) {
  sleep_unnoticed_ms(60 * steps);
}
