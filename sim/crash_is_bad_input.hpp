#pragma once

#include <csignal>
#include <filesystem>
#include <string>

namespace sdsm::sim {

/// SimGrid answers some faults of a platform by abort() after printing what is wrong and where in its own code, and a
/// zone without any route by a segmentation fault. Bad input must end with status 2 and one line, so while one of these
/// lives both end the process so, with the reason that SimGrid gave. What it prints otherwise goes to stderr at the end
/// of this one's life. There may be one at a time.
class CrashIsBadInput {
 public:
  explicit CrashIsBadInput(const std::filesystem::path& platform);
  ~CrashIsBadInput();
  CrashIsBadInput(const CrashIsBadInput&) = delete;
  CrashIsBadInput& operator=(const CrashIsBadInput&) = delete;

 private:
  static void report(int signal);

  /// The signal handler's: nothing can be given to it.
  static CrashIsBadInput* current_;
  std::string name_;
  int kept_ = -1;    ///< what is printed meanwhile; -1 if it cannot be kept
  int errors_ = -1;  ///< stderr as it was
  void (*abort_before_)(int);
  void (*fault_before_)(int);
};

}  // namespace sdsm::sim
