int main(void) {
  int total = 0;
#pragma omp parallel reduction(+ : total)
  ++total;
  return total > 0 ? 0 : 1;
}
