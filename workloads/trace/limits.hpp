/// Limits of a trace's contents. Writer and reader check the same rules, so a player need not.
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
/// Largest sum of one thread's compute times: what sdsm::Time (63 bits of picoseconds) can hold.
inline constexpr std::uint64_t max_compute_ns = std::numeric_limits<std::int64_t>::max() / 1000;

/// Bounds a simulation's time by the trace's compute time, so that no short file keeps it busy for long. A processor
/// takes longer to load from a page other than the last: a TLB miss alone takes nanoseconds.
inline constexpr std::uint64_t most_touches_per_ns = 10;
/// A trace with fewer touches needs no compute time: it plays in seconds.
inline constexpr std::uint64_t most_touches_at_once = 10'000'000;

/// Bounds the table of sites, as regions are bounded.
inline constexpr std::uint32_t max_sites = 1U << 20;
inline constexpr std::uint32_t max_call_sites = max_sites;
/// Bound the rows of the accessed words, and the numbers in all their sets together.
inline constexpr std::size_t max_word_rows = std::size_t{1} << 20;
inline constexpr std::size_t max_word_set_numbers = std::size_t{1} << 22;
/// Largest number of entries in an Interval's lines, and in its sites.
inline constexpr std::uint64_t max_page_runs_per_interval = max_runs_per_interval;

/// Regions are placed relative to 64 KiB, the size of the largest simulated page.
inline constexpr std::uint32_t max_lead_pages = 15;

inline constexpr std::uint16_t max_changed_words = words_per_page;
inline constexpr std::uint16_t max_changed_runs = max_changed_words / 2;

/// Whether a page can have such a change: at most a page's words, no more runs than words, no words without a run, and
/// an unchanged word between runs.
constexpr bool possible(Change change) {
  return (change.words == 0) == (change.runs == 0) && change.runs <= change.words && change.runs <= max_changed_runs &&
         change.words + change.runs <= max_changed_words + 1;
}

/// Whether these lines can hold a partial change of that size: neither too few nor too many for its words, no more
/// groups of adjacent lines than runs, room for the unchanged words between runs, and the ends within the lines.
constexpr bool possible(Change change, const ChangedLines& changed) {
  if (changed.lines == ~std::uint64_t{0}) {  // the most frequent case
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

/// The fields that an event kind uses, as EventKind's comments say; the others are 0.
struct EventRule {
  enum class Value : std::uint8_t { none, team_size, any };
  bool object = false;
  Value value = Value::none;
  std::uint8_t max_detail = 0;
};

/// Returns null for an unknown kind.
const EventRule* rule_of(EventKind kind);

/// Describes what is wrong with an event in a trace of `threads` threads; empty if it matches EventKind's comments.
std::optional<std::string> problem_with(const Event& event, std::uint32_t threads);

/// Whether a run is valid by itself. The caller checks the region's size and the order of positions.
constexpr bool is_valid(const TouchRun& run) {
  return (run.access == Access::write || (run.access == Access::read && run.change == Change{})) &&
         index_of(run.region) < max_regions && run.pages != 0 && run.first <= max_region_pages &&
         run.pages <= max_region_pages - run.first && possible(run.change);
}

/// Describes what is wrong with a run; empty if it is valid.
std::optional<std::string> problem_with(const TouchRun& run);

/// Checks the lines of a page that changed in part.
std::optional<std::string> problem_with(Change change, const ChangedLines& changed);

/// Checks an interval's lines. Precondition: their number matches the touches, and none has zero pages.
std::optional<std::string> problem_with_pages(const Interval& interval);

/// Checks all threads' totals together. In a mended trace (mended.hpp) a touch may have become one for each thread.
std::optional<std::string> problem_with(const std::vector<Totals>& totals);

/// Checks a header's tables.
std::optional<std::string> problem_with(const Header& header);

/// Checks a region at place `index` of a trace's list of regions.
std::optional<std::string> problem_with(const Region& region, std::uint64_t index, const Header& header);

}  // namespace sdsm::trace
