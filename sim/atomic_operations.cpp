#include "sim/atomic_operations.hpp"

#include "sim/cluster.hpp"

namespace sdsm::sim {

void AtomicOperations::operate(Thread& thread, const WordOperation& operation, ProcessId home, OnRefusal on_refusal,
                               std::function<void()> done) {
  operate(
      thread, operation, home, std::move(on_refusal), [] { return Time{}; }, std::move(done));
}

void AtomicOperations::operate(Thread& thread, const WordOperation& operation, ProcessId home, OnRefusal on_refusal,
                               const Downgrades& downgrades, std::function<void()> done) {
  const Time since = cluster_.clock.now();
  if (!cluster_.costs.atomic_is_measured()) cluster_.extrapolated_atomic = true;
  const auto finish = [&thread, since, done = std::move(done)] {
    thread.waited(Spent::lock, since);
    done();
  };
  const Decide decide = [this, &thread, operation, downgrades, on_refusal = std::move(on_refusal)](const auto& then) {
    const auto operate = [this, &thread, operation, on_refusal, then] {
      on_refusal(cluster_.compared.operate(operation));
      // A copy that the node keeps shows the outcome.
      if (cluster_.rights->keeps_copy_at_operation(operation.page)) {
        cluster_.compared.copy(thread.node(), operation.page);
      }
      then();
    };
    const Time waits = downgrades();
    if (waits == Time{}) return operate();
    thread.uncontended.spend(waits);
    cluster_.clock.at(cluster_.clock.now() + waits, operate);
  };
  thread.uncontended.spend(cluster_.costs.atomic_own());
  // Its instruction traps, wherever the page is.
  cluster_.clock.at(since + cluster_.costs.atomic_own(), [this, &thread, home, decide, finish, operation] {
    if (cluster_.owner_of(thread.id(), home) != Owner::remote) return decide(finish);
    if (!cluster_.rights->operates_in_copy(operation.page, home, thread.id())) return ask(thread, home, decide, finish);
    cluster_.rights->note_change_in_copy(thread.node(), operation);
    decide(finish);
  });
}

/// The home pays one whole message: its part of the first, and the sender's part of the second of the same length.
void AtomicOperations::ask(Thread& thread, ProcessId home, Decide decide, std::function<void()> answered) {
  const Time local = cluster_.costs.message_local(atomic_payload);
  const Time receiving = cluster_.costs.home_part(local);
  const NodeId at = cluster_.layout.node_of(home);
  thread.uncontended.spend(2 * local + cluster_.idle->both_ways(thread.node(), at, atomic_payload));
  const auto reply = [this, &thread, home, receiving, answered = std::move(answered)] {
    cluster_.thread(home).account.count_served(cluster_.clock.now(), MessageKind::atomic_reply, atomic_payload);
    const auto kind = static_cast<std::size_t>(MessageKind::atomic_reply);
    cluster_.send({home, thread.id(), kind, atomic_payload},
                  [this, receiving, answered] { cluster_.clock.at(cluster_.clock.now() + receiving, answered); });
  };
  const auto answer = [reply, decide = std::move(decide)] { decide(reply); };
  cluster_.clock.at(cluster_.clock.now() + local - receiving, [this, &thread, home, local, answer] {
    thread.account.count_message(cluster_.clock.now(), MessageKind::atomic_request, atomic_payload);
    const auto kind = static_cast<std::size_t>(MessageKind::atomic_request);
    cluster_.send({thread.id(), home, kind, atomic_payload},
                  [this, home, local, answer] { cluster_.service.serve(home, local, answer); });
  });
}

void AtomicOperations::operate_in_order(Thread& thread, const WordOperation& operation, ProcessId home,
                                        OnRefusal on_refusal, std::function<void()> done) {
  cluster_.has_flags = true;
  const Exchange ask = [this, &thread, operation, home, on_refusal = std::move(on_refusal)](const courses::Step&,
                                                                                            Then then) {
    const Downgrades downgrades = [this, &thread, operation, home] {
      // A recorded order already says what each node drops.
      if (cluster_.order || cluster_.rights->operates_in_copy(operation.page, home, thread.id())) return Time{};
      return cluster_.rights->operate(operation.page, home, thread.id());
    };
    operate(thread, operation, home, on_refusal, downgrades, std::move(then));
  };
  cluster_.locks.perform(thread, courses::acquire, Sync::acquire, ask, std::move(done));
}

}  // namespace sdsm::sim
