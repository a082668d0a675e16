/// Faults, barriers and locks cost in the simulator what the platform file says, and on another network only their
/// messages' part changes.

#include <chrono>

#include "sim/replay.hpp"
#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

bool within_a_nanosecond(Time a, Time b) {
  return std::chrono::abs(a - b) <= Time{1'000};
}

}  // namespace

TEST_CASE("re-run faults, barriers and locks match the platform within 1 ns") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  const Platform platform = read_platform(p3_score());
  std::vector<std::string> skipped;
  const auto replayed = replay_microbenchmarks(platform, network, &skipped);
  CHECK(replayed.size() == fault_kinds + 5 + 5 + 6 + 1 + 3);
  CHECK(skipped.empty());
  for (const Replayed& row : replayed) {
    REQUIRE(row.given.has_value());
    CAPTURE(name_of(network), row.what, in_us(*row.given), in_us(row.simulated));
    CHECK(within_a_nanosecond(*row.given, row.simulated));
  }
}

TEST_CASE("a release waits for its diff's messages, by the formula") {
  // One run of words: 12 bytes and 4 for each. 61.66 us and 0.181919 us a byte; 4108 bytes go in three messages.
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  const Platform platform = read_platform(p3_score());
  CHECK(within_a_nanosecond(replay_release(platform, network, 1, 3), us(61.66 + 16 * 0.181919)));
  CHECK(within_a_nanosecond(replay_release(platform, network, 256, 3), us(61.66 + 1036 * 0.181919)));
  CHECK(within_a_nanosecond(replay_release(platform, network, 1024, 3), us(3 * 61.66 + 4108 * 0.181919)));
}

TEST_CASE("a barrier takes 18.95 us for each dirty home page") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  const Platform platform = read_platform(p3_score());
  CHECK(within_a_nanosecond(replay_dirty_pages(platform, network, 64, 3), us(18.95)));
  CHECK(within_a_nanosecond(replay_dirty_pages(platform, network, 1, 3), us(18.95)));
}

TEST_CASE("a barrier takes barrier.further-run for each run but the first") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  Platform platform = read_platform(p3_score());
  CHECK(replay_further_runs(platform, network, 64, 3) == Time{});
  platform.costs.further_run = us(3);
  CHECK(within_a_nanosecond(replay_further_runs(platform, network, 64, 3), us(3)));
  CHECK(within_a_nanosecond(replay_dirty_pages(platform, network, 64, 3), us(18.95)));
}

TEST_CASE("at a gigabit a fetch saves nine tenths of its wire time") {
  // Stored and forwarded: 110 bytes twice at 125 MB/s and 10 us, 4330 + 1538 bytes and 10 us; local part 79.96 us.
  // Flowing: 110 bytes and 10 us, 4330 bytes and 10 us; local part 211.8 us.
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  const TemporaryFile file(with_cables("1Gbps"));
  const Platform platform = read_platform(file.path());
  const bool queue = network == NetworkKind::queue;
  const Time fetch = queue ? us(0.88 * 2 + 10 + 34.64 + 12.304 + 10) : us(0.88 + 10 + 34.64 + 10);
  const Time local = queue ? us(79.96) : us(211.8);
  const Time read = replay_fault(platform, network, FaultKind::RUMR, 10);
  const Time write = replay_fault(platform, network, FaultKind::WUMR, 10);
  CAPTURE(in_us(read), in_us(write));
  CHECK(within_a_nanosecond(read, local + fetch));
  CHECK(within_a_nanosecond(write, local + us(12) + fetch));
  CHECK(within_a_nanosecond(replay_fault(platform, network, FaultKind::WROR, 10), us(51)));
  CHECK(within_a_nanosecond(replay_fault(platform, network, FaultKind::WROH, 10), us(8)));
}

TEST_CASE("at a gigabit, barriers and locks save their messages' wire time") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  const TemporaryFile file(with_cables("1Gbps"));
  const Platform platform = read_platform(file.path());
  const bool queue = network == NetworkKind::queue;
  const Time slow = queue ? us(27.6) : us(18.8);
  const Time fast = queue ? us(11.76) : us(10.88);
  CHECK(within_a_nanosecond(replay_barrier(platform, network, {2, 1}, 20), us(661) - 6 * slow + 6 * fast));
  CHECK(within_a_nanosecond(replay_barrier(platform, network, {4, 1}, 20),
                            us(7305) - 3 * (2 * slow + us(17.6)) + 3 * (2 * fast + us(1.76))));
  CHECK(within_a_nanosecond(replay_barrier(platform, network, {1, 2}, 20), us(225)));
  // A hand-off on two nodes has one message on average.
  CHECK(within_a_nanosecond(replay_lock(platform, network, {2, 1}, 100), us(52) - slow + fast));
}

TEST_CASE("a changed number changes its own cost by as much") {
  const TemporaryFile file(PlatformText{{"fault.RUMR", "687us"}, {"barrier.2x1", "761us"}}.text());
  const Platform platform = read_platform(file.path());
  CHECK(within_a_nanosecond(replay_fault(platform, NetworkKind::queue, FaultKind::RUMR, 5), us(687)));
  CHECK(within_a_nanosecond(replay_fault(platform, NetworkKind::queue, FaultKind::WUMR, 5), us(599)));
  CHECK(within_a_nanosecond(replay_barrier(platform, NetworkKind::queue, {2, 1}, 20), us(761)));
}

