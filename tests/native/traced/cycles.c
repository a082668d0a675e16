/* Reads the processor's own clock. */
int main(void) {
  unsigned long long cycles[2] = {0};
  for (int i = 0; i < 2; ++i) {
#pragma omp parallel
#pragma omp single
    cycles[i] = __builtin_ia32_rdtsc();
  }
  return cycles[1] > cycles[0] ? 0 : 1;
}
