#include "native/launch/trace/touch_places.hpp"

#include "tests/catch.hpp"

using namespace sdsm::trace_command;
using Times = std::vector<std::uint64_t>;
using Places = std::vector<std::uint8_t>;

namespace {

Places places(std::uint64_t elapsed_ns, std::uint64_t compute_ns, const Times& times) {
  return places_of({elapsed_ns, compute_ns, times});
}

}  // namespace

TEST_CASE("free faults: a touch at half of the time is 128") {
  CHECK(places(1000, 1000, {500}) == Places{128});
  CHECK(places(1000, 1000, {1000}) == Places{255});
  CHECK(places(1000, 1000, {0}) == Places{0});
}

TEST_CASE("touches after equal compute and faults are at 51, 102, 153, 204") {
  // Five equal shares of compute: 256 / 5 = 51.2. The fault is what the stopwatch shows beyond 1280 ns, per touch.
  CHECK(places(1680, 1280, {356, 712, 1068, 1424}) == Places{51, 102, 153, 204});
}

TEST_CASE("three early touches before a long computation are at its start") {
  // Faults of 3000 ns with hardly anything between them, then 1 ms: 10 / 1,000,030 of 256 is 0.
  CHECK(places(1'009'030, 1'000'030, {3010, 6020, 9030}) == Places{0, 0, 0});
}

TEST_CASE("one interrupt moves a touch by at most 16 of 256") {
  Times times;
  std::uint64_t now = 0;
  for (unsigned i = 0; i < 255; ++i) {
    // Every second fault is 100 ns longer than the others; an interrupt of 100 us comes before touch 128.
    now += 3000 + (i % 2) * 100 + (i == 128 ? 100'000 : 0);
    times.push_back(now);
  }
  const Places found = places(now + 3100, 20'000, times);
  // Without the interrupt every other gap counts, in equal parts.
  for (unsigned i = 1; i < 255; ++i) CHECK(found[i] - found[i - 1] <= 16);
  CHECK(found[127] >= 100);
  CHECK(found[127] <= 128);
}

TEST_CASE("places never go back, whatever the clocks say") {
  const Places found = places(5000, 1000, {2000, 1000, 1500, 4000});
  for (std::size_t i = 1; i < found.size(); ++i) CHECK(found[i] >= found[i - 1]);
}

TEST_CASE("intervals without compute or slower untracked have places too") {
  CHECK(places(800, 1000, {200, 400}) == Places{64, 128});
  CHECK(places(800, 0, {200, 400}) == Places{0, 0});
  CHECK(places(0, 1000, {0, 0}) == Places{0, 0});
  CHECK(places(1000, 1000, {}).empty());
}
