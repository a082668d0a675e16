/* Threads have their ways with floating point, and the signals that wait, from the thread that began the region for
 * which they were created; what one changes for itself stays with it, as long as teams need it. Built with -ffast-math,
 * or as here by hand, that decides results. */
#include <fenv.h>
#include <omp.h>
#include <signal.h>
#include <xmmintrin.h>

#include "expect.h"

enum { flush_to_zero = 0x8000 };

static volatile float tiny = 1e-20F;
static volatile long double one = 1;

static int rounds(int direction, int is_flushing) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    wrong += fegetround() != direction;
    wrong += (tiny * tiny == 0) != is_flushing;
    wrong += (one / 3 * 3 > one) != (direction == FE_UPWARD);
  }
  return wrong == 0;
}

static int waiting_signals(void) {
  int count = 0;
#pragma omp parallel reduction(+ : count)
  {
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    count += sigismember(&now, SIGUSR1);
  }
  return count;
}

int main(void) {
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &held, NULL);
  fesetround(FE_UPWARD);
  _mm_setcsr(_mm_getcsr() | flush_to_zero);
  EXPECT(rounds(FE_UPWARD, 1));
  EXPECT(waiting_signals() == omp_get_max_threads());

#pragma omp parallel
  {
    fesetround(FE_TOWARDZERO);
    _mm_setcsr(_mm_getcsr() & ~(unsigned)flush_to_zero);
  }
  EXPECT(rounds(FE_TOWARDZERO, 0));
#pragma omp parallel if (0)
  fesetround(FE_TOWARDZERO);
  /* The threads that were created stay as they are. */
  fesetround(FE_DOWNWARD);
  int alike = 0;
#pragma omp parallel reduction(+ : alike)
  alike += fegetround() == FE_TOWARDZERO;
  EXPECT(alike == omp_get_max_threads() - 1);
  return expect_status();
}
