/// The band around a prediction comes from the costs' standard errors.

#include "sim/uncertainty.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

#include "sim/costs_behind.hpp"
#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

using Values = std::vector<double>;

double mean(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.) / static_cast<double>(values.size());
}
double covariance(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean(a)) * (b[i] - mean(b));
  return sum / static_cast<double>(a.size() - 1);
}
double deviation(const Values& values) {
  return std::sqrt(covariance(values, values));
}

/// Two threads with their times by term, ms; the makespan is 100 ms.
Result with_times(std::initializer_list<std::tuple<Spent, int, int>> times) {
  Result result;
  result.makespan = us(100'000);
  result.threads.resize(2);
  for (const auto& [term, first, second] : times) {
    result.threads[0].region.time[static_cast<std::size_t>(term)] = us(1000 * first);
    result.threads[1].region.time[static_cast<std::size_t>(term)] = us(1000 * second);
  }
  return result;
}

Platform platform_of(const PlatformText& text) {
  const TemporaryFile file(text.text());
  return read_platform(file.path());
}

/// The values of one drawn cost in a number of draws.
Values drawn(const Platform& platform, const std::string& property, int count, std::uint64_t seed = 1) {
  const auto cost = std::find_if(platform.uncertain.begin(), platform.uncertain.end(),
                                 [&](const UncertainCost& one) { return one.property == property; });
  REQUIRE(cost != platform.uncertain.end());
  CostSampler sampler(platform, seed);
  Values values;
  for (int i = 0; i < count; ++i) values.push_back(cost->get(sampler.draw()));
  return values;
}

/// Thread 1 fetches pages of thread 0, all threads meet at barriers, and both write each other's pages.
TestProgram busy_program() {
  TestProgram program({2, 1});
  for (std::uint32_t round = 0; round < 3; ++round) {
    program.barrier(0, 100, {reads(1 + 8 * round, 20), writes(3 + 8 * round, 90)});
    program.barrier(1, 100, {reads(8 * round, 10, 1), writes(2 + 8 * round, 128, 1, {200, 1})});
  }
  return program;
}

Uncertainty draws_of(const PlatformText& text, const TestProgram& program, std::uint64_t count,
                     NetworkKind network = NetworkKind::queue, const RunOptions& options = {}) {
  const TemporaryFile file(text.text());
  return simulate_draws(read_platform(file.path()), program.layout(), network, [&] { return program.finished(); },
                        options, Varied::costs, count, {});
}

}  // namespace

TEST_CASE("drawn costs have the platform's means and deviations") {
  const Platform platform = platform_of({{"fault.RUMR.standard-error", "10us"},
                                         {"lock.4x1.standard-error", "0.5us"},
                                         {"local-part.home-share.standard-error", "0.02"},
                                         {"reference.bandwidth.standard-error", "100kbps"}});
  // The mean of 4000 is within 1/63 of a deviation, three times that with room to spare. A deviation is good to 1.1 %.
  const auto check = [&](const std::string& property, double value, double error) {
    CAPTURE(property);
    const Values values = drawn(platform, property, 4000);
    CHECK(mean(values) == Approx(value).margin(3 * error / 63));
    CHECK(deviation(values) == Approx(error).epsilon(0.035));
    const auto within = std::count_if(values.begin(), values.end(), [&](double drawn_value) {
      return std::abs(drawn_value - value) < 1.6449 * error;
    });
    CHECK(static_cast<double>(within) / 4000 == Approx(0.9).margin(0.015));  // a normal distribution's
  };
  check("fault.RUMR", 587e-6, 10e-6);
  check("lock.4x1", to_seconds(platform.costs.lock.at({4, 1})), 0.5e-6);
  check("local-part.home-share", 0.5, 0.02);
  check("reference.bandwidth", 12.5e6, 12.5e3);
}

