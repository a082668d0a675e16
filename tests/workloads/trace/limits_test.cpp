#include "workloads/trace/limits.hpp"

#include "tests/catch.hpp"

using namespace sdsm;
using namespace sdsm::trace;

TEST_CASE("a change is possible if it fits a page of 1024 words") {
  CHECK(possible({0, 0}));
  CHECK(possible({1, 1}));
  CHECK(possible({1024, 1}));
  CHECK(possible({512, 512}));  // every other word
  CHECK(possible({1023, 2}));   // all but one in the middle
  CHECK_FALSE(possible({1025, 1}));
  CHECK_FALSE(possible({1024, 2}));  // no unchanged word is left between the two
  CHECK_FALSE(possible({513, 513}));
  CHECK_FALSE(possible({3, 4}));
  CHECK_FALSE(possible({1, 0}));
  CHECK_FALSE(possible({0, 1}));
}

TEST_CASE("lines are possible if they hold the change and its gaps") {
  CHECK(possible({1, 1}, {.lines = 1 << 7}));
  CHECK(possible({17, 1}, {.lines = 3}));
  CHECK(possible({16, 1}, {.lines = 1}));
  CHECK(possible({2, 2}, {.lines = std::uint64_t{1} << 63 | 1, .first_word = true, .last_word = true}));
  CHECK(possible({512, 512}, {.lines = ~std::uint64_t{0}, .first_word = true}));
  CHECK_FALSE(possible({1, 1}, {.lines = 0}));
  CHECK_FALSE(possible({1, 1}, {.lines = 3}));                        // one word in two lines
  CHECK_FALSE(possible({17, 1}, {.lines = 1}));                       // 17 words in one line
  CHECK_FALSE(possible({16, 2}, {.lines = 1}));                       // no room between the runs
  CHECK_FALSE(possible({2, 1}, {.lines = 5}));                        // one run in two groups of lines
  CHECK_FALSE(possible({1, 1}, {.lines = 2, .first_word = true}));    // the first word is in line 0
  CHECK_FALSE(possible({1, 1}, {.lines = 1, .last_word = true}));     // the last in line 63
  CHECK_FALSE(possible({1023, 1}, {~std::uint64_t{0}, true, true}));  // both ends in one run are the whole page
}

TEST_CASE("an event's unused fields are 0") {
  CHECK_FALSE(problem_with(Event{.kind = EventKind::barrier, .value = 4}, 4));
  CHECK(problem_with(Event{.kind = EventKind::barrier, .object = 1, .value = 4}, 4));
  CHECK(problem_with(Event{.kind = EventKind::barrier, .detail = 1, .value = 4}, 4));
  CHECK_FALSE(problem_with(Event{.kind = EventKind::end}, 4));
  CHECK(problem_with(Event{.kind = EventKind::end, .value = 1}, 4));
  CHECK(problem_with(Event{.kind = EventKind::acquire, .object = 1, .value = 2}, 4));
  CHECK(problem_with(Event{.kind = EventKind::release, .object = 1, .value = 1}, 4));
  CHECK_FALSE(problem_with(Event{.kind = EventKind::barrier, .value = 2, .team = 7}, 4));
  CHECK(problem_with(Event{.kind = EventKind::flush, .team = 1}, 4) == "flush: has no team, but team is 1");
}

TEST_CASE("a team has between one thread and all of them") {
  const auto barrier = [](std::uint64_t team) { return Event{.kind = EventKind::barrier, .value = team}; };
  CHECK(problem_with(barrier(0), 4) == "barrier: team size 0 is outside 1..4");
  CHECK_FALSE(problem_with(barrier(1), 4));
  CHECK_FALSE(problem_with(barrier(4), 4));
  CHECK(problem_with(barrier(5), 4));
}

