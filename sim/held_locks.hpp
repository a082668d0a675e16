/// The locks that a thread's program tries to take (omp_test_lock, std::scoped_lock), and got when it was traced. In
/// simulated time another thread may hold one.
#pragma once

#include <vector>

#include "models/ids.hpp"
#include "sim/memory.hpp"
#include "sim/thread.hpp"

namespace sdsm::sim {

/// Tracks a thread's locks. Its functions may block the thread's actor.
class HeldLocks {
 public:
  HeldLocks(Thread& thread, Memory& memory) : thread_(thread), memory_(memory) {}

  void take(LockId lock, bool only_tries);
  void give(LockId lock);
  void give_all();

 private:
  struct Held {
    LockId lock;
    bool was_tried;
  };
  /// Claims all of the locks or none, at one moment of simulated time. Returns the first that is missing.
  std::vector<LockId>::const_iterator claim(const std::vector<LockId>& wanted, std::size_t from);
  void pause(int round);
  void ask(LockId lock, bool only_tries);
  void take_together(std::vector<LockId> wanted);

  Thread& thread_;
  Memory& memory_;
  std::vector<Held> held_;  ///< in the order of taking
};

}  // namespace sdsm::sim
