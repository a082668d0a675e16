#include "models/scash/node_pages.hpp"

#include <initializer_list>
#include <random>
#include <sstream>

#include "tests/catch.hpp"

using namespace sdsm;

namespace {

using enum FaultKind;
using enum Permission;
constexpr Access to_read = Access::read;
constexpr Access to_write = Access::write;
constexpr Change one_word{1, 1};

/// A node with processes `first`, `first` + 1, ...; process 0 is the home of every page of region 0, process 1 of
/// every page of region 1, and so on.
class Node {
 public:
  Node(std::uint32_t first, std::uint32_t processes, WriteNotices* notices = nullptr)
      : pages_(NodeId{first}, ProcessId{first}, processes, notices), first_(first), processes_(processes) {}

  std::optional<FaultKind> touch(std::uint32_t process, PageId page, Access access) {
    return pages_.access(ProcessId{process}, page, ProcessId{index_of(page.region)}, owner(process, page), access);
  }
  /// A write that changes a word.
  std::optional<FaultKind> store(std::uint32_t process, PageId page) {
    const auto fault = touch(process, page, to_write);
    pages_.changed(page, owner(process, page), one_word);
    return fault;
  }
  std::vector<Twinned> flush(std::uint32_t process, Sync sync) { return pages_.flush(ProcessId{process}, sync); }
  void acquire(std::uint32_t process) {
    flush(process, Sync::acquire);
    pages_.drop(Sync::acquire);
  }
  void barrier() {
    for (std::uint32_t p = first_; p < first_ + processes_; ++p) flush(p, Sync::barrier);
    pages_.drop(Sync::barrier);
  }
  Permission state(std::uint32_t process, PageId page) const {
    return pages_.node_permission(page, owner(process, page));
  }
  Permission protection(std::uint32_t process, PageId page) const {
    return pages_.process_permission(ProcessId{process}, page, owner(process, page));
  }
  NodePages& pages() { return pages_; }

 private:
  Owner owner(std::uint32_t process, PageId page) const {
    const std::uint32_t home = index_of(page.region);
    if (home == process) return Owner::home;
    return home >= first_ && home < first_ + processes_ ? Owner::local : Owner::remote;
  }
  NodePages pages_;
  std::uint32_t first_, processes_;
};

constexpr PageId page_of_0{RegionId{0}, 5};
constexpr PageId page_of_1{RegionId{1}, 5};

/// All nodes of `notices` come to a barrier.
void barrier_of(WriteNotices& notices, std::initializer_list<Node*> nodes) {
  for (Node* const node : nodes) node->barrier();
  notices.publish();
}

}  // namespace

TEST_CASE("each fault kind occurs where its sentence says, and nowhere else") {
  struct Case {
    std::uint32_t first, processes;
    /// "2w WUMR": process 2 writes page 5 of process 0, and traps; "2w -": it does not. "|": a barrier.
    std::string touches;
    std::size_t twins;
  };
  const Case one = GENERATE(values<Case>({
      // Processes 0 and 1, of which 0 has the page at home. The owner's first write per barrier.
      {0, 1, "0r - 0w WROH 0w - | 0r - 0w WROH", 0},
      {0, 2, "1r - 1w WROL 1w -", 1},
      {0, 2, "1w WROL 0r - 0w WRWH 0w -", 1},
      {0, 2, "0w WROH 1w WRWL 1w -", 0},
      // A page that is elsewhere: fetched again after every barrier; written at once, and after a read.
      {1, 1, "1r RUMR 1r - | 1r RUMR", 0},
      {1, 1, "1w WUMR 1r - 1w -", 1},
      {1, 1, "1r RUMR 1w WROR 1w -", 1},
      // One that another process of the node has made writable, or has fetched; who fetched it may still only read.
      {2, 3, "2w WUMR 3w WRWR 4r RRWR 4r - 4w WRWR 4w -", 1},
      {2, 2, "2r RUMR 3r RROR 3r - 3w WROR 2r - 2w WRWR", 1},
      {2, 2, "2r RUMR 3w WROR", 1},
  }));
  CAPTURE(one.touches);
  Node node(one.first, one.processes);
  std::istringstream words(one.touches);
  for (std::string touch, fault; words >> touch;) {
    if (touch == "|") {
      node.barrier();
      continue;
    }
    words >> fault;
    const auto found = node.touch(touch[0] - '0', page_of_0, touch[1] == 'w' ? to_write : to_read);
    CHECK((found ? rule_of(*found).name : "-") == fault);
  }
  CHECK(node.pages().twinned_pages() == one.twins);
}

