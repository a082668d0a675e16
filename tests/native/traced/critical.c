/* A counter that each thread raises twice, in a critical section. */
static volatile int counter __attribute__((aligned(4096)));

int main(void) {
#pragma omp parallel
  {
#pragma omp critical
    counter = counter + 1;
#pragma omp critical
    counter = counter + 1;
  }
  return 0;
}
