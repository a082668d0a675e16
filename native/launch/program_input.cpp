#include "native/launch/program_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>

namespace sdsm::program_start {

using namespace commands;

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

}  // namespace

/// Passes the command's input on to the first pass and keeps it, until the input ends or the pass does: a program that
/// does not read its input must not have to wait for its end, nor must the command for a program that reads no more.
struct ProgramInput::Copier {
  /// to: does not block.
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
    while (wait_for(STDIN_FILENO, POLLIN)) {
      const ssize_t count = read(STDIN_FILENO, buffer.data(), buffer.size());
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) return target.reset();
      const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
      if (!write_all(kept, bytes)) return target.reset();
      if (is_read_by_program) is_read_by_program = pass_on(bytes);
    }
  }

  /// False if the copier has to stop first.
  bool wait_for(int file, short events) const {
    for (;;) {
      std::array<pollfd, 2> files{{{file, events, 0}, {stop.get(), POLLIN, 0}}};
      if (poll(files.data(), files.size(), -1) < 0) {
        if (errno == EINTR) continue;
        return false;
      }
      return files[1].revents == 0;
    }
  }

  /// False if the program takes no more.
  bool pass_on(std::string_view bytes) const {
    while (!bytes.empty()) {
      if (!wait_for(target.get(), POLLOUT)) return false;
      const ssize_t written = write(target.get(), bytes.data(), bytes.size());
      if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (written < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
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
        Pipe pipe = make_pipe();
        // Only the copier's end is non-blocking: the program's end blocks, as any input does.
        fcntl(pipe.write_end.get(), F_SETFL, O_NONBLOCK);
        current_ = std::move(pipe.read_end);
        copier_ = std::make_unique<Copier>(std::move(pipe.write_end), kept_.get());
      } else {
        lseek(kept_.get(), 0, SEEK_SET);
        current_.reset(fcntl(kept_.get(), F_DUPFD_CLOEXEC, 0));
      }
      break;
  }
  is_first_ = false;
  begin_ = lseek(current_.get(), 0, SEEK_CUR);
  return current_.get();
}

void ProgramInput::end_pass() {
  was_read_ = lseek(current_.get(), 0, SEEK_CUR) != begin_;
  current_.reset();
  copier_.reset();
}

}  // namespace sdsm::program_start
