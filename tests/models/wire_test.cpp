#include "models/wire.hpp"

#include "models/scash/messages.hpp"
#include "tests/catch.hpp"
#include "tests/models/p3.hpp"

using namespace sdsm;
using namespace sdsm::test;

namespace {
constexpr Framing ethernet;
}

TEST_CASE("a page travels in three frames and takes 4330 bytes of wire") {
  CHECK(frames_of(ethernet, page_payload) == 3);
  CHECK(wire_bytes(ethernet, page_payload) == Bytes{4096 + 3 * 78});
  CHECK(first_frame_bytes(ethernet, page_payload) == Bytes{1460 + 78});
}

TEST_CASE("a frame holds 1460 bytes: the next byte needs another frame") {
  CHECK(frames_of(ethernet, {1460}) == 1);
  CHECK(frames_of(ethernet, {1461}) == 2);
  CHECK(wire_bytes(ethernet, {1461}) == Bytes{1461 + 2 * 78});
  CHECK(first_frame_bytes(ethernet, {1461}) == Bytes{1538});
}

TEST_CASE("the shortest frame is 84 bytes, even without payload") {
  CHECK(frames_of(ethernet, {0}) == 1);
  CHECK(wire_bytes(ethernet, {0}) == Bytes{84});
  CHECK(wire_bytes(ethernet, {6}) == Bytes{84});
  CHECK(wire_bytes(ethernet, {7}) == Bytes{85});
}

TEST_CASE("a page over a 100 Mbit/s cable takes 346.4 us and latency") {
  const std::vector<LinkSpec> one{cable(12.5e6)};
  CHECK(idle_time(WireModel::store_and_forward, one, ethernet, page_payload) == us(346.4 + 5));
  CHECK(idle_time(WireModel::flow, one, ethernet, page_payload) == us(346.4 + 5));
}

TEST_CASE("a store-and-forward switch adds a frame's time, 123.04 of 479.44 us") {
  CHECK(idle_time(WireModel::store_and_forward, fast_ethernet, ethernet, page_payload) == us(346.4 + 123.04 + 10));
  CHECK(idle_time(WireModel::flow, fast_ethernet, ethernet, page_payload) == us(346.4 + 10));
}

TEST_CASE("a control message of one frame is stored whole at the switch") {
  CHECK(idle_time(WireModel::store_and_forward, fast_ethernet, ethernet, control_payload) == us(2 * 8.8 + 10));
  CHECK(idle_time(WireModel::flow, fast_ethernet, ethernet, control_payload) == us(8.8 + 10));
}

TEST_CASE("at a gigabit the wire takes a tenth, the latency stays") {
  CHECK(idle_time(WireModel::store_and_forward, gigabit_ethernet, ethernet, page_payload) == us(34.64 + 12.304 + 10));
  CHECK(idle_time(WireModel::flow, gigabit_ethernet, ethernet, page_payload) == us(34.64 + 10));
}

TEST_CASE("the slowest link sets the pace, wherever it is") {
  const std::vector<LinkSpec> narrowing{cable(125e6), cable(12.5e6)};
  const std::vector<LinkSpec> widening{cable(12.5e6), cable(125e6)};
  // Fast, then slow: the slow link starts when it has the first frame, and is busy for the whole message.
  CHECK(idle_time(WireModel::store_and_forward, narrowing, ethernet, page_payload) == us(12.304 + 5 + 346.4 + 5));
  // Slow, then fast: the fast link waits for the last frame and sends it on (counted as a full frame).
  CHECK(idle_time(WireModel::store_and_forward, widening, ethernet, page_payload) == us(346.4 + 5 + 12.304 + 5));
  CHECK(idle_time(WireModel::flow, narrowing, ethernet, page_payload) == us(346.4 + 10));
  CHECK(idle_time(WireModel::flow, widening, ethernet, page_payload) == us(346.4 + 10));
}

TEST_CASE("no link, no time") {
  CHECK(idle_time(WireModel::store_and_forward, {}, ethernet, page_payload) == Time{});
  CHECK(idle_time(WireModel::flow, {}, ethernet, page_payload) == Time{});
}

TEST_CASE("a larger message never arrives sooner") {
  for (const WireModel model : {WireModel::store_and_forward, WireModel::flow}) {
    Time before{};
    for (std::int64_t bytes = 0; bytes < 10'000; ++bytes) {
      const Time now = idle_time(model, fast_ethernet, ethernet, {bytes});
      if (now < before) FAIL(bytes << " bytes take less than one byte less");
      before = now;
    }
  }
}
