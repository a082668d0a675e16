#include "sim/cluster.hpp"

namespace sdsm::sim {
namespace {

void count_served(Cluster& cluster, ProcessId server, MessageKind kind, Bytes payload) {
  cluster.thread(server).account.count(cluster.clock.now(), [=](Tally& tally) {
    ++tally.served;
    tally.served_bytes += static_cast<std::uint64_t>(payload.count);
    ++tally.messages_by_kind[static_cast<std::size_t>(kind)];
  });
}

}  // namespace

void LockManager::acquire(Thread& thread, LockId lock, std::function<void()> acquired) {
  NodePages& pages = cluster_.pages(thread.node());
  std::vector<Twinned> diffs = pages.flush(thread.id(), Sync::acquire);
  cluster_.flushes[index_of(thread.id())]->start(
      std::move(diffs), [this, &thread, lock, acquired = std::move(acquired)]() mutable {
        const ProcessId manager = manager_of(lock, cluster_.layout.processes());
        const NodeId to = cluster_.layout.node_of(manager);
        const Time now = cluster_.clock.now();
        if (thread.node() != to) thread.account.count_message(now, MessageKind::lock_request, control_payload);
        cluster_.network.send(thread.node(), to, control_payload,
                              [this, lock, waiter = Waiter{&thread, std::move(acquired), now}] {
                                Lock& state = locks_[index_of(lock)];
                                if (state.held) {
                                  state.queue.push_back(waiter);
                                } else {
                                  state.held = true;
                                  grant(lock, waiter);
                                }
                              });
      });
}

void LockManager::grant(LockId lock, Waiter waiter) {
  const ProcessId manager = manager_of(lock, cluster_.layout.processes());
  if (!cluster_.costs.lock_is_measured(cluster_.layout)) cluster_.extrapolated_lock = true;
  const Time local = cluster_.costs.lock_local(cluster_.layout);
  cluster_.clock.at(cluster_.clock.now() + local, [this, manager, waiter = std::move(waiter)] {
    const NodeId from = cluster_.layout.node_of(manager);
    if (from != waiter.thread->node()) count_served(cluster_, manager, MessageKind::lock_grant, control_payload);
    cluster_.network.send(from, waiter.thread->node(), control_payload, [this, waiter] {
      waiter.thread->waited(Spent::lock, waiter.since);
      waiter.thread->account.count(cluster_.clock.now(), [](Tally& tally) { ++tally.locks; });
      flush(*waiter.thread, waiter.acquired);
    });
  });
}

void LockManager::release(Thread& thread, LockId lock, std::function<void()> released) {
  NodePages& pages = cluster_.pages(thread.node());
  std::vector<Twinned> diffs = pages.flush(thread.id(), Sync::release);
  cluster_.flushes[index_of(thread.id())]->start(
      std::move(diffs), [this, &thread, lock, released = std::move(released)] {
        const NodeId to = cluster_.layout.node_of(manager_of(lock, cluster_.layout.processes()));
        if (thread.node() != to) {
          thread.account.count_message(cluster_.clock.now(), MessageKind::lock_release, control_payload);
        }
        cluster_.network.send(thread.node(), to, control_payload, [this, lock] {
          Lock& state = locks_[index_of(lock)];
          if (state.queue.empty()) {
            state.held = false;
          } else {
            const Waiter next = std::move(state.queue.front());
            state.queue.pop_front();
            grant(lock, next);
          }
        });
        released();
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
