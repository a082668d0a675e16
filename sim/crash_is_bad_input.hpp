#pragma once

#include <csignal>
#include <filesystem>
#include <string>

namespace sdsm::sim {

/// Turns SimGrid's crashes on bad platforms into exit status 2 with one line that has SimGrid's reason. SimGrid calls
/// abort() after printing the reason with a place in its own code; a zone without any route ends in a segmentation
/// fault. SimGrid's other output goes to stderr when this object dies. Only one may exist at a time.
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
