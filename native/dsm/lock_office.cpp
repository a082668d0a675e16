#include <cstring>
#include <deque>
#include <unordered_map>
#include <vector>

#include "models/messages.hpp"
#include "native/dsm/counting.hpp"
#include "native/dsm/offices.hpp"

namespace sdsm::dsm {
namespace {

struct Waiter {
  ProcessId process{};
  OrderedTurn turn;
  bool has_turn = false;
};
struct Lock {
  bool held = false;
  ProcessId holder{};
  std::uint64_t grants = 0;
  std::deque<Waiter> queue;
};
/// A chunk that is through, and passes its turn on when it has it.
struct Passing {
  ProcessId process{};
  OrderedTurn turn;
  std::uint64_t next = 0;
};
struct LockOffice {
  std::unordered_map<std::uint64_t, Lock> locks;
  std::unordered_map<std::uint64_t, std::uint64_t> turns;  ///< of ordered loops, by construct
  std::vector<Passing> passing;
};
LockOffice office GUARDED_BY(handling);

bool has_come(const OrderedTurn& turn) REQUIRES(handling) {
  return office.turns[turn.construct] == turn.first_iteration;
}

void grant(Lock& lock, ProcessId to) REQUIRES(handling) {
  lock.held = true;
  lock.holder = to;
  count_served(to, MessageKind::lock_grant, control_payload.count);
  answer(to, {.kind = WireKind::lock_grant, .generation = newest_generation(), .value = lock.grants++});
}

/// First come, first served, among those whose turn it is.
void grant_next(Lock& lock) REQUIRES(handling) {
  if (lock.held) return;
  for (auto waiter = lock.queue.begin(); waiter != lock.queue.end(); ++waiter) {
    if (waiter->has_turn && !has_come(waiter->turn)) continue;
    const ProcessId next = waiter->process;
    lock.queue.erase(waiter);
    return grant(lock, next);
  }
}

}  // namespace

void request_lock(ProcessId from, const Head& head, const std::byte* payload) {
  Lock& lock = office.locks[head.address];
  Waiter waiter{from, {}, head.bytes == sizeof(OrderedTurn)};
  if (waiter.has_turn) std::memcpy(&waiter.turn, payload, sizeof waiter.turn);
  lock.queue.push_back(waiter);
  grant_next(lock);
}

void try_lock(ProcessId from, const Head& head) {
  Lock& lock = office.locks[head.address];
  if (lock.held) return answer_value(from, index_of(lock.holder));
  grant(lock, from);
}

void give_lock_back(const Head& head) {
  Lock& lock = office.locks[head.address];
  lock.held = false;
  grant_next(lock);
}

void pass_turn(ProcessId from, const Head& head, const std::byte* payload) {
  Passing passing{from, {}, head.value};
  std::memcpy(&passing.turn, payload, sizeof passing.turn);
  office.passing.push_back(passing);
  for (auto one = office.passing.begin(); one != office.passing.end();) {
    if (!has_come(one->turn)) {
      ++one;
      continue;
    }
    const Passing passed = *one;
    office.passing.erase(one);
    office.turns[passed.turn.construct] = passed.next;
    answer(passed.process, {.kind = WireKind::done});
    one = office.passing.begin();
  }
  for (auto& [id, lock] : office.locks) grant_next(lock);
}

}  // namespace sdsm::dsm
