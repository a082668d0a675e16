#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "models/ids.hpp"
#include "models/protocol/pages.hpp"
#include "models/protocol/queues.hpp"
#include "models/scash/courses.hpp"
#include "models/scash/messages.hpp"
#include "models/units.hpp"
#include "sim/course.hpp"

namespace sdsm::sim {

class Cluster;
class Thread;

using Course = std::span<const courses::Step>;
using Exchange = ExchangeOf<courses::Step>;

/// Locks and flags, each with a FIFO queue at its manager.
class LockManager {
  struct Waiter;

 public:
  explicit LockManager(Cluster& cluster);

  /// The lock's queue at its manager, for attempts to take it.
  LockQueue<Waiter>& queue_of(LockId lock);

  /// Returns the exchange of a course with the lock's manager. `turn` is the number that the grant must have among the
  /// lock's, from 0.
  Exchange about(Thread& thread, LockId lock, std::optional<std::uint64_t> turn = std::nullopt);
  /// Return the exchange of a course with a flag's manager.
  Exchange post(Thread& thread, std::uint64_t flag, FlagPost posted);
  Exchange wait(Thread& thread, std::uint64_t flag, FlagWait wait);

  /// Plays the thread's course in time. `sync`: what its first flush is for.
  void perform(Thread& thread, Course course, Sync sync, Exchange exchange, Then done);
  /// Sends home the diffs that the thread owes at `sync`.
  void send_changes(Thread& thread, Sync sync, Then sent);
  /// Flushes changes and drops copies, without a lock.
  void flush(Thread& thread, Then flushed);

 private:
  struct Waiter {
    Thread* thread;
    MessageKind answer;
    Then granted;
    Time since{};
    std::optional<std::uint64_t> turn;  ///< at a lock
    ProcessId by{};
    Time arrived{};   ///< at the manager
    FlagWait wait{};  ///< for a flag
  };
  struct Lock {
    LockQueue<Waiter> queue;
    std::optional<Waiter> chosen;  ///< its grant has not left yet
    bool was_claimed = false;      ///< by `chosen`
  };
  void send_to(ProcessId manager, Thread& thread, MessageKind kind, Then arrived);
  bool comes_before(const Waiter& late, const Waiter& early) const;
  void enter(LockId lock, Waiter waiter);
  void grant_next(LockId lock);
  void answer(ProcessId manager, const Waiter& waiter);
  void grant(ProcessId manager, Waiter waiter);

  Cluster& cluster_;
  std::unordered_map<std::uint32_t, Lock> locks_;
  std::unordered_map<std::uint64_t, Flag<Waiter>> flags_;
};

}  // namespace sdsm::sim
