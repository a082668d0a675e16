#include "commands/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "commands/descriptor.hpp"
#include "commands/errors.hpp"
#include "commands/interruption.hpp"

namespace sdsm::commands {
namespace {

/// The step that kept the child from becoming the program. It travels through a pipe that a successful start closes.
enum class Step : int { files, addresses, execution };
struct StartFailure {
  Step step{};
  int error = 0;
};

/// Makes the arguments of a system call before there is a child: pointers into the words, and a final null.
std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

bool fix_addresses() {
  const int before = personality(0xffffffff);
  if (before == -1) return false;
  if (personality(static_cast<unsigned long>(before) | ADDR_NO_RANDOMIZE) == -1) return false;
  errno = EPERM;
  return (personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0;
}

/// Gives files their numbers, in the child. A file may have a number that another needs, so first all move away.
bool give(std::vector<std::pair<int, int>>& files, int* failure) {
  int above = STDERR_FILENO + 1;
  for (const auto& [own, number] : files) above = std::max(above, number + 1);
  // The pipe for failures must work when this fails.
  if (const int moved = fcntl(*failure, F_DUPFD_CLOEXEC, above); moved >= 0) *failure = moved;
  for (auto& [own, number] : files) {
    if (own >= 0 && (own = fcntl(own, F_DUPFD_CLOEXEC, above)) < 0) return false;
  }
  return std::all_of(files.begin(), files.end(),
                     [](const auto& file) { return file.first < 0 || dup2(file.first, file.second) == file.second; });
}

[[noreturn]] void explain(const StartFailure& failure, const std::filesystem::path& program) {
  const char* why = std::strerror(failure.error);
  switch (failure.step) {
    case Step::files:
      throw RunError(fmt::format(
          "a process could not be given its files ({}). Raise the limit of open files: ulimit -n 1024.", why));
    case Step::addresses:
      throw RunError(
          fmt::format("the system does not let a process have fixed addresses ({}), which all processes of a run need. "
                      "Allow the system call personality: in a container by --security-opt seccomp=unconfined.",
                      why));
    case Step::execution: break;
  }
  throw BadInput(
      fmt::format("{}: cannot be executed ({}). Is it whole, and built for this machine?", program.string(), why));
}

}  // namespace

ProcessEnd process_end(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {true, WTERMSIG(wait_status), 0};
  return {false, 0, WEXITSTATUS(wait_status)};
}

Child::Child(const std::function<int()>& body, int last_signal) {
  const pid_t parent = getpid();
  // Signals for the child wait until it has none of this process's handlers.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  process_ = fork();
  const int error = errno;
  if (process_ == 0) {
    for (int signal = 1; signal < NSIG; ++signal) {
      struct sigaction action {};
      // A command ignores SIGPIPE only for itself.
      if (sigaction(signal, nullptr, &action) == 0 && (action.sa_handler != SIG_IGN || signal == SIGPIPE)) {
        std::signal(signal, SIG_DFL);
      }
    }
    prctl(PR_SET_PDEATHSIG, last_signal);
    if (getppid() != parent) _exit(run_failed);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    try {
      _exit(body());
    } catch (...) {
      _exit(run_failed);
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (process_ < 0) {
    throw RunError(
        fmt::format("no process can be started ({}). Is the number of processes limited (`ulimit -u`, or a "
                    "container's limit of pids), or is there no memory left? Run fewer threads, or raise it.",
                    std::strerror(error)));
  }
}

Child::~Child() {
  send(SIGKILL);
  while (process_ >= 0 && !collect(0) && errno == EINTR) {
  }
}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(wait_status_, other.wait_status_);
  std::swap(usage_, other.usage_);
  return *this;
}

void Child::send(int signal) const {
  if (process_ >= 0 && !wait_status_) kill(process_, signal);
}

bool Child::collect(int options) {
  int status = 0;
  if (wait_status_ || wait4(process_, &status, options, &usage_) != process_) return wait_status_.has_value();
  wait_status_ = status;
  return true;
}

const std::optional<int>& Child::poll_for_end() {
  collect(WNOHANG);
  return wait_status_;
}

int Child::wait(const char* interrupted) {
  while (!collect(0)) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "cannot wait for a process");
    if (interrupted != nullptr) throw_if_interrupted(interrupted);
  }
  return *wait_status_;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

Child execute(const Execution& execution) {
  Pipe pipe = make_pipe();
  const std::string& file = execution.file.native();
  const bool is_searched = file.find('/') == std::string::npos;
  const std::vector<char*> arguments = pointers_to(execution.arguments);
  const std::vector<char*> environment = pointers_to(execution.environment);
  std::vector<std::pair<int, int>> files = execution.files;
  Child child(
      [&] {
        int failure = pipe.write_end.get();
        const auto fail = [&](Step step) {
          const StartFailure report{step, errno};
          [[maybe_unused]] const ssize_t written = write(failure, &report, sizeof report);
          return run_failed;
        };
        if (!give(files, &failure)) return fail(Step::files);
        using Addresses = Execution::Addresses;
        if (execution.addresses != Addresses::any && !fix_addresses() && execution.addresses == Addresses::fixed) {
          return fail(Step::addresses);
        }
        if (is_searched) {
          execvpe(file.c_str(), arguments.data(), environment.data());
        } else {
          execve(file.c_str(), arguments.data(), environment.data());
        }
        return fail(Step::execution);
      },
      execution.last_signal);
  pipe.write_end.reset();
  StartFailure report;
  ssize_t count = 0;
  do {
    count = read(pipe.read_end.get(), &report, sizeof report);
  } while (count < 0 && errno == EINTR);
  if (count == sizeof report) explain(report, execution.file);
  return child;
}

}  // namespace sdsm::commands
