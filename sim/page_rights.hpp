/// Flag mode (models/page_sharing.hpp) in a simulation: from the moment at which a thread that has met others goes on,
/// until the next barrier of all threads, which nodes may use which pages. Copies stay then where a fence or an
/// operation would drop them, and a page's home takes back what another node wants.
///
/// A node gives a page up when its home serves the next one. The messages for it, which a run does not count either,
/// take as long as on idle links; a page that goes home with changes counts as a diff.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "models/ids.hpp"
#include "models/scash/node_pages.hpp"
#include "models/since_barrier.hpp"
#include "models/units.hpp"

namespace sdsm::sim {

class Cluster;

class PageRights {
 public:
  explicit PageRights(Cluster& cluster);

  /// Nobody does an operation that orders memory, so nobody has to note what flag mode begins with.
  void expect_no_operations() { is_noted_ = false; }

  /// Of all nodes.
  SingleWriterMode mode() const { return mode_; }
  bool is_on() const { return mode_ != SingleWriterMode::off; }
  /// Whether the protocol's tables alone do not say what a touch does.
  bool are_asked() const { return are_asked_; }
  /// Its process has it open for good.
  bool is_of_stack(PageId page) const { return is_stack_[index_of(page.region)]; }

  /// A node's thread that has met others goes on, and its changes are home. The others send theirs, and drop their
  /// copies. Returns how long the thread waits for them.
  Time enter(NodeId by);
  /// A barrier of threads 0 to team - 1.
  void end(std::uint32_t team);

  struct Granted {
    Time downgrades{};        ///< until others have given the page up
    bool is_changed = false;  ///< it may show that others have stored elsewhere
  };
  /// The page's home serves it, or the right to write it.
  Granted grant(PageId page, ProcessId home, NodeId to, Access access);
  /// Of the home's node: whether it has to ask before it uses its own page.
  bool has_to_ask(PageId page, NodeId node, Access access) const;
  /// Its home does an operation that orders memory, for process `by`. Returns the time until others have given it up.
  Time operate(PageId page, ProcessId home, ProcessId by);
  void note_diff(PageId page) {
    if (is_noted_) changes_.diff(page, is_of_stack(page));
  }

  /// Copies of others' pages that came to the node since it last dropped them.
  void note_copies(NodeId node, PageId first, std::uint64_t count) {
    if (!is_noted_) return;
    copies_[index_of(node)].count += count;
    if (is_of_stack(first)) copies_[index_of(node)].of_stacks.push_back(first);
  }
  void note_drop(NodeId node) { copies_[index_of(node)].drop(); }
  std::uint64_t copies(NodeId node) const { return copies_[index_of(node)].count; }
  /// By a synchronisation between barriers, of what the node has.
  Concerned concerned(NodeId node) const { return copies_[index_of(node)].concerned(mode_); }
  /// Precondition: the node's changes are home.
  void drop_stack_copies(NodeId node);

 private:
  struct Shared {
    ProcessId home{};
    PageSharing sharing;
  };
  Shared& list(PageId page, ProcessId home);
  Time take_from(PageId page, Shared& shared, const std::vector<PageSharing::Loss>& losses);
  Time downgrade(PageId page, Shared& shared, const PageSharing::Loss& loss);
  /// The node sends a page's changes, which nobody has asked for at a synchronisation. Returns how long that takes.
  Time send_late(ProcessId from, PageId page, ProcessId home, Bytes bytes);

  Cluster& cluster_;
  std::vector<bool> is_stack_;  ///< by region
  SingleWriterMode mode_ = SingleWriterMode::off;
  bool is_noted_ = true;
  bool are_asked_ = false;                   ///< flag mode is on, or operations have changed pages
  std::map<PageId, Shared> pages_;           ///< that other nodes have asked for, or that operations have changed
  ChangesAtHome<std::set<PageId>> changes_;  ///< of all homes
  std::vector<CopiesOfOthers<std::vector<PageId>>> copies_;  ///< by node
};

}  // namespace sdsm::sim
