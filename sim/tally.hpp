/// Sums of what a simulated thread spends and counts.
#pragma once

#include <array>
#include <cstdint>

#include "models/account.hpp"
#include "models/counts.hpp"
#include "models/units.hpp"

namespace sdsm::sim {

struct Tally : ThreadCounts {
  std::array<Time, spent_terms> time{};  ///< by Spent
  /// Stolen time by the item on which the thread was working; a real run's account cannot tell it from that item.
  std::array<Time, spent_terms> stolen_from{};
  Time added_computing{};  ///< part of the computing time that costs (fault_cold, first_write, memory_bus) and noise
                           ///< add
  std::uint64_t largest_diff = 0;  ///< payload, bytes

  Time total() const {
    Time sum{};
    for (const Time item : time) sum += item;
    return sum;
  }

  Tally& operator+=(const Tally& other);
};

}  // namespace sdsm::sim
