/// Work done in a child process: SimGrid allows one engine per process, so whoever simulates several times has a child
/// for each.
#pragma once

#include <functional>
#include <string>

#include <sys/types.h>

namespace sdsm::sim {

class Child {
 public:
  /// Starts a process that runs `body`. Throws std::system_error if there can be none.
  explicit Child(const std::function<std::string()>& body);
  ~Child();  ///< ends it, if it has not been waited for
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;

  /// Becomes readable when the child has something to say or has ended.
  int descriptor() const { return descriptor_; }

  /// Waits for the end, and returns what `body` returned. If it threw, so does this: the same exception if it was a
  /// PlatformError, a RunError or a std::invalid_argument, else a std::runtime_error. A child that ended by itself with
  /// status 2 has said why on stderr (CrashIsBadInput): a PlatformError without findings.
  std::string result();

 private:
  int descriptor_ = -1;
  pid_t process_ = -1;
};

/// Child(body).result()
std::string in_child(const std::function<std::string()>& body);

}  // namespace sdsm::sim
