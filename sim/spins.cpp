#include "sim/spins.hpp"

#include <algorithm>
#include <utility>

namespace sdsm::sim {

Spins::Spins(std::uint32_t processes) : begun_(processes), waiters_(processes) {}

void Spins::ask(ProcessId by, std::uint64_t events, std::function<void()> answer) {
  if (begun(by) >= events) return answer();
  waiters_[index_of(by)].push_back({events, std::move(answer)});
}

bool Spins::is_awaited(ProcessId thread, std::uint64_t event) const {
  const auto& waiters = waiters_[index_of(thread)];
  return std::ranges::any_of(waiters, [&](const Waiter& waiter) { return waiter.events <= event; });
}

void Spins::begin_event(ProcessId thread) {
  const std::uint64_t begun = ++begun_[index_of(thread)];
  auto& waiters = waiters_[index_of(thread)];
  const auto answered = std::stable_partition(waiters.begin(), waiters.end(),
                                              [&](const Waiter& waiter) { return waiter.events > begun; });
  const std::vector<Waiter> ready(answered, waiters.end());
  waiters.erase(answered, waiters.end());
  for (const Waiter& waiter : ready) waiter.answer();
}

}  // namespace sdsm::sim
