#include "commands/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>

#include "commands/descriptor.hpp"

namespace sdsm::commands {
namespace {

/// Keeps a write to a pipe without a reader from ending the process.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec at_once{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal& operator=(NoPipeSignal&&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace

void open_closed_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one: those below it are open by now.
    if (open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) == number) continue;
    say("/dev/null cannot be opened, as a standard stream is closed. Open descriptors 0, 1 and 2 for the command");
    std::_Exit(1);
  }
}

void tell(std::string_view text) noexcept {
  const NoPipeSignal guard;
  write_all(STDERR_FILENO, text);
}

void say(std::string_view text) {
  // In one piece, as others may write to the same file.
  tell(std::string("sdsm: ").append(text).append("\n"));
}

}  // namespace sdsm::commands
