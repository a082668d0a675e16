/// Timelines: which events are kept, in which order, and how slices of threads' states contain their faults.

#include <fmt/format.h>

#include <sstream>

#include "commands/timelines/timeline.hpp"
#include "models/scash/messages.hpp"
#include "models/scash/page_state.hpp"
#include "tests/catch.hpp"

using namespace sdsm;
using namespace sdsm::timelines;

namespace {

constexpr std::size_t compute = 0, diff = static_cast<std::size_t>(Spent::diff),
                      at_barrier = static_cast<std::size_t>(Spent::barrier);
constexpr std::size_t rumr = 1 + static_cast<std::size_t>(FaultKind::RUMR);
constexpr ProcessId first{0}, second{1};

Timeline two_nodes(Selection selection = {}) {
  return {{2, 1}, tables_of(ProtocolKind::scash), std::move(selection)};
}

/// "kind begin-end", in microseconds.
std::vector<std::string> in_words(const Timeline& timeline) {
  std::vector<std::string> words;
  for (const timelines::Event& event : timeline.events()) {
    std::ostringstream line;
    const char* const names[] = {"state", "fault", "service", "message", "queue"};
    line << names[static_cast<std::size_t>(event.what)] << ' ' << int{event.kind} << ' ' << event.begin / 1us << '-'
         << event.end / 1us;
    words.push_back(line.str());
  }
  return words;
}

}  // namespace

TEST_CASE("states recorded out of order make ordered, merged slices") {
  Timeline timeline = two_nodes();
  timeline.state(first, compute, 0us, 4us);
  timeline.state(first, compute, 4us, 10us);
  timeline.state(first, diff, 12us, 14us);
  timeline.state(first, at_barrier, 14us, 15us);
  timeline.state(first, at_barrier, 10us, 12us);
  timeline.end();
  CHECK(in_words(timeline) ==
        std::vector<std::string>{"state 0 0-10", "state 19 10-12", "state 17 12-14", "state 19 14-15"});
}

TEST_CASE("a thread that starts late has nothing before") {
  Timeline timeline = two_nodes();
  timeline.start(first, 3us);
  timeline.state(first, compute, 3us, 10us);
  timeline.end();
  CHECK(in_words(timeline) == std::vector<std::string>{"state 0 3-10"});
}

TEST_CASE("faults lie in their kind's slice, each until the next") {
  Timeline timeline = two_nodes();
  timeline.state(first, compute, 0us, 10us);
  // Stolen time may come between a fault's mark and its state.
  timeline.faults(first, rumr - 1, {RegionId{0}, 7}, 1, 9us);
  timeline.faults(first, rumr - 1, {RegionId{0}, 9}, 3, 12us);
  timeline.state(first, rumr, 10us, 15us);
  timeline.state(first, compute, 15us, 16us);
  timeline.end();
  REQUIRE(in_words(timeline) == std::vector<std::string>{"state 0 0-10", "state 10 10-15", "fault 10 10-12",
                                                         "fault 10 12-15", "state 0 15-16"});
  CHECK(timeline.events()[2].number == 7);
  CHECK(timeline.events()[3].pages == 3);
}

TEST_CASE("a fault without cost is a slice without length") {
  Timeline timeline = two_nodes();
  timeline.state(first, compute, 0us, 10us);
  timeline.faults(first, 0, {RegionId{0}, 7}, 1, 10us);
  timeline.faults(first, rumr - 1, {RegionId{0}, 8}, 1, 10us);
  timeline.state(first, rumr, 10us, 15us);
  timeline.end();
  CHECK(in_words(timeline) ==
        std::vector<std::string>{"state 0 0-10", "state 10 10-15", "fault 1 10-10", "fault 10 10-15"});
}

TEST_CASE("a window cuts slices and keeps messages inside it") {
  Timeline timeline = two_nodes({.begin = 5us, .end = 12us});
  timeline.state(first, compute, 0us, 10us);
  timeline.state(first, at_barrier, 10us, 20us);
  timeline.message({first, second, std::nullopt, Bytes{32}, 4us, 6us});
  timeline.message({first, second, std::nullopt, Bytes{32}, 6us, 8us});
  timeline.message({first, second, std::nullopt, Bytes{32}, 6us, 12us});
  timeline.end();
  CHECK(in_words(timeline) == std::vector<std::string>{"state 0 5-10", "message 255 6-8", "state 19 10-12"});
}

TEST_CASE("a full timeline keeps the earliest events and counts the others") {
  Timeline timeline = two_nodes({.most_events = 4});
  // State numbers alternate, so that no two slices become one. The second thread's come last.
  for (int i = 0; i < 40; ++i) timeline.state(first, i % 2 == 0 ? compute : diff, i * 2us, i * 2us + 2us);
  timeline.state(second, compute, 0us, 80us);
  timeline.end();
  CHECK(in_words(timeline) == std::vector<std::string>{"state 0 0-2", "state 0 0-80", "state 17 2-4", "state 0 4-6"});
  CHECK(timeline.cut() == 37);
  CHECK(timeline.cut_from() == Time{6us});
  CHECK(what_was_cut(timeline).find("first 4 events, and 37 that begin at 0.000006000 s") != std::string::npos);
}

