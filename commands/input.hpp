/// What can be told of an input file before it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

namespace sdsm::commands {

/// Why the file cannot be read as a whole ("is a folder"), or nothing. A device or a pipe may have no end, or nothing
/// to read for ever; more than `most_bytes` is no file of its kind.
std::string input_problem(const std::filesystem::path& path,
                          std::uintmax_t most_bytes = std::numeric_limits<std::uintmax_t>::max());

/// The line, from 1, of the byte at `offset` (in bytes, cut to the text's size).
std::size_t line_at(std::string_view text, std::ptrdiff_t offset);

/// What to say of a platform file whose text is no XML: where, what the parser said, and what to do.
std::string markup_problem(const std::filesystem::path& path, std::string_view text, std::ptrdiff_t offset,
                           std::string_view description);

}  // namespace sdsm::commands
