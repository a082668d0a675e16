#pragma once

#include <stdexcept>

namespace sdsm::trace {

/// An error in a piece of a file, from code that knows neither the file's name nor the place. The reader adds both and
/// throws a FormatError.
class ContentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace sdsm::trace