TEST_CASE("with one process per node only WROH, WROR, WUMR and RUMR occur") {
  // Every sequence of four accesses of a page, home or remote.
  for (unsigned accesses = 0; accesses < 16; ++accesses) {
    for (const PageId page : {page_of_0, page_of_1}) {
      Node node(1, 1);
      for (unsigned i = 0; i < 4; ++i) {
        const auto fault = node.touch(1, page, accesses >> i & 1 ? to_write : to_read);
        if (fault) CHECK((fault == WROH || fault == WROR || fault == WUMR || fault == RUMR));
      }
    }
  }
}

TEST_CASE("a process's protection is never wider than its node's state") {
  Node node(2, 2);
  node.touch(2, page_of_0, to_write);
  CHECK(node.state(2, page_of_0) == read_write);
  CHECK(node.protection(2, page_of_0) == read_write);
  CHECK(node.protection(3, page_of_0) == unmapped);
  node.touch(3, page_of_0, to_read);
  CHECK(node.protection(3, page_of_0) == read_only);
  node.barrier();
  CHECK(node.state(2, page_of_0) == unmapped);
  CHECK(node.protection(2, page_of_0) == unmapped);
  CHECK(node.protection(3, page_of_0) == unmapped);
}

TEST_CASE("a barrier sends a diff for each page twinned and changed") {
  Node node(1, 1);
  const PageId clean{RegionId{0}, 1}, touched{RegionId{0}, 2}, changed{RegionId{0}, 3};
  node.touch(1, clean, to_read);
  node.touch(1, touched, to_write);  // written with the same bytes
  node.store(1, changed);
  const auto diffs = node.flush(1, Sync::barrier);
  REQUIRE(diffs.size() == 1);
  CHECK(diffs[0].page == changed);
  CHECK(diffs[0].holder == ProcessId{1});
  CHECK(diffs[0].home == ProcessId{0});
  CHECK_FALSE(diffs[0].local);
  CHECK(diffs[0].change == one_word);
}

TEST_CASE("diffs leave in the order in which their pages were twinned") {
  Node node(1, 1);
  for (const std::uint64_t index : {9, 2, 700, 4}) node.store(1, {RegionId{0}, index});
  std::vector<std::uint64_t> order;
  for (const Twinned& diff : node.flush(1, Sync::barrier)) order.push_back(diff.page.index);
  CHECK(order == std::vector<std::uint64_t>{9, 2, 700, 4});
}

TEST_CASE("a barrier drops every copy, clean or dirty, changed or not") {
  Node node(1, 1);
  const PageId clean{RegionId{0}, 1}, dirty{RegionId{0}, 2};
  node.touch(1, clean, to_read);
  node.store(1, dirty);
  node.barrier();
  CHECK(node.state(1, clean) == unmapped);
  CHECK(node.state(1, dirty) == unmapped);
  CHECK(node.pages().twinned_pages() == 0);
  CHECK(node.flush(1, Sync::barrier).empty());
}

TEST_CASE("a written home page costs its owner once at the barrier") {
  Node node(0, 2);
  const PageId twice{RegionId{0}, 1}, once{RegionId{0}, 2}, by_local_peer{RegionId{0}, 3};
  node.store(0, twice);
  node.store(0, twice);
  node.store(0, once);
  node.store(1, by_local_peer);
  node.touch(0, {RegionId{0}, 4}, to_read);
  CHECK(node.pages().take_dirty_home_pages(ProcessId{0}) == 2);
  CHECK(node.pages().take_dirty_home_pages(ProcessId{0}) == 0);
  CHECK(node.pages().take_dirty_home_pages(ProcessId{1}) == 0);
}

