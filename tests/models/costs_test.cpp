#include "models/costs.hpp"

#include <functional>
#include <map>
#include <string>

#include "models/scash/messages.hpp"
#include "tests/catch.hpp"
#include "tests/models/p3.hpp"

using namespace sdsm;
using namespace sdsm::test;

namespace {

constexpr WireModel both_models[] = {WireModel::store_and_forward, WireModel::flow};

Time sum(const std::array<Time, 3>& parts) {
  return parts[0] + parts[1] + parts[2];
}

Time barrier(const CostModel& costs, Layout layout) {
  return sum(costs.synchronisations(layout));
}

}  // namespace

TEST_CASE("a fetch's local part is the measured total less its messages") {
  // Stored and forwarded: 27.6 us for the request, 479.44 us for the page.
  const CostModel queue(p3_costs(), WireModel::store_and_forward, fast_ethernet);
  CHECK(queue.fault_local(FaultKind::RUMR) == us(587 - 27.6 - 479.44));
  CHECK(queue.fault_local(FaultKind::WUMR) == us(599 - 27.6 - 479.44));
  // Flowing through: 18.8 us and 356.4 us.
  const CostModel flow(p3_costs(), WireModel::flow, fast_ethernet);
  CHECK(flow.fault_local(FaultKind::RUMR) == us(587 - 18.8 - 356.4));
  CHECK(flow.fault_local(FaultKind::WUMR) == us(599 - 18.8 - 356.4));
}

TEST_CASE("faults that wait for no page are local work") {
  const CostModel costs(p3_costs(), WireModel::store_and_forward, fast_ethernet);
  CHECK(costs.fault_local(FaultKind::WROH) == us(8));
  CHECK(costs.fault_local(FaultKind::WROL) == us(44));
  CHECK(costs.fault_local(FaultKind::WROR) == us(51));
  CHECK(costs.fault_local(FaultKind::WRWH) == us(7));
  CHECK(costs.fault_local(FaultKind::WRWL) == us(16));
  CHECK(costs.fault_local(FaultKind::WRWR) == us(24));
  CHECK(costs.fault_local(FaultKind::RRWR) == us(25));
  CHECK(costs.fault_local(FaultKind::RROR) == us(18));
}

TEST_CASE("local parts do not depend on the network that is simulated") {
  for (const WireModel model : both_models) {
    const CostModel here(p3_costs(), model, fast_ethernet);
    const CostModel there(p3_costs(), model, gigabit_ethernet);
    for (const FaultRule& rule : fault_rules) CHECK(here.fault_local(rule.kind) == there.fault_local(rule.kind));
    CHECK(here.message_local(max_payload) == there.message_local(max_payload));
    CHECK(here.lock_local({4, 1}) == there.lock_local({4, 1}));
  }
}

TEST_CASE("a message's local part is its measured cost less the wire") {
  const CostModel queue(p3_costs(), WireModel::store_and_forward, fast_ethernet);
  CHECK(queue.message_local(control_payload) == us(61.66 + 32 * 0.181919 - 27.6));
  CHECK(queue.message_local(max_payload) == us(61.66 + 1460 * 0.181919 - 2 * 123.04 - 10));
  const CostModel flow(p3_costs(), WireModel::flow, fast_ethernet);
  CHECK(flow.message_local(max_payload) == us(61.66 + 1460 * 0.181919 - 123.04 - 10));
}

TEST_CASE("the home's part and the requester's part make up the whole") {
  Costs raw = p3_costs();
  raw.home_share = GENERATE(0.0, 0.25, 0.5, 1.0);
  const CostModel costs(raw, WireModel::store_and_forward, fast_ethernet);
  CHECK(costs.home_part(us(100)) == us(100 * raw.home_share));
  CHECK(costs.home_part(Time{}) == Time{});
}

TEST_CASE("a measured barrier costs its measurement on that network") {
  for (const WireModel model : both_models) {
    const CostModel costs(p3_costs(), model, fast_ethernet);
    for (const auto& [layout, measured] : p3_costs().barrier) CHECK(barrier(costs, layout) == measured);
  }
}

