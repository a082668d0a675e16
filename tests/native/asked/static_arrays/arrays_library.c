// Built as libarrays.so with -O2 -shared -fPIC
// Of the linker's, of the function's, with values. Serial code touches what threads' shares divide within a page.
static int counts[30000];
int filled_counts[4000] = {[1500] = 1};
int work(int n) {
  int bad = 0;
  for (int i = 0; i < 30000; i += 500) counts[i] += 1;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 30000; ++i) counts[i] += i;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 4000; ++i) filled_counts[i] += 2;
  for (int i = 0; i < 30000; ++i) bad += counts[i] != n * (i + (i % 500 == 0));
  return bad + (filled_counts[1500] != 1 + 2 * n) + (filled_counts[3999] != 2 * n);
}
