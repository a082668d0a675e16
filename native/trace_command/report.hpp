#pragma once

#include <filesystem>
#include <string>

namespace sdsm::trace_command {

/// Reads all of a trace file, so that damage anywhere is found, and prints what it holds: as text on stdout, or as JSON
/// to `json` ("": not wanted, "-": stdout).
void print_info(const std::filesystem::path& trace, const std::string& json);

/// Prints all of it as JSON lines on stdout.
void print_dump(const std::filesystem::path& trace);

}  // namespace sdsm::trace_command
