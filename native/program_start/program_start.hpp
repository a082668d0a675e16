/// How a program with our run-time in it is started.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sdsm::program_start {

/// The program's environment: the caller's, and what the run-time needs.
class Environment {
 public:
  Environment();
  explicit Environment(std::vector<std::string> entries) : entries_(std::move(entries)) {}
  void set(const std::string& name, const std::string& value);
  /// Puts the run-time first in LD_PRELOAD, whose entries end at colons and blanks: throws UsageError if the run-time's
  /// path has any.
  void preload(const std::filesystem::path& runtime);
  const std::vector<std::string>& entries() const { return entries_; }
  /// Removes variables whose name is not `wanted`.
  template <typename Wanted>
  void keep(Wanted&& wanted) {
    std::erase_if(entries_, [&](const std::string& entry) { return !wanted(entry.substr(0, entry.find('='))); });
  }
  /// For execve. Valid until the next change.
  std::vector<char*> pointers();

 private:
  std::vector<std::string> entries_;
};

/// For execve: pointers into `words`, with a null at the end.
std::vector<char*> pointers_to(std::vector<std::string>& words);

/// The library `file`, beside the running command or in the lib folder beside the command's. If it is missing, throws
/// RunError that names the CMake target that builds it.
std::filesystem::path runtime_library(const std::string& file, const std::string& target);

/// How a process ended.
struct ProcessEnd {
  bool was_killed = false;
  int signal = 0;
  int status = 0;
};
/// `wait_status`: of waitpid.
ProcessEnd process_end(int wait_status);

}  // namespace sdsm::program_start