TEST_CASE("details and kinds end where their enumerations end") {
  CHECK_FALSE(problem_with(Event{.kind = EventKind::acquire, .detail = 4}, 1));
  CHECK(problem_with(Event{.kind = EventKind::acquire, .detail = 5}, 1));
  CHECK_FALSE(problem_with(Event{.kind = EventKind::loop_begin, .detail = 3}, 1));
  CHECK(problem_with(Event{.kind = EventKind::loop_begin, .detail = 4}, 1));
  CHECK_FALSE(problem_with(Event{.kind = EventKind::single, .detail = 1}, 1));
  CHECK(problem_with(Event{.kind = EventKind::single, .detail = 2}, 1));
  CHECK_FALSE(problem_with(Event{.kind = EventKind::clock, .detail = 12}, 1));
  CHECK(problem_with(Event{.kind = EventKind::clock, .detail = 13}, 1));
  CHECK(problem_with(Event{.kind = static_cast<EventKind>(event_kinds)}, 1));
  CHECK(problem_with(Event{.kind = EventKind::acquire, .object = std::uint64_t{1} << 32}, 1));
  constexpr auto ordered = static_cast<std::uint8_t>(LockClass::ordered);
  CHECK_FALSE(problem_with(Event{.kind = EventKind::acquire, .detail = ordered, .object = 2, .value = 0xffffffff}, 1));
  CHECK(problem_with(Event{.kind = EventKind::acquire, .detail = ordered, .value = std::uint64_t{1} << 32}, 1));
  CHECK_FALSE(problem_with(Event{.kind = EventKind::acquire, .detail = 1, .object = 2, .value = 1}, 1));
  CHECK(problem_with(Event{.kind = EventKind::acquire, .detail = 2, .object = 2, .value = 1}, 1));
  CHECK(problem_with(Event{.kind = EventKind::release, .detail = ordered, .object = 2, .value = 1}, 1));
}

TEST_CASE("every enumerator has a name, and the next number none") {
  CHECK(name_of(EventKind::end) == "end");
  CHECK(name_of(static_cast<EventKind>(event_kinds)) == "?");
  CHECK(name_of(LockClass::ordered) == "ordered");
  CHECK(name_of(Schedule::static_) == "static");
  CHECK(name_of(ClockSource::omp_get_wtime) == "omp_get_wtime");
  CHECK(name_of(static_cast<ClockSource>(13)) == "?");
  CHECK(name_of(RegionKind::thread_stack) == "thread_stack");
  CHECK(name_of(static_cast<RegionKind>(6)) == "?");
  for (unsigned kind = 0; kind < event_kinds; ++kind) CHECK(name_of(static_cast<EventKind>(kind)) != "?");
}

TEST_CASE("a run has pages, and only a write changes words") {
  const TouchRun run{.region = RegionId{0}, .pages = 2, .first = 5, .access = Access::write, .change = {3, 1}};
  CHECK_FALSE(problem_with(run));
  TouchRun wrong = run;
  wrong.access = Access::read;
  CHECK(problem_with(wrong) == "a read that changes words");
  wrong = run;
  wrong.pages = 0;
  CHECK(problem_with(wrong));
  wrong = run;
  wrong.first = ~std::uint64_t{0};  // and pages on top of it would overflow
  CHECK(problem_with(wrong));
  wrong = run;
  wrong.region = RegionId{max_regions};
  CHECK(problem_with(wrong));
}

TEST_CASE("only a thread's stack has an owner, a thread of the trace") {
  const Region stack{{.kind = RegionKind::thread_stack, .owner = 3, .pages = 1}, RegionId{2}};
  const Header four{.threads = 4};
  CHECK_FALSE(problem_with(stack, 2, four));
  CHECK(problem_with(stack, 2, Header{.threads = 3}));
  CHECK(problem_with(stack, 1, four));  // id and place differ
  Region heap = stack;
  heap.kind = RegionKind::heap_block;
  CHECK(problem_with(heap, 2, four));
  heap.owner = 0;
  CHECK_FALSE(problem_with(heap, 2, four));
  heap.lead_pages = 16;
  CHECK(problem_with(heap, 2, four));
}

TEST_CASE("a block's calls are sites of the trace") {
  Region heap{{.kind = RegionKind::heap_block, .pages = 1}};
  heap.calls = {0, 1};
  CHECK_FALSE(problem_with(heap, 0, Header{.threads = 1, .sites = {{"a", 1}, {"a", 2}}}));
  CHECK(problem_with(heap, 0, Header{.threads = 1, .sites = {{"a", 1}}}) == "region 0: site 1 of 1 called for it");
}
