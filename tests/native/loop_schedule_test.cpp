#include <cstdint>
#include <limits>
#include <vector>

#include "native/guest/openmp/construct.hpp"
#include "tests/catch.hpp"

using namespace sdsm::gomp;
using sdsm::Schedule;

namespace {

LoopBounds loop_of(std::uint64_t iterations, Schedule schedule, std::uint64_t chunk) {
  LoopBounds loop;
  loop.iterations = iterations;
  loop.schedule = schedule;
  loop.chunk = chunk;
  return loop;
}

}  // namespace

TEST_CASE("a loop from 0 below 10 by 3: 0, 3, 6, 9") {
  CHECK(iterations_of(0, 10, 3) == 4);
  CHECK(iterations_of(0, 9, 3) == 3);
  CHECK(iterations_of(5, 5, 1) == 0);
  CHECK(iterations_of(6, 5, 1) == 0);
}

TEST_CASE("a loop from 10 above 0 by -4: 10, 6, 2") {
  CHECK(iterations_of(10, 0, -4) == 3);
  CHECK(iterations_of(0, 10, -4) == 0);
}

TEST_CASE("the widest signed loop has 2^64 - 1 iterations without overflow") {
  const auto least = std::numeric_limits<std::int64_t>::min();
  const auto most = std::numeric_limits<std::int64_t>::max();
  CHECK(iterations_of(least, most, 1) == std::numeric_limits<std::uint64_t>::max());
  CHECK(iterations_of(most, least, -1) == std::numeric_limits<std::uint64_t>::max());
  CHECK(iterations_of(most, least, least) == 2);
}

TEST_CASE("an unsigned loop down from 2^64 - 1 has 3 iterations") {
  const std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
  CHECK(iterations_of(false, top, top - 7, std::uint64_t{0} - 3) == 3);
  CHECK(iterations_of(true, top - 7, top, 3) == 3);
  CHECK(iterations_of(true, top, 0, 3) == 0);
}

TEST_CASE("static shares 10 iterations over 4 threads as 3, 3, 2, 2") {
  const LoopBounds loop = loop_of(10, Schedule::static_, 0);
  const std::uint64_t first[] = {0, 3, 6, 8};
  const std::uint64_t count[] = {3, 3, 2, 2};
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    CHECK(static_chunk(loop, thread, 4, 0).first == first[thread]);
    CHECK(static_chunk(loop, thread, 4, 0).count == count[thread]);
    CHECK(static_chunk(loop, thread, 4, 1).count == 0);
  }
}

TEST_CASE("static, 3 deals thread 1 of 2 the iterations 3..5 and 9") {
  const LoopBounds loop = loop_of(10, Schedule::static_, 3);
  CHECK(static_chunk(loop, 1, 2, 0).first == 3);
  CHECK(static_chunk(loop, 1, 2, 0).count == 3);
  CHECK(static_chunk(loop, 1, 2, 1).first == 9);
  CHECK(static_chunk(loop, 1, 2, 1).count == 1);
  CHECK(static_chunk(loop, 1, 2, 2).count == 0);
  CHECK(static_chunk(loop, 0, 2, 1).first == 6);
}

TEST_CASE("guided, 2 hands out a quarter of what is left") {
  const LoopBounds loop = loop_of(20, Schedule::guided, 2);
  std::vector<std::uint64_t> counts;
  for (std::uint64_t taken = 0;;) {
    const Chunk chunk = shared_chunk(loop, taken, 4);
    if (chunk.count == 0) break;
    counts.push_back(chunk.count);
    taken += chunk.count;
  }
  CHECK(counts == std::vector<std::uint64_t>{5, 4, 3, 2, 2, 2, 2});
}

TEST_CASE("dynamic hands out single iterations, dynamic, 4 the last 2") {
  CHECK(shared_chunk(loop_of(10, Schedule::dynamic, 0), 3, 4).count == 1);
  CHECK(shared_chunk(loop_of(10, Schedule::dynamic, 4), 8, 4).count == 2);
  CHECK(shared_chunk(loop_of(10, Schedule::dynamic, 4), 10, 4).count == 0);
}

TEST_CASE("every schedule hands out each iteration exactly once") {
  const auto iterations = GENERATE(0U, 1U, 2U, 7U, 64U, 1000U);
  const auto threads = GENERATE(1U, 2U, 3U, 8U);
  const auto chunk = GENERATE(0U, 1U, 5U, 2000U);
  std::vector<int> times(iterations, 0);
  const LoopBounds loop = loop_of(iterations, Schedule::static_, chunk);
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    for (std::uint64_t turn = 0;; ++turn) {
      const Chunk got = static_chunk(loop, thread, threads, turn);
      if (got.count == 0) break;
      for (std::uint64_t i = 0; i < got.count; ++i) ++times.at(got.first + i);
    }
  }
  CHECK(times == std::vector<int>(iterations, 1));
}
