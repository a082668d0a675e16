#pragma once

#include <stdexcept>

namespace sdsm::commands {

/// Bad input or usage: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The run failed: exit status 1.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A process of the program did not get its descriptors; `error` is errno's number.
RunError no_files_error(int error);

/// Calls check() and turns its std::invalid_argument, which says what is wrong with the user's input, into UsageError.
template <typename Check>
void check_usage(Check&& check) {
  try {
    check();
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

}  // namespace sdsm::commands