TEST_CASE("costs that were fitted together are drawn together") {
  const double correlation = GENERATE(-1., -0.8, 0., 0.5);
  const Platform platform = platform_of({{"message.fixed.standard-error", "2us"},
                                         {"message.per-byte.standard-error", "5ns/B"},
                                         {"message.correlation", fmt::format("{}", correlation)}});
  const Values fixed = drawn(platform, "message.fixed", 4000), per_byte = drawn(platform, "message.per-byte", 4000);
  CHECK(deviation(fixed) == Approx(2e-6).epsilon(0.035));
  CHECK(deviation(per_byte) == Approx(5e-9).epsilon(0.035));
  CHECK(covariance(fixed, per_byte) / deviation(fixed) / deviation(per_byte) == Approx(correlation).margin(0.04));
}

TEST_CASE("three runs give a further run's costs, as computed by hand") {
  PlatformText text, errors;
  text.set("fault.RRWR.runs", "24us 25us 29us");
  text.set("lock.4x1.runs", "70us 74us 78us");
  text.set("barrier.2x1.standard-error", "20us");
  for (const char* const cost : {"fault.WROH", "fault.RUMR", "barrier.2x1", "lock.4x1"}) {
    errors.set(std::string(cost) + ".standard-error", "1us");
  }
  const Platform platform = platform_of(text), of_errors = platform_of(errors);
  const Costs z = CostSampler(of_errors, 9).draw(), own = of_errors.costs, costs = CostSampler(platform, 9).draw();
  const auto fault = [](FaultKind kind) { return static_cast<std::size_t>(kind); };
  const double z1 = in_us(z.fault[fault(FaultKind::WROH)] - own.fault[fault(FaultKind::WROH)]);
  const double z2 = in_us(z.fault[fault(FaultKind::RUMR)] - own.fault[fault(FaultKind::RUMR)]);
  const double z3 = in_us(z.barrier.at({2, 1}) - own.barrier.at({2, 1}));
  const double z4 = in_us(z.lock.at({4, 1}) - own.lock.at({4, 1}));
  // Runs deviate from their means, 26 and 74, by -2, -1, 3 and -4, 0, 4; sqrt((1 + 1/3) / 2) = sqrt(2/3).
  CHECK(in_us(costs.fault[fault(FaultKind::RRWR)]) == Approx(25 + std::sqrt(2. / 3) * (-2 * z1 - z2 + 3 * z3)));
  CHECK(in_us(costs.lock.at({4, 1})) == Approx(74 + std::sqrt(2. / 3) * (-4 * z1 + 4 * z3)));
  CHECK(in_us(costs.barrier.at({2, 1})) == Approx(661 + 20 * z4));
}

TEST_CASE("costs of the same runs keep their covariance") {
  const Platform platform = platform_of({{"fault.RUMR", "600us"},
                                         {"fault.RUMR.runs", "590us 600us 610us"},
                                         {"fault.RRWR.runs", "24us 25us 29us"},
                                         {"fault.WROL.standard-error", "3us"},
                                         {"lock.4x1.runs", "70us 74us 78us"}});
  const Values fetch = drawn(platform, "fault.RUMR", 4000), read = drawn(platform, "fault.RRWR", 4000);
  const Values lock = drawn(platform, "lock.4x1", 4000), other = drawn(platform, "fault.WROL", 4000);
  // About their values, not about the runs' means; covariances of the runs, 100, 7 and 25, times 4/3.
  CHECK(mean(fetch) == Approx(600e-6).margin(0.6e-6));
  CHECK(mean(read) == Approx(25e-6).margin(0.15e-6));
  CHECK(deviation(fetch) == Approx(std::sqrt(400. / 3) * 1e-6).epsilon(0.035));
  CHECK(deviation(read) == Approx(std::sqrt(28. / 3) * 1e-6).epsilon(0.035));
  CHECK(covariance(fetch, read) == Approx(100. / 3 * 1e-12).epsilon(0.07));
  for (std::size_t i = 0; i < fetch.size(); ++i) {
    CHECK((lock[i] - 74e-6) == Approx(0.4 * (fetch[i] - 600e-6)).margin(2e-12));  // a time is whole picoseconds
  }
  CHECK(deviation(other) == Approx(3e-6).epsilon(0.035));
  CHECK(std::abs(covariance(fetch, other)) < 0.05 * deviation(fetch) * deviation(other));
}

