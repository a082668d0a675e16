#include "commands/version.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "commands/errors.hpp"

namespace sdsm::commands {

std::string version() {
  return SDSM_VERSION;
}

void refuse_another_version() {
  const char* const caller = std::getenv("SDSM_VERSION");
  if (caller == nullptr || *caller == '\0' || version() == caller) return;
  std::error_code unknown;
  throw BadInput(fmt::format("{} is of sdsm {}, but what started it is sdsm {}. Install all parts from one version",
                             std::filesystem::read_symlink("/proc/self/exe", unknown).string(), version(), caller));
}

}  // namespace sdsm::commands
