/// Notices at the processes that manage locks and the barrier.
#pragma once

#include <cstdint>
#include <map>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "models/ids.hpp"
#include "models/jiajia/rules.hpp"

namespace sdsm::jiajia {

/// Whether a lock's grant tells `to` of a page with that home. Where a lock hands on its own scope alone, a home has
/// nobody to tell of what others wrote to its pages.
constexpr bool is_handed(const Rules& rules, ProcessId home, ProcessId to) {
  return rules.scope != Scope::lock || home != to;
}

/// Of the locks that one process manages. A lock's scopes are numbered by its releases.
class LockNotices {
 public:
  explicit LockNotices(const Quirks& quirks, std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : quirks_(quirks), locks_(memory) {}

  /// `to` gets the lock: what was written under it since its last time, by page.
  std::vector<Notice> grant(LockId lock, ProcessId to);

  /// `by` gives the lock back, with what its scope hands on.
  void release(LockId lock, ProcessId by, std::span<const Notice> handed);

  /// A barrier tells everybody of everything.
  void barrier();

 private:
  struct Written {
    std::optional<ProcessId> writer;
    std::int64_t scope = 0;
  };
  struct Lock {
    using allocator_type = std::pmr::polymorphic_allocator<>;
    explicit Lock(const allocator_type& memory) : pages(memory), seen(memory) {}

    std::int64_t scope = 0;
    std::pmr::map<PageId, Written> pages;
    std::pmr::map<ProcessId, std::int64_t> seen;  ///< scope at the last grant
  };

  Quirks quirks_;
  std::pmr::map<LockId, Lock> locks_;
  std::int64_t barriers_ = -1;  ///< passed; -1: none. Only Quirks::lock_notices_outlive_barriers looks at it
  bool keeps_ = false;          ///< its lists over the next barrier
};

/// Of all processes at a barrier.
class BarrierNotices {
 public:
  explicit BarrierNotices(std::pmr::memory_resource* memory = std::pmr::get_default_resource()) : notes_(memory) {}

  void arrive(ProcessId from, std::span<const PageId> notes);

  /// All have come: one notice for each page, in order of pages.
  std::vector<Notice> take();

 private:
  std::pmr::vector<std::pair<PageId, ProcessId>> notes_;
};

}  // namespace sdsm::jiajia
