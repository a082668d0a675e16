/// Measures the simulator's speed beside its bounds: bare loops that do nothing else. One run measures all, each in a
/// process of its own, in interleaved rounds so that a busy machine disturbs all alike. Figures are medians and ranges.

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <random>

#include "commands/child.hpp"
#include "commands/command_line.hpp"
#include "commands/descriptor.hpp"
#include "commands/errors.hpp"
#include "commands/results/run_result.hpp"
#include "sim/bench/bare_loops.hpp"
#include "sim/simulation.hpp"

namespace sdsm::sim::bench {
namespace {

constexpr std::uint64_t pages = 1 << 14;
constexpr std::uint32_t touches_per_interval = 512;

/// Generates touches of pages: all remote reads at random homes, or all writes of the thread's own pages, two adjacent
/// ones at a time (a row of Laplace's grid).
class SyntheticSource final : public IntervalSource {
 public:
  SyntheticSource(std::uint32_t thread, std::uint32_t threads, std::uint64_t touches, bool remote)
      : random_(thread + 1), thread_(thread), threads_(threads), touches_(touches), remote_(remote) {}

  const trace::Interval* next() override {
    if (stage_ == 0) {
      ++stage_;
      interval_.end = {thread_ == 0 ? EventKind::fork : EventKind::team_begin, 0, 0, threads_};
    } else if (touches_ > 0) {
      interval_.touches.clear();
      const std::uint64_t count = std::min<std::uint64_t>(touches_, touches_per_interval);
      for (std::uint64_t i = 0; i < count; ++i) {
        trace::TouchRun run{RegionId{0}, 1, 0, Access::read, static_cast<std::uint8_t>(i * 256 / touches_per_interval),
                            {}};
        const std::uint64_t share = pages / threads_;
        if (remote_) {
          std::uint64_t home = random_() % (threads_ - 1);
          if (home >= thread_) ++home;
          run.first = home * share + next_page_++;
        } else {
          run.access = Access::write;
          run.pages = 2;
          run.first = thread_ * share + next_page_;
          next_page_ += 2;
          ++i;
        }
        if (next_page_ + 2 > share) next_page_ = 0;  // no division, which would cost a tenth of a local fault
        interval_.touches.push_back(run);
      }
      interval_.compute_ns = remote_ ? count * 100'000 : 1000;
      touches_ -= count;
      interval_.end = {EventKind::barrier, 0, 0, threads_};
    } else if (stage_ == 1) {
      ++stage_;
      interval_ = {0, {}, {EventKind::join, 0, 0, threads_}};
    } else {
      return nullptr;
    }
    return &interval_;
  }

 private:
  std::minstd_rand random_;
  std::uint32_t thread_, threads_;
  std::uint64_t touches_;
  bool remote_;
  int stage_ = 0;
  std::uint64_t next_page_ = 0;
  trace::Interval interval_;
};

std::uint64_t run_simulation(const std::string& platform, NetworkKind network, std::uint32_t nodes,
                             std::uint64_t touches, bool remote) {
  Program program;
  program.regions.push_back({{RegionKind::heap_block, Placement::block, 0, pages}, RegionId{0}, 0, false, "pages"});
  for (std::uint32_t t = 0; t < nodes; ++t) {
    program.sources.push_back(std::make_unique<SyntheticSource>(t, nodes, touches, remote));
  }
  const Result result = simulate(read_platform(platform), {nodes, 1}, network, std::move(program), RunOptions{});
  std::uint64_t faults = 0;
  for (const ThreadResult& thread : result.threads) {
    faults += thread.whole.faults[static_cast<std::size_t>(remote ? FaultKind::RUMR : FaultKind::WROH)];
  }
  return faults;
}

struct Measurement {
  double us_per_fault = 0;
  double peak_mib = 0;
};

/// Returns a child process's CPU time (user and system) for each fault that it simulated.
Measurement measure(const std::function<std::uint64_t()>& body) {
  commands::Pipe pipe = commands::make_pipe();
  commands::Child child([&] {
    return commands::write_all(pipe.write_end.get(), std::to_string(body())) ? commands::done : commands::run_failed;
  });
  pipe.write_end.reset();
  const std::string output = commands::read_all(pipe.read_end.get());
  const std::uint64_t faults = output.empty() ? 0 : std::stoull(output);
  if (child.wait() != 0 || faults == 0) throw std::runtime_error("a measurement failed");
  const rusage& usage = child.usage();
  const auto us = [](const timeval& t) { return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec); };
  return {(us(usage.ru_utime) + us(usage.ru_stime)) / static_cast<double>(faults),
          static_cast<double>(usage.ru_maxrss) / 1024};
}

struct Subject {
  std::string name;
  std::function<std::uint64_t()> body;
  std::vector<Measurement> measurements{};
};

/// Minimum, median and maximum.
std::array<double, 3> spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values.front(), values[values.size() / 2], values.back()};
}