TEST_CASE("on a gigabit network a barrier's messages get faster and nothing else") {
  const CostModel queue(p3_costs(), WireModel::store_and_forward, gigabit_ethernet);
  // 2x1: three synchronisations of a message to process 0 and one back; 27.6 us each at 100 Mbit/s, 11.76 us now.
  CHECK(barrier(queue, {2, 1}) == us(661 - 6 * 27.6 + 6 * 11.76));
  // 4x1: three releases leave process 0's port one after another, 8.8 us apart; 0.88 us apart now. A process released
  // later arrives later, so on their way to process 0 the messages do not meet.
  CHECK(barrier(queue, {4, 1}) == us(7305 - 3 * (2 * 27.6 + 2 * 8.8) + 3 * (2 * 11.76 + 2 * 0.88)));
  // Inside a node there is no message.
  CHECK(barrier(queue, {1, 2}) == us(225));
  CHECK(barrier(queue, {1, 1}) == us(0.2));
  const CostModel flow(p3_costs(), WireModel::flow, gigabit_ethernet);
  CHECK(barrier(flow, {2, 1}) == us(661 - 6 * 18.8 + 6 * 10.88));
}

TEST_CASE("a barrier's three synchronisations are equal to a picosecond") {
  const CostModel costs(p3_costs(), WireModel::store_and_forward, fast_ethernet);
  const auto parts = costs.synchronisations({2, 1});
  CHECK(parts[0] == parts[1]);
  CHECK(parts[2] - parts[0] >= Time{});
  CHECK(parts[2] - parts[0] < Time{3});
}

TEST_CASE("the memory bus stretches the memory-bound share as measured, interpolated or extrapolated") {
  struct Row {
    std::map<std::uint32_t, double> measured;
    std::uint32_t threads;
    double memory_bound, stretch;
  };
  const std::map<std::uint32_t, double> three = {{2, 1.2}, {4, 2.2}, {8, 5.}};
  for (const auto& [measured, threads, memory_bound, stretch] :
       {Row{three, 1, 1, 1}, Row{three, 2, 1, 1.2}, Row{three, 3, 1, 1.7}, Row{three, 4, 1, 2.2},
        Row{three, 5, 1, 2.9},   // 2.8 more over 4 threads
        Row{three, 10, 1, 6.4},  // and on
        // One measured number of threads gives a line through one thread.
        Row{{{4, 2.5}}, 2, 1, 1.5}, Row{{{4, 2.5}}, 7, 1, 4},
        // The bus is not extrapolated to become faster with more threads.
        Row{{{2, 1.5}, {4, 1.3}}, 3, 1, 1.4}, Row{{{2, 1.5}, {4, 1.3}}, 8, 1, 1.3}, Row{{{2, 1.8}}, 2, 0, 1},
        Row{{{2, 1.8}}, 2, 0.25, 1.2}, Row{{}, 8, 1, 1}}) {
    CAPTURE(threads, memory_bound);
    Costs given = p3_costs();
    given.memory_bus = measured;
    const CostModel costs(given, WireModel::store_and_forward, fast_ethernet);
    CHECK(costs.stretch(threads, memory_bound) == Approx(stretch));
    CHECK(costs.memory_bus_is_measured(threads) == (threads == 1 || measured.count(threads) == 1));
  }
}

TEST_CASE("a barrier without measurement is marked and interpolated") {
  for (const WireModel model : both_models) {
    const CostModel costs(p3_costs(), model, fast_ethernet);
    CHECK_FALSE(costs.barrier_is_measured({3, 1}));
    CHECK(costs.barrier_is_measured({4, 1}));
    CHECK(barrier(costs, {2, 1}) < barrier(costs, {3, 1}));
    CHECK(barrier(costs, {3, 1}) < barrier(costs, {4, 1}));
    CHECK(barrier(costs, {2, 2}) < barrier(costs, {4, 2}));
    CHECK(barrier(costs, {1, 2}) < barrier(costs, {2, 2}));
  }
}