TEST_CASE("unselected threads have no slices, and no arrows to them") {
  Timeline timeline = two_nodes({.threads = {false, true}});
  timeline.state(first, compute, 0us, 10us);
  timeline.state(second, compute, 0us, 10us);
  timeline.serve(first, 1us, 2us, 3us);
  timeline.message({second, first, std::nullopt, Bytes{32}, 4us, 6us});
  timeline.end();
  REQUIRE(in_words(timeline) == std::vector<std::string>{"state 0 0-10"});
  CHECK(timeline.events()[0].track == 1);
}

TEST_CASE("a waiting request lengthens its queue until it is served") {
  Timeline timeline = two_nodes();
  timeline.serve(first, 1us, 3us, 5us);
  timeline.serve(first, 2us, 5us, 6us);
  timeline.serve(first, 6us, 6us, 7us);
  timeline.end();
  std::vector<std::pair<std::int64_t, int>> changes;
  for (const timelines::Event& event : timeline.events()) {
    if (event.what == timelines::Event::What::queue) changes.emplace_back(event.begin / 1us, event.change);
  }
  CHECK(changes == std::vector<std::pair<std::int64_t, int>>{{1, 1}, {2, 1}, {3, -1}, {5, -1}});
}

TEST_CASE("Paraver's records are in order of time, their numbers have names") {
  Timeline timeline(Layout{2, 2}, tables_of(ProtocolKind::scash), {});
  timeline.state(ProcessId{3}, compute, 0us, 4us);
  timeline.faults(ProcessId{3}, static_cast<std::size_t>(FaultKind::RUMR), {RegionId{0}, 7}, 2, 4us);
  timeline.state(ProcessId{3}, rumr, 4us, 10us);
  timeline.serve(ProcessId{0}, 5us, 6us, 8us);
  timeline.message({ProcessId{3}, ProcessId{0}, 0, Bytes{64}, 4us, 5us});
  timeline.message({ProcessId{0}, ProcessId{3}, std::nullopt, Bytes{4096}, 8us, 9us});
  timeline.end();
  Labels labels;
  labels.run = "simulated";
  labels.origin = "a.trace";
  labels.layout = {2, 2};
  labels.tables = &tables_of(ProtocolKind::scash);
  labels.regions = {"field\nof pages"};
  std::ostringstream trace, description, rows;
  write_paraver(trace, description, rows, timeline, labels);
  // Thread 3 is the second of the second task, on the fourth processor; its fault begins with page 7, the eighth.
  CHECK(trace.str() == fmt::format("#Paraver (01/01/2000 at 00:00):10000_ns:2(2,2):1:2(2:1,2:2)\n"
                                   "1:4:1:2:2:0:4000:1\n"
                                   "1:4:1:2:2:4000:10000:{}\n"
                                   "2:4:1:2:2:4000:48000001:1:48000002:8:48000003:2\n"
                                   "3:4:1:2:2:4000:4000:1:1:1:1:5000:5000:64:0\n"
                                   "2:1:1:1:1:5000:48000005:1\n"
                                   "2:1:1:1:1:6000:48000004:1\n"
                                   "2:1:1:1:1:6000:48000005:0\n"
                                   "2:1:1:1:1:8000:48000004:0\n"
                                   "3:1:1:1:1:8000:8000:4:1:2:2:9000:9000:4096:255\n"
                                   "2:4:1:2:2:10000:48000001:0:48000002:0:48000003:0\n",
                                   rumr + 1));
  const auto has = [](const std::ostringstream& out, const std::string& part) {
    return out.str().find(part) != std::string::npos;
  };
  for (const std::string part : {"\n0     idle\n1     compute\n", "\n1      field of pages\n", "# 255 reply\n"}) {
    CAPTURE(part);
    CHECK(has(description, part));
  }
  CHECK(has(description, fmt::format("\n{:<6}RUMR\n", rumr + 1)));
  CHECK(has(rows, "LEVEL NODE SIZE 2\nnode 0\nnode 1\n"));
  CHECK(has(rows, "LEVEL THREAD SIZE 4\nthread 0\n"));
}

TEST_CASE("both formats round ends without accumulating errors") {
  Timeline timeline = two_nodes();
  // A third of a nanosecond each.
  timeline.state(first, compute, Time{}, Time{1'333'333});
  timeline.state(first, diff, Time{1'333'333}, Time{2'666'666});
  timeline.state(first, compute, Time{2'666'666}, Time{4'000'000});
  timeline.end();
  Labels labels;
  labels.layout = {2, 1};
  labels.tables = &tables_of(ProtocolKind::scash);
  std::ostringstream chrome, paje;
  write_chrome(chrome, timeline, labels);
  write_paje(paje, timeline, labels);
  for (const char* const part :
       {R"("ts":0.000,"dur":1.333})", R"("ts":1.333,"dur":1.334})", R"("ts":2.667,"dur":1.333})"})
    CHECK(chrome.str().find(part) != std::string::npos);
  for (const char* const part : {"\n7 0.000001333 t0 State diff\n", "\n9 0.000002667 t0 State\n"})
    CHECK(paje.str().find(part) != std::string::npos);
}
