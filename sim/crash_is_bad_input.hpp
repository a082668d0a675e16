#pragma once

#include <csignal>
#include <filesystem>
#include <string>

namespace sdsm::sim {

/// Turns SimGrid's crashes on bad platforms (an abort() after the reason with a place in its code; a segmentation fault
/// for a zone without a route) into exit status 2 with one line. Its other output goes to stderr. Only one may exist.
class CrashIsBadInput {
 public:
  explicit CrashIsBadInput(const std::filesystem::path& platform);
  ~CrashIsBadInput();
  CrashIsBadInput(const CrashIsBadInput&) = delete;
  CrashIsBadInput& operator=(const CrashIsBadInput&) = delete;

 private:
  static void report(int signal);

  /// The object that the signal handler reports for, as nothing can be passed to it.
  static CrashIsBadInput* current_;
  std::string name_;
  int kept_ = -1;    ///< collects what is printed meanwhile; -1 if nothing can
  int errors_ = -1;  ///< the original stderr
  void (*abort_before_)(int);
  void (*fault_before_)(int);
};

}  // namespace sdsm::sim
