#pragma once

#include <filesystem>
#include <string>

namespace sdsm::commands {

/// Returns a file's SHA-256 in hexadecimal, by which results name their inputs. Throws std::system_error.
std::string sha256_of(const std::filesystem::path& path);

}  // namespace sdsm::commands
