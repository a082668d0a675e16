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

/// Of the locks, and other objects, that one process manages. An object's scopes are numbered by its releases.
class LockNotices {
 public:
  explicit LockNotices(const Rules& rules, std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : rules_(rules), objects_(memory) {}

  /// `to` gets the lock: what was handed on there since its last time, by page. Under Scope::openmp not what `to` wrote
  /// itself, and a notice for each writer.
  std::vector<Notice> grant(SyncObject object, ProcessId to);

  /// `by` gives the lock back, with what it hands on.
  void release(SyncObject object, ProcessId by, std::span<const Notice> handed);

  /// A barrier tells everybody of everything.
  void barrier();

 private:
  struct Written {
    std::optional<ProcessId> by;  ///< empty: by several
    std::uint32_t interval = 0;
    std::int64_t scope = 0;
  };
  struct Object {
    using allocator_type = std::pmr::polymorphic_allocator<>;
    explicit Object(const allocator_type& memory) : pages(memory), seen(memory) {}

    std::int64_t scope = 0;
    std::pmr::multimap<PageId, Written> pages;    ///< under Scope::lock one for each page
    std::pmr::map<ProcessId, std::int64_t> seen;  ///< scope at the last grant
  };

  Rules rules_;
  std::pmr::map<SyncObject, Object> objects_;
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
