// Built as libhidden.so with -O2 -shared -fPIC
// Fills, adds up and remembers in what only the library knows; the program has nothing of OpenMP.
static double squares[20000], last;
double hidden(int n) {
  double sum = 0;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) squares[i] = (double)i * i;
#pragma omp parallel for reduction(+ : sum)
  for (int i = n - 1; i >= 0; --i) sum += squares[n - 1 - i];
  const double before = last;
  last = sum;
  return sum + before;
}