TEST_CASE("protection runs of adjacent pages at a barrier are counted") {
  const auto at = [](std::uint32_t region, std::uint64_t index) { return PageId{RegionId{region}, index}; };
  Node node(0, 1);
  node.pages().note_opened_pages();
  // Own pages 1 and 2, and 4; copies 1 and 2, behind them 3, and 7: one of them first read, then written.
  for (const std::uint64_t index : {4, 2, 1}) node.store(0, at(0, index));
  for (const std::uint64_t index : {7, 1, 2}) node.touch(0, at(1, index), to_read);
  node.store(0, at(1, 2));
  CHECK(node.pages().prefetch(ProcessId{0}, at(1, 3)));
  node.barrier();
  CHECK(node.pages().take_further_runs(ProcessId{0}) == 3);  // of four
  node.barrier();
  CHECK(node.pages().take_further_runs(ProcessId{0}) == 0);
  // A lock shuts copies, not own pages.
  node.store(0, at(0, 1));
  for (const std::uint64_t index : {1, 3, 5}) node.touch(0, at(1, index), to_read);
  node.acquire(0);
  node.store(0, at(0, 3));
  node.barrier();
  CHECK(node.pages().take_further_runs(ProcessId{0}) == 1);
}

TEST_CASE("copies that survive a barrier are protected again where written") {
  WriteNotices notices;
  Node node(1, 1, &notices);
  node.pages().note_opened_pages();
  const auto copy = [](std::uint64_t index) { return PageId{RegionId{0}, index}; };
  for (const std::uint64_t index : {1, 3, 5, 7}) node.touch(1, copy(index), to_read);
  node.store(1, copy(7));
  node.store(1, copy(9));
  notices.add(copy(3), NodeId{0});
  barrier_of(notices, {&node});
  CHECK(node.pages().take_further_runs(ProcessId{1}) == 2);  // 3 goes; 7 and 9 become read-only
  notices.add(copy(5), NodeId{0});
  notices.add(copy(7), NodeId{0});
  barrier_of(notices, {&node});
  CHECK(node.pages().take_further_runs(ProcessId{1}) == 1);  // 5 and 7 go
}

TEST_CASE("a home page made writable by others costs its owner") {
  Node node(0, 2);
  node.store(1, page_of_0);
  CHECK(node.store(0, page_of_0) == WRWH);
  CHECK(node.pages().take_dirty_home_pages(ProcessId{0}) == 1);
}

TEST_CASE("a release sends changes and renews the twin without a trap") {
  Node node(1, 1);
  node.store(1, page_of_0);
  CHECK(node.flush(1, Sync::release).size() == 1);
  CHECK(node.flush(1, Sync::release).empty());  // nothing new
  CHECK(node.store(1, page_of_0) == std::nullopt);
  CHECK(node.store(1, page_of_0) == std::nullopt);
  const auto diffs = node.flush(1, Sync::release);
  REQUIRE(diffs.size() == 1);
  CHECK(diffs[0].change == Change{2, 2});
}

TEST_CASE("a release keeps copies and home pages as they are") {
  Node node(1, 1);
  node.touch(1, page_of_0, to_read);
  node.store(1, page_of_1);
  node.flush(1, Sync::release);
  node.pages().drop(Sync::release);
  CHECK(node.state(1, page_of_0) == read_only);
  CHECK(node.state(1, page_of_1) == read_write);
  CHECK(node.pages().take_dirty_home_pages(ProcessId{1}) == 1);
}

TEST_CASE("an acquire flushes and drops copies, but no home pages") {
  Node node(1, 1);
  const PageId other{RegionId{0}, 6};
  node.store(1, page_of_0);
  node.touch(1, other, to_read);
  node.store(1, page_of_1);
  CHECK(node.flush(1, Sync::acquire).size() == 1);
  node.pages().drop(Sync::acquire);
  CHECK(node.state(1, page_of_0) == unmapped);
  CHECK(node.state(1, other) == unmapped);
  CHECK(node.state(1, page_of_1) == read_write);
  CHECK(node.touch(1, page_of_1, to_write) == std::nullopt);
  CHECK(node.touch(1, page_of_0, to_write) == WUMR);
  CHECK(node.pages().take_dirty_home_pages(ProcessId{1}) == 1);
}

TEST_CASE("a gang's barrier drops copies and leaves home pages writable") {
  Node node(1, 1);
  node.store(1, page_of_0);
  node.store(1, page_of_1);
  CHECK(sync_of_gang(1, 1) == Sync::gang);
  CHECK(node.flush(1, Sync::gang).size() == 1);
  node.pages().drop(Sync::gang);
  CHECK(node.store(1, page_of_1) == std::nullopt);
  CHECK(node.touch(1, page_of_0, to_read) == RUMR);
  CHECK(node.pages().take_dirty_home_pages(ProcessId{1}) == 1);
  node.barrier();
  CHECK(node.store(1, page_of_1) == WROH);
}

