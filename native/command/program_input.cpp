#include "native/command/program_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

namespace sdsm::command {
namespace {

enum class InputKind { file, pipe, none };

InputKind kind_of_input() {
  struct stat status {};
  if (fstat(STDIN_FILENO, &status) != 0 || isatty(STDIN_FILENO) != 0) return InputKind::none;
  if (S_ISREG(status.st_mode)) return InputKind::file;
  if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) return InputKind::pipe;
  return InputKind::none;
}

Descriptor open_or_fail(const char* path) {
  Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw std::system_error(errno, std::generic_category(), path);
  return file;
}

bool write_all(int file, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

/// Passes the command's input on to the first pass and keeps it, until the input ends or the pass does: a program that
/// does not read its input must not have to wait for its end.
struct ProgramInput::Copier {
  Copier(Descriptor to, int kept)
      : target(std::move(to)), stop(eventfd(0, EFD_CLOEXEC)), thread([this, kept] { copy(kept); }) {}
  ~Copier() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(stop.get(), &one, sizeof one);
    thread.join();
  }

  void copy(int kept) {
    std::array<char, 65536> buffer;
    bool is_read_by_program = true;
    for (;;) {
      std::array<pollfd, 2> files{{{STDIN_FILENO, POLLIN, 0}, {stop.get(), POLLIN, 0}}};
      if (poll(files.data(), files.size(), -1) < 0) {
        if (errno == EINTR) continue;
        return;
      }
      if (files[1].revents != 0) return;
      const ssize_t count = read(STDIN_FILENO, buffer.data(), buffer.size());
      if (count <= 0) return target.reset();
      if (!write_all(kept, buffer.data(), static_cast<std::size_t>(count))) return target.reset();
      if (is_read_by_program) {
        is_read_by_program = write_all(target.get(), buffer.data(), static_cast<std::size_t>(count));
      }
    }
  }

  Descriptor target;
  Descriptor stop;
  std::thread thread;
};

ProgramInput::ProgramInput() {
  // A program that stops reading its input is no reason to die.
  std::signal(SIGPIPE, SIG_IGN);
}

ProgramInput::~ProgramInput() = default;

int ProgramInput::next_pass() {
  switch (kind_of_input()) {
    case InputKind::none: current_ = open_or_fail("/dev/null"); break;
    case InputKind::file: {
      const off_t position = lseek(STDIN_FILENO, 0, SEEK_CUR);
      current_ = open_or_fail("/proc/self/fd/0");
      lseek(current_.get(), position, SEEK_SET);
      break;
    }
    case InputKind::pipe:
      if (is_first_) {
        kept_ = make_temporary_file();
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
          throw std::system_error(errno, std::generic_category(), "cannot create a pipe");
        current_.reset(ends[0]);
        copier_ = std::make_unique<Copier>(Descriptor(ends[1]), kept_.get());
      } else {
        lseek(kept_.get(), 0, SEEK_SET);
        current_.reset(fcntl(kept_.get(), F_DUPFD_CLOEXEC, 0));
      }
      break;
  }
  is_first_ = false;
  return current_.get();
}

void ProgramInput::end_pass() {
  current_.reset();
  copier_.reset();
}

}  // namespace sdsm::command
