#pragma once

#include <stdexcept>

namespace sdsm::trace {

/// What is wrong in a piece of a file, from code that knows neither the file's name nor the place. The reader turns it
/// into a FormatError with both.
class ContentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace sdsm::trace
