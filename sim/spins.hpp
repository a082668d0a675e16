#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/ids.hpp"

namespace sdsm::sim {

class Cluster;
class Thread;

/// Waits of threads in loops of their own for what another stores. When that is, a trace knows by the other's events.
class Spins {
 public:
  Spins(Cluster& cluster, std::uint32_t processes) : cluster_(cluster), begun_(processes), waiters_(processes) {}

  /// Flushes, asks thread `by`, which answers when so many of its events have begun, drops copies, and calls `done`.
  /// Time is charged to Spent::lock. A run's messages for it are its own affair: they are not counted.
  void wait(Thread& thread, ProcessId by, std::uint64_t events, std::function<void()> done);

  /// Whether anybody waits for the thread's event of that number, from 1.
  bool is_awaited(ProcessId thread, std::uint64_t event) const;
  void begin_event(ProcessId thread);

 private:
  struct Waiter {
    std::uint64_t events = 0;
    std::function<void()> answer;
  };

  Cluster& cluster_;
  std::vector<std::uint64_t> begun_;          ///< events, by thread
  std::vector<std::vector<Waiter>> waiters_;  ///< by the thread that they wait for
};

}  // namespace sdsm::sim
