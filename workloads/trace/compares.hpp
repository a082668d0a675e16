/// The detail of an atomic event: the changed words, and whether the operation compares.
#pragma once

#include <cstdint>

#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

/// Marks a compare-exchange with the value that the thread had loaded. If another thread's operation comes between, it
/// fails, and the thread repeats it with the value that it then found.
inline constexpr std::uint8_t compares_found = 8;

constexpr std::uint8_t words_changed(const Event& atomic) {
  return atomic.detail & (compares_found - 1);
}

}  // namespace sdsm::trace
