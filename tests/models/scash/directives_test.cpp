#include "models/scash/directives.hpp"
#include "models/locks.hpp"

#include <optional>
#include <vector>

#include "tests/catch.hpp"

using namespace sdsm;

namespace {

std::vector<Primitive> primitives(Directive directive) {
  std::vector<Primitive> found;
  for (const ProtocolStep& step : steps_of(directive)) found.push_back(step.what);
  return found;
}

}  // namespace

TEST_CASE("the master writes the region's page before the barrier, workers read it") {
  using enum Primitive;
  CHECK(primitives(Directive::fork_master) == std::vector{write, barrier});
  CHECK(primitives(Directive::fork_worker) == std::vector{barrier, read});
  CHECK(steps_of(Directive::fork_master)[0].page == AdministrativePage::region);
  CHECK(steps_of(Directive::fork_worker)[1].page == AdministrativePage::region);
}

TEST_CASE("single: a counter behind a lock, which only the executing thread moves") {
  using enum Primitive;
  CHECK(primitives(Directive::single) == std::vector{acquire, read, write, release});
  for (const ProtocolStep& step : steps_of(Directive::single)) {
    CHECK((step.by == By::executing) == (step.what == write));
  }
}

TEST_CASE("a reduction: slots, barrier, thread 0 combines, barrier, all read") {
  using enum Primitive;
  CHECK(primitives(Directive::reduction_combines) == std::vector{write, barrier, read, write, barrier});
  CHECK(primitives(Directive::reduction_gives) == std::vector{write, barrier, barrier, read});
}

TEST_CASE("copyprivate is written before the barrier and read after it") {
  using enum Primitive;
  CHECK(primitives(Directive::copyprivate_gives) == std::vector{write, barrier});
  CHECK(primitives(Directive::copyprivate_takes) == std::vector{barrier, read});
}

TEST_CASE("a chunk of a dynamic loop is taken behind a lock") {
  using enum Primitive;
  CHECK(primitives(Directive::chunk) == std::vector{acquire, read, write, release});
  CHECK(primitives(Directive::barrier) == std::vector{barrier});
  CHECK(primitives(Directive::flush) == std::vector{flush});
}

TEST_CASE("no directive ends holding a lock, and each works on one administrative page") {
  for (int i = 0; i <= static_cast<int>(Directive::reduction_gives); ++i) {
    const auto steps = steps_of(static_cast<Directive>(i));
    REQUIRE_FALSE(steps.empty());
    int held = 0;
    std::optional<AdministrativePage> page;
    for (const ProtocolStep& step : steps) {
      held += step.what == Primitive::acquire;
      held -= step.what == Primitive::release;
      CHECK((held == 0 || held == 1));
      if (step.what != Primitive::barrier) CHECK(step.page == page.value_or(step.page));
      if (step.what != Primitive::barrier) page = step.page;
    }
    CHECK(held == 0);
  }
}

TEST_CASE("lock k is managed by process k mod P") {
  CHECK(manager_of(LockId{0}, 4) == ProcessId{0});
  CHECK(manager_of(LockId{7}, 4) == ProcessId{3});
  CHECK(manager_of(LockId{7}, 1) == ProcessId{0});
}
