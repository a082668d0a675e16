// Built as one_region with -O0
int main(void) {
#pragma omp parallel
  ;
  return 0;
}
