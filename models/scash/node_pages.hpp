/// The states of one node's pages, by page_state.hpp. An untouched page costs no memory. A synchronisation costs time
/// for twinned pages only: it drops all copies by one step of a counter, and older entries count as untouched.
#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <utility>
#include <vector>

#include "models/diff.hpp"
#include "models/ids.hpp"
#include "models/page_table.hpp"
#include "models/region_set.hpp"
#include "models/scash/opened_pages.hpp"
#include "models/scash/page_state.hpp"

namespace sdsm {

/// A page that a process twinned, waiting for its flush.
struct Twinned {
  PageId page;
  ProcessId holder{};  ///< the process that made the twin and will send the diff
  ProcessId home{};
  bool local = false;  ///< the home is on this node: the diff is charged but not applied
  Change change;       ///< since the twin was made or renewed
};

/// Write notices of the whole cluster: who wrote which pages when. Used only under Invalidation::changed. Epochs count
/// barriers of teams. In the simulator all nodes share one object; in a run each node has its own, and the barrier's
/// messages carry its notices to the others.
class WriteNotices {
 public:
  explicit WriteNotices(std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  std::uint32_t epoch() const { return epoch_; }
  /// Adds a notice: `writer` wrote the page in this epoch. Others receive it at the barrier that ends the epoch.
  void add(PageId page, NodeId writer) { pending_.emplace_back(page, writer); }
  /// Adds a region of stacks, whose homes write them without notices. Copies of its pages live as long as an epoch.
  void add_unnoticed(RegionId region);
  /// A barrier: sends the notices of this epoch to all, and begins the next one.
  void publish();
  /// Whether a node other than `reader` wrote the page in an ended epoch, from epoch `since` on.
  bool written_by_others(PageId page, NodeId reader, std::uint32_t since) const;

  /// Takes the notices of this epoch so far out of the object.
  std::vector<std::pair<PageId, NodeId>> take();
  /// A barrier ends epoch `epoch`, and the node was not at the barriers between.
  void skip_to(std::uint32_t epoch) { epoch_ = epoch; }

 private:
  struct Notice {
    NodeId last_writer{};
    std::uint32_t last = 0;   ///< epoch of the last write, +1; 0: none
    std::uint32_t other = 0;  ///< the same for the last write by any node but last_writer
  };
  using Notices = std::array<Notice, chunk_pages>;
  std::uint32_t epoch_ = 0;
  std::pmr::vector<std::pair<PageId, NodeId>> pending_;
  RegionSet unnoticed_;
  PageTable<Notices> pages_;
};

class NodePages {
 public:
  /// Processes `first` to `first + processes - 1` share this node. With `notices`, barriers drop changed copies only
  /// (precondition: go_together()).
  /// The object allocates from `memory` alone: processes that really share it pass memory that they share.
  NodePages(NodeId node, ProcessId first, std::uint32_t processes, WriteNotices* notices = nullptr,
            std::pmr::memory_resource* memory = std::pmr::get_default_resource(),
            HomePages home_pages = HomePages::read_only);

  /// Process `process` of this node touches a page. Returns the fault it takes, if any, and makes its transition.
  std::optional<FaultKind> access(ProcessId process, PageId page, ProcessId home, Owner owner, Access access);

  /// The first pages of a run, which behaved alike: none of them trapped, or each took the same fault. A fault that
  /// fetches its page comes alone, because its process has to wait.
  struct AccessedRun {
    std::uint64_t pages = 0;
    std::optional<FaultKind> kind;
  };

  /// access() for as many of `pages` adjacent pages of one home as behave alike; at least one.
  AccessedRun access_run(ProcessId process, PageId first, std::uint64_t pages, ProcessId home, Owner owner,
                         Access access);

  /// A page of another node comes beside one that `process` fetches, for reading. False if the node has a copy already.
  bool prefetch(ProcessId process, PageId page);

  /// Some process of this node changed words of a page, after a write access. They differ from the node's twin now and
  /// will be in its diff; a page without a twin remembers nothing. `page_words`: of a page.
  void changed(PageId page, Owner owner, Change change, std::uint16_t page_words = words_per_page);

  /// Twinned pages, changed or not, that `process` has to send at `sync` (see Flushes), in the order of twinning.
  std::vector<Twinned> due(ProcessId process, Sync sync) const;

  /// Renews the twins of the pages due at `sync`, and returns those of them that changed, in the order of twinning:
  /// `process` sends their diffs.
  std::vector<Twinned> flush(ProcessId process, Sync sync);

  /// The node drops copies as the rule of `sync` says. Precondition: everything that the rule wants flushed is flushed.
  void drop(Sync sync);

