#include "native/trace_command/traced_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "commands/errors.hpp"
#include "commands/interruption.hpp"
#include "native/trace_command/trace_program.hpp"

namespace sdsm::trace_command {

using namespace commands;
using namespace program_start;

namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// In the child: what does not return goes on as the program.
[[noreturn]] void become_program(const TracedProgram& program, char* const* arguments, char* const* environment,
                                 const Streams& streams, int stream, int schedule, int failure, pid_t driver) {
  // The program dies with its driver, which would be the only one to tell about it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != driver) _exit(1);
  // The same addresses in each pass. Where that is not allowed, only stored pointers differ.
  const int persona = personality(0xffffffff);
  if (persona != -1) personality(static_cast<unsigned long>(persona) | ADDR_NO_RANDOMIZE);
  // Moved out of the way of 0, 1 and 2 first: each may be any of the others.
  const int input = fcntl(streams.input, F_DUPFD_CLOEXEC, 10);
  const int output = fcntl(streams.output, F_DUPFD_CLOEXEC, 10);
  const int errors = fcntl(streams.errors, F_DUPFD_CLOEXEC, 10);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  fcntl(stream, F_SETFD, 0);
  fcntl(schedule, F_SETFD, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  execve(program.file.c_str(), arguments, environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(failure, &error, sizeof error);
  _exit(127);
}

}  // namespace

TracedProcess::TracedProcess(const TracedProgram& program, tracer::Mode mode, int schedule, const Streams& streams) {
  Pipe records = make_pipe();
  Pipe failure = make_pipe();
  // High numbers, so that the program's own files get the numbers that they would have alone.
  Descriptor stream(fcntl(records.write_end.get(), F_DUPFD_CLOEXEC, 200));
  Descriptor schedule_copy(fcntl(schedule, F_DUPFD_CLOEXEC, 200));
  if (stream.get() < 0 || schedule_copy.get() < 0) throw no_files_error(errno);
  records.write_end.reset();

  Environment environment;
  environment.preload(program.runtime);
  // Binding a function at its first call would write to the program's memory at odd times.
  environment.set("LD_BIND_NOW", "1");
  environment.set("OMP_NUM_THREADS", std::to_string(program.threads));
  environment.set(tracer::variable::threads, std::to_string(program.threads));
  environment.set(tracer::variable::stream, std::to_string(stream.get()));
  environment.set(tracer::variable::schedule, std::to_string(schedule_copy.get()));
  environment.set(tracer::variable::mode, std::string(1, static_cast<char>(mode)));
  if (program.has_sites) environment.set(tracer::variable::sites, "1");
  std::vector<std::string> arguments = program.arguments;
  const std::vector<char*> argument_list = pointers_to(arguments);
  const std::vector<char*> environment_list = environment.pointers();

  const pid_t driver = getpid();
  process_ = fork();
  if (process_ < 0) fail("cannot start a process");
  if (process_ == 0) {
    become_program(program, argument_list.data(), environment_list.data(), streams, stream.get(), schedule_copy.get(),
                   failure.write_end.get(), driver);
  }
  stream_ = std::move(records.read_end);
  failure.write_end.reset();
  int error = 0;
  if (read(failure.read_end.get(), &error, sizeof error) == sizeof error) {
    throw UsageError(fmt::format("{}: cannot be executed ({})", program.file.string(), std::strerror(error)));
  }
}

TracedProcess::~TracedProcess() {
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

ProcessEnd TracedProcess::wait() {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0) {
    if (errno != EINTR) fail("cannot wait for the program");
    throw_if_interrupted(interrupted);
  }
  process_ = -1;
  return process_end(status);
}

}  // namespace sdsm::trace_command
