/// Write notices at the processes that manage locks and the barrier.
#pragma once

#include <cstdint>
#include <map>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "models/ids.hpp"
#include "models/jiajia/rules.hpp"
#include "models/region_set.hpp"

namespace sdsm::jiajia {

/// Whether a lock's grant to `to` has notices of pages with that home. Where a lock hands on its own scope alone, a
/// home needs no notices of its own pages.
constexpr bool is_handed(const Rules& rules, ProcessId home, ProcessId to) {
  return rules.scope != Scope::lock || home != to;
}

/// What a manager that has passed `barriers` keeps of the notices that a process handed on when it had passed `then`: a
/// barrier in between has sent them to all.
inline std::vector<Notice> still_news(const std::vector<Notice>& handed, std::uint64_t then, std::uint64_t barriers) {
  return then < barriers ? std::vector<Notice>{} : handed;
}

/// Notices at the locks, and other objects, that one process manages. An object's scopes are numbered by its releases.
class LockNotices {
 public:
  explicit LockNotices(const Rules& rules, std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : rules_(rules), objects_(memory) {}

  /// `to` gets the lock. Returns the notices that were handed on there since `to` last had it, by page; under
  /// Scope::openmp one for each writer but `to`.
  std::vector<Notice> grant(SyncObject object, ProcessId to);

  /// `by` releases the lock, and hands these notices on.
  void release(SyncObject object, ProcessId by, std::span<const Notice> handed);

  /// A barrier, which sends all notices to all processes.
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
  std::int64_t barriers_ = -1;  ///< passed; -1: none. Only for Quirks::lock_notices_outlive_barriers
  bool keeps_ = false;          ///< its lists over the next barrier
};

/// The notices of all processes at a barrier.
class BarrierNotices {
 public:
  explicit BarrierNotices(const Rules& rules, std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : rules_(rules), unnoticed_(memory), notes_(memory), fetched_(memory), moves_(memory) {}

  /// Adds a region whose homes write its pages without notices. They never move, even under Rules::home_migration.
  void add_unnoticed(RegionId region) { unnoticed_.add(region); }

  void set_rules(const Rules& rules) { rules_ = rules; }

  /// `fetched`: pages that it only read, under Rules::first_touch_moves.
  void arrive(ProcessId from, std::span<const PageId> notes, std::span<const PageId> fetched);

  /// To be called when all have come. Returns a notice for each page that was written or moves, in order of pages.
  /// `home`: of a page, now.
  template <typename HomeOf>
  std::vector<BarrierNotice> take(const HomeOf& home, bool is_fork) {
    std::vector<BarrierNotice> notices;
    for (const Notice& notice : single_or_several(notes_)) {
      const ProcessId before = home(notice.page);
      notices.push_back({notice, true, before, may_leave(notice.page) ? next_home(notice, before, rules_) : before});
    }
    if (rules_.first_touch_moves) add_moves(notices, home, is_fork);
    notes_.clear();
    fetched_.clear();
    return notices;
  }

 private:
  using Pairs = std::pmr::vector<std::pair<PageId, ProcessId>>;
  bool may_leave(PageId page) const { return !unnoticed_.holds(page.region); }
  static std::vector<Notice> single_or_several(Pairs& pairs);
  /// Whether the page may move once more; if so, it counts as moved.
  bool may_move(PageId page);

  template <typename HomeOf>
  void add_moves(std::vector<BarrierNotice>& notices, const HomeOf& home, bool is_fork) {
    if (is_fork) return;
    Pairs referenced = notes_;
    referenced.insert(referenced.end(), fetched_.begin(), fetched_.end());
    std::size_t written = 0;
    const std::size_t all_written = notices.size();
    for (const Notice& reference : single_or_several(referenced)) {
      while (written < all_written && notices[written].notice.page < reference.page) ++written;
      const bool is_written = written < all_written && notices[written].notice.page == reference.page;
      const ProcessId before = home(reference.page);
      if (!reference.writer || *reference.writer == before || !may_move(reference.page)) continue;
      if (is_written) {
        notices[written].next = *reference.writer;
      } else {
        notices.push_back({{reference.page, {}}, false, before, *reference.writer});
      }
    }
  }

  Rules rules_;
  RegionSet unnoticed_;
  Pairs notes_;
  Pairs fetched_;
  std::pmr::map<PageId, std::uint32_t> moves_;  ///< so far, by first touch
};

}  // namespace sdsm::jiajia
