/// What the detail of an atomic event says beside the words that it changed.
#pragma once

#include <cstdint>

#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

/// It is a compare-exchange, and compares with what the thread had loaded from there. Where another's operation comes
/// between, it fails, and the thread does it again with what it then found.
inline constexpr std::uint8_t compares_found = 8;

constexpr std::uint8_t words_changed(const Event& atomic) {
  return atomic.detail & (compares_found - 1);
}

}  // namespace sdsm::trace
