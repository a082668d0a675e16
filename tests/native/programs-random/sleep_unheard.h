/* A sleep by the kernel's call alone: of the C library's the run-time hears, and sends home what its thread has changed
 * before. In steps of 60 ms, long beside what the run-time does in between. */
#pragma once

#include <sys/syscall.h>
#include <time.h>

enum { step_ms = 60 };

static void sleep_unheard(long steps) {
  const struct timespec time = {steps * step_ms / 1000, steps * step_ms % 1000 * 1000000};
  long result = SYS_nanosleep;
  __asm__ volatile("syscall" : "+a"(result) : "D"(&time), "S"(0L) : "rcx", "r11", "memory");
}