TEST_CASE("a gang's barrier sends each process's changes, or a member all") {
  Node node(2, 2);
  const PageId other{RegionId{0}, 6};
  node.store(2, page_of_0);
  node.store(3, other);
  CHECK(node.flush(2, sync_of_gang(2, 2)).size() == 1);
  CHECK(node.flush(3, sync_of_gang(2, 2)).size() == 1);
  node.store(3, other);
  CHECK(node.flush(2, sync_of_gang(1, 2)).size() == 1);
}

TEST_CASE("changed pages only: gang's writes are noticed at the next full barrier") {
  WriteNotices notices;
  Node home(0, 1, &notices), reader(1, 1, &notices);
  home.store(0, page_of_0);
  home.pages().drop(Sync::gang);
  reader.touch(1, page_of_0, to_read);
  home.store(0, page_of_0);  // writable still: it does not trap
  barrier_of(notices, {&home, &reader});
  CHECK(reader.touch(1, page_of_0, to_read) == RUMR);
}

TEST_CASE("an acquire flushes remote changes of the node's other processes") {
  Node node(2, 2);
  node.store(2, page_of_0);
  const auto diffs = node.flush(3, Sync::acquire);
  REQUIRE(diffs.size() == 1);
  CHECK(diffs[0].page == page_of_0);
  node.pages().drop(Sync::acquire);
  CHECK(node.store(2, page_of_0) == WUMR);
}

TEST_CASE("a page dropped by the node's acquire is fetched anew") {
  Node node(2, 2);
  node.touch(2, page_of_0, to_write);
  node.acquire(3);
  CHECK(node.touch(3, page_of_0, to_read) == RUMR);
  CHECK(node.protection(2, page_of_0) == unmapped);
  CHECK(node.touch(2, page_of_0, to_read) == RROR);
  CHECK(node.touch(2, page_of_0, to_write) == WROR);
}

TEST_CASE("a release sends writes into a page twinned by another process") {
  Node node(2, 2);
  node.store(2, page_of_0);
  node.flush(2, Sync::release);
  CHECK(node.store(3, page_of_0) == WRWR);
  // The lock's next holder must find what process 3 wrote under it.
  const auto diffs = node.flush(3, Sync::release);
  REQUIRE(diffs.size() == 1);
  CHECK(diffs[0].page == page_of_0);
  CHECK(node.flush(2, Sync::release).empty());
}

TEST_CASE("a release sends no other process's pages") {
  Node node(2, 2);
  node.store(2, page_of_0);
  CHECK(node.flush(3, Sync::release).empty());
  CHECK(node.touch(3, page_of_0, to_read) == RRWR);
  CHECK(node.flush(3, Sync::release).empty());
  CHECK(node.flush(2, Sync::release).size() == 1);
}

TEST_CASE("a local page's twin survives an acquire, its diff is local") {
  Node node(0, 2);
  const PageId remote{RegionId{7}, 1};
  node.store(1, remote);  // twinned first, so that the local twin is renumbered
  node.store(1, page_of_0);
  node.acquire(1);
  CHECK(node.pages().twinned_pages() == 1);
  CHECK(node.store(1, page_of_0) == std::nullopt);
  const auto diffs = node.flush(1, Sync::barrier);
  REQUIRE(diffs.size() == 1);
  CHECK(diffs[0].page == page_of_0);
  CHECK(diffs[0].local);
  CHECK(diffs[0].change == one_word);  // what came before the acquire was flushed then
}

TEST_CASE("an acquire does not flush twins of local pages") {
  Node node(0, 3);
  node.store(1, page_of_0);
  CHECK(node.flush(2, Sync::acquire).empty());
  CHECK(node.flush(1, Sync::acquire).size() == 1);
}

TEST_CASE("an owner's changes are in the diff of another's twin") {
  Node node(0, 2);
  node.store(1, page_of_0);
  node.store(0, page_of_0);
  const auto diffs = node.flush(1, Sync::barrier);
  REQUIRE(diffs.size() == 1);
  CHECK(diffs[0].change == Change{2, 2});
  CHECK(node.flush(0, Sync::barrier).empty());
}

TEST_CASE("a change of a page without a twin is nobody's diff") {
  Node node(0, 2);
  node.store(0, page_of_0);
  node.store(1, page_of_0);  // WRWL: no twin
  CHECK(node.flush(0, Sync::barrier).empty());
  CHECK(node.flush(1, Sync::barrier).empty());
}

