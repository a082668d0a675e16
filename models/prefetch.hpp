/// Prefetch: a fault also fetches the pages that follow its own in the region and have the same home, as far as the
/// node has no copy of them. These can then be read without a fault.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "models/ids.hpp"
#include "models/program/placement.hpp"
#include "models/units.hpp"

namespace sdsm {

/// sdsm run gives a message's length by 16 bits, and the fetched page comes in the same message.
inline constexpr std::uint32_t most_prefetch = 14;

/// Pages of a region. Allocates nothing, as handlers of faults use it.
class FollowingPages {
 public:
  constexpr void add(std::uint64_t page) { pages_[count_++] = page; }
  constexpr const std::uint64_t* begin() const { return pages_.data(); }
  constexpr const std::uint64_t* end() const { return pages_.data() + count_; }

 private:
  std::array<std::uint64_t, most_prefetch> pages_{};
  std::size_t count_ = 0;
};

/// The next `most` pages of the region behind `index` that have its home, among as many as round-robin placement needs;
/// none placed by first touch, whose homes are unknown. `home_now` maps a page and the home of its placement to a home.
template <typename HomeNow>
constexpr FollowingPages following(const RegionHomes& homes, std::uint64_t index, std::uint32_t most,
                                   std::uint32_t processes, HomeNow home_now) {
  FollowingPages found;
  if (!homes.owner && homes.placement == Placement::first_touch) return found;
  const ProcessId home = home_now(index, homes.home(index, processes));
  const std::uint64_t end = std::min(homes.pages, index + 1 + std::uint64_t{most} * processes);
  for (std::uint64_t page = index + 1; page < end && most > 0; ++page) {
    if (home_now(page, homes.home(page, processes)) != home) continue;
    found.add(page);
    --most;
  }
  return found;
}

/// following() where homes do not move.
constexpr FollowingPages following(const RegionHomes& homes, std::uint64_t index, std::uint32_t most,
                                   std::uint32_t processes) {
  return following(homes, index, most, processes, [](std::uint64_t, ProcessId placed) { return placed; });
}

/// Payloads of a request for so many further pages and of its reply, of our own making: SCASH has no such message.
constexpr Bytes bytes_of_names(std::uint64_t further) {
  return {static_cast<std::int64_t>(further * sizeof(std::uint32_t))};
}

}  // namespace sdsm
