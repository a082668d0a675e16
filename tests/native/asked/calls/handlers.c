// Built as handlers with -O1 -w
#include <errno.h>
#include <omp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
static int came;
static void note(int number) {
  came += number == SIGALRM;
}
static void tell(int number, siginfo_t* info, void* context) {
  came += number == SIGALRM && info->si_signo == number && context;
}
int main(void) {
  int wrong = 0;
  struct sigaction first = {.sa_handler = note}, second = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO | SA_RESETHAND},
                   old;
#pragma omp parallel
#pragma omp master
  {
    const struct itimerval timer = {.it_value = {0, 50000}};
    wrong += sigaction(SIGALRM, &first, &old) != 0 || old.sa_handler != SIG_DFL;
    setitimer(ITIMER_REAL, &timer, NULL);
    wrong += poll(NULL, 0, 20000) != -1 || errno != EINTR || came != 1;
    wrong += sigaction(SIGALRM, &second, &old) != 0 || old.sa_handler != note || (old.sa_flags & SA_SIGINFO) != 0;
    wrong += sigaction(SIGALRM, NULL, &old) != 0 || old.sa_sigaction != tell || (old.sa_flags & SA_SIGINFO) == 0;
    setitimer(ITIMER_REAL, &timer, NULL);
    wrong += poll(NULL, 0, 20000) != -1 || errno != EINTR || came != 2;
    wrong += signal(SIGALRM, note) != SIG_DFL;
    wrong += signal(SIGALRM, SIG_IGN) != note || sigaction(SIGALRM, NULL, &old) != 0 || old.sa_handler != SIG_IGN;
    wrong += sigaction(SIGKILL, &first, NULL) != -1 || errno != EINVAL || sigaction(65, &first, NULL) != -1 ||
             errno != EINVAL;
  }
  const struct itimerval timer = {.it_value = {0, 50000}};
  first.sa_flags = SA_RESETHAND;
  wrong += sigaction(SIGALRM, &first, NULL) != 0;
  setitimer(ITIMER_REAL, &timer, NULL);
  const double begin = omp_get_wtime();
  wrong += sleep(20) != 19 || came != 3 || omp_get_wtime() - begin > 10;
  wrong += sigaction(SIGALRM, NULL, &old) != 0 || old.sa_handler != SIG_DFL || (old.sa_flags & SA_SIGINFO) != 0;
  printf("%d wrong\n", wrong);
}
