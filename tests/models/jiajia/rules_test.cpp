/// Are JIAJIA's rules right? Worked out by hand.
#include <span>
#include <vector>

#include "models/jiajia/courses.hpp"
#include "models/jiajia/process_pages.hpp"
#include "tests/catch.hpp"
#include "tests/models/jiajia/played_cluster.hpp"

using namespace sdsm;
using namespace sdsm::jiajia;
using sdsm::test::PlayedCluster;

namespace {

using Fault = sdsm::jiajia::FaultKind;

std::uint64_t faults(const PlayedCluster& cluster, std::uint32_t process, Fault kind) {
  return cluster.counts(process).faults[static_cast<std::size_t>(kind)];
}

std::uint64_t sent(const PlayedCluster& cluster, std::uint32_t process, MessageKind message) {
  return cluster.counts(process).sent[static_cast<std::size_t>(message)];
}

constexpr State states[] = {State::unmapped, State::invalid, State::read_only, State::read_write};

}  // namespace

TEST_CASE("without quirks one trap is enough, and gives what the access wants") {
  for (const Access access : {Access::read, Access::write}) {
    for (const State before : states) {
      const auto kind = fault_of(access, before, Place::elsewhere, {});
      const bool may_already = before == State::read_write || (before == State::read_only && access == Access::read);
      REQUIRE(kind.has_value() == !may_already);
      if (!kind) continue;
      CHECK(!fault_of(access, rule_of(*kind).after, Place::elsewhere, {}));
      CHECK(rule_of(*kind).makes_twin == (access == Access::write));
      CHECK(rule_of(*kind).fetches_page == (before == State::unmapped || before == State::invalid));
    }
  }
  CHECK(fault_of(Access::write, State::read_only, Place::home, {}) == Fault::WROH);
  CHECK(!fault_of(Access::read, State::read_only, Place::home, {}));
}

TEST_CASE("the handler's quirks trap a write twice and make reads writes") {
  PlayedCluster real(2, {.quirks = Quirks::all()}), meant(2, {});
  for (PlayedCluster* cluster : {&real, &meant}) {
    cluster->allocate(1, 0);
    cluster->write(1, 0);
    cluster->barrier();
    cluster->write(0, 0);  // takes the copy of process 1 at the barrier
    cluster->barrier();
    cluster->reset();
    cluster->read(1, 0);
    cluster->barrier();
  }
  CHECK(faults(meant, 1, Fault::RIVR) == 1);
  CHECK(meant.counts(1).diffs == 0);
  CHECK(meant.counts(1).notices == 0);
  CHECK(faults(real, 1, Fault::WIVR) == 1);
  CHECK(real.counts(1).empty_diffs == 1);
  CHECK(real.counts(1).notices == 1);

  PlayedCluster first(2, {.quirks = {.writes_of_unmapped_pages_trap_twice = true}});
  first.allocate(1, 0);
  first.write(1, 0);
  CHECK(faults(first, 1, Fault::RUMR) == 1);
  CHECK(faults(first, 1, Fault::WROR) == 1);
  CHECK(first.counts(1).page_requests() == 1);
}

TEST_CASE("at a barrier a single writer keeps its copy, several lose theirs") {
  PlayedCluster cluster(4, {});
  const std::uint64_t one = cluster.allocate(1, 0), several = cluster.allocate(1, 0);
  for (std::uint32_t process = 1; process < 4; ++process) {
    cluster.read(process, one);
    cluster.read(process, several);
  }
  cluster.write(1, one, 11);
  cluster.write(1, several, 21, 1);
  cluster.write(2, several, 22, 2);
  cluster.barrier();
  CHECK(cluster.counts(0).invalidations == 0);
  CHECK(cluster.counts(1).invalidations == 1);
  CHECK(cluster.counts(2).invalidations == 2);
  CHECK(cluster.counts(3).invalidations == 2);
  CHECK(cluster.counts(1).diffs == 2);
  CHECK(cluster.counts(2).diffs == 1);
  CHECK(cluster.counts(0).diffs_served == 3);
  cluster.reset();
  CHECK(cluster.read(1, one) == 11);
  CHECK(cluster.counts(1).remote_faults() == 0);
  CHECK(cluster.read(1, several, 2) == 22);
  CHECK(cluster.read(3, several, 1) == 21);
  CHECK(cluster.counts(1).page_requests() == 1);
  // BARR of three, and a grant for each of them.
  cluster.barrier();
  CHECK(sent(cluster, 1, MessageKind::BARR) == 1);
  CHECK(sent(cluster, 0, MessageKind::BARR) == 0);
  CHECK(sent(cluster, 0, MessageKind::BARRGRANT) == 3);
}

