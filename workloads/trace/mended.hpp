/// Edits traces as if one problem of the program were fixed; `sdsm simulate` then shows the gain. Threads touch what
/// they touched in the trace, so the gain is right if the fixed program otherwise does the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>

#include "workloads/trace/reader.hpp"

namespace sdsm::trace {

/// Call sites (Interval::call_site) of what is mended; empty: all.
using CallSites = std::set<std::uint32_t>;

// Each function writes `output` (trace::Writer) and returns how much it changed; if nothing, it writes nothing. Each
// reads the trace twice, and throws what its cursors and the writer throw.

/// Gives each thread its own copy of every page on which several threads write, no two of them the same line
/// (RegionUse::written_apart). Thread t's copy has an index that is t modulo the number of threads. In intervals in
/// which a thread writes the page, it reads only its own copy, else all copies; outside of parallel regions, the
/// initial thread writes all copies, too. Pages of stacks, and of regions with atomic operations, stay. Returns the
/// number of pages that were divided.
std::uint64_t pad(const File& file, const std::filesystem::path& output);

/// Leaves out barriers of a whole team inside a region that separate no conflicting accesses: up to the next remaining
/// barrier, no thread touches a page that another has written since the last remaining one, or writes a page that
/// another has read. Writes of different lines do not conflict. Returns the number of barriers that were left out, each
/// counted once for the team.
std::uint64_t leave_out_barriers(const File& file, const std::filesystem::path& output, const CallSites& at = {});

/// Leaves out all locks (but ordered regions') and inline atomic operations, a bound for any gain. Returns the number.
std::uint64_t leave_out_locks(const File& file, const std::filesystem::path& output, const CallSites& at = {});

/// Call sites of the barriers at the ends of `single` constructs, by the singles' call sites: what threads that do not
/// execute one always come to next, but for its copyprivate.
std::map<std::uint32_t, std::uint32_t> barriers_of_singles(const File& file);

/// Leaves out `single` constructs with the barriers at their ends, a bound for any gain. Who executed one still does
/// its work. Returns how often the team came to them.
std::uint64_t leave_out_singles(const File& file, const std::filesystem::path& output, const CallSites& at = {});

/// Balances computing between any two barriers of a parallel region (fork and join included): all members compute as
/// long as traced on average, each one's intervals scaled by one factor. `at`: the phases with an event there. Returns
/// the number of uneven phases.
std::uint64_t balance(const File& file, const std::filesystem::path& output, const CallSites& at = {});

/// Moves first writes from the initial thread to the threads that use the pages. It takes pages of heap blocks and
/// static arrays that the initial thread writes before the first parallel region, and threads touch in parallel
/// regions. They are now first written at the begin of that region, before an extra barrier, by their most frequent
/// writer in parallel regions, or reader if nobody writes them. Computing stays where it was. Returns the number of
/// pages with a new first writer; 0 also if the first region's team lacks some thread.
std::uint64_t initialise_in_parallel(const File& file, const std::filesystem::path& output);

}  // namespace sdsm::trace
