// The initial thread makes a stack without locks from main's first line on: other threads may not have begun yet.
#include <atomic>
#include <cstdint>
#include <vector>

#include "expect.h"

namespace {

constexpr std::uint32_t nodes = 400;

struct Node {
  long value;
  std::atomic<std::uint32_t> next;
};

}  // namespace

int main() {
  std::vector<Node> pool(nodes);
  std::atomic<std::uint64_t> head{nodes};
  for (std::uint32_t i = 0; i < nodes; ++i) {
    pool[i].value = i;
    std::uint64_t top = head.load();
    do {
      pool[i].next.store(static_cast<std::uint32_t>(top), std::memory_order_relaxed);
    } while (!head.compare_exchange_weak(top, ((top >> 32) + 1) << 32 | i));
  }
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::uint32_t i = 0; i < nodes; ++i) sum += pool[i].value;
  EXPECT(sum == nodes * (nodes - 1) / 2);
  EXPECT(head.load() == (static_cast<std::uint64_t>(nodes) << 32 | (nodes - 1)));
  return expect_status();
}
