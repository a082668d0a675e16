// Built as recursion_0 with -O0 -w -include omp.h -DFULL=0
// Built as recursion_1 with -O0 -w -include omp.h -DFULL=1
int deeper(int depth) {
  volatile char frame[4096];
  frame[depth % 4096] = (char)depth;
  return depth ? deeper(depth - 1) + frame[depth % 4096] : 0;
}
int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  if (omp_get_thread_num() == FULL) sum += deeper(100000);
  return sum != 0;
}
