/// Starts processes, waits for them and ends them. No child outlives its command, whatever ends that.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sdsm::commands {

struct ProcessEnd {
  bool was_killed = false;
  int signal = 0;
  int status = 0;
};
/// Converts waitpid's status.
ProcessEnd process_end(int wait_status);

class Child {
 public:
  Child() = default;  ///< no process
  /// Starts a copy of this process, which calls `body` and exits with the status that `body` returns. Signals that this
  /// process handles kill the copy. The kernel sends it `last_signal` when this process ends. Throws RunError if the
  /// system cannot start another process.
  explicit Child(const std::function<int()>& body, int last_signal = SIGKILL);
  /// Kills the process and waits for its end, if that has not been seen.
  ~Child();
  Child(Child&& other) noexcept { *this = std::move(other); }
  Child& operator=(Child&& other) noexcept;

  void send(int signal) const;  ///< does nothing if the process has ended
  /// Returns waitpid's status if the process has ended.
  const std::optional<int>& poll_for_end();
  /// Waits for the end and returns waitpid's status. Throws RunError with the text `interrupted`, if given, when the
  /// command is interrupted meanwhile.
  int wait(const char* interrupted = nullptr);
  /// Resources that the process had used at its end.
  const rusage& usage() const { return usage_; }

 private:
  bool collect(int options);

  pid_t process_ = -1;
  std::optional<int> wait_status_;
  rusage usage_{};
};

/// A program to start, with its arguments and files.
struct Execution {
  enum class Addresses { any, fixed_if_allowed, fixed };

  std::filesystem::path file;                ///< searched in PATH if it has no slash
  std::vector<std::string> arguments;        ///< the program's name first
  std::vector<std::string> environment;      ///< NAME=VALUE
  std::vector<std::pair<int, int>> files{};  ///< descriptors of this process, and their numbers in the program; -1:
                                             ///< none
  Addresses addresses = Addresses::any;      ///< fixed: the same in each start
  int last_signal = SIGKILL;                 ///< see Child
};

/// Returns this process's environment, NAME=VALUE.
std::vector<std::string> own_environment();

/// Starts a program. Throws BadInput if it cannot be executed, RunError if the system refuses what it needs.
Child execute(const Execution& execution);

}  // namespace sdsm::commands
