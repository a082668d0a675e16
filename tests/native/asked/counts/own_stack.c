int main(void) {
  int sum = 0, count = 0;
#pragma omp parallel
#pragma omp master
  for (int i = 0; i < 5; ++i) {
#pragma omp atomic
    sum += i;
#pragma omp atomic
    ++count;
  }
  return sum != 10 || count != 5;
}
