/// What the command makes of the run-time's records, without running a program.
#include <unistd.h>

#include <filesystem>

#include "commands/errors.hpp"
#include "native/launch/trace/passes.hpp"
#include "tests/catch.hpp"
#include "workloads/trace/reader.hpp"

using namespace sdsm;
using namespace sdsm::commands;
using namespace sdsm::trace_command;

namespace {

constexpr std::uint32_t one_region = 0;

tracer::IntervalRecord interval_of(EventKind kind, std::uint32_t thread = 0, std::uint64_t object = 0,
                                   std::uint64_t value = 0) {
  return {.thread = thread, .event = {kind, 0, object, value}};
}

tracer::TouchRecord touch_of(std::uint32_t page, Access access, std::uint64_t at_ns = 0) {
  return {one_region, page, at_ns * 2 + (access == Access::write ? 1 : 0)};
}

tracer::ChangeMapRecord map_of(std::uint32_t page, unsigned first_word, unsigned last_word) {
  tracer::ChangeMapRecord record{one_region, page, {}};
  for (unsigned word = first_word; word <= last_word; ++word) {
    record.changed[word / 64] |= std::uint64_t{1} << (word % 64);
  }
  return record;
}

/// A tracked pass over records given by a test, and the trace that it writes.
class Recording {
 public:
  explicit Recording(std::vector<tracer::IntervalRecord> structure)
      : path_(std::filesystem::temp_directory_path() / ("sdsm-tracked-pass-" + std::to_string(getpid()) + ".trace")) {
    for (const auto& record : structure) structure_.add(record.thread, record.event, 1000);
    writer_.emplace(path_, structure_.threads());
    pass_.emplace(structure_, 2, *writer_, "/proc/self/exe");
    tracer::RegionRecord region;
    region.region = {RegionKind::globals, Placement::initial, 0, 100};
    pass_->on_region(region);
  }
  ~Recording() { std::filesystem::remove(path_); }

  TrackedPass& pass() { return *pass_; }

  void close(tracer::Closing closing, std::vector<tracer::ChangeRecord> changes, std::uint32_t thread = 0) {
    pass_->on_changes({thread, static_cast<std::uint32_t>(changes.size()), closing, 1}, changes);
  }
  void close(tracer::Closing closing, std::vector<tracer::ChangeMapRecord> maps, std::uint32_t thread = 0) {
    pass_->on_change_maps({thread, static_cast<std::uint32_t>(maps.size()), closing, 1}, maps);
  }

  std::vector<trace::Interval> intervals(std::uint32_t thread) {
    if (writer_) {
      trace::Header header;
      header.program = {"test"};
      header.threads = structure_.threads();
      header.passes = 1;
      pass_->finish(header);
      pass_.reset();
      writer_.reset();
    }
    const trace::File file(path_);
    std::vector<trace::Interval> result;
    auto cursor = file.thread(thread, trace::Detail::pages);
    while (const trace::Interval* interval = cursor.next()) result.push_back(*interval);
    return result;
  }

 private:
  std::filesystem::path path_;
  Structure structure_;
  std::optional<trace::Writer> writer_;
  std::optional<TrackedPass> pass_;
};

const auto at_synchronisation = tracer::Closing::at_synchronisation;
const auto in_between = tracer::Closing::in_between;

}  // namespace

TEST_CASE("changes follow the intervals in order across a chunk") {
  const std::vector events{interval_of(EventKind::chunk, 0, 5, 2), interval_of(EventKind::end)};
  Recording recording(events);
  recording.pass().on_touches(0, std::vector{touch_of(3, Access::read, 10), touch_of(3, Access::write, 20)});
  recording.pass().on_interval(events[0]);
  recording.pass().on_touches(0, std::vector{touch_of(1, Access::write, 30)});
  recording.pass().on_interval(events[1]);
  recording.close(at_synchronisation, std::vector<tracer::ChangeRecord>{{one_region, 3, {7, 2}, {.lines = 3}},
                                                                        {one_region, 1, {1, 1}, {.lines = 8}}});
  const auto intervals = recording.intervals(0);
  REQUIRE(intervals.size() == 2);
  REQUIRE(intervals[0].touches.size() == 2);
  CHECK(intervals[0].compute_ns == 1000);
  CHECK(intervals[0].touches[0].access == Access::read);
  CHECK(intervals[0].touches[1].change == Change{7, 2});
  REQUIRE(intervals[1].touches.size() == 1);
  CHECK(intervals[0].lines == std::vector<trace::LinesRun>{{{.lines = 3}, 1}});
  CHECK(intervals[1].touches[0].change == Change{1, 1});
  CHECK(intervals[1].lines == std::vector<trace::LinesRun>{{{.lines = 8}, 1}});
}

TEST_CASE("a page touched again unites its changed words") {
  const std::vector events{interval_of(EventKind::chunk, 0, 5, 2), interval_of(EventKind::end)};
  Recording recording(events);
  recording.pass().on_touches(0, std::vector{touch_of(3, Access::write)});
  recording.pass().on_interval(events[0]);
  recording.close(in_between, std::vector{map_of(3, 0, 9)});
  recording.pass().on_touches(0, std::vector{touch_of(3, Access::read), touch_of(3, Access::write)});
  recording.pass().on_interval(events[1]);
  recording.close(at_synchronisation, std::vector{map_of(3, 5, 19)});
  const auto intervals = recording.intervals(0);
  REQUIRE(intervals[0].touches.size() == 1);
  CHECK(intervals[0].touches[0].change == Change{20, 1});  // words 0..19
  CHECK(intervals[0].lines == std::vector<trace::LinesRun>{{{.lines = 3, .first_word = true}, 1}});
  CHECK(intervals[1].touches.empty());
}

TEST_CASE("changes that fit no write are refused, not guessed at") {
  const std::vector events{interval_of(EventKind::end)};
  Recording recording(events);
  recording.pass().on_touches(0, std::vector{touch_of(3, Access::write)});
  recording.pass().on_interval(events[0]);
  CHECK_THROWS_AS(recording.close(at_synchronisation, std::vector<tracer::ChangeRecord>{{one_region, 4, {7, 2}}}),
                  RunError);
}

TEST_CASE("a thread at a barrier when the program ends has `end`") {
  const std::vector events{interval_of(EventKind::end, 0), interval_of(EventKind::team_begin, 1, 0, 2),
                           interval_of(EventKind::barrier, 1, 0, 2)};
  Recording recording(events);
  recording.pass().on_interval(events[1]);
  recording.close(at_synchronisation, std::vector<tracer::ChangeRecord>{}, 1);
  recording.pass().on_interval(events[2]);
  recording.close(at_synchronisation, std::vector<tracer::ChangeRecord>{}, 1);
  recording.pass().on_interval(events[0]);
  recording.pass().on_cut({1});
  const auto intervals = recording.intervals(1);
  REQUIRE(intervals.size() == 2);
  CHECK(intervals[0].end.kind == EventKind::team_begin);
  CHECK(intervals[1].end.kind == EventKind::end);
  CHECK(recording.intervals(0).back().end.kind == EventKind::end);
}
