#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "models/ids.hpp"
#include "models/protocol/pages.hpp"
#include "models/scash/messages.hpp"
#include "models/units.hpp"

namespace sdsm::sim {

class Cluster;
class Thread;

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

  /// Asks for the lock and calls `granted` when the thread holds it. `turn`: the number that this grant must have among
  /// the lock's, from 0.
  void request(Thread& thread, LockId lock, std::optional<std::uint64_t> turn, std::function<void()> granted);
  /// Gives the lock back, without a flush.
  void give_back(Thread& thread, LockId lock);
  /// Flushes, asks for the lock, drops copies, and calls `acquired` when the thread holds the lock.
  void acquire(Thread& thread, LockId lock, std::function<void()> acquired);
  /// Flushes, gives the lock back, and calls `released` when the thread may go on.
  void release(Thread& thread, LockId lock, std::function<void()> released);
  /// A flag of a doacross loop: flushes and counts it up; or asks for it, and calls `granted` when it counts so far.
  void post(Thread& thread, std::uint64_t flag, Count count, std::function<void()> posted);
  void count_up(Thread& thread, std::uint64_t flag, Count count);
  void request_flag(Thread& thread, std::uint64_t flag, FlagWait wait, std::function<void()> granted);
  /// Flushes, waits for the flag, drops copies.
  void wait(Thread& thread, std::uint64_t flag, FlagWait wait, std::function<void()> waited);
  /// Sends home the diffs that the thread owes at `sync`.
  void send_changes(Thread& thread, Sync sync, std::function<void()> sent);
  /// Flushes and drops copies, without a lock.
  void flush(Thread& thread, std::function<void()> flushed);

 private:
  struct Waiter {
    Thread* thread;
    std::function<void()> granted;
    Time since{};
    std::optional<std::uint64_t> turn;  ///< of a flag: what it has to count
  };
  struct Flag {
    std::uint64_t count = 0;
    std::vector<Waiter> waiters;
  };
  struct Lock {
    bool held = false;
    std::uint64_t grants = 0;
    std::deque<Waiter> queue;
  };
  void send_to(ProcessId manager, Thread& thread, MessageKind kind, std::function<void()> arrived);
  void grant_next(LockId lock);
  void grant(ProcessId manager, Waiter waiter);
  void set_flag(ProcessId manager, Flag& flag, std::uint64_t count);

  Cluster& cluster_;
  std::unordered_map<std::uint32_t, Lock> locks_;
  std::unordered_map<std::uint64_t, Flag> flags_;
};

}  // namespace sdsm::sim
