#include "models/single_writer/page_sharing.hpp"

#include "tests/catch.hpp"

using namespace sdsm;

namespace {

constexpr std::uint32_t nodes = 3;

/// One writes and nobody else has the page, or all that have it read.
bool is_right(const PageSharing& page) {
  std::uint32_t readers = 0;
  std::uint32_t writers = 0;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    readers += page.right_of(NodeId{i}) == Right::read ? 1 : 0;
    writers += page.right_of(NodeId{i}) == Right::write ? 1 : 0;
  }
  return writers == 0 || (writers == 1 && readers == 0);
}

/// All that `steps` more requests can make of the page.
void request_all(const PageSharing& page, int steps) {
  REQUIRE(is_right(page));
  if (steps == 0) return;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    for (const Right wanted : {Right::read, Right::write}) {
      PageSharing next = page;
      for (const PageSharing::Loss& loss : page.losses(NodeId{i}, wanted)) {
        CHECK(loss.node != NodeId{i});
        next.lose(loss);
      }
      CHECK(next.losses(NodeId{i}, wanted).empty());
      next.grant(NodeId{i}, wanted);
      CHECK(next.right_of(NodeId{i}) >= wanted);
      request_all(next, steps - 1);
    }
  }
}

}  // namespace

TEST_CASE("one node may write a page, or many may read it") {
  request_all(PageSharing(NodeId{0}), 5);
}

TEST_CASE("a reader downgrades the writer, which goes on reading") {
  PageSharing page(NodeId{0});
  const auto losses = page.losses(NodeId{1}, Right::read);
  REQUIRE(losses.size() == 1);
  CHECK(losses[0].node == NodeId{0});
  CHECK(losses[0].kept == Right::read);
  page.lose(losses[0]);
  page.grant(NodeId{1}, Right::read);
  CHECK(page.losses(NodeId{2}, Right::read).empty());
  CHECK(page.losses(NodeId{1}, Right::write).size() == 1);
}

TEST_CASE("single-writer mode ends at a barrier unless a thread has waited") {
  using enum SingleWriterEvent;
  SingleWriterMode mode = after(barrier, SingleWriterMode::off);
  CHECK(mode == SingleWriterMode::off);
  mode = after(touch_after_meeting, mode);
  CHECK(mode == SingleWriterMode::until_barrier);
  CHECK(after(touch_after_meeting, mode) == mode);
  CHECK(after(barrier, mode) == SingleWriterMode::off);
  mode = after(wait, mode);
  CHECK(mode == SingleWriterMode::for_good);
  CHECK(after(touch_after_meeting, mode) == mode);
  CHECK(after(barrier, mode) == mode);
}

TEST_CASE("a touch after an atomic operation drops older copies") {
  CHECK(meeting_at(false, 1, false, 1) == Meeting::meets_others);
  CHECK(meeting_at(true, 1, false, 1) == Meeting::drops_copies);
  CHECK(meeting_at(false, 0, false, 1) == Meeting::none);
  CHECK(meeting_at(true, 0, false, 1) == Meeting::none);
}

TEST_CASE("the copy that a thread touches is not an older one") {
  CHECK(meeting_at(false, 1, true, 1) == Meeting::none);
  CHECK(meeting_at(true, 1, true, 2) == Meeting::none);
  CHECK(meeting_at(false, 2, true, 1) == Meeting::meets_others);
  CHECK(meeting_at(true, 2, true, 1) == Meeting::drops_copies);
}

TEST_CASE("stacks drop no copies within a node") {
  CHECK(meeting_at(true, 1, false, 2) == Meeting::meets_others);
}

TEST_CASE("single-writer mode begins once, with threads on another node") {
  CHECK(is_single_writer_mode_due(SingleWriterMode::off, true, 2));
  CHECK_FALSE(is_single_writer_mode_due(SingleWriterMode::until_barrier, true, 2));
  CHECK_FALSE(is_single_writer_mode_due(SingleWriterMode::for_good, true, 2));
  CHECK_FALSE(is_single_writer_mode_due(SingleWriterMode::off, false, 2));
  CHECK_FALSE(is_single_writer_mode_due(SingleWriterMode::off, true, 1));
  CHECK(begins_before_operation(2));
  CHECK_FALSE(begins_before_operation(1));
}

TEST_CASE("in single-writer mode synchronisations concern copies of stacks alone") {
  using enum SingleWriterMode;
  for (const bool has_stack_copies : {false, true}) {
    CHECK(concerned_by_sync(off, has_stack_copies) == Concerned::all_copies);
    for (const SingleWriterMode mode : {until_barrier, for_good}) {
      CHECK(concerned_by_sync(mode, has_stack_copies) ==
            (has_stack_copies ? Concerned::stack_copies : Concerned::none));
    }
  }
  CHECK(flushed_as(Sync::release, off) == Sync::release);
  CHECK(flushed_as(Sync::release, until_barrier) == Sync::acquire);
  CHECK(flushed_as(Sync::gang, for_good) == Sync::acquire);
  CHECK(sends_while_others_go_on(Sync::barrier, off));
  CHECK(!sends_while_others_go_on(Sync::gang, off));
  CHECK(!sends_while_others_go_on(Sync::barrier, until_barrier));
}

