/// How the run-time ends the program that it lives in.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace sdsm::program {

/// Says why, to the command that started the program or on stderr, and ends the process with status 1. Safe in a signal
/// handler. Each engine has its own.
[[noreturn]] void end_run(std::initializer_list<const char*> why);

/// A number as text, for the parts of a message.
template <unsigned base>
class Number {
 public:
  explicit Number(std::uint64_t value) {
    char* at = text_ + sizeof text_ - 1;
    *at = '\0';
    do {
      *--at = "0123456789abcdef"[value % base];
      value /= base;
    } while (value > 0);
    first_ = at;
  }
  Number& operator=(Number&&) = delete;
  operator const char*() const { return first_; }

 private:
  char text_[24] = {};
  const char* first_ = nullptr;
};
using Decimal = Number<10>;
using Hexadecimal = Number<16>;

}  // namespace sdsm::program
