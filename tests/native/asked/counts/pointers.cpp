#include <omp.h>
#include <memory>
std::shared_ptr<int> pointers[4];
int main() {
  const int team = omp_get_max_threads();
  for (auto& pointer : pointers) pointer = std::make_shared<int>(0);
  double begin = omp_get_wtime();
#pragma omp parallel
  for (int round = 0; round < 5; ++round) {
    for (int turn = 0; turn < team; ++turn) {
      if (turn == omp_get_thread_num()) {
        for (auto& pointer : pointers) {
          std::shared_ptr<int> seen = std::atomic_load(&pointer);
          std::atomic_compare_exchange_strong(&pointer, &seen, std::make_shared<int>(*seen + 1));
        }
      }
#pragma omp barrier
    }
  }
  begin = omp_get_wtime() - begin;
  for (auto& pointer : pointers) {
    if (*pointer != 5 * team) return 1;
  }
  return 0;
}