TEST_CASE("home migration makes the single writer the home") {
  PlayedCluster cluster(3, {.home_migration = true});
  const std::uint64_t page = cluster.allocate(1, 0), both = cluster.allocate(1, 0);
  cluster.read(2, page);
  cluster.write(1, page, 7);
  cluster.write(1, both, 8);
  cluster.write(0, both, 9, 1);  // the home wrote it too: it stays
  cluster.barrier();
  CHECK(cluster.home(page) == 1);
  CHECK(cluster.home(both) == 0);
  CHECK(cluster.counts(1).migrated_in == 1);
  CHECK(cluster.counts(0).migrated_out == 1);
  CHECK(cluster.counts(2).invalidations == 1);
  cluster.reset();
  CHECK(cluster.read(0, page) == 7);
  CHECK(cluster.counts(0).remote_faults() == 0);
  cluster.write(1, page, 10);
  CHECK(faults(cluster, 1, Fault::WROH) == 1);
  CHECK(cluster.read(2, page) == 10);
  cluster.barrier();
  CHECK(cluster.counts(1).diffs == 0);
  CHECK(cluster.read(0, page) == 10);
  CHECK(faults(cluster, 0, Fault::RIVR) == 1);
}

TEST_CASE("first touch moves a page that one process alone referenced") {
  PlayedCluster cluster(3, {.first_touch_moves = 1});
  const std::uint64_t written = cluster.allocate(1, 0), read = cluster.allocate(1, 0), both = cluster.allocate(1, 0);
  const auto touch = [&](std::uint32_t process, std::uint64_t value) {
    cluster.write(process, written, value);
    CHECK(cluster.read(process, read) == 0);
  };
  touch(1, 1);
  cluster.barrier(true);
  CHECK(cluster.home(written) == 0);
  CHECK(cluster.home(read) == 0);
  cluster.write(2, written, 2);
  CHECK(cluster.read(2, read) == 0);
  CHECK(cluster.read(1, both) == 0);
  CHECK(cluster.read(2, both) == 0);
  cluster.barrier();
  CHECK(cluster.home(written) == 2);
  CHECK(cluster.home(read) == 2);
  CHECK(cluster.home(both) == 0);
  CHECK(cluster.counts(2).migrated_in == 2);
  CHECK(cluster.counts(2).notices == 1 + 2);  // one written page, and two that it fetched
  // The old home keeps its copy, and a written page's other copies are gone.
  cluster.reset();
  CHECK(cluster.read(0, written) == 2);
  CHECK(cluster.counts(0).remote_faults() == 0);
  CHECK(cluster.read(1, written) == 2);
  CHECK(faults(cluster, 1, Fault::RIVR) == 1);
  cluster.barrier();  // process 1 alone fetched it: a second move
  CHECK(cluster.home(written) == 1);
  CHECK(cluster.read(2, written) == 2);
  cluster.write(0, written, 3);
  cluster.barrier();  // a third one is more than may be
  CHECK(cluster.home(written) == 1);
  CHECK(cluster.read(1, written) == 3);
}

TEST_CASE("adaptive write detection traps once what its home alone writes") {
  PlayedCluster cluster(2, {.adaptive_write_detection = true});
  const std::uint64_t page = cluster.allocate(1, 0);
  for (int interval = 0; interval < 5; ++interval) {
    cluster.write(0, page, 100);
    CHECK(cluster.read(1, page) == 100);
    cluster.barrier();
  }
  CHECK(faults(cluster, 0, Fault::WROH) == 1);
  CHECK(cluster.counts(0).notices == 5);
  CHECK(cluster.counts(1).invalidations == 5);
  cluster.write(1, page, 1);
  cluster.barrier();  // ends an interval in which the home is taken to have written, too
  cluster.write(0, page, 2);
  CHECK(faults(cluster, 0, Fault::WROH) == 2);

  SECTION("an unlock ends it for the interval, as without it") {
    cluster.barrier();
    cluster.lock(0, 0);
    cluster.unlock(0, 0);
    cluster.write(0, page, 3);
    CHECK(faults(cluster, 0, Fault::WROH) == 3);
  }
}

