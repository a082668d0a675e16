// Objects that are made of atomic operations: locks, queues, counts of references, flags.
#include <omp.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <vector>

namespace {

constexpr int rounds = 20;
std::atomic<int> failures{0};

void check(bool is_right, const char* what) {
  if (is_right) return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}

char before[5000];
std::atomic_flag taken = ATOMIC_FLAG_INIT;
std::atomic<unsigned> next_ticket{0};
std::atomic<unsigned> served{0};
char between[5000];
long under_lock[3][1000];

void add(long* numbers) {
  for (int i = 0; i < 1000; i += 37) ++numbers[i];
}

struct Node {
  Node* next;
  int value;
};
std::atomic<Node*> top{nullptr};
std::atomic<bool> is_ready{false};
std::atomic<int> arrived{0};

}  // namespace

int main() {
  const int threads = omp_get_max_threads();
  before[0] = between[0] = 1;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < rounds; ++i) {
    while (taken.test_and_set(std::memory_order_acquire)) continue;
    add(under_lock[0]);
    taken.clear();
  }
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < rounds; ++i) {
    const unsigned mine = next_ticket.fetch_add(1);
    while (served.fetch_add(0) != mine) continue;
    add(under_lock[1]);
    served.fetch_add(1, std::memory_order_release);
  }
  std::atomic<int> local_lock{0};
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < rounds; ++i) {
    int expected = 0;
    while (!local_lock.compare_exchange_weak(expected, 1)) expected = 0;
    add(under_lock[2]);
    local_lock.store(0);
  }
  for (const auto& numbers : under_lock)
    for (int i = 0; i < 1000; i += 37) check(numbers[i] == long{rounds} * threads, "what was added under a lock");

  // A queue of work: each piece is done once.
  std::vector<int> done(static_cast<std::size_t>(rounds) * 50);
  std::atomic<std::size_t> next{0};
#pragma omp parallel num_threads(threads)
  for (std::size_t i; (i = next++) < done.size();) done[i] += static_cast<int>(i);
  for (std::size_t i = 0; i < done.size(); ++i) check(done[i] == static_cast<int>(i), "a queue of work");

    // A stack to which all push.
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < rounds; ++i) {
    Node* const node = new Node{top.load(), i};
    while (!top.compare_exchange_weak(node->next, node)) continue;
  }
  int count = 0;
  long sum = 0;
  for (const Node* node = top; node != nullptr; node = node->next) {
    ++count;
    sum += node->value;
  }
  check(count == rounds * threads && sum == long{rounds} * (rounds - 1) / 2 * threads, "a stack");

  // Counts of references; the last one's destruction is seen.
  static std::atomic<int> destroyed{0};
  struct Counted {
    int value = 42;
    ~Counted() { ++destroyed; }
  };
  auto common = std::make_shared<Counted>();
#pragma omp parallel num_threads(threads) firstprivate(common)
  for (int i = 0; i < rounds; ++i) {
    const auto copy = common;
    check(copy->value == 42, "a shared object");
  }
  check(common.use_count() == 1, "the count of references");
  common.reset();
  check(destroyed == 1, "the object is destroyed once");

  // Messages: what was written before the flag is there after it.
  static int data[3000];
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == 0) {
      for (int& number : data) number = 5;
      is_ready.exchange(true);
    } else if (omp_get_thread_num() == threads - 1) {
      bool expected = true;
      while (!is_ready.compare_exchange_strong(expected, true)) expected = true;
      for (const int number : data) check(number == 5, "data behind a flag");
    }
    ++arrived;
    while (arrived.fetch_add(0) != threads) continue;
  }
  return failures != 0;
}
