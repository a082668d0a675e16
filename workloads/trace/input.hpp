/// What can be told of an input file before it is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace sdsm::trace {

/// Why the file cannot be read as a whole ("is a folder"), or nothing. A device or a pipe may have no end, or nothing
/// to read for ever; more than `most_bytes` is no file of its kind.
std::string input_problem(const std::filesystem::path& path,
                          std::uintmax_t most_bytes = std::numeric_limits<std::uintmax_t>::max());

}  // namespace sdsm::trace
