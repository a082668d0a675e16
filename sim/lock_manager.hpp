#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>

#include "models/ids.hpp"
#include "models/units.hpp"

namespace sdsm::sim {

class Cluster;
class Thread;

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
  /// Flushes and drops copies, without a lock.
  void flush(Thread& thread, std::function<void()> flushed);

 private:
  struct Waiter {
    Thread* thread;
    std::function<void()> granted;
    Time since{};
    std::optional<std::uint64_t> turn;
  };
  struct Lock {
    bool held = false;
    std::uint64_t grants = 0;
    std::deque<Waiter> queue;
  };
  void grant_next(LockId lock);
  void grant(LockId lock, Waiter waiter);

  Cluster& cluster_;
  std::unordered_map<std::uint32_t, Lock> locks_;
};

}  // namespace sdsm::sim
