/// Checks of an input file before it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

namespace sdsm::commands {

/// Why the file cannot be read as a whole ("is a folder"), or "". Devices and pipes cannot, as they may have no end;
/// nor can files of more than `most_bytes`.
std::string input_problem(const std::filesystem::path& path,
                          std::uintmax_t most_bytes = std::numeric_limits<std::uintmax_t>::max());

/// Number, from 1, of the line that holds byte `offset`, or the text's end if that is before.
std::size_t line_at(std::string_view text, std::ptrdiff_t offset);

/// The error for a platform file that is no XML: where, what the parser said, and what to do.
std::string markup_problem(const std::filesystem::path& path, std::string_view text, std::ptrdiff_t offset,
                           std::string_view description);

}  // namespace sdsm::commands
