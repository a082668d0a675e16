#include "commands/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace sdsm::commands {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

void Descriptor::reset(int number) {
  if (number_ >= 0) close(number_);
  number_ = number;
}

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("cannot create a pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Descriptor make_temporary_file() {
  std::error_code error;
  auto folder = std::filesystem::temp_directory_path(error);
  if (error) folder = ".";
  std::string name = (folder / "sdsm-XXXXXX").string();
  Descriptor file(mkostemp(name.data(), O_CLOEXEC));
  if (file.get() < 0) fail("cannot create a temporary file");
  unlink(name.c_str());
  return file;
}

}  // namespace sdsm::commands