TEST_CASE("message.correlation does not apply to costs with runs") {
  const Platform platform = platform_of({{"message.fixed.standard-error", "2us"},
                                         {"message.per-byte.standard-error", "5ns/B"},
                                         {"message.correlation", "0.9"},
                                         {"message.fixed.runs", "60us 61us 62us"}});
  CHECK(deviation(drawn(platform, "message.fixed", 4000)) == Approx(std::sqrt(4. / 3) * 1e-6).epsilon(0.035));
  CHECK(deviation(drawn(platform, "message.per-byte", 4000)) == Approx(5e-9).epsilon(0.035));
}

TEST_CASE("draws stay possible: times, shares and slowdowns within bounds") {
  const Platform platform = platform_of({{"fault.WROH.standard-error", "80us"},
                                         {"local-part.home-share.standard-error", "1"},
                                         {"memory-bus.2", "1.01"},
                                         {"memory-bus.2.standard-error", "0.5"}});
  const Values slowdowns = drawn(platform, "memory-bus.2", 200);
  CHECK(*std::min_element(slowdowns.begin(), slowdowns.end()) == 1);
  const Values faults = drawn(platform, "fault.WROH", 200), shares = drawn(platform, "local-part.home-share", 200);
  CHECK(*std::min_element(faults.begin(), faults.end()) == 0);
  CHECK(*std::min_element(shares.begin(), shares.end()) == 0);
  CHECK(*std::max_element(shares.begin(), shares.end()) == 1);
}

TEST_CASE("a seed draws the same costs with every standard library") {
  const Platform platform =
      platform_of({{"fault.RUMR.standard-error", "10us"}, {"barrier.2x1.standard-error", "20us"}});
  CHECK(drawn(platform, "barrier.2x1", 20, 5) == drawn(platform, "barrier.2x1", 20, 5));
  CHECK(drawn(platform, "barrier.2x1", 20, 5) != drawn(platform, "barrier.2x1", 20, 6));
  // Recorded with libstdc++: they are part of what --seed promises.
  const Values values = drawn(platform, "fault.RUMR", 3);
  CHECK(values[0] * 1e6 == Approx(577.001524).epsilon(1e-9));
  CHECK(values[1] * 1e6 == Approx(574.877484).epsilon(1e-9));
  CHECK(values[2] * 1e6 == Approx(583.442396).epsilon(1e-9));
}

TEST_CASE("costs below their messages' times are skipped and counted") {
  // A page over the network takes 507.04 us: of faults of 510 us with an error of 5, a quarter cannot be.
  const Platform platform = platform_of({{"fault.RUMR", "510us"}, {"fault.RUMR.standard-error", "5us"}});
  CostSampler sampler(platform, 1);
  for (int i = 0; i < 1000; ++i) {
    const Costs costs = sampler.draw();
    CHECK(costs.fault[static_cast<std::size_t>(FaultKind::RUMR)] > us(507));
  }
  // P(z < (507.04 - 510) / 5) = 0.277, so 383 are refused for 1000 accepted; the deviation is 23.
  CHECK(static_cast<double>(sampler.refused()) == Approx(383).margin(70));
}

TEST_CASE("hardly possible costs, or missing errors, are refused") {
  PlatformText text;
  const std::string none = error_text([&] { CostSampler(platform_of(text), 1); });
  CHECK(contains(none, "no standard error"));
  CHECK(contains(none, "sdsm calibrate"));
  // Eight costs that their messages leave little room below, each with an error far beyond itself: one of 256 sets can
  // be.
  for (const std::string cost :
       {"fault.RUMR", "fault.WUMR", "barrier.2x1", "barrier.4x1", "barrier.4x2", "lock.2x1", "lock.4x1", "lock.4x2"}) {
    text.set(cost + ".standard-error", "1s");
  }
  const Platform platform = platform_of(text);
  const auto draw_many = [&] {
    CostSampler sampler(platform, 1);
    for (int i = 0; i < 100; ++i) sampler.draw();
  };
  CHECK_THROWS_AS(draw_many(), std::invalid_argument);
  CHECK(contains(error_text(draw_many), "too large"));
}

