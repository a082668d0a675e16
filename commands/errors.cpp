#include "commands/errors.hpp"

#include <fmt/format.h>

#include <cstring>

namespace sdsm::commands {

RunError no_files_error(int error) {
  return RunError(
      fmt::format("a process could not be given its files ({}). Raise the limit of open files: ulimit -n 1024.",
                  std::strerror(error)));
}

}  // namespace sdsm::commands
