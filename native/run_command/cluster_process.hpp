/// One process of the cluster.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "native/command/descriptor.hpp"
#include "native/command/program_start.hpp"
#include "native/run_command/control_channel.hpp"

namespace sdsm::run_command {

/// What every process of a run is started with: the same for all, as their initial stacks have to look alike.
struct ProgramStart {
  std::filesystem::path file;
  std::vector<std::string> arguments;  ///< with the program's name first
  command::Environment environment;
};

/// The numbers under which every process finds what it inherits: the same in all, and out of the way of the program's
/// own files.
inline constexpr int control_descriptor = 200;
inline constexpr int memory_descriptor = 201;
inline constexpr int wires_descriptor = 202;
inline constexpr int schedule_descriptor = 203;

/// Files that a process inherits under those numbers; -1: none.
struct InheritedFiles {
  int node_memory = -1;  ///< what the processes of its node share
  int wires = -1;        ///< of an emulated network (native/dsm/emulation.hpp)
  int schedule = -1;     ///< of emulated processors
};

class ClusterProcess {
 public:
  /// Starts the program, with the same addresses in all processes. input: its standard input. Throws UsageError if it
  /// cannot be executed, RunError if the system refuses.
  ClusterProcess(ProgramStart& start, int input, const InheritedFiles& files);
  /// Kills the process if it is still there, and waits for its end.
  ~ClusterProcess();
  ClusterProcess(ClusterProcess&& other) noexcept;
  ClusterProcess& operator=(ClusterProcess&&) = delete;

  ControlChannel& control() { return control_; }
  const ControlChannel& control() const { return control_; }
  /// How it ended, if it has.
  const std::optional<command::ProcessEnd>& look_for_end();
  const std::optional<command::ProcessEnd>& end() const { return end_; }

  void kill_it() const;

 private:
  pid_t process_ = -1;
  ControlChannel control_;
  std::optional<command::ProcessEnd> end_;
};

}  // namespace sdsm::run_command
