#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "models/ids.hpp"
#include "models/protocol/pages.hpp"
#include "models/scash/courses.hpp"
#include "models/scash/messages.hpp"
#include "models/units.hpp"
#include "sim/course.hpp"

namespace sdsm::sim {

class Cluster;
class Thread;

using Course = std::span<const courses::Step>;
using Exchange = ExchangeOf<courses::Step>;

/// What a flag counts now; nothing: one more.
using Count = std::optional<std::uint64_t>;
struct FlagWait {
  std::uint64_t until = 0;  ///< the flag counts so far
  bool comes = false;       ///< who asks counts, too
};

/// Locks, each with a FIFO queue at its manager.
class LockManager {
 public:
  explicit LockManager(Cluster& cluster) : cluster_(cluster) {}

  /// What a course asks and tells the lock's manager. `turn`: the number that the grant must have among the lock's,
  /// from 0.
  Exchange about(Thread& thread, LockId lock, std::optional<std::uint64_t> turn = std::nullopt);
  /// The same of a flag: counts it up, or waits until it counts so far.
  Exchange count_up(Thread& thread, std::uint64_t flag, Count count);
  Exchange wait(Thread& thread, std::uint64_t flag, FlagWait wait);

  /// Plays a course of the thread, in time. `sync`: what its first flush is for.
  void perform(Thread& thread, Course course, Sync sync, Exchange exchange, Then done);
  /// Sends home the diffs that the thread owes at `sync`.
  void send_changes(Thread& thread, Sync sync, Then sent);
  /// Flushes and drops copies, without a lock.
  void flush(Thread& thread, Then flushed);

 private:
  struct Waiter {
    Thread* thread;
    MessageKind answer;
    Then granted;
    Time since{};
    std::optional<std::uint64_t> turn;  ///< of a flag: what it has to count
    Time arrived{};                     ///< at a lock's manager
  };
  struct Flag {
    std::uint64_t count = 0;
    std::vector<Waiter> waiters;
  };
  struct Lock {
    bool held = false;
    std::uint64_t grants = 0;
    std::deque<Waiter> queue;
    std::optional<Waiter> chosen;  ///< its grant has not left yet
  };
  void send_to(ProcessId manager, Thread& thread, MessageKind kind, Then arrived);
  bool comes_before(const Waiter& late, const Waiter& early) const;
  void enter(LockId lock, Waiter waiter);
  void grant_next(LockId lock);
  void answer(ProcessId manager, const Waiter& waiter);
  void grant(ProcessId manager, Waiter waiter);
  void set_flag(ProcessId manager, Flag& flag, std::uint64_t count);

  Cluster& cluster_;
  std::unordered_map<std::uint32_t, Lock> locks_;
  std::unordered_map<std::uint64_t, Flag> flags_;
};

}  // namespace sdsm::sim
