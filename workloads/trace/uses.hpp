/// Who uses the memory of a trace: which instructions touch each region, and whether threads write the same pages.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "workloads/trace/reader.hpp"

namespace sdsm::trace {

/// Page touches by one instruction: first reads and first writes of a page in an interval.
struct SiteUse {
  std::uint32_t site = 0;  ///< index in Header::sites
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;

  bool operator==(const SiteUse&) const = default;
};

struct RegionUse {
  std::uint64_t reads = 0;   ///< page touches
  std::uint64_t writes = 0;  ///< page touches
  /// Pages that threads write inside of parallel regions, in the whole trace: one thread alone; several, of which no
  /// two ever changed the same line of 64 bytes (false sharing); several, where two did, or where the trace does not
  /// tell (stores of what was there already, and all of format 1).
  std::uint64_t written_by_one = 0;
  std::uint64_t written_apart = 0;
  std::uint64_t written_together = 0;
  /// When it is touched first and last, in phases of the whole program: forks, joins and barriers of whole teams divide
  /// them. Only the order counts: phases in which no region is touched first or last have no number.
  std::uint64_t first_phase = 0;
  std::uint64_t last_phase = 0;
  std::vector<SiteUse> sites{};  ///< ascending; empty if Header::sites is

  bool operator==(const RegionUse&) const = default;
};

/// By region. Reads the whole trace; throws what its cursors throw. Memory grows with the number of ranges of pages
/// that are written alike, not with pages or intervals.
std::vector<RegionUse> uses(const File& file);

/// Page touches of one region.
struct RegionTouches {
  RegionId region{};
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;

  bool operator==(const RegionTouches&) const = default;
};

/// How often a lock was taken in the whole run.
struct LockUse {
  std::uint8_t lock_class = 0;  ///< LockClass
  std::uint64_t lock = 0;
  std::uint64_t taken = 0;
  std::uint32_t threads = 0;  ///< that take it
  // Page touches while a thread held it, and none that it took later; ascending. No sites if Header::sites is empty.
  std::vector<RegionTouches> regions{};
  std::vector<SiteUse> sites{};

  bool operator==(const LockUse&) const = default;
};

/// Ascending by lock. Reads the whole trace if a lock is taken; throws what its cursors throw.
std::vector<LockUse> lock_uses(const File& file);

/// How often a variable was changed by inline atomic operations, in the whole run.
struct AtomicUse {
  RegionId region{};
  std::uint64_t byte = 0;  ///< of the region
  std::uint64_t operations = 0;
  std::uint32_t threads = 0;

  bool operator==(const AtomicUse&) const = default;
};

inline constexpr std::size_t most_atomic_uses = 64;

/// The most frequent first, at most so many. Reads the whole trace if there is one; throws what its cursors throw.
std::vector<AtomicUse> atomic_uses(const File& file);

/// By region: its pages that count as `written_apart`, each with the threads that write it, ascending.
using SharedPages = std::vector<std::map<std::uint64_t, std::vector<std::uint32_t>>>;

inline constexpr std::uint64_t most_shared_pages = std::uint64_t{1} << 20;

/// Costs what uses() costs, and keeps every thread's ranges. Throws BadInput if there are more than most_shared_pages.
SharedPages pages_written_apart(const File& file);

}  // namespace sdsm::trace
