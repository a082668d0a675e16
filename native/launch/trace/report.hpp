#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace sdsm::trace_command {

/// Reads all of a trace file, so that it finds damage anywhere, and prints what it holds: as text on stdout, or as JSON
/// to the file `json` ("": not wanted, "-": stdout).
void print_info(const std::filesystem::path& trace, const std::string& json);

enum class Mending : std::uint8_t { padding, barriers, locks, balance, initialising };
/// Writes the trace of the program with one thing mended (workloads/trace/mended.hpp), and prints how much was mended.
/// Throws BadInput if there is nothing to mend.
void write_mended(const std::filesystem::path& trace, const std::filesystem::path& output, Mending mending);

/// Prints all of a trace as JSON lines on stdout.
void print_dump(const std::filesystem::path& trace);

}  // namespace sdsm::trace_command