TEST_CASE("an extrapolated barrier never gets cheaper with more nodes or threads") {
  for (const WireModel model : both_models) {
    for (const auto& network : {fast_ethernet, gigabit_ethernet}) {
      const CostModel costs(p3_costs(), model, network);
      for (std::uint32_t nodes = 1; nodes <= 64; ++nodes) {
        for (std::uint32_t threads = 1; threads <= 4; ++threads) {
          CAPTURE(nodes, threads, to_seconds(barrier(costs, {nodes, threads})));
          CHECK(barrier(costs, {nodes, threads}) > Time{});
          CHECK(barrier(costs, {nodes + 1, threads}) > barrier(costs, {nodes, threads}));
          CHECK(barrier(costs, {nodes, threads + 1}) > barrier(costs, {nodes, threads}));
        }
      }
    }
  }
}

TEST_CASE("with no measured barrier the message-level model stands alone") {
  Costs raw = p3_costs();
  raw.barrier = {{{1, 1}, us(0.2)}};
  const CostModel costs(raw, WireModel::store_and_forward, fast_ethernet);
  // Three gathers and three releases of one message each: 27.6 us of wire and 39.881408 us of processors.
  CHECK(barrier(costs, {2, 1}) == 6 * us(27.6 + 39.881408));
  // A second message follows as soon as the processor has done with the first.
  CHECK(barrier(costs, {3, 1}) == 6 * us(27.6 + 2 * 39.881408));
}

TEST_CASE("a lock's local part follows from its contended hand-off and messages") {
  const CostModel costs(p3_costs(), WireModel::store_and_forward, fast_ethernet);
  // 2x1, manager 0: from 0 to 1 one grant crosses, from 1 to 0 one release; one message of 27.6 us on average.
  CHECK(costs.lock_local({2, 1}) == us(52 - 27.6));
  // 4x1: 3 releases and 3 grants of 4 hand-offs cross.
  CHECK(costs.lock_local({4, 1}) == us(74 - 6 * 27.6 / 4));
  // 4x2: 6 and 6 of 8.
  CHECK(costs.lock_local({4, 2}) == us(204 - 12 * 27.6 / 8));
  CHECK(costs.lock_local({1, 2}) == us(4));
  CHECK(costs.lock_local({1, 1}) == us(0.6));
}

TEST_CASE("a layout without a measured lock takes the nearest one's") {
  const CostModel costs(p3_costs(), WireModel::store_and_forward, fast_ethernet);
  CHECK_FALSE(costs.lock_is_measured({8, 1}));
  CHECK(costs.lock_local({8, 1}) == costs.lock_local({4, 1}));
  CHECK(costs.lock_local({8, 2}) == costs.lock_local({4, 2}));
}

TEST_CASE("p3's costs and its reference network do not contradict each other") {
  for (const WireModel model : both_models) {
    CHECK(CostModel(p3_costs(), model, fast_ethernet).contradictions().empty());
  }
}

TEST_CASE("a cost below its own messages is named") {
  constexpr auto page_fault = static_cast<std::size_t>(FaultKind::RUMR);
  const auto [costs, named] = GENERATE_COPY(table<std::function<void(Costs&)>, std::string>(
      {{[](Costs& raw) { raw.fault[page_fault] = us(507); }, "fault.RUMR"},  // its messages take 507.04 us
       {[](Costs& raw) { raw.message_fixed = us(10); }, "message of 32 bytes"},
       {[](Costs& raw) {
          raw.barrier[{2, 1}] = us(165);
        },
        "barrier.2x1"},  // 6 x 27.6 = 165.6 us
       {[](Costs& raw) {
          raw.lock[{4, 1}] = us(41);
        },
        "lock.4x1"}}));  // 41.4 us
  Costs raw = p3_costs();
  costs(raw);
  const auto found = CostModel(raw, WireModel::store_and_forward, fast_ethernet).contradictions();
  REQUIRE_FALSE(found.empty());
  CHECK(found.front().find(named) == 0);

  raw = p3_costs();
  raw.fault[page_fault] = us(507.04);
  raw.barrier[{2, 1}] = us(165.6);
  raw.lock[{4, 1}] = us(41.4);
  CHECK(CostModel(raw, WireModel::store_and_forward, fast_ethernet).contradictions().empty());
}

