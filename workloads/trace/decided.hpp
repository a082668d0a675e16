/// What the tracer's clocks decided: work that threads take from each other as they come. A trace keeps who did what
/// when it was traced; on a cluster others may come first.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "workloads/trace/reader.hpp"

namespace sdsm::trace {

/// Shares of all threads' computing, 0 to 1. Each interval counts once, in the first that has it.
struct Decided {
  double loops = 0;    ///< in loops that hand out chunks (dynamic, guided) and sections
  double tasks = 0;    ///< from a task's begin to the next barrier
  double singles = 0;  ///< of the thread that executes a `single`, to its next barrier
  /// Between one time and the next at a lock or an atomic variable that threads took different numbers of times at one
  /// place, as they do at a queue of work.
  double queues = 0;

  /// Names and shares of those of 1 % or more.
  std::vector<std::pair<std::string, double>> notable() const;
};

/// Reads the trace once. Throws as its cursors do.
Decided decided_when_traced(const File& file);

/// What to say of it; empty if there is nothing notable.
std::string note_of(const Decided& decided);

}  // namespace sdsm::trace
