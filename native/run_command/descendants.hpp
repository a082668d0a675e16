/// Processes that the program started and that outlive it: a failed run must leave none of them.
#pragma once

#include <sys/types.h>

#include <set>

namespace sdsm::run_command {

class Descendants {
 public:
  /// Makes orphans of the run this process's children from now on. Children that it has already are not the run's.
  Descendants();
  /// Kills all that is left of the run, and waits for a while until it is gone.
  void kill_all() const;

 private:
  std::set<pid_t> others_;
};

}  // namespace sdsm::run_command
