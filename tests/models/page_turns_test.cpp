#include "models/single_writer/page_turns.hpp"

#include "models/protocol/pages.hpp"
#include "tests/catch.hpp"

using namespace sdsm;

namespace {

constexpr NodeId one{1}, two{2}, three{3};

/// Loses `pages` pages to others and wants them back, `times` times, each 10 ns after the one before. Returns what the
/// last wish needs.
std::uint64_t thrash(LostPages& lost, std::uintptr_t pages, int times) {
  static std::uint64_t now = 0;
  std::uint64_t needed = 0;
  for (int i = 0; i < times; ++i) {
    for (std::uintptr_t page = 0; page < pages; ++page) lost.lose(page * page_bytes);
    for (std::uintptr_t page = 0; page < pages; ++page) needed = lost.want(page * page_bytes, now += 10);
  }
  return needed;
}

}  // namespace

TEST_CASE("repeated fetches need turns, longer with more pages") {
  LostPages few, many;
  // 310 ns for 32 pages: 9 ns each, and 1.
  CHECK(thrash(few, 16, 2) == 2 * 16 * 10);
  CHECK(thrash(many, 100, 3) == 2 * 100 * 10);
  CHECK(many.want(7, 0) == 0);
}

TEST_CASE("new pages and those lost once need no turn") {
  LostPages lost;
  CHECK(thrash(lost, 1000, 1) == 0);
  lost.forget();
  CHECK(thrash(lost, 1000, 1) == 0);
  LostPages single;
  CHECK(thrash(single, 1, 15) == 0);
  CHECK(single.want(0, 0) == 0);  // it is here
  CHECK(thrash(single, 1, 1) > 0);
  CHECK(single.want(7 * page_bytes, 0) == 0);
}

TEST_CASE("turns come in the order of their requests") {
  PageTurns turns;
  CHECK(turns.ask(one, 100, 1000) == 0);
  CHECK(turns.ask(two, 50, 1010) == 90);
  CHECK(turns.ask(three, 30, 1020) == 130);
  CHECK(turns.ask(two, 999, 1099) == 1);
  CHECK(turns.ask(one, 100, 1100) == 80);
  CHECK(turns.ask(two, 50, 1100) == 0);
  CHECK(turns.ask(three, 30, 1150) == 0);
  CHECK(turns.ask(one, 100, 1180) == 0);
  CHECK(turns.ask(two, 50, 5000) == 0);
}

TEST_CASE("a turn that ends early makes way for the next one") {
  PageTurns turns;
  turns.ask(one, 100, 1000);
  turns.ask(two, 50, 1000);
  turns.ask(three, 30, 1000);
  turns.end(two, 1010);
  CHECK(turns.ask(three, 30, 1010) == 90);
  turns.end(one, 1020);
  turns.end(one, 1021);
  CHECK(turns.ask(three, 30, 1020) == 0);
}
