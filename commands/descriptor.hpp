#pragma once

#include <string>
#include <string_view>

namespace sdsm::commands {

/// A file descriptor that closes at the end of its life.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  int get() const { return number_; }
  int release() {
    const int number = number_;
    number_ = -1;
    return number;
  }
  void reset(int number = -1);

 private:
  int number_ = -1;
};

/// Both ends close when a program is executed (exec). make_pipe() and make_temporary_file() throw std::system_error.
struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};
Pipe make_pipe();

/// Returns false if some bytes could not be written. A pipe without a reader raises SIGPIPE, unless that is ignored.
bool write_all(int descriptor, std::string_view bytes);

/// Reads until the end or an error.
std::string read_all(int descriptor);

/// Makes a temporary file without a name.
Descriptor make_temporary_file();

}  // namespace sdsm::commands
