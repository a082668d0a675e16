/// A kind of fault or message is its index in its protocol's table. These sizes hold every protocol's tables.
#pragma once

#include <cstddef>

namespace sdsm {

inline constexpr std::size_t most_fault_kinds = 16;
inline constexpr std::size_t most_message_kinds = 16;
/// Of a thread, beside what all protocols count.
inline constexpr std::size_t most_further_counts = 4;
/// Of a platform, beside those of faults and messages.
inline constexpr std::size_t most_further_costs = 8;
inline constexpr std::size_t most_costs_by_threads = 2;

}  // namespace sdsm
