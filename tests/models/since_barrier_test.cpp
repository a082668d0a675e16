#include "models/single_writer/since_barrier.hpp"

#include <set>
#include <vector>

#include "tests/catch.hpp"

using namespace sdsm;

namespace {

using Copies = CopiesOfOthers<std::vector<int>>;
using Changes = ChangesAtHome<std::set<int>>;

bool tells_of_all(const Changes& changes, int page) {
  const PageSharing listed(NodeId{0});
  return changes.tells(page, nullptr, false, false, true) || changes.tells(page, nullptr, false, true, true) ||
         changes.tells(page, &listed, false, true, true);
}

}  // namespace

TEST_CASE("a thread stops once after an acquire and behind its page") {
  MetOthers met;
  CHECK_FALSE(met.go_on());
  CHECK(met.meet(true));
  CHECK_FALSE(met.meet(true));  // all is shut already
  CHECK(met.go_on());
  CHECK_FALSE(met.go_on());

  CHECK(met.meet(true));
  met.open();
  CHECK(met.is_stopped());
  CHECK(met.meet(true));
  CHECK_FALSE(met.meet(true));
  CHECK(met.go_on());
}

TEST_CASE("a page opened before the acquire stops no thread twice") {
  MetOthers met;
  met.open();
  CHECK(met.meet(true));
  CHECK_FALSE(met.meet(true));
}

TEST_CASE("without single-writer mode no thread stops, and barriers reset it") {
  MetOthers met;
  CHECK_FALSE(met.meet(false));
  CHECK_FALSE(met.is_stopped());
  CHECK(met.meet(true));
  met.barrier();
  CHECK_FALSE(met.go_on());
  CHECK(met.meet(true));
}

TEST_CASE("a barrier forgets copies of stacks and counts the others") {
  for (const bool keeps : {false, true}) {
    Copies copies{3, {1}, {2}};
    CHECK(copies.concerned(SingleWriterMode::for_good) == Concerned::stack_copies);
    copies.barrier(keeps);
    CHECK(copies.count == (keeps ? 3 : 0));
    CHECK(copies.of_stacks.empty());
    CHECK(copies.operated.empty());
    CHECK(copies.concerned(SingleWriterMode::for_good) == Concerned::none);
  }
}

TEST_CASE("a node that drops its copies has none") {
  Copies copies{3, {1}, {2}};
  copies.drop();
  CHECK(copies.count == 0);
  CHECK(copies.of_stacks.empty());
  CHECK(copies.operated.empty());
}

TEST_CASE("a page without sharers' list reports operations or diffs by mode") {
  Changes changes;
  changes.operate_on_stack(1);
  changes.diff(2, false);
  changes.diff(3, true);
  CHECK(changes.tells(1, nullptr, false, false, true));
  CHECK_FALSE(changes.tells(1, nullptr, false, true, true));
  CHECK_FALSE(changes.tells(2, nullptr, false, false, true));
  CHECK(changes.tells(2, nullptr, false, true, true));
  CHECK_FALSE(tells_of_all(changes, 3));
}

TEST_CASE("in single-writer mode a stack's page always sends notices") {
  const Changes changes;
  CHECK(changes.tells(1, nullptr, true, true, true));
  CHECK(changes.tells(1, nullptr, true, true, false));
  CHECK_FALSE(changes.tells(1, nullptr, true, false, true));
}

TEST_CASE("a listed page sends notices of changes that its home misses") {
  Changes changes;
  PageSharing listed(NodeId{0});
  CHECK_FALSE(changes.tells(1, &listed, false, true, true));
  CHECK(changes.tells(1, &listed, false, true, false));
  changes.enter_single_writer_mode(HomePages::read_only);
  CHECK_FALSE(changes.tells(1, &listed, false, true, true));
  changes.enter_single_writer_mode(HomePages::open);
  CHECK(changes.tells(1, &listed, false, true, true));
  CHECK_FALSE(changes.tells(1, &listed, false, false, true));
  changes.diff(2, false);
  changes.barrier();
  CHECK_FALSE(changes.tells(1, &listed, false, true, true));
  changes.diff(1, false);
  CHECK(changes.tells(1, &listed, false, true, true));
  CHECK_FALSE(changes.tells(1, &listed, false, false, true));
  listed.note_change();
  CHECK(changes.tells(1, &listed, false, false, true));
  CHECK(changes.tells(2, &listed, false, true, true));
}

TEST_CASE("a barrier forgets what a home knows of changes") {
  Changes changes;
  changes.operate_on_stack(1);
  changes.diff(1, false);
  changes.enter_single_writer_mode(HomePages::open);
  CHECK(tells_of_all(changes, 1));
  changes.barrier();
  CHECK_FALSE(tells_of_all(changes, 1));
}
