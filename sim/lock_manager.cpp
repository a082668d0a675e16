#include "sim/lock_manager.hpp"

#include <algorithm>

#include "models/locks.hpp"
#include "sim/cluster.hpp"

namespace sdsm::sim {

void LockManager::send_changes(Thread& thread, Sync sync, std::function<void()> sent) {
  std::vector<Twinned> diffs = cluster_.pages(thread.node()).flush(thread.id(), sync);
  cluster_.flushes[index_of(thread.id())]->start(std::move(diffs), std::move(sent));
}

void LockManager::acquire(Thread& thread, LockId lock, std::function<void()> acquired) {
  send_changes(thread, Sync::acquire, [this, &thread, lock, acquired = std::move(acquired)]() mutable {
    request(thread, lock, std::nullopt, [this, &thread, acquired = std::move(acquired)] { flush(thread, acquired); });
  });
}

void LockManager::request(Thread& thread, LockId lock, std::optional<std::uint64_t> turn,
                          std::function<void()> granted) {
  Waiter asks{&thread, std::move(granted), cluster_.clock.now(), turn};
  send_to(manager_of(lock, cluster_.layout.processes()), thread, MessageKind::lock_request,
          [this, lock, waiter = std::move(asks)] {
            locks_[index_of(lock)].queue.push_back(waiter);
            grant_next(lock);
          });
}

void LockManager::send_to(ProcessId manager, Thread& thread, MessageKind kind, std::function<void()> arrived) {
  const NodeId to = cluster_.layout.node_of(manager);
  if (thread.node() != to) thread.account.count_message(cluster_.clock.now(), kind, control_payload);
  cluster_.network.send(thread.node(), to, control_payload, std::move(arrived));
}

/// First come, first served, if nobody says otherwise.
void LockManager::grant_next(LockId lock) {
  Lock& state = locks_[index_of(lock)];
  if (state.held) return;
  const auto next = std::find_if(state.queue.begin(), state.queue.end(), [&](const Waiter& waiter) {
    return waiter.turn.value_or(state.grants) == state.grants;
  });
  if (next == state.queue.end()) return;
  Waiter waiter = std::move(*next);
  state.queue.erase(next);
  state.held = true;
  ++state.grants;
  grant(manager_of(lock, cluster_.layout.processes()), std::move(waiter));
}

void LockManager::grant(ProcessId manager, Waiter waiter) {
  if (!cluster_.costs.lock_is_measured(cluster_.layout)) cluster_.extrapolated_lock = true;
  const Time local = cluster_.costs.lock_local(cluster_.layout);
  cluster_.clock.at(cluster_.clock.now() + local, [this, manager, waiter = std::move(waiter)] {
    const NodeId from = cluster_.layout.node_of(manager);
    if (from != waiter.thread->node()) {
      cluster_.thread(manager).account.count_served(cluster_.clock.now(), MessageKind::lock_grant, control_payload);
    }
    cluster_.network.send(from, waiter.thread->node(), control_payload, [this, waiter] {
      waiter.thread->waited(Spent::lock, waiter.since);
      waiter.thread->account.count(cluster_.clock.now(), [](Tally& tally) { ++tally.locks; });
      waiter.granted();
    });
  });
}

void LockManager::release(Thread& thread, LockId lock, std::function<void()> released) {
  send_changes(thread, Sync::release, [this, &thread, lock, released = std::move(released)] {
    give_back(thread, lock);
    released();
  });
}

void LockManager::give_back(Thread& thread, LockId lock) {
  send_to(manager_of(lock, cluster_.layout.processes()), thread, MessageKind::lock_release, [this, lock] {
    locks_[index_of(lock)].held = false;
    grant_next(lock);
  });
}

void LockManager::post(Thread& thread, std::uint64_t flag, Count count, std::function<void()> posted) {
  send_changes(thread, Sync::release, [this, &thread, flag, count, posted = std::move(posted)] {
    count_up(thread, flag, count);
    posted();
  });
}

void LockManager::count_up(Thread& thread, std::uint64_t flag, Count count) {
  const ProcessId manager = manager_of_flag(flag, cluster_.layout.processes());
  send_to(manager, thread, MessageKind::lock_release, [this, manager, flag, count] {
    Flag& state = flags_[flag];
    set_flag(manager, state, count.value_or(state.count + 1));
  });
}

void LockManager::set_flag(ProcessId manager, Flag& flag, std::uint64_t count) {
  flag.count = count;
  const auto granted = std::stable_partition(flag.waiters.begin(), flag.waiters.end(),
                                             [&](const Waiter& waiter) { return count < *waiter.turn; });
  std::vector<Waiter> waiters(granted, flag.waiters.end());
  flag.waiters.erase(granted, flag.waiters.end());
  for (Waiter& waiter : waiters) grant(manager, std::move(waiter));
}

void LockManager::request_flag(Thread& thread, std::uint64_t flag, FlagWait wait, std::function<void()> granted) {
  const ProcessId manager = manager_of_flag(flag, cluster_.layout.processes());
  Waiter asks{&thread, std::move(granted), cluster_.clock.now(), wait.until};
  send_to(manager, thread, MessageKind::lock_request, [this, manager, flag, wait, waiter = std::move(asks)] {
    Flag& state = flags_[flag];
    state.waiters.push_back(waiter);
    set_flag(manager, state, state.count + (wait.comes ? 1 : 0));
  });
}

void LockManager::wait(Thread& thread, std::uint64_t flag, FlagWait wait, std::function<void()> waited) {
  send_changes(thread, Sync::acquire, [this, &thread, flag, wait, waited = std::move(waited)]() mutable {
    request_flag(thread, flag, wait, [this, &thread, waited = std::move(waited)] { flush(thread, waited); });
  });
}

void LockManager::flush(Thread& thread, std::function<void()> flushed) {
  NodePages& pages = cluster_.pages(thread.node());
  std::vector<Twinned> diffs = pages.flush(thread.id(), Sync::acquire);
  if (diffs.empty()) {
    pages.drop(Sync::acquire);
    return flushed();
  }
  // While these travel, a companion may twin and write more; copies die only when all of the node's changes are home.
  cluster_.flushes[index_of(thread.id())]->start(
      std::move(diffs), [this, &thread, flushed = std::move(flushed)] { flush(thread, flushed); });
}

}  // namespace sdsm::sim
