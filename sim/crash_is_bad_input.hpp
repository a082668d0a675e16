#pragma once

#include <csignal>
#include <filesystem>
#include <string>

namespace sdsm::sim {

/// SimGrid ends the process on some bad platforms: by abort(), after printing the reason with a place in its own code,
/// or by a segmentation fault, for a zone without any route. While a CrashIsBadInput lives, both end the process with
/// status 2 and one line that has SimGrid's reason. Other output of SimGrid goes to stderr when the object dies. There
/// may be one at a time.
class CrashIsBadInput {
 public:
  explicit CrashIsBadInput(const std::filesystem::path& platform);
  ~CrashIsBadInput();
  CrashIsBadInput(const CrashIsBadInput&) = delete;
  CrashIsBadInput& operator=(const CrashIsBadInput&) = delete;

 private:
  static void report(int signal);

  /// For the signal handler, to which nothing can be passed.
  static CrashIsBadInput* current_;
  std::string name_;
  int kept_ = -1;    ///< keeps what is printed meanwhile; -1 if nothing can
  int errors_ = -1;  ///< stderr as it was
  void (*abort_before_)(int);
  void (*fault_before_)(int);
};

}  // namespace sdsm::sim