TEST_CASE("a lock hands on its scope, with --scope openmp everything known") {
  for (const Scope scope : {Scope::lock, Scope::openmp}) {
    PlayedCluster cluster(3, {.scope = scope});
    const std::uint64_t before = cluster.allocate(1, 0), under = cluster.allocate(1, 0);
    for (std::uint32_t process = 1; process < 3; ++process) {
      cluster.read(process, before);
      cluster.read(process, under);
    }
    cluster.write(1, before, 1);
    cluster.lock(1, 5);
    cluster.write(1, under, 2);
    cluster.unlock(1, 5);
    cluster.lock(2, 5);
    CHECK(cluster.read(2, under) == 2);
    CHECK(cluster.read(2, before) == (scope == Scope::lock ? 0 : 1));
    cluster.unlock(2, 5);
    cluster.barrier();
    CHECK(cluster.read(2, before) == 1);
  }
}

TEST_CASE("with --scope openmp what came by one lock goes on by another") {
  PlayedCluster cluster(3, {.scope = Scope::openmp});
  const std::uint64_t page = cluster.allocate(1, 1);
  CHECK(cluster.read(2, page) == 0);
  cluster.lock(0, 7);
  cluster.write(0, page, 5);
  cluster.unlock(0, 7);
  cluster.lock(1, 7);
  cluster.unlock(1, 7);
  cluster.lock(1, 8);
  cluster.unlock(1, 8);
  cluster.lock(2, 8);
  CHECK(cluster.read(2, page) == 5);
}

TEST_CASE("with --scope openmp a repeated write notice drops no copy") {
  PlayedCluster cluster(3, {.scope = Scope::openmp});
  const std::uint64_t page = cluster.allocate(1, 1);
  CHECK(cluster.read(2, page) == 0);
  const auto take = [&](std::uint32_t process, std::uint32_t lock) {
    cluster.lock(process, lock);
    cluster.unlock(process, lock);
  };
  cluster.write(0, page, 5);
  take(0, 7);  // sends one notice
  take(2, 7);
  CHECK(cluster.counts(2).invalidations == 1);
  CHECK(cluster.read(2, page) == 5);
  take(1, 7);
  take(1, 8);  // sends what lock 8 has not had yet
  take(2, 8);
  take(2, 7);
  CHECK(cluster.counts(2).invalidations == 1);
  CHECK(cluster.read(2, page) == 5);
  CHECK(cluster.counts(0).notices == 1);
  CHECK(cluster.counts(1).notices == 1);
  // A further write is another interval's.
  cluster.write(0, page, 6);
  take(0, 7);
  take(2, 7);
  CHECK(cluster.counts(2).invalidations == 2);
  CHECK(cluster.read(2, page) == 6);
}

TEST_CASE("with --scope openmp flags and partial barriers hand on notices") {
  PlayedCluster cluster(4, {.scope = Scope::openmp});
  const std::uint64_t page = cluster.allocate(1, 3);
  for (const std::uint32_t process : {0U, 1U, 2U}) CHECK(cluster.read(process, page) == 0);
  cluster.write(2, page, 5);
  cluster.post(2, 9);
  CHECK(cluster.read(1, page) == 0);
  cluster.wait(1, 9);
  CHECK(cluster.read(1, page) == 5);
  CHECK(cluster.read(0, page) == 0);
  cluster.barrier_of(2);
  CHECK(cluster.read(0, page) == 5);
  CHECK(sent(cluster, 1, MessageKind::BARR) == 1);
  CHECK(sent(cluster, 2, MessageKind::BARR) == 0);
}

TEST_CASE("an acquire invalidates copies of pages that homes write without faults") {
  ProcessPages pages(ProcessId{0}, {.scope = Scope::openmp});
  const PageId of_stack{RegionId{3}, 5}, of_array{RegionId{2}, 5};
  pages.add_unnoticed(of_stack.region);
  CHECK(pages.expire_unnoticed() == 0);
  CHECK(pages.access(of_stack, ProcessId{1}, Access::read) == Fault::RUMR);
  CHECK(pages.access(of_array, ProcessId{1}, Access::read) == Fault::RUMR);
  CHECK(pages.expire_unnoticed() == 1);
  CHECK(pages.state(of_stack, ProcessId{1}) == State::invalid);
  CHECK(pages.state(of_array, ProcessId{1}) == State::read_only);
  CHECK(pages.expire_unnoticed() == 0);
  CHECK(pages.access(of_stack, ProcessId{1}, Access::write) == Fault::WIVR);
  pages.changed(of_stack, {1, 1});
  CHECK(pages.end_interval(Sync::acquire).size() == 1);
  pages.begin_interval(Sync::acquire);
  CHECK(pages.expire_unnoticed() == 1);
}

