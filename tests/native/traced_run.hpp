/// Runs `sdsm-trace` as a user does, and reads what it wrote.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/scratch.hpp"
#include "workloads/trace/reader.hpp"

namespace sdsm::tests {

struct CommandResult {
  int status = 0;
  std::string output;
  std::string errors;
};

/// Runs a command with the given standard input; a shell expands nothing. Throws if it cannot be started.
CommandResult run_command(const std::vector<std::string>& command, const std::string& input = "");

/// The same by way of a shell script, whose "$@" is the command.
CommandResult run_with(const std::string& script, const std::vector<std::string>& command);

/// A folder in which programs may be executed.
struct TemporaryFolder : test::Scratch {
  TemporaryFolder() : Scratch(std::filesystem::temp_directory_path()) {}
};

/// Path of one of tests/native/traced/*.c, compiled.
std::string program(const std::string& name);

/// sdsm-trace's arguments for a quiet trace.
std::vector<std::string> tracing(unsigned threads, const std::filesystem::path& output,
                                 const std::vector<std::string>& traced_program);

/// A touch of one page, in words that a test can write down: region by name.
struct PageTouch {
  std::string region;
  std::uint64_t page = 0;
  Access access{};
  Change change{};

  bool operator==(const PageTouch&) const = default;
};
std::ostream& operator<<(std::ostream& out, const PageTouch& touch);

/// An interval without what is measured.
struct Step {
  std::vector<PageTouch> touches;
  Event end;

  bool operator==(const Step&) const = default;
};

/// A whole trace in memory, without what is measured.
struct TraceContent {
  trace::Header header;
  std::vector<trace::Region> regions;
  std::vector<std::vector<Step>> threads;

  /// Steps of a thread between its team_begin (thread 0: its fork) of region `region` and the join, with the join.
  std::vector<Step> in_region(std::uint32_t thread, std::uint64_t region) const;
  std::vector<EventKind> events(std::uint32_t thread) const;
};
TraceContent read_trace(const std::filesystem::path& path);

/// Traces a program of tests/native/traced and requires that it ends with status 0.
TraceContent trace_of(const std::string& name, unsigned threads, const std::vector<std::string>& arguments = {});

}  // namespace sdsm::tests
