#include "sim/spins.hpp"

#include <algorithm>

#include "sim/cluster.hpp"

namespace sdsm::sim {

void Spins::wait(Thread& thread, ProcessId by, std::uint64_t events, std::function<void()> done) {
  const NodeId own = thread.node();
  const NodeId to = cluster_.layout.node_of(by);
  const Exchange ask = [this, &thread, own, to, by, events](const courses::Step&, Then then) {
    const Time since = cluster_.clock.now();
    const auto go_on = [&thread, since, then = std::move(then)] {
      thread.waited(Spent::lock, since);
      then();
    };
    const auto answer = [this, own, to, go_on] { cluster_.network.send(to, own, control_payload, go_on); };
    cluster_.network.send(own, to, control_payload, [this, by, events, answer] {
      if (begun_[index_of(by)] >= events) return answer();
      waiters_[index_of(by)].push_back({events, answer});
    });
  };
  cluster_.locks.perform(thread, courses::acquire, Sync::acquire, ask, std::move(done));
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
