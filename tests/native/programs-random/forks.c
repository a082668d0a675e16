/* Wants a child of its own. */
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
#pragma omp parallel
  (void)omp_get_thread_num();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, 0, 0);
  return 0;
}
