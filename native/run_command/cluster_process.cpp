#include "native/run_command/cluster_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "commands/errors.hpp"

namespace sdsm::run_command {

using namespace commands;
using namespace program_start;

namespace {

/// What kept the child from becoming the program. It travels through a pipe that a successful start closes.
enum class Step : int { addresses, descriptors, execution };
struct StartFailure {
  Step step{};
  int error = 0;
};

[[noreturn]] void give_up(int failure, Step step) {
  const StartFailure told{step, errno};
  [[maybe_unused]] const ssize_t written = write(failure, &told, sizeof told);
  _exit(127);
}

bool has_fixed_addresses() {
  const int before = personality(0xffffffff);
  if (before == -1) return false;
  if (personality(static_cast<unsigned long>(before) | ADDR_NO_RANDOMIZE) == -1) return false;
  errno = EPERM;
  return (personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0;
}

/// Out of the way of the numbers that are to be given: each may be any of the others.
int moved_away(int descriptor) {
  return fcntl(descriptor, F_DUPFD_CLOEXEC, schedule_descriptor + 1);
}

struct Inherited {
  int input;
  int control;
  InheritedFiles files;
};

/// True if there is nothing to give.
bool give(int descriptor, int number) {
  return descriptor < 0 || dup2(descriptor, number) == number;
}

/// In the child: becomes the program.
[[noreturn]] void become_program(const char* file, char* const* arguments, char* const* environment,
                                 const Inherited& inherited, int failure, pid_t launcher) {
  // The kernel kills it when the launcher, which would have, is gone.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher) _exit(1);
  // What tells of failures has to work when this fails.
  if (const int moved = moved_away(failure); moved >= 0) failure = moved;
  const int input = moved_away(inherited.input);
  const int control = moved_away(inherited.control);
  const int memory = moved_away(inherited.files.node_memory);
  const int wires = moved_away(inherited.files.wires);
  const int schedule = moved_away(inherited.files.schedule);
  if (input < 0 || control < 0 || memory < 0 || !give(input, STDIN_FILENO) || !give(control, control_descriptor) ||
      !give(memory, memory_descriptor) || !give(wires, wires_descriptor) || !give(schedule, schedule_descriptor)) {
    give_up(failure, Step::descriptors);
  }
  if (!has_fixed_addresses()) give_up(failure, Step::addresses);
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(file, arguments, environment);
  give_up(failure, Step::execution);
}

[[noreturn]] void explain_missing_process() {
  const char* why = std::strerror(errno);
  throw RunError(
      fmt::format("no process can be started ({}). Is the number of processes limited (`ulimit -u`, or a "
                  "container's limit of pids), or is there no memory left? Run fewer threads, or raise it.",
                  why));
}

[[noreturn]] void explain(const StartFailure& failure, const std::filesystem::path& program) {
  const char* why = std::strerror(failure.error);
  switch (failure.step) {
    case Step::addresses:
      throw RunError(
          fmt::format("the system does not let a process have fixed addresses ({}), which all processes of a run need. "
                      "Allow the system call personality: in a container by --security-opt seccomp=unconfined.",
                      why));
    case Step::descriptors: throw no_files_error(failure.error);
    case Step::execution: break;
  }
  throw UsageError(
      fmt::format("{}: cannot be executed ({}). Is it whole, and built for this machine?", program.string(), why));
}

}  // namespace

ClusterProcess::ClusterProcess(ProgramStart& start, int input, int control, const InheritedFiles& files) {
  Pipe failure = make_pipe();
  const std::vector<char*> arguments = pointers_to(start.arguments);
  const std::vector<char*> environment = start.environment.pointers();

  const pid_t launcher = getpid();
  process_ = fork();
  if (process_ < 0) explain_missing_process();
  if (process_ == 0) {
    become_program(start.file.c_str(), arguments.data(), environment.data(), {input, control, files},
                   failure.write_end.get(), launcher);
  }
  failure.write_end.reset();
  StartFailure told;
  ssize_t count = 0;
  do {
    count = read(failure.read_end.get(), &told, sizeof told);
  } while (count < 0 && errno == EINTR);
  if (count != sizeof told) return;
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  explain(told, start.file);
}

ClusterProcess::ClusterProcess(ClusterProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)), wait_status_(other.wait_status_) {}

ClusterProcess::~ClusterProcess() {
  kill_it();
  if (process_ < 0 || wait_status_) return;
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ClusterProcess::kill_it() const {
  if (process_ >= 0 && !wait_status_) kill(process_, SIGKILL);
}

const std::optional<int>& ClusterProcess::look_for_end() {
  int status = 0;
  if (!wait_status_ && waitpid(process_, &status, WNOHANG) == process_) wait_status_ = status;
  return wait_status_;
}

}  // namespace sdsm::run_command
