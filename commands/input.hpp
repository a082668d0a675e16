/// Checks of an input file before it is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace sdsm::commands {

/// Returns why the file cannot be read as a whole ("is a folder"), or "". Devices and pipes are refused, as they may
/// have no end, and so are files of more than `most_bytes`.
std::string input_problem(const std::filesystem::path& path,
                          std::uintmax_t most_bytes = std::numeric_limits<std::uintmax_t>::max());

}  // namespace sdsm::commands
