/// Starts a program with our run-time in it.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "commands/child.hpp"

namespace sdsm::program_start {

/// The program's environment: the caller's, and what the run-time needs.
class Environment {
 public:
  explicit Environment(std::vector<std::string> entries = commands::own_environment()) : entries_(std::move(entries)) {}
  void set(const std::string& name, const std::string& value);
  /// Puts the run-time first in LD_PRELOAD, whose entries end at colons and blanks: throws BadInput if the run-time's
  /// path has any.
  void preload(const std::filesystem::path& runtime);
  const std::vector<std::string>& entries() const { return entries_; }
  /// Removes variables whose name is not `wanted`.
  template <typename Wanted>
  void keep(Wanted&& wanted) {
    std::erase_if(entries_, [&](const std::string& entry) { return !wanted(entry.substr(0, entry.find('='))); });
  }

 private:
  std::vector<std::string> entries_;
};

/// The library `file`, beside the running command or in the lib folder beside the command's. If it is missing, throws
/// RunError that names the CMake target that builds it.
std::filesystem::path runtime_library(const std::string& file, const std::string& target);

/// The standard output of a command without input. Throws as commands::execute().
std::string output_of(const std::vector<std::string>& words, bool shows_errors);
/// What binutils' addr2line says; empty if there is none.
std::string addr2line(const std::vector<std::string>& arguments);

/// Warns on stderr where the caller's environment asks for OpenMP's cancellation.
void warn_of_cancellation();

}  // namespace sdsm::program_start