TEST_CASE("a twin does not outlive the barrier") {
  Node node(1, 1);
  node.store(1, {RegionId{0}, 1});
  node.store(1, {RegionId{0}, 2});
  node.barrier();
  node.touch(1, {RegionId{0}, 2}, to_read);
  node.pages().changed({RegionId{0}, 2}, Owner::remote, one_word);  // has no twin now
  node.touch(1, {RegionId{0}, 3}, to_write);
  CHECK(node.flush(1, Sync::barrier).empty());
}

TEST_CASE("changed pages only: an unshared copy survives the barrier clean") {
  WriteNotices notices;
  Node writer(1, 1, &notices), reader(2, 1, &notices);
  const PageId quiet{RegionId{0}, 1}, changed{RegionId{0}, 2}, own{RegionId{0}, 3};
  reader.touch(2, quiet, to_read);
  reader.touch(2, changed, to_read);
  reader.store(2, own);
  writer.store(1, changed);
  barrier_of(notices, {&writer, &reader});
  CHECK(reader.touch(2, quiet, to_read) == std::nullopt);
  CHECK(reader.touch(2, changed, to_read) == RUMR);
  // The reader's own change made no notice for itself; the copy is clean and the next write twins anew.
  CHECK(reader.touch(2, own, to_read) == std::nullopt);
  CHECK(reader.touch(2, own, to_write) == WROR);
  // The writer's copy of the page that only it changed stays with it.
  CHECK(writer.touch(1, changed, to_read) == std::nullopt);
}

TEST_CASE("changed pages only: no copy survives single-writer mode") {
  for (const bool has_unnoticed : {false, true}) {
    WriteNotices notices;
    Node reader(2, 1, &notices);
    reader.touch(2, page_of_0, to_read);
    reader.pages().end_interval(has_unnoticed);
    notices.publish();
    CHECK(reader.touch(2, page_of_0, to_read).has_value() == has_unnoticed);
  }
}

TEST_CASE("changed pages only: the owner's writes drop copies elsewhere, too") {
  WriteNotices notices;
  Node owner(0, 1, &notices), reader(1, 1, &notices);
  reader.touch(1, page_of_0, to_read);
  CHECK(owner.store(0, page_of_0) == WROH);
  barrier_of(notices, {&owner, &reader});
  CHECK(reader.touch(1, page_of_0, to_read) == RUMR);
  // In the next interval the owner does not write it.
  barrier_of(notices, {&owner, &reader});
  CHECK(reader.touch(1, page_of_0, to_read) == std::nullopt);
}

TEST_CASE("changed pages only: writing the same bytes is no change") {
  WriteNotices notices;
  Node writer(1, 1, &notices), reader(2, 1, &notices);
  reader.touch(2, page_of_0, to_read);
  writer.touch(1, page_of_0, to_write);
  barrier_of(notices, {&writer, &reader});
  CHECK(reader.touch(2, page_of_0, to_read) == std::nullopt);
}

TEST_CASE("changed pages only: two writers of a page lose both copies") {
  WriteNotices notices;
  Node first(1, 1, &notices), second(2, 1, &notices);
  first.store(1, page_of_0);
  second.store(2, page_of_0);
  barrier_of(notices, {&first, &second});
  CHECK(first.touch(1, page_of_0, to_read) == RUMR);
  CHECK(second.touch(2, page_of_0, to_read) == RUMR);
}

TEST_CASE("changed pages only: a notice waits until the reader has a copy") {
  WriteNotices notices;
  Node writer(1, 1, &notices), reader(2, 1, &notices);
  const auto barrier = [&] { barrier_of(notices, {&writer, &reader}); };
  writer.store(1, page_of_0);
  barrier();
  CHECK(reader.touch(2, page_of_0, to_read) == RUMR);  // fetched after the change
  barrier();
  CHECK(reader.touch(2, page_of_0, to_read) == std::nullopt);
  CHECK(writer.store(1, page_of_0) == WROR);
  barrier();
  CHECK(reader.touch(2, page_of_0, to_read) == RUMR);
}

