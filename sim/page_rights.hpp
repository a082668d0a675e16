/// Single-writer mode (models/single_writer/page_sharing.hpp) in a simulation: which nodes may use which pages. The
/// mode begins when a thread that has met others goes on, and ends at the next barrier of all threads. Meanwhile fences
/// and operations drop no copies, and a page's home invalidates or downgrades other nodes' copies on request.
///
/// A node relinquishes a page when its home serves the next node. The messages for it take as long as on idle links,
/// and are not counted, as in a real run. A page that goes home with changes counts as a diff.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "models/compared_words.hpp"
#include "models/ids.hpp"
#include "models/scash/node_pages.hpp"
#include "models/single_writer/since_barrier.hpp"
#include "models/units.hpp"

namespace sdsm::sim {

class Cluster;

class PageRights {
 public:
  explicit PageRights(Cluster& cluster);

  /// Promises that no operation orders memory, so nobody has to record the initial state of single-writer mode.
  void expect_no_operations() { is_noted_ = false; }

  SingleWriterMode mode() const { return mode_; }
  bool is_on() const { return mode_ != SingleWriterMode::off; }
  /// Whether a touch depends on more than the protocol's tables.
  bool are_asked() const { return are_asked_; }
  /// Whether the page is on a stack, which its process keeps open.
  bool is_of_stack(PageId page) const { return is_stack_[index_of(page.region)]; }

  /// Enters single-writer mode because a thread of node `by` that has met others goes on, with its changes at home. The
  /// other nodes send their changes and drop their copies. Returns how long the thread waits for them.
  Time enter(NodeId by);
  /// Ends the mode at a barrier of threads 0 to team - 1.
  void end(std::uint32_t team);

  struct Granted {
    Time downgrades{};        ///< until other nodes have relinquished the page
    bool is_changed = false;  ///< the page may show that others have stored elsewhere
  };
  /// The page's home grants the page, or the right to write it.
  Granted grant(PageId page, ProcessId home, NodeId to, Access access);
  /// Whether the home's own node has to ask before it uses the page.
  bool has_to_ask(PageId page, NodeId node, Access access) const;
  /// The home does an operation that orders memory, for process `by`. Returns the time until others have relinquished
  /// the page.
  Time operate(PageId page, ProcessId home, ProcessId by);
  /// Whether the node that asks for an operation keeps its copy, unless the home takes it for another's.
  bool keeps_copy_at_operation(PageId page) const;
  /// Whether the process's node does the operation in its copy, as no other node can use the page meanwhile.
  bool operates_in_copy(PageId page, ProcessId home, ProcessId by) const;
  void note_change_in_copy(NodeId node, const WordOperation& operation);
  void note_diff(PageId page) {
    if (is_noted_) changes_.diff(page, is_of_stack(page));
  }

  /// Records copies of others' pages that came to the node since it last dropped them.
  void note_copies(NodeId node, PageId first, std::uint64_t count) {
    if (!is_noted_) return;
    copies_[index_of(node)].count += count;
    if (is_of_stack(first)) copies_[index_of(node)].of_stacks.push_back(first);
  }
  void note_drop(NodeId node) { copies_[index_of(node)].drop(); }
  std::uint64_t copies(NodeId node) const { return copies_[index_of(node)].count; }
  /// Which copies of the node a synchronisation between barriers concerns.
  Concerned concerned(NodeId node) const { return copies_[index_of(node)].concerned(mode_); }
  /// Precondition: the node's changes are home.
  void drop_stack_copies(NodeId node);

 private:
  struct Shared {
    ProcessId home{};
    PageSharing sharing;
    std::set<std::uint64_t>
        changed_in_copy{};  ///< bytes of the region at which operations changed words, by its writer
  };
  Shared& list(PageId page, ProcessId home);
  Time take_from(PageId page, Shared& shared, const std::vector<PageSharing::Loss>& losses);
  Time downgrade(PageId page, Shared& shared, const PageSharing::Loss& loss);
  /// The node sends a page's changes outside of a synchronisation. Returns how long that takes.
  Time send_late(ProcessId from, PageId page, ProcessId home, Bytes bytes);

  Cluster& cluster_;
  std::vector<bool> is_stack_;  ///< by region
  SingleWriterMode mode_ = SingleWriterMode::off;
  bool is_noted_ = true;
  bool are_asked_ = false;                   ///< single-writer mode is on, or operations have changed pages
  std::map<PageId, Shared> pages_;           ///< pages that other nodes have asked for, or that operations have changed
  ChangesAtHome<std::set<PageId>> changes_;  ///< of all homes
  std::vector<CopiesOfOthers<std::vector<PageId>>> copies_;  ///< by node
};

}  // namespace sdsm::sim
