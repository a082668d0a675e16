/// The ways in which the run-time ends the traced program.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace sdsm::tracer {

/// Tells the driver why (it prints the line), and ends the process. Safe in a signal handler.
[[noreturn]] void end_run(std::initializer_list<const char*> why);

/// This pass does otherwise than the first: the driver compares them and says where. `thread` noticed it.
[[noreturn]] void end_diverged(std::uint32_t thread);

/// A number as text, for the parts of a message.
class Decimal {
 public:
  explicit Decimal(std::uint64_t value) {
    char* at = text_ + sizeof text_ - 1;
    *at = '\0';
    do {
      *--at = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value > 0);
    first_ = at;
  }
  Decimal(const Decimal&) = delete;
  Decimal& operator=(const Decimal&) = delete;
  operator const char*() const { return first_; }

 private:
  char text_[24] = {};
  const char* first_ = nullptr;
};

}  // namespace sdsm::tracer
