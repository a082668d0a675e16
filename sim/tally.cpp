#include "sim/tally.hpp"

#include <algorithm>

namespace sdsm::sim {
namespace {

template <typename Array>
void add_each(Array& to, const Array& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  add_each(faults, other.faults);
  add_each(messages_by_kind, other.messages_by_kind);
  add_each(further, other.further);
  add_each(time, other.time);
  add_each(stolen_from, other.stolen_from);
  constexpr std::uint64_t ThreadCounts::*counts[] = {
      &ThreadCounts::prefetched, &ThreadCounts::barriers, &ThreadCounts::locks,        &ThreadCounts::messages,
      &ThreadCounts::bytes,      &ThreadCounts::served,   &ThreadCounts::served_bytes, &ThreadCounts::diffs,
      &ThreadCounts::diff_bytes, &ThreadCounts::atomics,  &ThreadCounts::waits};
  static_assert(sizeof(ThreadCounts) == sizeof faults + sizeof messages_by_kind + sizeof further +
                                            std::size(counts) * sizeof(std::uint64_t),
                "a count is missing");
  for (const auto count : counts) this->*count += other.*count;
  added_computing += other.added_computing;
  largest_diff = std::max(largest_diff, other.largest_diff);
  return *this;
}

}  // namespace sdsm::sim
