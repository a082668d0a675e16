#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile int* volatile given;
static void handled(int number) {
  (void)!write(2, "handled\n", 8);
  _exit(0);
}
static void told(int number) {
  (void)!write(2, "told\n", 5);
}
static int recurse(volatile int depth) {
  volatile char room[2000];
  room[depth % 2000] = 1;
  return depth < 0 ? 0 : recurse(depth + 1) + room[1];
}
int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
#pragma omp parallel
  {
    if (strcmp(what, "handler") == 0 && omp_get_thread_num() == 1) signal(SIGSEGV, handled);
    if (strcmp(what, "recursion") == 0 && omp_get_thread_num() == 1) *given = recurse(1);
    if (strcmp(what, "once") == 0 && omp_get_thread_num() == 1) {
      struct sigaction action = {0};
      action.sa_handler = told;
      action.sa_flags = SA_RESETHAND;
      sigaction(SIGSEGV, &action, NULL);
    }
    if (strcmp(what, "null") != 0 && omp_get_thread_num() == 0) {
      void* place = mmap((void*)0x123450000000, 4096, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      given = place;
      *given = 1;
    }
#pragma omp barrier
    if (omp_get_thread_num() == 1) *given = 2;
  }
}
