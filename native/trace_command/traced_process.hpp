/// One run of the program with the run-time in it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "native/tracer/stream.hpp"

namespace sdsm::trace_command {

/// A file descriptor that is closed at the end of its life.
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

/// A temporary file without a name. Throws std::system_error.
Descriptor make_temporary_file();

struct TracedProgram {
  std::filesystem::path file;
  std::vector<std::string> arguments;  ///< with the program's name first
  std::filesystem::path runtime;       ///< libsdsm-trace.so
  std::uint32_t threads = 1;
};

/// How the program's output is treated: shown as it comes in the last pass only.
struct Streams {
  int input = 0;
  int output = 1;
  int errors = 2;
};

/// How the process ended.
struct ProcessEnd {
  bool was_killed = false;
  int signal = 0;
  int status = 0;
};

class TracedProcess {
 public:
  /// Starts the program. Throws UsageError if it cannot be executed, std::system_error if the system refuses.
  TracedProcess(const TracedProgram& program, tracer::Mode mode, int schedule, const Streams& streams);
  /// Kills the process if it is still there.
  ~TracedProcess();
  TracedProcess(const TracedProcess&) = delete;
  TracedProcess& operator=(const TracedProcess&) = delete;

  int stream() const { return stream_.get(); }
  ProcessEnd wait();

 private:
  pid_t process_ = -1;
  Descriptor stream_;
};

}  // namespace sdsm::trace_command
