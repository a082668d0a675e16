/// What a SCASH process does at a barrier.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "models/ids.hpp"

namespace sdsm {

/// What every process of a team does at a barrier.
enum class BarrierPhase : std::uint8_t {
  meet,   ///< sends the master a message, and gets one when all have come
  flush,  ///< sends its changes home
  drop,   ///< drops copies, and makes written home pages read-only
};
/// In this order ([WR-env]'s phases 1 to 5).
inline constexpr std::array barrier_phases{BarrierPhase::meet, BarrierPhase::flush, BarrierPhase::meet,
                                           BarrierPhase::drop, BarrierPhase::meet};
inline constexpr ProcessId barrier_master{0};
inline constexpr auto barrier_synchronisations =
    static_cast<std::size_t>(std::ranges::count(barrier_phases, BarrierPhase::meet));

}  // namespace sdsm
