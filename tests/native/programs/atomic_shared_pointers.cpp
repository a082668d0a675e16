// C++20's std::atomic<std::shared_ptr>, which spins on a bit of the pointer: no object is lost or freed twice.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "expect.h"

#ifdef __cpp_lib_atomic_shared_ptr

namespace {

constexpr int rounds = 10;

struct Object {
  static std::atomic<int> alive;
  int value;
  std::vector<int> cells;

  explicit Object(int number) : value(number), cells(50, number) { ++alive; }
  ~Object() {
    --alive;
    value = -1;
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  int wrong() const {
    return std::all_of(cells.begin(), cells.end(), [this](int cell) { return cell == value; }) ? 0 : 1;
  }
};
std::atomic<int> Object::alive{0};

using Pointer = std::shared_ptr<Object>;
std::atomic<Pointer> current, sum, flag;

}  // namespace

int main() {
  int team = 1;
  int bad = 0;
  current = std::make_shared<Object>(0);
  sum = std::make_shared<Object>(0);
#pragma omp parallel reduction(+ : bad)
  {
    const int self = omp_get_thread_num();
    const int size = omp_get_num_threads();
#pragma omp master
    team = size;
    for (int i = 0; i < rounds; ++i) {
      bad += current.load()->wrong();
      bad += current.exchange(std::make_shared<Object>(1000 * self + i))->wrong();
      Pointer expected = sum.load();
      while (!sum.compare_exchange_weak(expected, std::make_shared<Object>(expected->value + 1))) {
        bad += expected->wrong();
      }
    }
    if (self == size - 1) {
      flag = std::make_shared<Object>(3);
      flag.notify_all();
    }
    // libstdc++'s wait also ends when somebody else reads the pointer.
    while (flag.load() == nullptr) flag.wait(nullptr);
    bad += flag.load()->value != 3;
  }
  EXPECT(bad == 0);
  EXPECT(sum.load()->value == rounds * team);
  EXPECT(Object::alive.load() == 3);
  current.store(nullptr);
  sum.store(nullptr);
  flag.store(nullptr);
  EXPECT(Object::alive.load() == 0);
  return expect_status();
}

#else

int main() {
  return expect_status();
}

#endif
