#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sdsm::trace_command {

/// The message when a signal ends the command.
inline constexpr const char* interrupted = "interrupted; no trace is written";

struct TraceRequest {
  std::vector<std::string> program;  ///< name and arguments
  std::uint32_t threads = 1;
  std::filesystem::path output;
  unsigned passes = 3;     ///< untracked ones
  bool has_sites = false;  ///< the instruction of each first touch is recorded
  std::string words{};     ///< an array whose accessed words are recorded, too; empty: none
  bool is_quiet = false;
  /// What the program's clock shows (workloads/trace/readings.hpp); empty: the tracer's time.
  std::string readings{};
  std::uint64_t clock_speed = 1;  ///< how many times as fast as computing the program's clock goes
  /// What calendars show at the program's begin, in seconds since 1970; 0: what they show now.
  std::uint64_t date = 0;
  /// A shell command that runs before each pass, such as one that removes what the program wrote; empty: none.
  std::string before{};
  std::filesystem::path runtime{};             ///< libsdsm-trace.so; empty: the one beside this program
  std::function<void(unsigned)> after_pass{};  ///< called with the number of each pass that has ended, from 1
};

/// Runs the program in passes and writes its trace. Returns 0, or 1 (with a warning on stderr) if the program itself
/// ended with another status than 0, which the trace then holds. Throws BadInput, RunError or std::system_error, and
/// then leaves no file.
int trace_program(const TraceRequest& request);

}  // namespace sdsm::trace_command
