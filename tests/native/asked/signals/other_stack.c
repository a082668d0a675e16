// Built as other_stack with -O1
#include <omp.h>
#include <signal.h>
#include <stdio.h>
static int came, there;
static char stack[65536];
static void note(int number) {
  char own = (char)number;
  ++came;
  there += &own >= stack && &own < stack + sizeof stack;
}
int main(void) {
  const stack_t wanted = {.ss_sp = stack, .ss_size = sizeof stack};
  const struct sigaction action = {.sa_handler = note, .sa_flags = SA_ONSTACK};
  if (sigaltstack(&wanted, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0 || omp_in_parallel()) return 1;
  raise(SIGUSR1);
  printf("%d %d\n", came, there);
  return 0;
}
