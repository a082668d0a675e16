#include "sim/lock_manager.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "models/locks.hpp"
#include "sim/cluster.hpp"

namespace sdsm::sim {

LockManager::LockManager(Cluster& cluster) : cluster_(cluster) {}

LockQueue<LockManager::Waiter>& LockManager::queue_of(LockId lock) {
  return locks_[index_of(lock)].queue;
}

void LockManager::send_changes(Thread& thread, Sync sync, Then sent) {
  const PageRights& rights = *cluster_.rights;
  if (rights.concerned(thread.node()) == Concerned::none) return sent();
  std::vector<Twinned> diffs = cluster_.pages(thread.node()).flush(thread.id(), flushed_as(sync, rights.mode()));
  cluster_.flushes[index_of(thread.id())]->start(std::move(diffs), std::move(sent));
}

void LockManager::perform(Thread& thread, Course course, Sync sync, Exchange exchange, Then done) {
  play<courses::Step>(course,
                      {.flush = [this, &thread, sync](Then then) { send_changes(thread, sync, std::move(then)); },
                       .begin_interval = [this, &thread](Then then) { flush(thread, std::move(then)); },
                       .exchange = std::move(exchange)},
                      std::move(done));
}

Exchange LockManager::about(Thread& thread, LockId lock, std::optional<std::uint64_t> turn) {
  const ProcessId manager = manager_of(lock, cluster_.layout.processes());
  return [this, &thread, lock, turn, manager](const courses::Step& step, Then then) {
    if (step.action == protocol::Action::ask) {
      Waiter asks{&thread, step.answer, std::move(then), cluster_.clock.now(), turn, thread.id()};
      return send_to(manager, thread, step.message, [this, lock, waiter = std::move(asks)] { enter(lock, waiter); });
    }
    send_to(manager, thread, step.message, [this, lock] {
      locks_[index_of(lock)].queue.give_back();
      grant_next(lock);
    });
    then();
  };
}

void LockManager::send_to(ProcessId manager, Thread& thread, MessageKind kind, Then arrived) {
  const NodeId to = cluster_.layout.node_of(manager);
  if (thread.node() != to) thread.account.count_message(cluster_.clock.now(), kind, control_payload);
  cluster_.send({thread.id(), manager, static_cast<std::size_t>(kind), control_payload}, std::move(arrived));
}

/// Whether `late` goes first, because both arrived at once, as far as a trace can tell, and its number is lower. The
/// first of two threads that leave a barrier together may decide for a whole region who makes twins; a trap's cost
/// while tracing must not decide it.
bool LockManager::comes_before(const Waiter& late, const Waiter& early) const {
  if (late.turn || early.turn) return false;
  return late.arrived - early.arrived <= cluster_.trace_resolution() && late.thread->id() < early.thread->id();
}

void LockManager::enter(LockId lock, Waiter waiter) {
  waiter.arrived = cluster_.clock.now();
  Lock& state = locks_[index_of(lock)];
  if (state.chosen && !state.was_claimed && comes_before(waiter, *state.chosen)) {
    std::swap(waiter, *state.chosen);
    state.queue.hand_to(state.chosen->by);
  }
  state.queue.ask(std::move(waiter),
                  [this](const Waiter& late, const Waiter& early) { return comes_before(late, early); });
  grant_next(lock);
}

void LockManager::grant_next(LockId lock) {
  Lock& state = locks_[index_of(lock)];
  const bool is_claimed = state.queue.is_claimed();
  std::optional<Waiter> next = state.queue.grant_next();
  if (!next) return;
  state.was_claimed = is_claimed;
  state.chosen = std::move(next);
  if (!cluster_.costs.lock_is_measured(cluster_.layout)) cluster_.extrapolated_lock = true;
  cluster_.clock.at(cluster_.clock.now() + cluster_.costs.lock_local(cluster_.layout), [this, lock] {
    const Waiter waiter = *std::exchange(locks_[index_of(lock)].chosen, std::nullopt);
    answer(manager_of(lock, cluster_.layout.processes()), waiter);
  });
}

void LockManager::grant(ProcessId manager, Waiter waiter) {
  if (!cluster_.costs.lock_is_measured(cluster_.layout)) cluster_.extrapolated_lock = true;
  cluster_.clock.at(cluster_.clock.now() + cluster_.costs.lock_local(cluster_.layout),
                    [this, manager, waiter = std::move(waiter)] { answer(manager, waiter); });
}

void LockManager::answer(ProcessId manager, const Waiter& waiter) {
  const NodeId from = cluster_.layout.node_of(manager);
  if (from != waiter.thread->node()) {
    cluster_.thread(manager).account.count_served(cluster_.clock.now(), waiter.answer, control_payload);
  }
  const Outgoing answer{manager, waiter.thread->id(), static_cast<std::size_t>(waiter.answer), control_payload};
  cluster_.send(answer, [this, from, waiter] {
    waiter.thread->waited(Spent::lock, waiter.since);
    waiter.thread->uncontended.spend(cluster_.costs.lock_local(cluster_.layout) +
                                     cluster_.idle->both_ways(waiter.thread->node(), from, control_payload));
    waiter.thread->account.count_lock(cluster_.clock.now());
    waiter.granted();
  });
}

Exchange LockManager::post(Thread& thread, std::uint64_t flag, FlagPost posted) {
  const ProcessId manager = manager_of_flag(flag, cluster_.layout.processes());
  return [this, &thread, flag, posted, manager](const courses::Step& step, Then then) {
    send_to(manager, thread, step.message, [this, manager, flag, posted] {
      for (Waiter& waiter : flags_[flag].post(posted)) grant(manager, std::move(waiter));
    });
    then();
  };
}

Exchange LockManager::wait(Thread& thread, std::uint64_t flag, FlagWait wait) {
  const ProcessId manager = manager_of_flag(flag, cluster_.layout.processes());
  return [this, &thread, flag, wait, manager](const courses::Step& step, Then then) {
    Waiter asks{&thread, step.answer, std::move(then), cluster_.clock.now(), {}, thread.id(), {}, wait};
    send_to(manager, thread, step.message, [this, manager, flag, waiter = std::move(asks)] {
      for (Waiter& granted : flags_[flag].ask(waiter)) grant(manager, std::move(granted));
    });
  };
}

void LockManager::flush(Thread& thread, Then flushed) {
  NodePages& pages = cluster_.pages(thread.node());
  PageRights& rights = *cluster_.rights;
  const Concerned concerned = rights.concerned(thread.node());
  if (concerned == Concerned::none) return flushed();
  std::vector<Twinned> diffs = pages.flush(thread.id(), Sync::acquire);
  if (diffs.empty()) {
    if (concerned == Concerned::stack_copies) {
      rights.drop_stack_copies(thread.node());
    } else {
      pages.drop(Sync::acquire);
      rights.note_drop(thread.node());
    }
    return flushed();
  }
  // Meanwhile another process of the node may twin and write more; copies are dropped only when all of the node's
  // changes are home.
  cluster_.flushes[index_of(thread.id())]->start(
      std::move(diffs), [this, &thread, flushed = std::move(flushed)] { flush(thread, flushed); });
}

}  // namespace sdsm::sim
