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

/// A process of the program did not get its descriptors, for this error (errno's).
RunError no_files_error(int error);

/// Calls check(), for which a std::invalid_argument tells what is wrong with what the user gave.
template <typename Check>
void check_usage(Check&& check) {
  try {
    check();
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

}  // namespace sdsm::commands