TEST_CASE("changed pages only: a missed barrier costs all copies at the next") {
  WriteNotices notices;
  Node away(2, 1, &notices), there(3, 1, &notices);
  const PageId quiet{RegionId{0}, 1};
  away.touch(2, page_of_0, to_read);
  away.touch(2, quiet, to_read);
  there.touch(3, quiet, to_read);
  notices.add(page_of_0, NodeId{0});
  barrier_of(notices, {&there});
  barrier_of(notices, {&away, &there});
  CHECK(away.touch(2, quiet, to_read) == RUMR);
  CHECK(there.touch(3, quiet, to_read) == std::nullopt);
  barrier_of(notices, {&away, &there});
  CHECK(away.touch(2, quiet, to_read) == std::nullopt);
}

TEST_CASE("changed pages only: without notices copies live until the next barrier") {
  WriteNotices notices;
  notices.add_unnoticed(RegionId{0});
  Node reader(2, 1, &notices);
  for (int barrier = 0; barrier < 2; ++barrier) {
    CHECK(reader.touch(2, page_of_0, to_read) == RUMR);
    CHECK(reader.touch(2, page_of_0, to_read) == std::nullopt);
    CHECK((reader.touch(2, page_of_1, to_read) == RUMR) == (barrier == 0));
    barrier_of(notices, {&reader});
  }
}

TEST_CASE("changed pages only: exchanged notices equal common ones") {
  WriteNotices of_writer, of_reader;
  Node writer(1, 1, &of_writer), reader(2, 1, &of_reader);
  const PageId quiet{RegionId{0}, 1};
  reader.touch(2, page_of_0, to_read);
  reader.touch(2, quiet, to_read);
  writer.store(1, page_of_0);
  const auto barrier = [&](std::uint32_t epoch) {
    writer.flush(1, Sync::barrier);
    const auto notices_of_writer = of_writer.take();
    for (WriteNotices* const notices : {&of_writer, &of_reader}) {
      notices->skip_to(epoch);
      for (const auto& [page, by] : notices_of_writer) notices->add(page, by);
    }
    writer.pages().drop(Sync::barrier);
    reader.pages().drop(Sync::barrier);
    of_writer.publish();
    of_reader.publish();
  };
  barrier(0);
  CHECK(writer.touch(1, page_of_0, to_read) == std::nullopt);
  CHECK(reader.touch(2, page_of_0, to_read) == RUMR);
  CHECK(reader.touch(2, quiet, to_read) == std::nullopt);
  barrier(5);  // without the notices of others' barriers before
  CHECK(reader.touch(2, quiet, to_read) == RUMR);
}

TEST_CASE("changed pages only: processes of a node lose a dropped copy together") {
  WriteNotices notices;
  Node pair(2, 2, &notices), writer(1, 1, &notices);
  pair.touch(2, page_of_0, to_read);
  pair.touch(3, page_of_0, to_write);
  writer.store(1, page_of_0);
  barrier_of(notices, {&writer, &pair});
  CHECK(pair.touch(3, page_of_0, to_read) == RUMR);
  CHECK(pair.protection(2, page_of_0) == unmapped);
  CHECK(pair.touch(2, page_of_0, to_read) == RROR);
}

