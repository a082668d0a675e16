#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "workloads/trace/mended.hpp"

namespace sdsm::trace_command {

/// Reads all of a trace file, so that it finds damage anywhere, and prints what it holds: as text on stdout, or as JSON
/// to the file `json` ("": not wanted, "-": stdout).
void print_info(const std::filesystem::path& trace, const std::string& json);

enum class Mending : std::uint8_t { padding, barriers, locks, singles, balance, initialising };
/// Writes the trace of the program with one thing mended (workloads/trace/mended.hpp), at these call sites if there are
/// any, and prints how much was mended. Throws BadInput if there is nothing to mend, or it has no call sites.
void write_mended(const std::filesystem::path& trace, const std::filesystem::path& output, Mending mending,
                  const trace::CallSites& at);

/// Prints all of a trace as JSON lines on stdout.
void print_dump(const std::filesystem::path& trace);

}  // namespace sdsm::trace_command