/// A table for people, and its figures as JSON.
struct Report {
  std::string table;
  results::Json rows = results::Json::array();
  results::Json ratios = results::Json::array();
};

void add_subject(Report& report, const Subject& subject) {
  std::vector<double> times;
  for (const Measurement& m : subject.measurements) times.push_back(m.us_per_fault);
  const auto [least, median, most] = spread(std::move(times));
  const double peak_mib = subject.measurements.back().peak_mib;
  report.table += fmt::format("{:<24} {:>12.3f} {:>20} {:>14.0f} {:>10.1f}\n", subject.name, median,
                              fmt::format("{:.3f} .. {:.3f}", least, most), 1e6 / median, peak_mib);
  report.rows.push_back(
      {{"subject", subject.name}, {"us_per_fault", median}, {"min", least}, {"max", most}, {"peak_mib", peak_mib}});
}

/// Adds ratios within a round, as a disturbance of a round affects both.
void add_ratio(Report& report, const char* name, const Subject& a, const Subject& b, const char* wanted) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < a.measurements.size(); ++round) {
    ratios.push_back(a.measurements[round].us_per_fault / b.measurements[round].us_per_fault);
  }
  const auto [least, median, most] = spread(std::move(ratios));
  report.table += fmt::format("{:<28} {:>8.2f}  ({:.2f} .. {:.2f}; {})\n", name, median, least, most, wanted);
  report.ratios.push_back({{"ratio", name}, {"median", median}, {"min", least}, {"max", most}, {"wanted", wanted}});
}

}  // namespace
}  // namespace sdsm::sim::bench

int main(int argc, char** argv) {
  using namespace sdsm::sim;
  using namespace sdsm::sim::bench;
  std::string platform = SDSM_SOURCE_DIR "/platforms/p3-score.xml", json;
  std::uint32_t nodes = 4;
  std::uint64_t faults = 400'000;
  int rounds = 7;
  sdsm::commands::CommandLine app{"Speed of the simulator per fault, beside bare loops.", "simulation_speed"};
  app.add_option("platform", platform, "platform file with at least --nodes hosts").capture_default_str();
  app.add_option("--nodes", nodes, "nodes").check(sdsm::commands::whole_number(2, 4096)).capture_default_str();
  app.add_option("--faults", faults, "faults in all for each measurement")
      .check(sdsm::commands::whole_number(1000, 100'000'000))
      .capture_default_str();
  app.add_option("--rounds", rounds, "repetitions").check(sdsm::commands::whole_number(1, 1000)).capture_default_str();
  app.add_option("--json", json, "write the result as JSON to this file, or - for stdout");
  return sdsm::commands::run(app, argc, argv, [&]() -> int {
    const std::uint64_t each = faults / nodes;
    std::vector<Subject> subjects{
        {"simulate, queue", [&] { return run_simulation(platform, NetworkKind::queue, nodes, each, true); }},
        {"simulate, simgrid", [&] { return run_simulation(platform, NetworkKind::simgrid, nodes, each, true); }},
        {"two communications", [&] { return two_communications(platform, nodes, each); }},
        {"SimGrid timers", [&] { return simgrid_timers(platform, nodes, each); }},
        {"event heap", [&] { return event_heap(nodes, each); }},
        {"simulate, local fault",
         [&] { return run_simulation(platform, NetworkKind::queue, nodes, each * 20, false); }}};
    for (int round = 0; round < rounds; ++round) {
      for (Subject& subject : subjects) subject.measurements.push_back(measure(subject.body));
    }
    Report report{
        fmt::format("{} nodes, CPU time of a whole process per fault, {} rounds\n", nodes, rounds) +
        fmt::format("{:<24} {:>12} {:>20} {:>14} {:>10}\n", "", "us per fault", "min .. max", "faults/s", "peak MiB")};
    for (const Subject& subject : subjects) add_subject(report, subject);
    add_ratio(report, "queue / SimGrid timers", subjects[0], subjects[3], "at most 2");
    add_ratio(report, "two communications / queue", subjects[2], subjects[0], "at least 3");
    add_ratio(report, "remote (queue) / local", subjects[0], subjects[5], "at least 50");
    if (!json.empty()) {
      sdsm::results::Json result = sdsm::results::head("simulation_speed");
      result.update({{"nodes", nodes}, {"rows", report.rows}, {"ratios", report.ratios}});
      sdsm::results::write(result, json);
    }
    if (json != "-") fmt::print("{}", report.table);
    return sdsm::commands::done;
  });
}
