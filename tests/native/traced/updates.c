/* Updates by loops of compare-and-exchange, as compilers make them: a reduction of floating-point numbers and an atomic
 * product. And, without an argument, a lock that one
 * gets by compare-and-exchange. */
enum { rounds = 20 };

static double product = 1;
static int lock;
static int guarded;

int main(int argc, char** argv) {
  (void)argv;
  double sum = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel reduction(+ : sum)
    sum += 0.5;
  }
#pragma omp parallel
  for (int round = 0; round < rounds; ++round) {
#pragma omp atomic
    product *= -1;
    if (*(volatile double*)&product == 0) __builtin_trap(); /* it can be read afterwards */
  }
  if (argc > 1) return sum > 0 && product == 1 ? 0 : 1;
#pragma omp parallel
  {
    int open = 0;
    while (!__atomic_compare_exchange_n(&lock, &open, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) open = 0;
    ++guarded;
    __atomic_exchange_n(&lock, 0, __ATOMIC_RELEASE);
  }
  return sum > 0 && product == 1 && guarded > 0 ? 0 : 1;
}