TEST_CASE("pages that their home writes without faults never move") {
  const PageId of_stack{RegionId{3}, 5}, of_array{RegionId{2}, 5};
  const auto home = [](PageId) { return ProcessId{1}; };
  BarrierNotices met({.home_migration = true});
  met.add_unnoticed(of_stack.region);
  met.arrive(ProcessId{0}, std::vector{of_array, of_stack}, {});
  const std::vector<BarrierNotice> sent = met.take(home, false);
  REQUIRE(sent.size() == 2);
  CHECK(sent[0].next == ProcessId{0});
  CHECK(sent[1].notice == Notice{of_stack, ProcessId{0}});
  CHECK(sent[1].next == ProcessId{1});
}

TEST_CASE("an unnamed process receives all notices each time") {
  ProcessPages pages(ProcessId{0}, {.scope = Scope::openmp});
  const PageId own{RegionId{2}, 1}, others{RegionId{2}, 2};
  pages.access(own, ProcessId{0}, Access::write);
  pages.end_interval(Sync::release);
  pages.begin_interval(Sync::release);
  pages.apply_grant_notice({others, ProcessId{2}, 7}, ProcessId{1}, object_of(LockId{4}));
  const std::vector<Notice> known{{own, ProcessId{0}, 1}, {others, ProcessId{2}, 7}};
  CHECK(pages.all_known() == known);
  CHECK(pages.hand_on(object_of(LockId{4})) == std::vector<Notice>{known[0]});
  CHECK(pages.all_known() == known);
  CHECK(pages.take_notes() == std::vector<PageId>{own});
  CHECK(pages.all_known().empty());
}

TEST_CASE("locks that overlap hand on what was written while they were held") {
  PlayedCluster cluster(2, {});
  const std::uint64_t first = cluster.allocate(1, 0), both = cluster.allocate(1, 0), second = cluster.allocate(1, 0);
  const auto read_all = [&] {
    return std::array{cluster.read(1, first), cluster.read(1, both), cluster.read(1, second)};
  };
  CHECK(read_all() == std::array<std::uint64_t, 3>{});
  cluster.lock(0, 1);
  cluster.write(0, first, 1);
  cluster.lock(0, 2);
  cluster.write(0, both, 2);
  cluster.unlock(0, 1);
  cluster.write(0, second, 3);
  cluster.unlock(0, 2);
  cluster.lock(1, 1);
  CHECK(read_all() == std::array<std::uint64_t, 3>{1, 2, 0});
  cluster.unlock(1, 1);
  cluster.lock(1, 2);
  CHECK(read_all() == std::array<std::uint64_t, 3>{1, 2, 3});
}

TEST_CASE("the silent home's quirk holds notices until there is a copy") {
  for (const bool is_silent : {false, true}) {
    PlayedCluster cluster(2, {.quirks = {.unread_homes_keep_silent = is_silent}});
    const std::uint64_t page = cluster.allocate(1, 0);
    cluster.write(0, page, 1);
    cluster.barrier();
    CHECK(cluster.counts(0).notices == (is_silent ? 0 : 1));
    CHECK(cluster.read(1, page) == 1);
    cluster.write(0, page, 2);
    cluster.barrier();
    CHECK(cluster.counts(1).invalidations == 1);
    CHECK(cluster.read(1, page) == 2);
  }
}

TEST_CASE("the barrier's manager is process 0, as a quirk lock 64's") {
  CHECK(manager_of_barrier(3, {}) == ProcessId{0});
  CHECK(manager_of_barrier(3, Quirks::all()) == ProcessId{1});
  CHECK(manager_of_barrier(6, Quirks::all()) == ProcessId{4});
}

TEST_CASE("notices and diffs share messages of 40,928 bytes") {
  CHECK(further_messages(0, most_own) == 0);
  CHECK(further_messages(3066, most_own) == 0);
  CHECK(further_messages(3067, most_own) == 1);
  CHECK(further_messages(5111, most_handed) == 2);
  CHECK(notice_data(2, handed_notice) == Bytes{36});
  CHECK(diff_data(Change{}) == Bytes{12});
  CHECK(diff_data(whole_page) == Bytes{12 + 4 + 4096});
  DiffMessages messages;
  for (int page = 0; page < 9; ++page) messages.add(diff_data(whole_page));  // 9 x 4112 = 37,008
  CHECK(messages.data.size() == 1);
  messages.add(diff_data(whole_page));
  CHECK(messages.data.size() == 2);
}

