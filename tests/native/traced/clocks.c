/* Prints what each clock that C programs read shows before a region of the team and behind it, in seconds: since the
 * program's begin, or since 1970. "waits": waits for times in the ways that end by a clock, and prints how long.
 * "once": a seed, and times taken by gettimeofday alone. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static double of(struct timespec time) {
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
static double of_micro(struct timeval time) {
  return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

/* Shared, as the engine has to touch it before it writes there. */
static struct timespec now;
static struct timeval micro;

static double clock_of(clockid_t clock) {
  clock_gettime(clock, &now);
  return of(now);
}
static double realtime(void) {
  return clock_of(CLOCK_REALTIME);
}
static double monotonic(void) {
  return clock_of(CLOCK_MONOTONIC);
}
static double process(void) {
  return clock_of(CLOCK_PROCESS_CPUTIME_ID);
}
static double own_process(void) {
  clockid_t own;
  return clock_getcpuclockid(0, &own) == 0 ? clock_of(own) : -1;
}
static double day(void) {
  struct timezone zone;
  gettimeofday(&micro, &zone);
  return of_micro(micro);
}
static double c11(void) {
  return timespec_get(&now, TIME_UTC) == TIME_UTC ? of(now) : -1;
}
static double seconds(void) {
  time_t place;
  return (double)(time(&place) == place ? place : -1);
}
static double ticks(void) {
  return (double)clock() / CLOCKS_PER_SEC;
}
static double user(void) {
  struct tms used;
  const clock_t elapsed = times(&used);
  return used.tms_utime == elapsed ? (double)elapsed / (double)sysconf(_SC_CLK_TCK) : -1;
}
static double usage(void) {
  struct rusage used;
  return getrusage(RUSAGE_SELF, &used) == 0 && used.ru_maxrss > 0 ? of_micro(used.ru_utime) : -1;
}
static double kernel(void) {
  return syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) == 0 ? of(now) : -1;
}
static double kernel_day(void) {
  return syscall(SYS_gettimeofday, &micro, NULL) == 0 ? of_micro(micro) : -1;
}

static double (*const clocks[])(void) = {realtime, monotonic, process, own_process, day,    c11,
                                         seconds,  ticks,     user,    usage,       kernel, kernel_day};
enum { count = sizeof clocks / sizeof clocks[0] };

static void add_20_ms(struct timespec* time) {
  time->tv_nsec += 20000000;
  time->tv_sec += time->tv_nsec / 1000000000;
  time->tv_nsec %= 1000000000;
}

static void wait_for_times(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  double begin = monotonic();
  while (monotonic() < begin + 0.5) {
  }
  printf("%.6f\n", monotonic() - begin);
  begin = monotonic();
  while (monotonic() < begin + 0.02) usleep(1000);
  printf("%.6f\n", monotonic() - begin);
  const struct timespec sleep = {.tv_nsec = 20000000};
  begin = monotonic();
  thrd_sleep(&sleep, NULL);
  printf("%.6f\n", monotonic() - begin);
  begin = monotonic();
  poll(NULL, 0, 20);
  printf("%.6f\n", monotonic() - begin);
  begin = monotonic();
  struct timespec until = now;
  add_20_ms(&until);
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
  printf("%.6f\n", monotonic() - begin);
  begin = realtime();
  until = now;
  add_20_ms(&until);
  pthread_mutex_lock(&mutex);
  while (pthread_cond_timedwait(&condition, &mutex, &until) == 0) {
  }
  pthread_mutex_unlock(&mutex);
  printf("%.6f\n", realtime() - begin);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "waits") == 0) {
    wait_for_times();
    return 0;
  }
  const int is_once = strcmp(what, "once") == 0;
  double shown[2][count] = {{0}};
  if (is_once) seconds();
  for (int i = 0; i < 2; ++i) {
    if (is_once) shown[i][0] = day();
    for (int k = 0; !is_once && k < count; ++k) shown[i][k] = clocks[k]();
#pragma omp parallel
    {
#pragma omp barrier
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < (is_once ? 1 : count); ++k) printf("%.9f\n", shown[i][k]);
  }
  return 0;
}
