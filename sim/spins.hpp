#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/ids.hpp"

namespace sdsm::sim {

/// Threads that wait in their own loops for another's store, which a trace dates by the other's events.
class Spins {
 public:
  explicit Spins(std::uint32_t processes);

  /// A question arrives at thread `by`. Calls `answer` when `events` of its events have begun, perhaps at once.
  void ask(ProcessId by, std::uint64_t events, std::function<void()> answer);

  std::uint64_t begun(ProcessId thread) const { return begun_[index_of(thread)]; }
  /// Whether anybody waits for the thread's event of that number, from 1.
  bool is_awaited(ProcessId thread, std::uint64_t event) const;
  void begin_event(ProcessId thread);

 private:
  struct Waiter {
    std::uint64_t events = 0;
    std::function<void()> answer;
  };

  std::vector<std::uint64_t> begun_;          ///< events, by thread
  std::vector<std::vector<Waiter>> waiters_;  ///< by the thread for which they wait
};

}  // namespace sdsm::sim
