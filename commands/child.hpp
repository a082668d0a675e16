/// The one way to start a process, to wait for it and to end it. No child outlives its command, whatever ends that.
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

/// How a process ended.
struct ProcessEnd {
  bool was_killed = false;
  int signal = 0;
  int status = 0;
};
/// From waitpid's status.
ProcessEnd process_end(int wait_status);

class Child {
 public:
  Child() = default;  ///< no process
  /// Starts a copy of this process, which calls `body` and ends with the status that `body` returns. Signals that this
  /// process handles kill the copy. The kernel sends it `last_signal` when this process is gone. Throws RunError if the
  /// system cannot start another process.
  explicit Child(const std::function<int()>& body, int last_signal = SIGKILL);
  /// Kills it and waits for its end, if that has not been seen.
  ~Child();
  Child(Child&& other) noexcept { *this = std::move(other); }
  Child& operator=(Child&& other) noexcept;

  void send(int signal) const;  ///< does nothing if it has ended
  /// How it ended (waitpid's status), if it has.
  const std::optional<int>& poll_for_end();
  /// Waits for its end and returns waitpid's status. Throws RunError with the text `interrupted`, if there is one, when
  /// the command is interrupted meanwhile.
  int wait(const char* interrupted = nullptr);
  /// The resources that it had used at its end.
  const rusage& usage() const { return usage_; }

 private:
  bool collect(int options);

  pid_t process_ = -1;
  std::optional<int> wait_status_;
  rusage usage_{};
};

/// A program to start, and what it gets.
struct Execution {
  enum class Addresses { any, fixed_if_allowed, fixed };

  std::filesystem::path file;                ///< looked for in PATH if it has no slash
  std::vector<std::string> arguments;        ///< with the program's name first
  std::vector<std::string> environment;      ///< NAME=VALUE
  std::vector<std::pair<int, int>> files{};  ///< descriptors of this process, and their numbers there; -1: none
  Addresses addresses = Addresses::any;      ///< fixed: the same in each start
  int last_signal = SIGKILL;                 ///< as Child's
};

/// This process's environment, NAME=VALUE.
std::vector<std::string> own_environment();

/// Starts a program. Throws BadInput if it cannot be executed, RunError if the system refuses what it needs.
Child execute(const Execution& execution);

}  // namespace sdsm::commands
