// The atomic functions of std::shared_ptr, and promises between threads: no object is lost, freed twice or seen half
// made.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <vector>

#include "expect.h"

namespace {

constexpr int rounds = 12;

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

Pointer current;
Pointer sum;
Pointer flag;

struct Node {
  std::shared_ptr<Node> next;
  int value = 0;
};
std::shared_ptr<Node> stack;

}  // namespace

int main() {
  int team = 1;
  int bad = 0;

  // Each thread puts objects of its own into one place.
  current = std::make_shared<Object>(0);
#pragma omp parallel reduction(+ : bad)
  {
    const int self = omp_get_thread_num();
#pragma omp master
    team = omp_get_num_threads();
    for (int i = 0; i < rounds; ++i) {
      const Pointer seen = std::atomic_load(&current);
      bad += seen->wrong();
      const Pointer before = std::atomic_exchange(&current, std::make_shared<Object>(1000 * self + i));
      bad += before->wrong();
      std::atomic_store_explicit(&current, std::make_shared<Object>(1000 * self + i), std::memory_order_release);
    }
  }
  EXPECT(bad == 0);
  EXPECT(Object::alive.load() == 1);
  current.reset();
  EXPECT(Object::alive.load() == 0);

  // A sum that loses nothing, as what was found has to be there still.
  sum = std::make_shared<Object>(0);
#pragma omp parallel reduction(+ : bad)
  for (int i = 0; i < rounds; ++i) {
    Pointer expected = std::atomic_load_explicit(&sum, std::memory_order_acquire);
    Pointer wanted;
    do {
      bad += expected->wrong();
      wanted = std::make_shared<Object>(expected->value + 1);
    } while (!std::atomic_compare_exchange_weak(&sum, &expected, wanted));
  }
  EXPECT(bad == 0);
  EXPECT(sum->value == rounds * team);
  EXPECT(Object::alive.load() == 1);
  sum.reset();

  // Both of a compare-exchange at one address: it cannot fail.
#pragma omp parallel reduction(+ : bad)
  for (int i = 0; i < rounds; ++i) {
    Pointer own = std::make_shared<Object>(i);
    bad += !std::atomic_compare_exchange_strong(&own, &own, std::make_shared<Object>(i + 1));
    bad += std::atomic_is_lock_free(&own);
    bad += own->value != i + 1;
  }
  EXPECT(bad == 0);
  EXPECT(Object::alive.load() == 0);

  // A stack: each node leaves it once.
  std::vector<int> popped(256 * rounds);
#pragma omp parallel
  {
    const int self = omp_get_thread_num();
    for (int i = 0; i < rounds; ++i) {
      auto node = std::make_shared<Node>();
      node->value = self * rounds + i;
      node->next = std::atomic_load(&stack);
      while (!std::atomic_compare_exchange_strong(&stack, &node->next, node)) {
      }
      if (i % 2 == 0) continue;
      for (int k = 0; k < 2; ++k) {
        auto top = std::atomic_load(&stack);
        while (top != nullptr && !std::atomic_compare_exchange_strong(&stack, &top, top->next)) {
        }
        if (top == nullptr) continue;
#pragma omp atomic
        ++popped[static_cast<std::size_t>(top->value)];
      }
    }
  }
  for (; stack != nullptr; stack = stack->next) ++popped[static_cast<std::size_t>(stack->value)];
  EXPECT(std::count(popped.begin(), popped.end(), 1) == team * rounds);
  EXPECT(std::count(popped.begin(), popped.end(), 0) == 256 * rounds - team * rounds);

  // A thread waits for a pointer that another stores; what was written before is seen behind.
  int plain = 0;
#pragma omp parallel reduction(+ : bad)
  {
    if (omp_get_thread_num() == team - 1) {
      plain = 17;
      std::atomic_store(&flag, std::make_shared<Object>(5));
    }
    Pointer seen;
    while ((seen = std::atomic_load(&flag)) == nullptr) {
    }
    bad += seen->wrong() + (seen->value != 5) + (plain != 17);
  }
  flag.reset();
  EXPECT(bad == 0);
  EXPECT(Object::alive.load() == 0);

  // Results that one thread promises and the others wait for.
  std::vector<std::promise<Pointer>> promises(static_cast<std::size_t>(team));
  std::vector<std::shared_future<Pointer>> results;
  for (auto& promise : promises) results.push_back(promise.get_future().share());
#pragma omp parallel reduction(+ : bad)
  {
    const auto self = static_cast<std::size_t>(omp_get_thread_num());
    promises[self].set_value(std::make_shared<Object>(static_cast<int>(self)));
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::shared_future<Pointer> result = results[i];
      bad += result.get()->wrong() + (result.get()->value != static_cast<int>(i));
    }
  }
  promises.clear();
  results.clear();
  EXPECT(bad == 0);
  EXPECT(Object::alive.load() == 0);
  return expect_status();
}
