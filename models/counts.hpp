#pragma once

#include <array>
#include <cstdint>

#include "models/protocol/kinds.hpp"

namespace sdsm {

/// A thread's counts in a run. The simulator and a real run count alike; messages are those between nodes.
struct ThreadCounts {
  std::array<std::uint64_t, most_fault_kinds> faults{};              ///< by kind, as the protocol's tables number them
  std::array<std::uint64_t, most_message_kinds> messages_by_kind{};  ///< sent as requester or writer, and `served`
  std::array<std::uint64_t, most_further_counts> further{};          ///< the protocol's own
  std::uint64_t prefetched = 0;  ///< pages that came beside the one that a fault fetched
  std::uint64_t barriers = 0;
  std::uint64_t locks = 0;
  std::uint64_t messages = 0;  ///< sent as requester or writer: requests, diff pieces, lock and barrier messages
  std::uint64_t bytes = 0;     ///< payload of these
  std::uint64_t served = 0;    ///< replies sent to others: pages, grants, barrier releases
  std::uint64_t served_bytes = 0;
  std::uint64_t diffs = 0;
  std::uint64_t diff_bytes = 0;
  std::uint64_t atomics = 0;  ///< operations on shared memory, wherever it is at home, and fences
  std::uint64_t waits = 0;    ///< in loops of the program's own, for another thread's store
};

}  // namespace sdsm