  /// drop() at a barrier of the team that ends an interval. `has_unnoticed`: changes came home without write notices,
  /// as in single-writer mode.
  void end_interval(bool has_unnoticed) {
    if (notices_ && has_unnoticed) drop(Sync::acquire);
    drop(Sync::barrier);
  }

  /// In single-writer mode: drops the node's copy of a page of another node, or the right to write it. A twinned page
  /// loses its twin. Returns its index among the twinned pages then. Precondition: its changes are home.
  std::optional<std::size_t> downgrade(PageId page, bool keeps_reading);

  /// Number of home pages that `process` wrote since the last barrier. Resets it (barrier phase 4).
  std::uint64_t take_dirty_home_pages(ProcessId process);

  /// Makes take_further_runs() count from now on. An opened page then costs memory until the next barrier.
  void note_opened_pages() { opened_.resize(processes_); }

  /// After drop() at a barrier, and the publishing of notices: the number of runs of adjacent pages that `process`
  /// protects again, beyond the first (Costs::further_run). 0 if they are not noted. Resets it.
  std::uint64_t take_further_runs(ProcessId process);

  /// The page's state on the node, and its protection in a process.
  Permission node_permission(PageId page, Owner owner) const;
  Permission process_permission(ProcessId process, PageId page, Owner owner) const;
  std::size_t twinned_pages() const { return twinned_.size(); }

  /// Bytes of a touched page's tables on a node of so many processes, with a twin.
  static constexpr std::size_t bytes_of_page(std::uint32_t processes) {
    return sizeof(Entry) + (processes > 1 ? processes * sizeof(Aged) : 0) + sizeof(Twinned);
  }

 private:
  static constexpr std::uint32_t no_twin = 0xffffffff;
  /// A permission with the age at which it was set. Ages of remote pages count drops, those of home and local pages
  /// count barriers; an entry of another age has lapsed to the resting permission.
  struct Aged {
    std::uint32_t age = 0;
    Permission permission = Permission::unmapped;
  };
  struct Entry {
    Aged node;
    std::uint32_t twin = no_twin;  ///< index into twinned_; meaningful while `node` has not lapsed
    std::uint32_t fetched = 0;     ///< epoch of the fetch; for Invalidation::changed
  };
  struct Chunk {
    std::pmr::vector<Entry> entries;
    std::pmr::vector<Aged>
        processes;  ///< chunk_pages x processes; empty with one process, whose protection is the node's
  };

  std::uint32_t age_of(Owner owner) const { return owner == Owner::remote ? copy_age_ : write_age_; }
  Permission current(const Aged& aged, Owner owner) const {
    return aged.age == age_of(owner) ? aged.permission : resting(owner, home_pages_);
  }
  bool is_open(Owner owner) const { return home_pages_ == HomePages::open && owner != Owner::remote; }
  /// Remembers the last chunk: touches mostly come to the pages of one chunk in turn, and the table's look-up is slow.
  Entry& entry(PageId page) {
    const std::uint64_t slot = pages_.slot(page);
    const PageId first{page.region, page.index - slot};
    if (!recent_entries_ || first != recent_) find_entries(first);
    return recent_entries_[slot];
  }
  void find_entries(PageId first);
  std::optional<FaultKind> access(Entry& entry, ProcessId process, PageId page, ProcessId home, Owner owner,
                                  Access access);
  void begin_copy(Entry& entry, PageId page);
  void note_opened(ProcessId process, PageId first, std::uint64_t pages, Owner owner, Access access) {
    if (!opened_.empty()) add_opened(process, first, pages, owner, access);
  }
  void add_opened(ProcessId process, PageId first, std::uint64_t pages, Owner owner, Access access);
  bool receives_all_notices();
  void clean_copies();
  const Entry* find(PageId page) const;
  bool is_due(const Twinned& twinned, ProcessId process, Flushes flushes) const;
  Aged& process_entry(std::uint32_t process, PageId page);
  Permission node_permission(const Entry& entry, PageId page, Owner owner) const;
  void set_process(ProcessId process, PageId page, Owner owner, Permission permission);

  NodeId node_;
  std::uint32_t first_;
  std::uint32_t processes_;
  WriteNotices* notices_;
  HomePages home_pages_;
  std::uint32_t received_ = 0;   ///< epochs, with `notices_`
  std::uint32_t copy_age_ = 1;   ///< drops of remote copies so far, +1
  std::uint32_t write_age_ = 1;  ///< barriers so far, +1
  std::pmr::vector<Twinned> twinned_;
  std::pmr::vector<std::uint64_t> dirty_home_;
  std::pmr::vector<OpenedPages> opened_;  ///< by process; empty if they are not noted
  PageTable<Chunk> pages_;
  PageId recent_{};                  ///< first page of the chunk that entry() found last
  Entry* recent_entries_ = nullptr;  ///< its entries; chunks stay where they are
};

}  // namespace sdsm
