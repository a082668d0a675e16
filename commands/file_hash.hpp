#pragma once

#include <filesystem>
#include <string>

namespace sdsm::commands {

/// SHA-256 of a file's bytes in hexadecimal digits: results say with it what they came from. Throws std::system_error
/// if the file cannot be read.
std::string sha256_of(const std::filesystem::path& path);

}  // namespace sdsm::commands
