#pragma once

#include <filesystem>
#include <string>

namespace sdsm::commands {

/// SHA-256 of a file in hexadecimal digits; results name their inputs by it. Throws std::system_error if the file
/// cannot be read.
std::string sha256_of(const std::filesystem::path& path);

}  // namespace sdsm::commands
