#pragma once

#include <stdexcept>

namespace sdsm::trace {

/// An error in a piece of a file, thrown by code that knows neither the file's name nor the place. The reader makes it
/// a FormatError with both.
class ContentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace sdsm::trace