TEST_CASE("a fault's re-run uses warm pages, cold caches and a computing home") {
  const TemporaryFile file(PlatformText{
      {"fault.first-copy", "100us"},
      {"fault.first-write", "100us"},
      {"fault.cold", "2us"},
      {"local-part.waiting-share",
       "0.1"}}.text());
  const Platform platform = read_platform(file.path());
  CHECK(within_a_nanosecond(replay_fault(platform, NetworkKind::queue, FaultKind::RUMR, 5), us(587)));
  CHECK(within_a_nanosecond(replay_fault(platform, NetworkKind::queue, FaultKind::WUMR, 5), us(599)));
  CHECK(within_a_nanosecond(replay_fault(platform, NetworkKind::queue, FaultKind::WROH, 5), us(8)));
}

TEST_CASE("a benchmark without room is named, not re-run") {
  PlatformText text;
  text.hosts = 2;
  text.cores = 1;
  const TemporaryFile file(text.text());
  std::vector<std::string> skipped;
  const auto replayed = replay_microbenchmarks(read_platform(file.path()), NetworkKind::queue, &skipped);
  // Left are the faults on one process per node, layouts 1x1 and 2x1, releases, dirty pages and messages.
  CHECK(replayed.size() == 4 + 2 + 2 + 6 + 1 + 3);
  CHECK(skipped.size() == 6 + 3 + 3);
}

TEST_CASE("a lone message's time matches hand arithmetic at 100 Mbit/s") {
  const Platform platform = read_platform(p3_score());
  // On the wire 1 byte is 84 with its frame, 32 bytes 110, 1460 bytes 1538, 1461 bytes in two frames 1617 and 4096
  // bytes in three 4330, at 0.08 us each. The switch passes a frame on when it has it, the first of 84, 110, 1538
  // bytes.
  const std::vector<Bytes> sizes{{1}, {32}, {1460}, {1461}, {4096}};
  CHECK(replay_messages(platform, NetworkKind::queue, sizes) ==
        std::vector{us(2 * 6.72 + 10), us(2 * 8.8 + 10), us(2 * 123.04 + 10), us(129.36 + 123.04 + 10),
                    us(346.4 + 123.04 + 10)});
  // Flowing through both cables at once.
  const auto flowing = replay_messages(platform, NetworkKind::simgrid, sizes);
  REQUIRE(flowing.size() == 5);
  CHECK(within_a_nanosecond(flowing[0], us(6.72 + 10)));
  CHECK(within_a_nanosecond(flowing[4], us(346.4 + 10)));
}

TEST_CASE("each message of a burst takes its own time on a cable") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  const auto each = replay_streams(read_platform(p3_score()), network, {{1}, {1460}, {4096}});
  REQUIRE(each.size() == 3);
  CHECK(within_a_nanosecond(each[0], us(6.72)));
  CHECK(within_a_nanosecond(each[1], us(123.04)));
  CHECK(within_a_nanosecond(each[2], us(346.4)));
}

TEST_CASE("messages longer than a run can last are refused") {
  // A tebibyte at 100 Mbit/s takes a day, at 10 kbit/s 28 years.
  const Platform platform = read_platform(p3_score());
  CHECK_THROWS_AS(check_duration({{{1250.}, us(5)}}, platform.costs.framing, {most_message_bytes}, 1),
                  std::invalid_argument);
  CHECK_NOTHROW(check_duration(platform.costs.reference, platform.costs.framing, {most_message_bytes}, 1));
  const TemporaryFile slow(with_cables("10kbps"));
  CHECK_THROWS_AS(replay_messages(read_platform(slow.path()), NetworkKind::queue, {most_message_bytes}),
                  std::invalid_argument);
}

TEST_CASE("a request re-runs only its layouts, known or not") {
  PlatformText text;
  text.hosts = 8;
  const TemporaryFile file(text.text());
  const auto replayed = replay_microbenchmarks(read_platform(file.path()), NetworkKind::queue, nullptr,
                                               {.groups = {"barrier"}, .layouts = {{4, 1}, {8, 1}}, .streams = {{64}}});
  REQUIRE(replayed.size() == 5 + 1 + 1);
  for (const Replayed& row : replayed) {
    CAPTURE(row.what);
    CHECK(row.given.has_value() == (row.what != "barrier.8x1"));
    if (row.what == "barrier.8x1") CHECK(row.simulated > us(7305));
  }
}

TEST_CASE("a tree barrier grows with the nodes' logarithm, a flat one linearly") {
  PlatformText text;
  text.hosts = 32;
  text.properties.erase("barrier.4x1");
  const std::string flat_text = text.text();
  text.set("barrier.shape", "tree");
  const TemporaryFile flat(flat_text), tree(text.text());
  // 2x1 is measured, 661 us. A message of 27.6 us, 39.881408 us of processors: ratio 661 / (6 (27.6 + 39.881408)).
  const double ratio = 661 / (6 * (27.6 + 39.881408));
  for (const auto& [nodes, levels] : std::map<std::uint32_t, int>{{2, 1}, {4, 2}, {16, 4}, {32, 5}}) {
    CAPTURE(nodes);
    const Time by_tree = replay_barrier(read_platform(tree.path()), NetworkKind::queue, {nodes, 1}, 10);
    const Time by_flat = replay_barrier(read_platform(flat.path()), NetworkKind::queue, {nodes, 1}, 10);
    CHECK(within_a_nanosecond(by_tree, us(std::round(661e6 * levels) / 1e6)));
    CHECK(within_a_nanosecond(by_flat, us(6 * ratio * (27.6 + (nodes - 1) * 39.881408))));
  }
}
