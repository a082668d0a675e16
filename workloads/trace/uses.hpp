/// Finds who uses a trace's memory: the instructions that touch each region, and the pages that several threads write.
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
  /// Pages that threads write inside of parallel regions, in the whole trace, by their writers: one thread; several
  /// that never changed the same line of 64 bytes (false sharing); several with a common line, or without known lines
  /// (stores of what was there already, and all of format 1).
  std::uint64_t written_by_one = 0;
  std::uint64_t written_apart = 0;
  std::uint64_t written_together = 0;
  /// First and last phase in which the region is touched. Forks, joins and barriers of whole teams divide the program
  /// into phases. Only their order counts: phases without a region's first or last touch have no number.
  std::uint64_t first_phase = 0;
  std::uint64_t last_phase = 0;
  std::vector<SiteUse> sites{};  ///< ascending; empty if Header::sites is

  bool operator==(const RegionUse&) const = default;
};

/// Returns each region's use. Reads the whole trace; throws what its cursors throw. Memory grows with the number of
/// page ranges that are written alike, not with pages or intervals.
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
  std::uint32_t threads = 0;  ///< threads that take it
  // Page touches while a thread held it as its latest lock; ascending. No sites if Header::sites is empty.
  std::vector<RegionTouches> regions{};
  std::vector<SiteUse> sites{};

  bool operator==(const LockUse&) const = default;
};

/// Returns uses in ascending order of locks. Reads the whole trace if a lock is taken; throws what its cursors throw.
std::vector<LockUse> lock_uses(const File& file);

/// How often inline atomic operations changed a variable in the whole run.
struct AtomicUse {
  RegionId region{};
  std::uint64_t byte = 0;  ///< in the region
  std::uint64_t operations = 0;
  std::uint32_t threads = 0;

  bool operator==(const AtomicUse&) const = default;
};

inline constexpr std::size_t most_atomic_uses = 64;

/// Returns the most frequent uses first, at most most_atomic_uses. Reads the whole trace if there is one; throws what
/// its cursors throw.
std::vector<AtomicUse> atomic_uses(const File& file);

/// By region: its pages that count as `written_apart`, each with its writers, ascending.
using SharedPages = std::vector<std::map<std::uint64_t, std::vector<std::uint32_t>>>;

inline constexpr std::uint64_t most_shared_pages = std::uint64_t{1} << 20;

/// Takes as long as uses(), and keeps every thread's ranges. Throws BadInput if there are more than most_shared_pages.
SharedPages pages_written_apart(const File& file);

}  // namespace sdsm::trace
