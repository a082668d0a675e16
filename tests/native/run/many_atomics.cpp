// Atomic operations of the C++ library, more than are listed.
#include <omp.h>

#include <atomic>

std::atomic<int> numbers[15];

int main() {
#pragma omp parallel
  {
    numbers[0]++, numbers[1]++, numbers[2]++, numbers[3]++, numbers[4]++;
    numbers[5]++, numbers[6]++, numbers[7]++, numbers[8]++, numbers[9]++;
    numbers[10]++, numbers[11]++, numbers[12]++, numbers[13]++, numbers[14]++;
  }
  return numbers[0] == omp_get_max_threads() ? 0 : 1;
}
