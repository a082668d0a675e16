/// Which part of a program's work did the tracer's clocks share out?
#include "workloads/trace/decided.hpp"

#include "tests/catch.hpp"
#include "tests/workloads/trace/samples.hpp"

using namespace sdsm;
using namespace sdsm::trace;

namespace {

constexpr Event team{.kind = EventKind::barrier, .value = 2};

Interval ends(std::uint64_t compute_ns, const Event& end, std::uint32_t call_site = 0) {
  return {.compute_ns = compute_ns, .end = end, .call_site = call_site};
}

/// Both threads do this in a parallel region. 100 ns of all are a percent.
Decided decided(const std::vector<Interval>& first, const std::vector<Interval>& second) {
  const Scratch scratch;
  Trace trace{.header = header_for(2), .regions = heap_blocks(1, 8), .threads = {}};
  trace.header.call_sites.resize(3);
  for (const auto* own : {&first, &second}) {
    const auto begin = own == &first ? EventKind::fork : EventKind::team_begin;
    std::vector<Interval> intervals{ends(0, {.kind = begin, .value = 2})};
    intervals.insert(intervals.end(), own->begin(), own->end());
    std::uint64_t sum = 0;
    for (const Interval& one : *own) sum += one.compute_ns;
    intervals.push_back(ends(5000 - sum, {.kind = EventKind::join, .value = 2}));
    intervals.push_back(ends(0, {.kind = EventKind::end}));
    trace.threads.push_back(intervals);
  }
  write(trace, scratch / "a.trace");
  return decided_when_traced(File(scratch / "a.trace"));
}

}  // namespace

TEST_CASE("chunks of a dynamic loop are decided when traced") {
  const auto loop = [](std::uint8_t schedule) {
    return std::vector<Interval>{ends(10, {.kind = EventKind::loop_begin, .detail = schedule}),
                                 ends(100, {.kind = EventKind::chunk, .value = 3}),
                                 ends(200, {.kind = EventKind::loop_end}), ends(0, team)};
  };
  const Decided dynamic = decided(loop(1), loop(0));
  CHECK(dynamic.loops == Approx(0.03));
  CHECK(dynamic.notable().size() == 1);
  CHECK(note_of(dynamic).find(": 3 % in loops whose threads take chunks as they come") != std::string::npos);
}

TEST_CASE("so are a single's block and tasks, up to a barrier") {
  const Event single{.kind = EventKind::single, .detail = 1};
  const Event other{.kind = EventKind::single, .detail = 0};
  const Decided found = decided({ends(10, single), ends(200, team), ends(400, team)},
                                {ends(10, other), ends(100, {.kind = EventKind::task}), ends(300, team)});
  CHECK(found.singles == Approx(0.02));
  CHECK(found.tasks == Approx(0.03));
}

TEST_CASE("work behind a lock is decided if its threads' shares differ") {
  const auto turns = [](unsigned count, std::uint32_t call_site) {
    std::vector<Interval> found;
    for (unsigned i = 0; i < count; ++i) {
      found.push_back(ends(100, {.kind = EventKind::acquire, .object = 3}, call_site));
      found.push_back(ends(0, {.kind = EventKind::release, .object = 3}, 2));
    }
    found.push_back(ends(0, team));
    return found;
  };
  // The first turn's work lies before the lock; what follows the last is none.
  CHECK(decided(turns(4, 1), turns(2, 1)).queues == Approx(0.04));
  CHECK(decided(turns(3, 1), turns(3, 1)).queues == 0);
  CHECK(note_of(decided(turns(3, 1), turns(3, 1))).empty());
}

TEST_CASE("a place at which threads use different variables is no queue") {
  const auto operation = [](std::uint64_t byte) { return ends(300, {EventKind::atomic, 0, 0, byte}, 3); };
  CHECK(decided({operation(8), operation(8), operation(8)}, {operation(8)}).queues == Approx(0.06));
  CHECK(decided({operation(8), operation(8)}, {operation(8)}).queues == 0);  // one turn more
  CHECK(decided({operation(8), operation(16), operation(8)}, {operation(8)}).queues == 0);
}