TEST_CASE("a diff longer than a message continues in a shared one") {
  DiffMessages messages;
  messages.add(diff_data(whole_page));
  messages.add(diff_data(Change{16384, 1}));  // 64 KiB: 65,552
  messages.add(diff_data(whole_page));
  CHECK(messages.data == std::vector<Bytes>{Bytes{4112}, most_diff_data, Bytes{65'552 - 40'928 + 4112}});
}

TEST_CASE("a fork's message carries the region, notices and pages in parts") {
  CHECK(fork_messages(3, Bytes{0}).size() == 1);
  CHECK(fork_messages(3, Bytes{0}).front().data == Bytes{64 + 4 + 3 * 12});
  const auto messages = fork_messages(0, Bytes{10 * 4096});
  CHECK(messages.size() == 2);
  CHECK(messages.back().data == Bytes{64 + 4 + 40960 - 40928});
  CHECK(messages.back().kind == MessageKind::FORK);
}

TEST_CASE("a home that moved is found, and every move changes the epoch") {
  Homes homes;
  const PageId page{RegionId{3}, 1000};
  CHECK(homes.home(page, ProcessId{2}) == ProcessId{2});
  const std::uint64_t epoch = homes.epoch();
  homes.move(page, ProcessId{5});
  CHECK(homes.epoch() != epoch);
  CHECK(homes.home(page, ProcessId{2}) == ProcessId{5});
  CHECK(homes.home({RegionId{3}, 1001}, ProcessId{2}) == ProcessId{2});
  homes.move(page, ProcessId{2});
  CHECK(homes.home(page, ProcessId{0}) == ProcessId{2});
}

TEST_CASE("notices beyond a message's size go before it") {
  const auto sent = [](MessageKind last, std::uint64_t notices) {
    std::vector<std::pair<MessageKind, std::int64_t>> found;
    for (const Message& message : with_notices(last, notices)) found.emplace_back(message.kind, message.data.count);
    return found;
  };
  using Found = std::vector<std::pair<MessageKind, std::int64_t>>;
  // A count of 4 bytes, then 12 for each notice of the sender's and 16 for each that is handed on.
  CHECK(sent(MessageKind::REL, 0) == Found{{MessageKind::REL, 4}});
  CHECK(sent(MessageKind::BARR, 3067) == Found{{MessageKind::WTNT, 4 + 3066 * 12}, {MessageKind::BARR, 4 + 12}});
  CHECK(sent(MessageKind::ACQGRANT, 5111) == Found{{MessageKind::INVLD, 4 + 2555 * 16},
                                                   {MessageKind::INVLD, 4 + 2555 * 16},
                                                   {MessageKind::ACQGRANT, 4 + 16}});
  // A process that sends others' notices names the writers.
  CHECK(with_notices(MessageKind::REL, 2556, true).front().data == Bytes{4 + 2555 * 16});
  CHECK(with_notices(MessageKind::REL, 2556, true).front().kind == MessageKind::WTNT);
  CHECK(with_notices(MessageKind::REL, 2556, true).back().data == Bytes{4 + 16});
}

TEST_CASE("a lock's scope sends no home notices of its own pages") {
  const ProcessId home{1}, other{2};
  for (const auto& [scope, is_sent] : {std::pair{Scope::lock, false}, std::pair{Scope::openmp, true}}) {
    Rules rules;
    rules.scope = scope;
    CHECK(is_handed(rules, home, home) == is_sent);
    CHECK(is_handed(rules, home, other));
  }
}

TEST_CASE("an interval ends before a synchronisation's request and begins after its answer") {
  using enum protocol::Action;
  const auto actions = [](std::span<const courses::Step> course) {
    std::vector<protocol::Action> found;
    for (const courses::Step& step : course) found.push_back(step.action);
    return found;
  };
  const std::vector<protocol::Action> asks{flush, ask, apply, begin_interval}, sends{flush, send, begin_interval};
  CHECK(actions(courses::lock) == asks);
  CHECK(actions(courses::barrier) == asks);
  CHECK(actions(courses::unlock) == sends);
  CHECK(actions(courses::fork_master) == sends);
  CHECK(actions(courses::fork_worker) == std::vector<protocol::Action>{ask, apply});
  CHECK(courses::lock[1].message == MessageKind::ACQ);
  CHECK(courses::lock[1].answer == MessageKind::ACQGRANT);
  CHECK(courses::barrier[1].message == MessageKind::BARR);
  CHECK(courses::barrier[1].answer == MessageKind::BARRGRANT);
  CHECK(courses::unlock[1].message == MessageKind::REL);
}
