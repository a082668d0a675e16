/// One run of the program with the run-time in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands/child.hpp"
#include "commands/descriptor.hpp"
#include "native/tracer/record/stream.hpp"

namespace sdsm::trace_command {

struct TracedProgram {
  std::filesystem::path file;
  std::vector<std::string> arguments;  ///< with the program's name first
  std::filesystem::path runtime;       ///< libsdsm-trace.so
  std::uint32_t threads = 1;
  bool has_sites = false;
  std::string words{};  ///< pages whose words are recorded (native/tracer/execution/words.hpp); empty: none
  std::uint64_t clock_speed = 1;
  std::uint64_t date = 0;  ///< what calendars show at its begin, in seconds since 1970
  int readings = -1;       ///< descriptor of the clock's predicted readings (native/tracer/record/stream.hpp); -1: none
};

/// The program's standard streams. Output is shown in the last pass only.
struct Streams {
  int input = 0;
  int output = 1;
  int errors = 2;
};

class TracedProcess {
 public:
  /// Starts the program. Throws as commands::execute().
  TracedProcess(const TracedProgram& program, tracer::Mode mode, int schedule, const Streams& streams);

  int stream() const { return stream_.get(); }
  commands::ProcessEnd wait();

 private:
  commands::Child process_;
  commands::Descriptor stream_;
};

}  // namespace sdsm::trace_command
