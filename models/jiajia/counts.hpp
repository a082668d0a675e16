/// The counts of a JIAJIA process.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/jiajia/messages.hpp"
#include "models/jiajia/rules.hpp"

namespace sdsm::jiajia {

/// A thread's counts beside those of all protocols.
enum class FurtherCount : std::uint8_t { invalidations, migrated_in, migrated_out, notices };
inline constexpr std::array<std::string_view, 4> further_counts{"invalidations", "migrated_in", "migrated_out",
                                                                "notices"};

/// A platform's costs beside those of faults and messages.
enum class Cost : std::uint8_t { diff, protect, invalidate, log };

struct Counts {
  std::array<std::uint64_t, fault_kinds> faults{};  ///< by FaultKind
  std::array<std::uint64_t, message_kinds> sent{};  ///< by MessageKind, to other processes
  std::uint64_t diffs = 0;                          ///< that it sent
  std::uint64_t empty_diffs = 0;                    ///< of these
  std::uint64_t diffs_served = 0;                   ///< that it got, as home
  std::uint64_t diff_messages_served = 0;
  std::uint64_t invalidations = 0;  ///< of its copies
  std::uint64_t migrated_in = 0;
  std::uint64_t migrated_out = 0;
  std::uint64_t locks = 0;
  std::uint64_t barriers = 0;
  std::uint64_t notices = 0;  ///< that it sent, at unlocks and barriers

  /// Traps whose rows fetch a page.
  constexpr std::uint64_t faults_with(bool FaultRule::*property) const {
    std::uint64_t sum = 0;
    for (const FaultRule& rule : fault_rules) {
      if (rule.*property) sum += faults[static_cast<std::size_t>(rule.kind)];
    }
    return sum;
  }
  constexpr std::uint64_t twins() const { return faults_with(&FaultRule::makes_twin); }
  constexpr std::uint64_t page_requests() const { return faults_with(&FaultRule::fetches_page); }
  /// JIAJIA's "local" faults are those of homes, and all others, with or without a request, are "remote".
  constexpr std::uint64_t local_faults() const { return faults[static_cast<std::size_t>(FaultKind::WROH)]; }
  constexpr std::uint64_t remote_faults() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : faults) sum += count;
    return sum - local_faults();
  }
};

}  // namespace sdsm::jiajia
