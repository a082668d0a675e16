#include "commands/input.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace sdsm::commands {

std::string input_problem(const std::filesystem::path& path, std::uintmax_t most_bytes) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) return "is a folder";
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return "is no regular file";
  if (const auto size = std::filesystem::file_size(path, ignored); !ignored && size > most_bytes) {
    return fmt::format("has {} bytes, more than the {} that are read", size, most_bytes);
  }
  errno = 0;
  if (!std::ifstream(path, std::ios::binary)) return fmt::format("cannot be read ({})", std::strerror(errno));
  return {};
}

}  // namespace sdsm::commands