TEST_CASE("a tree's messages and whom each node reports to") {
  const MessageTimes message{us(10), us(2), us(3)};
  const auto gather = [&](std::uint32_t nodes) { return gather_time(BarrierShape::tree, {nodes, 1}, message); };
  CHECK(gather(1) == Time{});
  // 2^L nodes: L times wire and processor.
  CHECK(gather(2) == us(13));
  CHECK(gather(4) == us(26));
  CHECK(gather(8) == us(39));
  CHECK(gather(1024) == us(130));
  // Three: both report to node 0 at once, whose processor takes them one by one.
  CHECK(gather(3) == us(10 + 3 + 3));
  // Five: nodes 1 and 4 at once, 10 and 3 + 3 us; node 2, which has node 3's after 13 us, comes at 23.
  CHECK(gather(5) == us(26));
  // Seven: node 1 until 13; node 2, with node 3's, comes at 23; node 4, with those of 5 and 6 after 16, at 26.
  CHECK(gather(7) == us(26 + 3));
  for (std::uint32_t nodes = 1; nodes < 300; ++nodes) CHECK(gather(nodes + 1) >= gather(nodes));
  CHECK(parent_in_tree(NodeId{1}) == NodeId{0});
  CHECK(parent_in_tree(NodeId{6}) == NodeId{4});
  CHECK(parent_in_tree(NodeId{7}) == NodeId{6});
  CHECK(parent_in_tree(NodeId{8}) == NodeId{0});
  CHECK(messages_of(BarrierShape::tree, {4, 2}) == 3);
  CHECK(messages_of(BarrierShape::flat, {4, 2}) == 6);
  for (const auto& [nodes, depth] :
       std::map<std::uint32_t, std::int64_t>{{1, 0}, {2, 1}, {3, 1}, {4, 2}, {7, 2}, {8, 3}}) {
    CHECK(depth_of(BarrierShape::tree, {nodes, 1}) == depth);
  }
}

TEST_CASE("a flat gather's pace is that of the link or processor") {
  const Layout four{4, 1};
  CHECK(gather_time(BarrierShape::flat, four, {us(10), us(2), us(3)}) == us(10 + 2 * 3 + 3));
  CHECK(gather_time(BarrierShape::flat, four, {us(10), us(3), us(2)}) == us(10 + 2 * 3 + 2));
  CHECK(gather_time(BarrierShape::flat, {4, 2}, {us(10), us(2), us(3)}) == us(10 + 5 * 3 + 3));
  // For three nodes with one process each the tree is the flat one.
  CHECK(gather_time(BarrierShape::tree, {3, 1}, {us(10), us(3), us(2)}) ==
        gather_time(BarrierShape::flat, {3, 1}, {us(10), us(3), us(2)}));
}

TEST_CASE("a tree's measured barriers save their messages' time on faster networks") {
  Costs raw = p3_costs();
  raw.barrier_shape = BarrierShape::tree;
  const CostModel here(raw, WireModel::store_and_forward, fast_ethernet);
  for (const auto& [layout, measured] : raw.barrier) CHECK(barrier(here, layout) == measured);
  const CostModel there(raw, WireModel::store_and_forward, gigabit_ethernet);
  // Four nodes: two levels down and two up, three times; 27.6 us a message at 100 Mbit/s, 11.76 us now.
  CHECK(barrier(there, {4, 1}) == us(7305 - 3 * 4 * 27.6 + 3 * 4 * 11.76));
  raw.barrier = {{{1, 1}, us(0.2)}};
  const CostModel alone(raw, WireModel::store_and_forward, fast_ethernet);
  CHECK(barrier(alone, {8, 1}) == 18 * us(27.6 + 39.881408));
  // Local peers on a node send no message of their own, and nothing is known of what they cost.
  CHECK(barrier(alone, {8, 2}) == barrier(alone, {8, 1}));
}
