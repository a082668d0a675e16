#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int fired;
static void fire(int number) {
  fired = 1;
}
static void give_up(int number) {
  (void)!write(2, "watchdog\n", 9);
  _exit(3);
}
static void take_lock(int number) {
#pragma omp critical(in_handler)
  fired = 1;
}
static void wait_for_alarm(void) {
  alarm(1);
  while (!fired) usleep(1000);
  puts("fired");
}
int main(int argc, char** argv) {
  const int gives_up = strcmp(argv[1], "exit function") != 0;
  if (strcmp(argv[1], "lock") == 0) {
    signal(SIGALRM, take_lock);
  } else {
    signal(SIGALRM, gives_up ? give_up : fire);
  }
  if (!gives_up) atexit(wait_for_alarm);
  if (strcmp(argv[1], "member's watchdog") == 0) {
#pragma omp parallel
    if (omp_get_thread_num() == 1) {
      signal(SIGALRM, give_up);
      alarm(1);
    } else {
      sleep(20);
    }
  }
#pragma omp parallel
  if (omp_get_thread_num() == 1) {
    volatile int one = 1;
    while (gives_up && one) usleep(1000);
    exit(7);
  } else if (gives_up) {
    alarm(1);
  }
}
