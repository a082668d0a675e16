/// How the run-time ends the program that it lives in.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace sdsm::program {

/// Says why, to the command that started the program or on stderr, and ends the process with status 1. Safe in a signal
/// handler. Each engine has its own.
[[noreturn]] void end_run(std::initializer_list<const char*> why);

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

}  // namespace sdsm::program