TEST_CASE("each draw takes as long as its costs in a file") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  const double jitter = GENERATE(0., 0.2);
  PlatformText text{{"fault.RUMR.standard-error", "10us"},           {"message.fixed.standard-error", "5us"},
                    {"message.per-byte.standard-error", "10ns/B"},   {"message.correlation", "-0.7"},
                    {"local-part.home-share.standard-error", "0.1"}, {"reference.bandwidth.standard-error", "2Mbps"},
                    {"reference.latency.standard-error", "1us"},     {"barrier.2x1.standard-error", "20us"}};
  const RunOptions options{.jitter = jitter, .seed = 7};
  const Uncertainty found = draws_of(text, busy_program(), 10, network, options);
  REQUIRE(found.draws.size() == 10);
  const std::vector<std::string> properties{
      "fault.RUMR",          "message.fixed",     "message.per-byte", "local-part.home-share",
      "reference.bandwidth", "reference.latency", "barrier.2x1"};
  const std::vector<std::string> units{"s", "s", "", "", "Bps", "s", "s"};
  for (std::size_t i = 0; i < found.draws.size(); ++i) {
    const Draw& draw = found.draws[i];
    PlatformText own;
    REQUIRE(draw.costs.size() == properties.size());
    for (std::size_t p = 0; p < properties.size(); ++p) {
      const bool is_per_byte = properties[p] == "message.per-byte";
      own.set(properties[p],
              is_per_byte ? fmt::format("{}us/B", draw.costs[p] * 1e6) : fmt::format("{}{}", draw.costs[p], units[p]));
    }
    own.bandwidth = own.properties["reference.bandwidth"];
    own.latency = own.properties["reference.latency"];
    const TemporaryFile file(own.text());
    RunOptions same = options;
    same.seed = 7 + i + 1;
    CHECK(draw.seed == same.seed);
    CHECK(draw.makespan == run(file.path(), network, busy_program(), same).makespan);
  }
}

TEST_CASE("the band of barriers is their number times the error") {
  // Only the barrier is uncertain: a makespan is the rest and so many barriers.
  PlatformText text{{"barrier.2x1.standard-error", "20us"}};
  TestProgram program({2, 1});
  for (int i = 0; i < 20; ++i) program.barrier_of_all(10);
  const Uncertainty found = draws_of(text, program, 200);
  Values costs, times;
  for (const Draw& draw : found.draws) {
    costs.push_back(draw.costs[0]);
    times.push_back(to_seconds(draw.makespan));
  }
  const double slope = covariance(costs, times) / covariance(costs, costs);
  CHECK(slope == Approx(22).epsilon(1e-6));  // 20, the fork and the join
  const double width = to_seconds(quantile(found, 0.95) - quantile(found, 0.05));
  CHECK(width == Approx(2 * 1.6449 * 22 * 20e-6).epsilon(0.25));  // of 200 draws
  const TemporaryFile file(text.text());
  const Time nominal = run(file.path(), NetworkKind::queue, program).makespan;
  CHECK(quantile(found, 0.05) < nominal);
  CHECK(quantile(found, 0.95) > nominal);
}

TEST_CASE("JIAJIA's band comes from its own costs") {
  std::string text = read_text(p3_score().parent_path() / "p3-jiajia.xml");
  const std::string fault = R"(<prop id="jiajia.fault.RUMR" value="587us"/>)";
  text.replace(text.find(fault), fault.size(), fault + R"(<prop id="jiajia.fault.RUMR.standard-error" value="9us"/>)");
  const TemporaryFile file(text);
  TestProgram program({2, 1});
  program.barrier_of_all({{}, {0, {reads(0), reads(2), reads(4)}}});
  program.barrier_of_all();
  const Uncertainty found =
      simulate_draws(read_platform(file.path()), program.layout(), NetworkKind::queue,
                     [&] { return program.finished(); }, {.protocol = ProtocolKind::jiajia}, Varied::costs, 30, {});
  Values costs, times;
  for (const Draw& draw : found.draws) {
    costs.push_back(draw.costs[0]);
    times.push_back(to_seconds(draw.makespan));
  }
  CHECK(mean(costs) == Approx(587e-6).epsilon(0.01));
  // These three, and the page of the region's function and arguments.
  CHECK(covariance(costs, times) / covariance(costs, costs) == Approx(4).epsilon(1e-6));
}

