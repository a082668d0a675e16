// Allocates through operator new, and copies through memcpy, under frames of several pages and with objects to destroy,
// so that looking up who called reads the stack's pages and the program's own data.
#include <omp.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t cells = 4096;

[[gnu::noinline]] std::vector<double> made(std::size_t count, double value) {
  std::vector<double> result(count);
  result.at(1) = value;  // may throw: the block is to be freed on the way out
  return result;
}

[[gnu::noinline]] double copied(double* to, const std::vector<double>& from, int depth) {
  volatile double frame[1024];  // two pages
  frame[depth] = from[static_cast<std::size_t>(depth)];
  if (depth > 0) return copied(to, from, depth - 1) + frame[depth];
  std::memcpy(to, from.data(), cells * sizeof(double));
  return frame[0];
}

}  // namespace

int main() {
  auto* shared = static_cast<double*>(std::calloc(cells, sizeof(double)));
  double sum = 0;
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel for
    for (std::size_t i = 0; i < cells; ++i) shared[i] += 1;
    const std::vector<double> values = made(cells, round);
#pragma omp parallel reduction(+ : sum)
    {
      const std::vector<double> own = made(cells, omp_get_thread_num());
#pragma omp barrier
      sum += own[1];
#pragma omp barrier
      if (omp_get_thread_num() == omp_get_num_threads() - 1) sum += copied(shared, values, 3);
    }
  }
  std::printf("%g\n", sum);
  std::free(shared);
}
