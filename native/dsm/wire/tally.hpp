/// A process's counts and times while it runs. Plain data: processes send it to the launcher as it is.
#pragma once

#include <cstdint>
#include <functional>

#include "models/account.hpp"
#include "models/counts.hpp"

namespace sdsm::dsm {

/// Counts and nanoseconds since the process's start. Differences of two tallies describe a part of a run.
struct Tally : ThreadCounts {
  std::uint64_t spent_ns[spent_terms];  ///< by term; none on compute, which is what the others leave
  std::uint64_t traps;                  ///< signals taken: faults, and traps that only restored a protection
  std::uint64_t pages_served;           ///< to other nodes
  std::uint64_t page_service_ns;        ///< from a request's arrival until its page is on its way, if sent at once
  std::uint64_t now_ns;                 ///< monotonic clock when the tally was taken

  std::uint64_t& spent(Spent term) { return spent_ns[static_cast<std::size_t>(term)]; }
  std::uint64_t spent(Spent term) const { return spent_ns[static_cast<std::size_t>(term)]; }
};

inline constexpr std::uint64_t tally_words = sizeof(Tally) / sizeof(std::uint64_t);
static_assert(sizeof(Tally) % sizeof(std::uint64_t) == 0);

/// Applies an operation to each number of two tallies.
template <typename Operation>
Tally combine(Tally left, const Tally& right, Operation operation) {
  auto* words = reinterpret_cast<std::uint64_t*>(&left);
  const auto* others = reinterpret_cast<const std::uint64_t*>(&right);
  for (std::uint64_t i = 0; i < tally_words; ++i) words[i] = operation(words[i], others[i]);
  return left;
}
/// Sum over two threads of one process.
inline Tally operator+(const Tally& one, const Tally& other) {
  return combine(one, other, std::plus<>());
}
/// The difference of two tallies of one process. Numbers only grow, except terms that are taken back to a reading of
/// the clock (measured_region.cpp): where these shrink, the difference is 0.
inline Tally operator-(const Tally& later, const Tally& earlier) {
  return combine(later, earlier, [](std::uint64_t end, std::uint64_t begin) { return end > begin ? end - begin : 0; });
}

}  // namespace sdsm::dsm
