// `std::atomic_load`: an atomic function of std::shared_ptr: C++20 deprecates them
#include <memory>

std::shared_ptr<int> shared = std::make_shared<int>(1);

int main() {
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  sum += *std::atomic_load(&shared);
  return sum == 2 ? 0 : 1;
}
