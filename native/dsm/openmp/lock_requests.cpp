#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <unordered_map>
#include <vector>

#include "models/locks.hpp"
#include "models/protocol/queues.hpp"
#include "models/scash/messages.hpp"
#include "native/dsm/openmp/lock_requests.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/threads/engine.hpp"

namespace sdsm::dsm {
namespace {

using engine::Demand;

struct Waiter {
  ProcessId process{};
  Demand demand{};
  OrderedTurn turn{};
  bool has_turn = false;
  bool waits_for_wake = false;  ///< and no longer when it is not enlisted
};
/// A lock, or an object of native/guest/threads/engine.hpp.
struct Lock {
  Numbers numbers;
  ProcessId holder{};  ///< the last one
  std::uint64_t grants = 0;
  WaitingList<Waiter> queue;
  std::vector<ProcessId> enlisted;
};
/// A chunk that is through, and passes its turn on when it has it.
struct Passing {
  ProcessId process{};
  OrderedTurn turn;
  std::uint64_t next = 0;
};
struct LockHandler {
  std::unordered_map<std::uint64_t, Lock> locks;
  std::unordered_map<std::uint64_t, std::uint64_t> turns;  ///< of ordered loops, by construct
  std::vector<Passing> passing;
};
LockHandler lock_handler GUARDED_BY(handling);

struct FlagWaiter {
  ProcessId process{};
  FlagWait wait;
};
std::map<std::uint64_t, Flag<FlagWaiter>> flags GUARDED_BY(handling);

bool has_come(const OrderedTurn& turn) REQUIRES(handling) {
  return lock_handler.turns[turn.construct] == turn.first_iteration;
}

Demand demand_of(const Head& head) {
  return head.value == 0 ? engine::mutex_demand : std::bit_cast<Demand>(head.value);
}

bool is_enlisted(const Lock& lock, ProcessId process) {
  return std::find(lock.enlisted.begin(), lock.enlisted.end(), process) != lock.enlisted.end();
}

bool may_go(const Lock& lock, const Waiter& waiter) REQUIRES(handling) {
  if (waiter.waits_for_wake) return !is_enlisted(lock, waiter.process);
  if (!lock.numbers.allow(waiter.demand)) return false;
  return !waiter.has_turn || has_come(waiter.turn);
}

void grant(Lock& lock, const Waiter& waiter, GrantSays what = GrantSays::yours) REQUIRES(handling) {
  if (!waiter.waits_for_wake) lock.numbers.add(waiter.demand);
  lock.holder = waiter.process;
  the_protocol().grant(waiter.process, {.kind = WireKind::lock_grant,
                                        .generation = newest_generation(),
                                        .address = static_cast<std::uint64_t>(what),
                                        .value = lock.grants++});
}

void grant_all(Lock& lock) REQUIRES(handling) {
  const auto may_go_on = [&](const Waiter& waiter) REQUIRES(handling) { return may_go(lock, waiter); };
  while (const auto next = lock.queue.take_first(may_go_on)) grant(lock, *next);
}

/// The process has waited for long enough.
void end_wait(Lock& lock, ProcessId process, bool stays_enlisted) REQUIRES(handling) {
  if (!stays_enlisted) std::erase(lock.enlisted, process);
  const auto waiter = lock.queue.take_first([&](const Waiter& waiting) { return waiting.process == process; });
  if (!waiter) return;  // its answer is under way
  answer(process, {.kind = WireKind::lock_grant, .address = static_cast<std::uint64_t>(GrantSays::too_late)});
}

void meet(Lock& lock, ProcessId from) REQUIRES(handling) {
  const Waiter self{.process = from, .waits_for_wake = true};
  if (static_cast<std::int32_t>(lock.enlisted.size()) + 1 < lock.numbers[Counted::parties]) {
    lock.enlisted.push_back(from);
    lock.queue.add(self);
    return;
  }
  lock.enlisted.clear();
  grant(lock, self, GrantSays::last_to_meet);
  grant_all(lock);
}

void wake(Lock& lock, ProcessId from, std::uint64_t most) REQUIRES(handling) {
  const auto woken = std::min<std::uint64_t>(most, lock.enlisted.size());
  lock.enlisted.erase(lock.enlisted.begin(), lock.enlisted.begin() + static_cast<std::ptrdiff_t>(woken));
  answer_value(from, woken);
  grant_all(lock);
}

void grant_all(const std::vector<FlagWaiter>& waiters) REQUIRES(handling) {
  for (const FlagWaiter& waiter : waiters) {
    the_protocol().grant(waiter.process, {.kind = WireKind::lock_grant, .generation = newest_generation()});
  }
}

}  // namespace

void request_lock(ProcessId from, const Head& head, const std::byte* payload) {
  Lock& lock = lock_handler.locks[head.address];
  Waiter waiter{.process = from, .demand = demand_of(head), .has_turn = head.bytes == sizeof(OrderedTurn)};
  if (waiter.has_turn) std::memcpy(&waiter.turn, payload, sizeof waiter.turn);
  lock.queue.add(waiter);
  grant_all(lock);
}

void try_lock(ProcessId from, const Head& head) {
  Lock& lock = lock_handler.locks[head.address];
  const Waiter waiter{.process = from, .demand = demand_of(head)};
  if (!may_go(lock, waiter)) return answer_value(from, index_of(lock.holder));
  grant(lock, waiter);
}

void give_lock_back(const Head& head) {
  Lock& lock = lock_handler.locks[head.address];
  const Demand demand = demand_of(head);
  lock.numbers.subtract(demand);
  std::int32_t& number = lock.numbers[counted_by(demand)];
  if (demand.limit > 0) number = std::max(number, 0);
  grant_all(lock);
}

void serve_object(ProcessId from, const Head& head) {
  Lock& lock = lock_handler.locks[head.address];
  switch (head.kind) {
    case WireKind::object_give: give_lock_back(head); return answer_value(from, 0);
    case WireKind::object_set: {
      const auto set = std::bit_cast<ObjectNumber>(head.value);
      lock.numbers[set.what] = set.number;
      return answer_value(from, 0);
    }
    case WireKind::object_number: {
      const Counted what = std::bit_cast<ObjectNumber>(head.value).what;
      return answer_value(from, static_cast<std::uint64_t>(lock.numbers[what]));
    }
    case WireKind::object_meet: return meet(lock, from);
    case WireKind::object_enlist: lock.enlisted.push_back(from); return answer_value(from, 0);
    case WireKind::object_await: lock.queue.add({.process = from, .waits_for_wake = true}); return grant_all(lock);
    case WireKind::object_wake: return wake(lock, from, head.value);
    default: return end_wait(lock, from, head.value != 0);
  }
}

void pass_turn(ProcessId from, const Head& head, const std::byte* payload) {
  Passing passing{from, {}, head.value};
  std::memcpy(&passing.turn, payload, sizeof passing.turn);
  lock_handler.passing.push_back(passing);
  for (auto one = lock_handler.passing.begin(); one != lock_handler.passing.end();) {
    if (!has_come(one->turn)) {
      ++one;
      continue;
    }
    const Passing passed = *one;
    lock_handler.passing.erase(one);
    lock_handler.turns[passed.turn.construct] = passed.next;
    answer(passed.process, {.kind = WireKind::done});
    one = lock_handler.passing.begin();
  }
  for (auto& [id, lock] : lock_handler.locks) grant_all(lock);
}

void await_flag(ProcessId from, const Head& head) {
  grant_all(flags[head.address].ask({from, {.until = head.value}}));
}

void post_flag(const Head& head) {
  grant_all(flags[head.address].post({.count = head.value}));
}

void forget_flags_before(std::uint64_t construct) {
  flags.erase(flags.begin(), flags.lower_bound(flag_number(construct, 0)));
}

}  // namespace sdsm::dsm
