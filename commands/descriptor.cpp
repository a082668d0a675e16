#include "commands/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "commands/errors.hpp"

namespace sdsm::commands {
void Descriptor::reset(int number) {
  if (number_ >= 0) close(number_);
  number_ = number;
}

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("cannot create a pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string read_all(int descriptor) {
  std::string bytes;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

Descriptor make_temporary_file() {
  std::error_code error;
  auto folder = std::filesystem::temp_directory_path(error);
  if (error) folder = ".";
  std::string name = (folder / "sdsm-XXXXXX").string();
  Descriptor file(mkostemp(name.data(), O_CLOEXEC));
  if (file.get() < 0) throw_errno("cannot create a temporary file");
  unlink(name.c_str());
  return file;
}

}  // namespace sdsm::commands