TEST_CASE("a stack's changes follow its node's stores to others' stacks") {
  using enum SingleWriterMode;
  CHECK(serves_behind_stacks(until_barrier, true));
  CHECK(serves_behind_stacks(for_good, true));
  CHECK(!serves_behind_stacks(off, true));
  CHECK(!serves_behind_stacks(for_good, false));
  CHECK(is_asked_for_alone(until_barrier, true));
  CHECK(!is_asked_for_alone(off, true));
  CHECK(!is_asked_for_alone(for_good, false));
  CHECK(tells_behind_stacks(Atomics::home, true));
  CHECK(!tells_behind_stacks(Atomics::relaxed, true));
  CHECK(!tells_behind_stacks(Atomics::home, false));
}

TEST_CASE("the world stops only for partly visible changes of stacks") {
  using enum SingleWriterMode;
  for (const SingleWriterMode mode : {until_barrier, for_good}) {
    CHECK(stops_the_world(mode, true, false));
    CHECK(!stops_the_world(mode, true, true));
    CHECK(!stops_the_world(mode, false, false));
  }
  CHECK(!stops_the_world(off, true, false));
}

TEST_CASE("an announced change invalidates all copies first") {
  PageSharing page(NodeId{0});
  REQUIRE(page.losses_to_operation(NodeId{0}, NodeId{1}, false).size() == 1);
  page.lose({NodeId{0}, Right::read});
  page.grant(NodeId{2}, Right::read);
  for (const PageSharing::Loss& loss : page.losses_to_operation(NodeId{0}, NodeId{1}, false)) {
    CHECK(loss.kept == Right::none);
    page.lose(loss);
  }
  CHECK(page.losses_to_operation(NodeId{0}, NodeId{1}, false).empty());
  CHECK(page.right_of(NodeId{0}) == Right::none);
}

TEST_CASE("which copies does an atomic operation leave?") {
  const NodeId home{0}, reader{1}, writer{2};
  const auto kept_by = [&](const PageSharing& page, NodeId by) {
    PageSharing after = page;
    for (const PageSharing::Loss& loss : page.losses_to_operation(home, by, true)) after.lose(loss);
    return std::array{after.right_of(home), after.right_of(reader), after.right_of(writer)};
  };
  using enum Right;
  PageSharing at_home(home);
  CHECK(kept_by(at_home, home) == std::array{write, none, none});
  CHECK(kept_by(at_home, reader) == std::array{none, none, none});
  PageSharing read_by_two(home);
  read_by_two.lose({home, read});
  read_by_two.grant(reader, read);
  CHECK(kept_by(read_by_two, home) == std::array{read, none, none});
  CHECK(kept_by(read_by_two, reader) == std::array{none, read, none});
  CHECK(kept_by(read_by_two, writer) == std::array{none, none, none});
  PageSharing written(home);
  written.lose({home, none});
  written.grant(writer, write);
  CHECK(kept_by(written, writer) == std::array{none, none, read});
}

TEST_CASE("requests need a sharers' list in single-writer mode, stacks never") {
  for (const bool is_listed : {false, true}) {
    for (const bool is_in_single_writer_mode : {false, true}) {
      CHECK(needs_list(false, false, is_listed, is_in_single_writer_mode) == is_in_single_writer_mode);
      CHECK(needs_list(false, true, is_listed, is_in_single_writer_mode) == is_listed);
      CHECK_FALSE(needs_list(true, false, is_listed, is_in_single_writer_mode));
    }
  }
}

TEST_CASE("with plain-store waits a node changes one foreign stack page") {
  using enum SingleWriterMode;
  CHECK(sends_other_stacks_first(for_good, Access::write, true, false));
  CHECK(sends_other_stacks_first(until_barrier, Access::write, true, false));
  CHECK_FALSE(sends_other_stacks_first(off, Access::write, true, false));
  CHECK_FALSE(sends_other_stacks_first(for_good, Access::read, true, false));
  CHECK_FALSE(sends_other_stacks_first(for_good, Access::write, false, false));
  // One instruction that stores to two stacks needs both pages at once.
  CHECK_FALSE(sends_other_stacks_first(for_good, Access::write, true, true));
  CHECK(keeps_older_stack_copies(true, true));
  CHECK_FALSE(keeps_older_stack_copies(true, false));
  CHECK_FALSE(keeps_older_stack_copies(false, true));
}

TEST_CASE("an ordering operation takes its page from all, but marks stacks") {
  CHECK(taken_by({}) == Taken::from_all);
  CHECK(taken_by({.is_in_single_writer_mode = true}) == Taken::from_all);
  CHECK(taken_by({.is_on_stack = true}) == Taken::mark);
}

TEST_CASE("a home's operation takes nothing while no other node has rights") {
  CHECK(taken_by({.is_home_alone = true, .is_in_single_writer_mode = true}) == Taken::nothing);
  // Before, each thread's next touch has to find that it has met others.
  CHECK(taken_by({.is_home_alone = true}) == Taken::from_all);
  CHECK(taken_by({.is_on_stack = true, .is_home_alone = true}) == Taken::mark);
}

TEST_CASE("an operation that orders nothing leaves the home's node its page") {
  CHECK(taken_by({.orders_memory = false}) == Taken::from_others);
  CHECK(taken_by({.orders_memory = false, .is_on_stack = true}) == Taken::nothing);
  CHECK(taken_by({.orders_memory = false, .is_home_alone = true}) == Taken::nothing);
}
