#include "commands/input.hpp"

#include <fmt/format.h>

#include <algorithm>
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

std::size_t line_at(std::string_view text, std::ptrdiff_t offset) {
  const auto end = std::clamp<std::ptrdiff_t>(offset, 0, static_cast<std::ptrdiff_t>(text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + end, '\n'));
}

std::string markup_problem(const std::filesystem::path& path, std::string_view text, std::ptrdiff_t offset,
                           std::string_view description) {
  return fmt::format("{}:{}: not well-formed XML ({}). Mend the markup here, or give a SimGrid platform file.",
                     path.string(), line_at(text, offset), description);
}

}  // namespace sdsm::commands
