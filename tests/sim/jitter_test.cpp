/// Jitter: a lognormal factor on each processor part of remote faults.

#include <cmath>

#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

constexpr std::uint32_t fetches = 100;

/// The mean factor over `fetches` fetches, each of which has a local part of 79.96 us beside 507.04 us of messages.
double mean_factor(std::uint64_t seed, double jitter) {
  TestProgram program({2, 1});
  program.pages = 2 * fetches;
  program.barrier_of_all({{0}, {0, {}}});
  std::vector<trace::TouchRun> touches;
  for (std::uint32_t i = 0; i < fetches; ++i) touches.push_back(reads(2 * i));
  program.barrier_of_all({{1000}, {1000, touches}});
  const Result result = run(program, {.jitter = jitter, .seed = seed});
  const double per_fetch = in_us(spent(result.threads[1].whole, FaultKind::RUMR)) / (fetches + 1);
  return (per_fetch - 507.04) / 79.96;
}

}  // namespace

TEST_CASE("without jitter the seed has no effect") {
  CHECK(mean_factor(1, 0) == Approx(1).epsilon(1e-9));
  CHECK(mean_factor(2, 0) == Approx(1).epsilon(1e-9));
}

TEST_CASE("jittered parts have mean 1 and the given coefficient of variation") {
  // Means of 101 draws each: they scatter by a tenth of the coefficient.
  const double jitter = GENERATE(0.05, 0.5);
  constexpr int runs = 60;
  double sum = 0, squares = 0;
  for (int seed = 1; seed <= runs; ++seed) {
    const double factor = mean_factor(static_cast<std::uint64_t>(seed), jitter);
    sum += factor;
    squares += factor * factor;
  }
  const double mean = sum / runs;
  const double scatter = std::sqrt((squares - runs * mean * mean) / (runs - 1)) * std::sqrt(fetches + 1.0);
  CAPTURE(jitter, mean, scatter);
  // 6060 draws: their mean is within jitter / 78 of 1, three times that with room to spare.
  CHECK(mean == Approx(1).margin(3 * jitter / 78));
  // A standard deviation from 60 values is good to 9 %.
  // Half of the time is the home's, drawn by itself: variances add up.
  CHECK(scatter == Approx(jitter * std::sqrt(0.5)).epsilon(0.3));
}

TEST_CASE("the seed determines the run") {
  CHECK(mean_factor(3, 0.05) == mean_factor(3, 0.05));
  CHECK(mean_factor(3, 0.05) != mean_factor(4, 0.05));
}

TEST_CASE("local faults do not jitter") {
  TestProgram program({2, 2});
  program.barrier_of_all({{100, {writes(0), writes(4)}}, {100, {writes(8)}}, {100}, {100}});
  const Result result = run(program, {.jitter = 0.5});
  CHECK(spent(result.threads[0].whole, FaultKind::WROH) == us(3 * 8));
  CHECK(spent(result.threads[1].whole, FaultKind::WROL) == us(44));
}
