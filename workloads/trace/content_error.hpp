#pragma once

#include <stdexcept>

namespace sdsm::trace {

/// An error in a piece of a file whose name and place the code does not know. The reader turns it into a FormatError.
class ContentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace sdsm::trace
