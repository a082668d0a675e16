#pragma once

#include <filesystem>
#include <optional>

namespace sdsm::trace_command {

/// Prints what a trace file holds: as text on stdout, or as JSON to `json` ("-": stdout).
void print_info(const std::filesystem::path& trace, const std::optional<std::filesystem::path>& json);

/// Prints all of it as JSON lines on stdout.
void print_dump(const std::filesystem::path& trace);

}  // namespace sdsm::trace_command
