/// Programs start programs, which outlive them: at the end of a run that failed nothing may be left.
#pragma once

#include <sys/types.h>

#include <set>

namespace sdsm::run_command {

class Descendants {
 public:
  /// From now on what the processes of the run leave behind becomes this process's child. Those that it has already are
  /// none of the run's.
  Descendants();
  /// Kills all that is left of the run, and waits until it is gone, though not for ever.
  void kill_all() const;

 private:
  std::set<pid_t> others_;
};

}  // namespace sdsm::run_command
