#include "sim/child.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/command_line.hpp"
#include "sim/simulation.hpp"

namespace sdsm::sim {
namespace {

/// What the first letter of a child's answer says of the rest.
enum Answer : char { returned = '=', platform_error = 'P', run_error = 'R', invalid_argument = 'I', other_error = 'E' };

std::string answer_of(const std::function<std::string()>& body) {
  const auto said = [](Answer answer, const std::string& text) { return std::string(1, answer) + text; };
  try {
    return said(returned, body());
  } catch (const PlatformError& error) {
    return said(platform_error, error.what());  // a finding on each line
  } catch (const RunError& error) {
    return said(run_error, error.what());
  } catch (const std::invalid_argument& error) {
    return said(invalid_argument, error.what());
  } catch (const std::exception& error) {
    return said(other_error, error.what());
  }
}

bool write_all(int descriptor, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t written = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<std::size_t>(written);
  }
  return true;
}

std::string read_all(int descriptor) {
  std::string bytes;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Child::Child(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ < 0) {
    const int reason = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    throw std::system_error(reason, std::generic_category(), "fork");
  }
  if (process_ == 0) {
    ::close(ends[0]);
    // Whoever ends the command means its children, too. It may have ended before it could be told so.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(run_failed);
    ::_exit(write_all(ends[1], answer_of(body)) ? done : run_failed);
  }
  ::close(ends[1]);
  descriptor_ = ends[0];
}

Child::Child(Child&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), process_(std::exchange(other.process_, -1)) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(process_, other.process_);
  return *this;
}

Child::~Child() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  wait_for(process_);
}

std::string Child::result() {
  const std::string said = read_all(descriptor_);
  const int status = wait_for(std::exchange(process_, -1));
  if (said.empty() || status != 0) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == bad_input) {
      throw PlatformError({});
    }
    throw RunError(WIFSIGNALED(status) ? fmt::format("a process of the simulation was ended by signal {}; out of "
                                                     "memory, perhaps. Simulate fewer at once (taskset -c 0)",
                                                     WTERMSIG(status))
                                       : "a process of the simulation failed");
  }
  const std::string text = said.substr(1);
  switch (said.front()) {
    case returned: return text;
    case platform_error: {
      std::vector<std::string> findings;
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) findings.push_back(line);
      throw PlatformError(findings);
    }
    case run_error: throw RunError(text);
    case invalid_argument: throw std::invalid_argument(text);
    default: throw std::runtime_error(text);
  }
}

std::string in_child(const std::function<std::string()>& body) {
  return Child(body).result();
}

}  // namespace sdsm::sim
