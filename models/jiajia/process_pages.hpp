/// The pages of one process under JIAJIA: its copies, the pages that are at home here, and which of them it wrote. An
/// untouched page costs no memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <optional>
#include <utility>
#include <vector>

#include "models/diff.hpp"
#include "models/ids.hpp"
#include "models/jiajia/rules.hpp"
#include "models/page_table.hpp"
#include "models/protocol/pages.hpp"
#include "models/region_set.hpp"

namespace sdsm::jiajia {

/// A diff that a process sends to a page's home at the end of an interval.
struct Diff {
  PageId page;
  ProcessId home{};
  Change change;
};

class ProcessPages {
 public:
  /// All memory comes from `memory`: processes that share the object pass memory that they share.
  ProcessPages(ProcessId self, const Rules& rules,
               std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  /// Adds a region of stacks, whose homes write its pages without notices. Copies of them live until the process next
  /// receives notices (expire_unnoticed()).
  void add_unnoticed(RegionId region);

  /// Sets other rules, which the program chooses. Pages keep what they were marked with under the old ones.
  void set_rules(const Rules& rules) { rules_ = rules; }

  /// The process touches a page. Returns the trap that it takes, if any, and makes its transition; the caller repeats
  /// the access after a trap.
  std::optional<FaultKind> access(PageId page, ProcessId home, Access access) {
    return access_run(page, 1, home, access).kind;
  }

  struct AccessedRun {
    std::uint64_t pages;  ///< of which each takes the trap, or none does; at least 1
    std::optional<FaultKind> kind;
  };
  /// access() for adjacent pages with that home, up to the first that behaves otherwise.
  AccessedRun access_run(PageId first, std::uint64_t pages, ProcessId home, Access access);

  /// Notes that the process changed words of a page that it may write. A page without a twin remembers nothing.
  /// `page_words`: of a page.
  void changed(PageId page, Change change, std::uint16_t page_words = words_per_page);

  /// Adds a page that comes beside one fetched from the same home, another process. False if the process has a copy.
  bool prefetch(PageId page);

  /// Notes that this process, the page's home, sends another one a copy.
  void give(PageId page);

  /// Copies that the process twinned in the interval: it compares each with its twin when the interval ends.
  std::size_t twinned_pages() const { return twinned_.size(); }

  /// Ends the interval. Returns the diffs to send, in the order of twinning. Notes their pages, and the home pages
  /// written in the interval, in the innermost scope.
  std::vector<Diff> end_interval(Sync sync);

  /// Begins the next interval. Returns how many pages lose their write permission.
  std::uint64_t begin_interval(Sync sync);

  /// Enters a lock's scope, now the innermost one: the lock was taken.
  void enter_scope(LockId lock);

  /// Leaves the scope of a lock that is released. Returns what it hands on. Precondition: the process has the lock.
  std::vector<Notice> leave_scope(LockId lock);

  /// Under Scope::openmp: the process's own and received notices since the last barrier, without those that it handed
  /// on to the object before, or received there.
  std::vector<Notice> hand_on(SyncObject object);

  /// Under Scope::openmp: all own and received notices since the last barrier of all.
  std::vector<Notice> all_known();

  /// Takes, at a barrier, all pages that the process has noted since the last one, in order.
  std::vector<PageId> take_notes();

  /// Takes, under Rules::first_touch_moves, other pages that it has fetched since then, in order.
  std::vector<PageId> take_fetched(const std::vector<PageId>& notes);

  /// Applies a notice of a grant. Returns whether a copy became invalid.
  bool apply_grant_notice(const Notice& notice, ProcessId home, SyncObject from);

  /// Applies a notice of a barrier. A migrating page comes or goes. Returns whether a copy became invalid.
  bool apply_barrier_notice(const BarrierNotice& one);

  /// Invalidates, when notices arrive at a lock or a barrier, the copies of pages that their homes write without
  /// notices. Returns how many.
  std::uint64_t expire_unnoticed();

  State state(PageId page, ProcessId home) const;

  /// With adaptive write detection, at the begin of an interval after a barrier: the home pages that are writable.
  const std::pmr::vector<PageId>& written_at_home() const { return written_; }

 private:
  static constexpr std::uint32_t no_twin = 0xffffffff;
  struct Entry {
    State copy = State::unmapped;  ///< where the home is another process
    std::uint32_t twin = no_twin;  ///< index into twinned_; meaningful while `copy` is read_write
    bool written = false;          ///< at home, by the home in this interval: it is writable
    bool written_before = false;   ///< ... since the mark was last taken back by adaptive write detection
    bool others_wrote = false;     ///< at home, by a barrier's notice
    bool given = false;            ///< at home: a copy was given away since the last notice at a barrier
    bool is_marked = false;        ///< it is in marked_
  };
  using Chunk = std::array<Entry, chunk_pages>;
  using Pages = std::pmr::vector<PageId>;

  /// Notices that the process knows since the last barrier, in the order in which they came.
  struct Known {
    Notice notice;
    std::optional<SyncObject> from;  ///< empty: its own
  };

  void learn_own_notes();
  bool learn(const Notice& notice, std::optional<SyncObject> from);
  Entry& entry(PageId page);
  State state(const Entry& entry, ProcessId home) const;
  void mark(PageId page, Entry& entry);
  void mark_written(PageId page, Entry& entry);
  bool invalidate(PageId page);
  void become_home(PageId page, bool has_written);
  void stop_being_home(PageId page);
  std::uint64_t detect_writes();
  static void put_in_order(Pages& pages);

  ProcessId self_;
  Rules rules_;
  std::pmr::vector<Diff> twinned_;
  Pages written_;           ///< home pages with `written`, and perhaps pages that have migrated
  Pages marked_;            ///< pages with `written_before` or `others_wrote`, likewise
  Pages unnoticed_copies_;  ///< fetched since they last became invalid
  RegionSet unnoticed_;
  Pages fetched_;                   ///< since the last barrier; under Rules::first_touch_moves
  std::pmr::vector<LockId> held_;   ///< locks, the innermost scope's last
  std::pmr::vector<Pages> scopes_;  ///< notes: the barrier's, and then one for each of held_; openmp: the first alone
  // Under Scope::openmp:
  std::uint32_t interval_ = 0;  ///< of what was handed on last
  std::size_t noted_ = 0;       ///< of the barrier's notes: those that are in known_
  std::pmr::vector<Known> known_;
  std::pmr::map<std::pair<PageId, ProcessId>, std::size_t> latest_;  ///< by writer, the index in known_
  std::pmr::map<SyncObject, std::size_t> handed_on_;                 ///< how many of known_ were handed on there
  PageTable<Chunk> pages_;
};

}  // namespace sdsm::jiajia
