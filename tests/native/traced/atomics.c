/* Three atomic operations, of which the last changes nothing, and a fence. */
static struct {
  int number;
  int unused;
  long long large;
  int free;
} counters __attribute__((aligned(64)));

int main(void) {
#pragma omp parallel
  {
    __atomic_fetch_add(&counters.number, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&counters.large, 0x100000001, __ATOMIC_SEQ_CST);
    int expected = 3;
    __atomic_compare_exchange_n(&counters.free, &expected, 4, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
#pragma omp flush
#pragma omp barrier
  }
  return counters.number == 2 ? 0 : 1;
}
