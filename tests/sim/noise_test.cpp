/// System noise: computing on processors with changing pace, and its effect on threads that meet.

#include "sim/noise.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

constexpr ProcessId first{0}, second{1};

/// How long 10 us take on each of `count` occasions, a second apart.
std::vector<double> short_work(Noise& noise, ProcessId process, int count) {
  std::vector<double> found;
  for (int i = 0; i < count; ++i)
    found.push_back(to_seconds(noise.stretched(process, i * 1s, 10us)) / to_seconds(10us));
  return found;
}

/// Two threads that compute 20 times 1 ms between barriers.
TestProgram meets_often() {
  TestProgram program({2, 1});
  for (int i = 0; i < 20; ++i) program.barrier_of_all(1000);
  return program;
}

Result run_of(const char* deviation, bool is_noisy, std::uint64_t seed = 1) {
  const TemporaryFile file(PlatformText{{"noise.deviation", deviation}, {"noise.duration", "5ms"}}.text());
  return run(file.path(), NetworkKind::queue, meets_often(), {.is_noisy = is_noisy, .seed = seed});
}

}  // namespace

TEST_CASE("without noise work takes its time") {
  Noise noise(0, 100ms, 1, 2);
  CHECK(noise.stretched(first, 3s, 7ms) == Time{7ms});
}

TEST_CASE("noise's extra time is not the program's own computing") {
  for (const std::uint64_t seed : {1, 2}) {
    const Result result = run_of("0.5", true, seed);
    for (const auto& thread : result.threads) {
      CHECK(thread.whole.added_computing != Time{});
      CHECK(spent(thread.whole, Spent::compute) - thread.whole.added_computing == us(20 * 1000));
    }
  }
}

TEST_CASE("short work varies by the given deviation") {
  Noise noise(0.2, 100ms, 1, 2);
  const std::vector<double> times = short_work(noise, first, 4000);
  double sum = 0, squares = 0;
  for (const double time : times) {
    sum += time;
    squares += time * time;
  }
  const double mean = sum / 4000, deviation = std::sqrt(squares / 4000 - mean * mean) / mean;
  CHECK(deviation == Approx(0.2).epsilon(0.05));
  // Long work takes its time, so slow whiles, which are met as often, weigh more: by the square of the deviation.
  CHECK(mean == Approx(1.04).epsilon(0.01));
}

TEST_CASE("the pace is constant for a while") {
  Noise noise(0.2, 1h, 1, 1);
  const Time once = noise.stretched(first, 0s, 10ms);
  CHECK(once != Time{10ms});
  CHECK(noise.stretched(first, 1s, 10ms) == once);
  CHECK(to_seconds(noise.stretched(first, 2s, 20ms)) == Approx(2 * to_seconds(once)));
}

TEST_CASE("long work takes on average as long as without noise") {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Noise noise(0.2, 100ms, seed, 1);
    sum += to_seconds(noise.stretched(first, 0s, 90s)) / 90;
  }
  // 50 times 900 paces of deviation 0.2.
  CHECK(sum / 50 == Approx(1).margin(5 * 0.2 * std::sqrt(2) / std::sqrt(50 * 900)));
  Noise noise(0.2, 100ms, 1, 1);
  CHECK(noise.stretched(first, 0s, 100s) == Time{100s});
}

TEST_CASE("a pace depends only on the seed and the process") {
  Noise alone(0.2, 100ms, 7, 2), beside(0.2, 100ms, 7, 2), other_seed(0.2, 100ms, 8, 2);
  const std::vector<double> of_second = short_work(beside, second, 50);
  const std::vector<double> of_first = short_work(alone, first, 50);
  CHECK(short_work(beside, first, 50) == of_first);
  CHECK(of_second != of_first);
  CHECK(short_work(other_seed, first, 50) != of_first);
}

TEST_CASE("threads at a barrier wait for the slowest") {
  const Result quiet = run_of("0", true), noisy = run_of("0.2", true);
  CHECK(noisy.whole_makespan > quiet.whole_makespan);
  Time waited{}, waited_in_quiet{};
  for (int thread = 0; thread < 2; ++thread) {
    waited += spent(noisy.threads[thread].whole, Spent::barrier);
    waited_in_quiet += spent(quiet.threads[thread].whole, Spent::barrier);
  }
  CHECK(waited > waited_in_quiet);
  CHECK(spent(noisy.threads[0].whole, Spent::compute) != spent(noisy.threads[1].whole, Spent::compute));
  CHECK(run_of("0.2", true).whole_makespan == noisy.whole_makespan);
  CHECK(run_of("0.2", true, 2).whole_makespan != noisy.whole_makespan);
}

TEST_CASE("a noisy thread's account adds up to its time") {
  const Result noisy = run_of("0.3", true);
  for (const ThreadResult& thread : noisy.threads) CHECK(thread.whole.total() == noisy.whole_makespan);
}

TEST_CASE("draws of one run are spread evenly over its noise") {
  // The first pace of a processor, of which work is a part. With random draws the median would be 6 % off.
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    std::vector<double> times;
    for (std::uint32_t draw = 0; draw < 201; ++draw) {
      Noise noise(0.5, 1h, seed, 2, draw);
      times.push_back(to_seconds(noise.stretched(first, 0s, 10ms)) / to_seconds(10ms));
    }
    std::sort(times.begin(), times.end());
    const double variance = std::log1p(0.25);
    CAPTURE(seed);
    CHECK(times[100] == Approx(std::exp(variance / 2)).epsilon(0.01));
    CHECK(times[10] == Approx(std::exp(variance / 2 - 1.645 * std::sqrt(variance))).epsilon(0.03));
  }
  Noise one(0.5, 1h, 1, 2, 7), again(0.5, 1h, 1, 2, 7), other(0.5, 1h, 1, 2, 8);
  const Time time = one.stretched(first, 0s, 10ms);
  CHECK(again.stretched(first, 0s, 10ms) == time);
  CHECK(other.stretched(first, 0s, 10ms) != time);
}

TEST_CASE("costs are replayed without noise") {
  CHECK(run_of("0.2", false).whole_makespan == run_of("0", true).whole_makespan);
}
