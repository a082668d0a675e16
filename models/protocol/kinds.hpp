/// A kind of fault or message is its index in its protocol's table. These sizes hold every protocol's tables.
#pragma once

#include <cstddef>

namespace sdsm {

inline constexpr std::size_t most_fault_kinds = 16;
inline constexpr std::size_t most_message_kinds = 16;
/// A thread's counts beside those of all protocols.
inline constexpr std::size_t most_further_counts = 4;
/// A platform's costs beside those of faults and messages.
inline constexpr std::size_t most_further_costs = 8;
inline constexpr std::size_t most_costs_by_threads = 2;

}  // namespace sdsm
