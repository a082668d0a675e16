/// What a trace may hold. Writer and reader check the same rules, so a player need not.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

inline constexpr std::uint32_t max_threads = 1U << 16;
inline constexpr std::uint32_t max_regions = 1U << 20;
/// 4 PiB of 4 KiB pages: far above any machine, and low enough that page arithmetic in 64 bits cannot overflow.
inline constexpr std::uint64_t max_region_pages = std::uint64_t{1} << 40;
/// Bounds the memory of one Interval (400 MB), whatever a file says.
inline constexpr std::uint64_t max_runs_per_interval = std::uint64_t{1} << 24;
/// Largest compute time of one thread's intervals together: what sdsm::Time (63 bits of picoseconds) can hold.
inline constexpr std::uint64_t max_compute_ns = std::numeric_limits<std::int64_t>::max() / 1000;

/// A processor needs longer to load from a page that it has not just loaded from: a miss of its translations alone
/// takes nanoseconds. So a trace of many touches has computed, and no short file of a few instants keeps a simulation
/// busy.
inline constexpr std::uint64_t most_touches_per_ns = 10;
/// Of a trace, whatever it computed: smaller ones are played in seconds.
inline constexpr std::uint64_t most_touches_at_once = 10'000'000;

/// Of one trace. Bounds its table, as regions are bounded.
inline constexpr std::uint32_t max_sites = 1U << 20;
/// Rows of the accessed words, and numbers of all their sets together.
inline constexpr std::size_t max_word_rows = std::size_t{1} << 20;
inline constexpr std::size_t max_word_set_numbers = std::size_t{1} << 22;
/// Entries of an Interval's lines, and of its sites.
inline constexpr std::uint64_t max_page_runs_per_interval = max_runs_per_interval;

/// Regions are placed on the 64 KiB that the largest simulated page has.
inline constexpr std::uint32_t max_lead_pages = 15;

inline constexpr std::uint16_t max_changed_words = page_bytes / word_bytes;
inline constexpr std::uint16_t max_changed_runs = max_changed_words / 2;

/// Whether a page can have such a change: no more words than a page, no more runs than words, no words without a run,
/// and an unchanged word between runs.
constexpr bool possible(Change change) {
  return (change.words == 0) == (change.runs == 0) && change.runs <= change.words && change.runs <= max_changed_runs &&
         change.words + change.runs <= max_changed_words + 1;
}

/// False for lines that cannot hold a partial change of that size: too few or too many lines for its words, more groups
/// of adjacent lines than runs, no room for what did not change between the runs, or an end outside of the lines.
constexpr bool possible(Change change, const ChangedLines& changed) {
  if (changed.lines == ~std::uint64_t{0}) {  // mostly
    return change.words >= 64 && (!changed.first_word || !changed.last_word || change.runs >= 2);
  }
  const auto lines = static_cast<unsigned>(std::popcount(changed.lines));
  const auto groups = static_cast<unsigned>(std::popcount(changed.lines & ~(changed.lines << 1)));
  const bool has_ends = (!changed.first_word || (changed.lines & 1) != 0) &&
                        (!changed.last_word || changed.lines >> 63 != 0) &&
                        (!changed.first_word || !changed.last_word || change.runs >= 2);
  return has_ends && lines <= change.words && groups <= change.runs &&
         change.words + change.runs <= lines * words_per_line + groups;
}

/// Which fields an event kind uses, as EventKind's comments say; the others are 0.
struct EventRule {
  enum class Value : std::uint8_t { none, team_size, any };
  bool object = false;
  Value value = Value::none;
  std::uint8_t max_detail = 0;
};

/// Null if there is no such kind.
const EventRule* rule_of(EventKind kind);

/// What is wrong with an event in a trace of `threads` threads; empty if it is as EventKind says.
std::optional<std::string> problem_with(const Event& event, std::uint32_t threads);

/// Whether a run is valid by itself. The caller checks the region's size and the order of positions.
constexpr bool is_valid(const TouchRun& run) {
  return (run.access == Access::write || (run.access == Access::read && run.change == Change{})) &&
         index_of(run.region) < max_regions && run.pages != 0 && run.first <= max_region_pages &&
         run.pages <= max_region_pages - run.first && possible(run.change);
}

/// What is wrong with a run; empty if it is valid.
std::optional<std::string> problem_with(const TouchRun& run);

/// The same for the lines of a page that changed in part.
std::optional<std::string> problem_with(Change change, const ChangedLines& changed);

/// The same for an interval's lines. Precondition: they are as many as its touches ask for, and none is of no pages.
std::optional<std::string> problem_with_pages(const Interval& interval);

/// The same for the totals of all threads together. One touch of a mended trace (mended.hpp) may have become as many as
/// there are threads.
std::optional<std::string> problem_with(const std::vector<Totals>& totals);

/// The same for a header's tables.
std::optional<std::string> problem_with(const Header& header);

/// The same for a region of a trace, at place `index` of the list of regions.
std::optional<std::string> problem_with(const Region& region, std::uint64_t index, const Header& header);

}  // namespace sdsm::trace
