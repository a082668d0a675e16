/// Threads' states, as timelines number them: compute, the protocol's kinds of faults in their order, then the others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/protocol/kinds.hpp"

namespace sdsm::timelines {

inline constexpr std::size_t after_faults = 1 + most_fault_kinds;

enum class State : std::uint8_t {
  compute = 0,
  diff = after_faults,
  protect,
  barrier,
  lock,
  stolen,
  idle,
};

}  // namespace sdsm::timelines