TEST_CASE("bands cover the true time as often as they claim") {
  // The truth has its own barrier; each calibration is off from it by its error. A tenth of the bands should miss.
  TestProgram program({2, 1});
  for (int i = 0; i < 5; ++i) program.barrier_of_all(10);
  const TemporaryFile truth(PlatformText().text());
  const Time time = run(truth.path(), NetworkKind::queue, program).makespan;
  PlatformText off{{"barrier.2x1.standard-error", "20us"}};
  const Values calibrated = drawn(platform_of(off), "barrier.2x1", 30, 11);
  int covered = 0;
  for (std::size_t i = 0; i < calibrated.size(); ++i) {
    off.set("barrier.2x1", fmt::format("{}s", calibrated[i]));
    const Uncertainty found = draws_of(off, program, 20, NetworkKind::queue, {.seed = i + 1});
    covered += time >= quantile(found, 0.05) && time <= quantile(found, 0.95);
  }
  // 27 of 30, less some as the ends of a band are known from twenty draws only; the deviation of the count is 2.
  CAPTURE(covered);
  CHECK(covered >= 20);
  CHECK(covered < 30);
}

TEST_CASE("quantiles interpolate between the two nearest times") {
  Uncertainty five;
  for (const int time : {50, 10, 40, 20, 30}) five.draws.push_back({{}, 0, 0, Time{time}});
  CHECK(quantile(five, 0) == Time{10});
  CHECK(quantile(five, 0.05) == Time{12});
  CHECK(quantile(five, 0.5) == Time{30});
  CHECK(quantile(five, 0.95) == Time{48});
  CHECK(quantile(five, 1) == Time{50});
}

TEST_CASE("an error of every draw is reported once") {
  PlatformText text{{"fault.RUMR.standard-error", "1us"}};
  text.hosts = 1;
  CHECK(contains(error_text([&] { draws_of(text, busy_program(), 10); }), "has 1 host, but"));
  TestProgram stuck({2, 1});
  stuck.joins = false;
  stuck.barrier(0, 10);
  text.hosts = 2;
  CHECK_THROWS_AS(draws_of(text, stuck, 10), RunError);
}

TEST_CASE("which share of the time rests on assumed costs") {
  const auto assumed = [](const char* names, const Result& result) {
    const Platform platform = platform_of(PlatformText{{"costs.assumed", names}});
    std::vector<std::pair<std::vector<std::string>, double>> found;
    for (const Assumed& one : assumed_costs(platform, default_protocol, {2, 1}, result)) {
      found.emplace_back(one.costs, std::round(1e6 * one.share) / 1e6);
    }
    return found;
  };
  using Found = decltype(assumed("", {}));
  const Result result = with_times({{spent_on(FaultKind::RUMR), 8, 12},
                                    {Spent::diff, 4, 0},
                                    {Spent::barrier, 30, 1},
                                    {spent_on(FaultKind::WROH), 1, 0},
                                    {Spent::compute, 57, 87}});
  // 20 of 200 ms are faults, 4 diffs. Of the barriers one thread waits 29 ms for the other.
  CHECK(assumed("fault.RUMR", result) == Found{{{"fault.RUMR"}, 0.1}});
  CHECK(assumed("fault.* message.* barrier.*", result) ==
        Found{{{"fault.RUMR"}, 0.1}, {{"message.fixed", "message.per-byte"}, 0.02}, {{"barrier.2x1"}, 0.01}});
  CHECK(assumed("barrier.2x1 message.fixed", result).empty());  // 3 %, less than a tenth
  CHECK(assumed("barrier.4x1", with_times({{Spent::barrier, 50, 50}})).empty());
  CHECK(assumed("lock.4x1 lock.2x1", with_times({{Spent::lock, 10, 10}})) == Found{{{"lock.2x1"}, 0.1}});
  CHECK(assumed("", result).empty());
  // Where no lock was taken, that term is what atomic operations cost: a trap, and messages.
  Result atomics = with_times({{Spent::lock, 10, 10}});
  atomics.threads[0].region.atomics = 7;
  CHECK(assumed("lock.2x1", atomics).empty());
  CHECK(assumed("lock.2x1 fault.WROH", atomics) == Found{{{"fault.WROH"}, 0.1}});
}