TEST_CASE("a run of pages acts as its pages one by one") {
  std::mt19937 random(1);
  const auto pick = [&](unsigned high) { return static_cast<std::uint32_t>(random() % (high + 1)); };
  for (int program = 0; program < 300; ++program) {
    WriteNotices notices_by_run, notices_by_page;
    const bool changed_only = pick(3) == 0;
    const std::uint32_t first = 2, processes = 1 + pick(2);
    NodePages by_run(NodeId{1}, ProcessId{first}, processes, changed_only ? &notices_by_run : nullptr);
    NodePages by_page(NodeId{1}, ProcessId{first}, processes, changed_only ? &notices_by_page : nullptr);
    for (int step = 0; step < 60; ++step) {
      const ProcessId process{first + pick(processes - 1)};
      if (pick(9) == 0) {
        const Sync sync = static_cast<Sync>(pick(2));
        for (std::uint32_t p = first; p < first + processes; ++p) {
          if (sync != Sync::barrier && ProcessId{p} != process) continue;
          const auto a = by_run.flush(ProcessId{p}, sync), b = by_page.flush(ProcessId{p}, sync);
          REQUIRE(a.size() == b.size());
          for (std::size_t i = 0; i < a.size(); ++i) {
            REQUIRE(a[i].page == b[i].page);
            REQUIRE(a[i].change == b[i].change);
          }
          if (sync == Sync::barrier) {
            REQUIRE(by_run.take_dirty_home_pages(ProcessId{p}) == by_page.take_dirty_home_pages(ProcessId{p}));
          }
        }
        if (sync != Sync::release) {
          by_run.drop(sync);
          by_page.drop(sync);
        }
        if (sync == Sync::barrier) {
          notices_by_run.publish();
          notices_by_page.publish();
        }
        continue;
      }
      // Region r is at home with process r; runs often cross from one chunk of pages to the next.
      const RegionId region{pick(first + processes)};
      const std::uint64_t begin = chunk_pages - 20 + pick(30), pages = 1 + pick(20);
      const ProcessId home{index_of(region)};
      const Owner owner = home == process                                                 ? Owner::home
                          : index_of(home) >= first && index_of(home) < first + processes ? Owner::local
                                                                                          : Owner::remote;
      const Access access = pick(1) == 0 ? to_read : to_write;
      std::vector<std::optional<FaultKind>> one_by_one, in_runs;
      for (std::uint64_t i = 0; i < pages; ++i) {
        one_by_one.push_back(by_page.access(process, {region, begin + i}, home, owner, access));
        if (access == to_write) by_page.changed({region, begin + i}, owner, one_word);
      }
      while (in_runs.size() < pages) {
        const std::uint64_t from = begin + in_runs.size();
        const auto run = by_run.access_run(process, {region, from}, pages - in_runs.size(), home, owner, access);
        REQUIRE(run.pages >= 1);
        in_runs.insert(in_runs.end(), run.pages, run.kind);
        for (std::uint64_t i = 0; i < run.pages && access == to_write; ++i)
          by_run.changed({region, from + i}, owner, one_word);
      }
      REQUIRE(in_runs == one_by_one);
    }
  }
}

TEST_CASE("a relinquished page is fetched again, a downgraded one twinned again") {
  NodePages pages(NodeId{1}, ProcessId{2}, 2);
  const ProcessId home{0};
  const auto touch = [&](std::uint32_t process, std::uint64_t page, Access access) {
    return pages.access(ProcessId{process}, {RegionId{0}, page}, home, Owner::remote, access);
  };
  for (std::uint64_t page = 0; page < 3; ++page) touch(2, page, to_write);
  CHECK(pages.downgrade({RegionId{0}, 1}, false) == 1);
  CHECK(pages.downgrade({RegionId{0}, 1}, false) == std::nullopt);
  CHECK(pages.downgrade({RegionId{0}, 2}, true) == 1);
  CHECK(pages.twinned_pages() == 1);
  CHECK(touch(2, 0, to_write) == std::nullopt);
  CHECK(touch(3, 1, to_read) == RUMR);
  CHECK(touch(2, 2, to_read) == std::nullopt);
  CHECK(touch(2, 2, to_write) == WROR);
  pages.changed({RegionId{0}, 2}, Owner::remote, one_word);
  pages.changed({RegionId{0}, 0}, Owner::remote, one_word);
  const auto diffs = pages.flush(ProcessId{2}, Sync::acquire);
  REQUIRE(diffs.size() == 2);
  CHECK(diffs[1].page == PageId{RegionId{0}, 2});
}

TEST_CASE("a prefetched page traps in the node's other processes only") {
  Node node(2, 2);
  CHECK(node.pages().prefetch(ProcessId{2}, page_of_0));
  CHECK_FALSE(node.pages().prefetch(ProcessId{3}, page_of_0));
  CHECK(node.touch(2, page_of_0, to_read) == std::nullopt);
  CHECK(node.touch(3, page_of_0, to_read) == RROR);
  CHECK(node.store(2, page_of_0) == WROR);
  CHECK(node.flush(2, Sync::barrier).size() == 1);
  node.barrier();
  CHECK(node.state(2, page_of_0) == unmapped);
  CHECK(node.pages().prefetch(ProcessId{3}, page_of_0));
  CHECK(node.protection(2, page_of_0) == unmapped);
  node.acquire(2);
  CHECK(node.touch(3, page_of_0, to_read) == RUMR);
}

TEST_CASE("write notices invalidate prefetched pages as fetched ones") {
  WriteNotices notices;
  Node node(1, 1, &notices);
  CHECK(node.pages().prefetch(ProcessId{1}, page_of_0));
  barrier_of(notices, {&node});
  CHECK(node.touch(1, page_of_0, to_read) == std::nullopt);
  notices.add(page_of_0, NodeId{0});
  barrier_of(notices, {&node});
  CHECK(node.touch(1, page_of_0, to_read) == RUMR);
}
