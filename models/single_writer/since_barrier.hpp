/// State of single-writer mode (page_sharing.hpp) since the last barrier, which forgets it: of a thread, of a node's
/// copies, and of a home's pages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "models/scash/page_state.hpp"
#include "models/single_writer/page_sharing.hpp"

namespace sdsm {

/// Whether a thread has met others since the last barrier, and has not gone on since: its next touch has to trap.
class MetOthers {
 public:
  /// The thread meets others. Returns whether the pages that it has open have to be shut.
  bool meet(bool is_single_writer_mode_due) {
    if (!is_single_writer_mode_due || (has_met_ && !has_opened_)) return false;
    has_met_ = true;
    has_opened_ = false;
    return true;
  }
  /// The thread opens a page. The page by which it met others is open when it goes on; a later operation takes it away.
  void open() { has_opened_ = has_met_; }
  /// The thread touches memory. Returns whether single-writer mode, where it is due, begins before.
  bool go_on() { return std::exchange(has_met_, false); }
  bool is_stopped() const { return has_met_; }
  void barrier() { has_met_ = false; }

 private:
  bool has_met_ = false;
  bool has_opened_ = false;
};

/// The copies that a node has of others' pages. `List`: of pages, by which a back end names them.
template <typename List>
struct CopiesOfOthers {
  std::uint64_t count = 0;  ///< upper bound, outside of single-writer mode
  List of_stacks;           ///< of pages that their processes have open for good
  List operated;            ///< that showed an atomic operation when they came

  void drop() {
    count = 0;
    forget_stacks();
  }
  /// `keeps`: the barrier drops changed copies only (Invalidation::changed).
  void barrier(bool keeps) {
    if (!keeps) count = 0;
    forget_stacks();
  }
  Concerned concerned(SingleWriterMode mode) const { return concerned_by_sync(mode, !of_stacks.empty()); }

 private:
  void forget_stacks() {
    of_stacks.clear();
    operated.clear();
  }
};

/// Changes of a home's pages, beside the lists of pages that others use. `Pages`: a set of pages.
template <typename Pages>
class ChangesAtHome {
 public:
  /// Notes an atomic operation on a page that its process has open for good.
  void operate_on_stack(typename Pages::value_type page) { operated_.insert(page); }
  void diff(typename Pages::value_type page, bool is_on_stack) {
    if (!is_on_stack) diffs_.insert(page);
  }
  /// The home's process enters single-writer mode. It may have changed unseen what it had open.
  void enter_single_writer_mode(HomePages home_pages) { has_unseen_ |= home_pages == HomePages::open; }

  /// Whether the page's content may show another node the effect of stores elsewhere. In single-writer mode that node
  /// then has to drop older copies of pages that their owners change unseen. Before the mode begins, only operations on
  /// the page count (meeting_at()). `listed`: null where the home has no list. A stack's content always may, as nobody
  /// knows what is stored there.
  bool tells(typename Pages::value_type page, const PageSharing* listed, bool is_on_stack,
             bool is_asked_in_single_writer_mode, bool home_is_in_single_writer_mode) const {
    if (!is_asked_in_single_writer_mode) return listed == nullptr ? operated_.contains(page) : listed->is_changed();
    if (is_on_stack || diffs_.contains(page)) return true;
    // Outside of single-writer mode the home does not see what its own thread stores.
    return listed != nullptr && (listed->is_changed() || has_unseen_ || !home_is_in_single_writer_mode);
  }

  void barrier() {
    operated_.clear();
    diffs_.clear();
    has_unseen_ = false;
  }

 private:
  Pages operated_;
  Pages diffs_;
  bool has_unseen_ = false;
};

}  // namespace sdsm
