/// Work in a child process. SimGrid allows one engine per process, so each of several simulations needs its own child.
#pragma once

#include <functional>
#include <string>

#include <sys/types.h>

namespace sdsm::sim {

class Child {
 public:
  /// Starts a process that runs `body`. Throws std::system_error if the system refuses one.
  explicit Child(const std::function<std::string()>& body);
  ~Child();  ///< ends it, if it has not been waited for
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;

  /// Becomes readable when the child has written something or has ended.
  int descriptor() const { return descriptor_; }

  /// Waits for the end and returns what `body` returned. If `body` threw, throws the same PlatformError, RunError or
  /// std::invalid_argument, or a std::runtime_error for anything else. Throws a PlatformError without findings for a
  /// child that ended with status 2: it has said why on stderr (CrashIsBadInput).
  std::string result();

 private:
  int descriptor_ = -1;
  pid_t process_ = -1;
};

/// Child(body).result()
std::string in_child(const std::function<std::string()>& body);

}  // namespace sdsm::sim
