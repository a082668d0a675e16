/// The processes of the cluster.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "commands/child.hpp"
#include "native/launch/program_start.hpp"

namespace sdsm::run_command {

/// Arguments and environment of every process of a run. They are equal, as initial stacks have to be alike.
struct ProgramStart {
  std::filesystem::path file;
  std::vector<std::string> arguments;  ///< with the program's name first
  program_start::Environment environment;
};

/// Numbers of inherited descriptors: the same in every process, and out of the way of the program's own files.
inline constexpr int control_descriptor = 200;
inline constexpr int memory_descriptor = 201;
inline constexpr int wires_descriptor = 202;
inline constexpr int schedule_descriptor = 203;
inline constexpr int files_descriptor = 204;

/// Descriptors that a process inherits; -1: none.
struct InheritedFiles {
  int node_memory = -1;  ///< what the processes of its node share
  int wires = -1;        ///< of an emulated network (native/dsm/timing/emulation.hpp)
  int schedule = -1;     ///< of emulated processors
  int files = -1;        ///< what the processes of its host share
};

/// Starts one. input: its standard input; control: its end of the launcher's socket. Throws as commands::execute().
commands::Child start_process(const ProgramStart& start, int input, int control, const InheritedFiles& files);

/// Processes that the program started and that outlive it: a failed run must leave none of them.
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
