/// sdsm simulate: plays a trace on a platform and says how long it takes and where the time goes.

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <unistd.h>

#include "sim/command_line.hpp"
#include "sim/result_json.hpp"
#include "sim/simulation.hpp"
#include "workloads/trace/output.hpp"

namespace sdsm::sim {
namespace {

constexpr double max_compute_factor = 1e9;
constexpr double max_jitter = 2;

struct Request {
  std::string trace;
  std::string platform;
  std::uint32_t nodes = 0;
  std::uint32_t threads_per_node = 1;
  std::string sequential_time;
  std::string sequential_trace;
  double compute_factor = 1;
  std::string network = "queue";
  std::string region = "clock";
  std::string json;
  bool quiet = false;
  RunOptions options;
};

/// Compute time of a trace in its measured region (between the initial thread's first and last clock event), summed
/// over its threads; of the whole run if it has no region or `whole` is set.
struct TraceSurvey {
  std::uint64_t clock_calls = 0;
  std::uint64_t region_compute_ns = 0;
};

/// The region of other threads: from the fork after the first clock event on, in the order of forks. Clock events bound
/// work of the initial thread; other threads work in teams only, so their intervals are in the region if their team was
/// forked in it. Regions that begin or end inside a team are counted from that team's fork.
TraceSurvey survey(const trace::File& file, bool whole) {
  TraceSurvey survey;
  if (file.header().threads == 0) return survey;
  {
    trace::ThreadCursor cursor = file.thread(0);
    while (const trace::Interval* interval = cursor.next())
      survey.clock_calls += interval->end.kind == trace::EventKind::clock;
  }
  if (whole || survey.clock_calls < 2) {
    for (std::uint32_t t = 0; t < file.header().threads; ++t) survey.region_compute_ns += file.totals(t).compute_ns;
    return survey;
  }
  std::uint64_t first_team = ~std::uint64_t{0}, end_team = 0, seen = 0;
  {
    trace::ThreadCursor cursor = file.thread(0);
    std::uint64_t team = 0;  // number of the last fork, +1
    while (const trace::Interval* interval = cursor.next()) {
      if (seen >= 1 && seen < survey.clock_calls) survey.region_compute_ns += interval->compute_ns;
      if (interval->end.kind == trace::EventKind::fork) team = interval->end.object + 1;
      if (interval->end.kind == trace::EventKind::clock) {
        ++seen;
        if (seen == 1) first_team = team;
        if (seen == survey.clock_calls) end_team = team;
      }
    }
  }
  for (std::uint32_t t = 1; t < file.header().threads; ++t) {
    trace::ThreadCursor cursor = file.thread(t);
    bool inside = false;
    while (const trace::Interval* interval = cursor.next()) {
      if (interval->end.kind == trace::EventKind::team_begin) {
        inside = interval->end.object >= first_team && interval->end.object < end_team;
      } else if (inside) {
        survey.region_compute_ns += interval->compute_ns;
      }
    }
  }
  return survey;
}

double compute_factor(const Request& request, const trace::File& file, const TraceSurvey& own) {
  if (request.sequential_time.empty()) return request.compute_factor;
  const Time target = parse_time(request.sequential_time);
  if (target <= Time{}) throw std::invalid_argument("--sequential-time must be above zero");
  std::uint64_t compute_ns = own.region_compute_ns;
  std::string source = file.path().string();
  if (!request.sequential_trace.empty()) {
    const trace::File sequential(request.sequential_trace);
    if (sequential.header().threads != 1) {
      throw std::invalid_argument(fmt::format("{} has {} threads; --sequential-trace needs a trace of one thread",
                                              request.sequential_trace, sequential.header().threads));
    }
    compute_ns = survey(sequential, request.options.whole_run).region_compute_ns;
    source = request.sequential_trace;
  }
  if (compute_ns == 0) {
    throw std::invalid_argument(
        fmt::format("{} has no compute time in its measured region to scale. Use --region whole, or "
                    "--compute-factor",
                    source));
  }
  return to_seconds(target) * 1e9 / static_cast<double>(compute_ns);
}

void print_report(const Request& request, Layout layout, const Result& result) {
  fmt::print("{}  on {}, {} node{} x {} thread{}, network {}\n", request.trace, request.platform, layout.nodes,
             layout.nodes == 1 ? "" : "s", layout.threads_per_node, layout.threads_per_node == 1 ? "" : "s",
             request.network);
  fmt::print("makespan {} (whole run {})\n\n", format_time(result.makespan), format_time(result.whole_makespan));
  const auto marked = [&](const std::string& cost) {
    const auto& names = result.extrapolated;
    return cost + (std::find(names.begin(), names.end(), cost) == names.end() ? "" : "*");
  };
  fmt::print("Where the time goes, seconds:\n");
  fmt::print("{:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "thread", "compute", "faults", "diff",
             "protect", marked("barrier"), marked("lock"), "stolen", "idle");
  const std::size_t shown = std::min<std::size_t>(result.threads.size(), 32);
  for (std::size_t i = 0; i < shown; ++i) {
    const Tally& tally = result.threads[i].region;
    const auto seconds = [&](Spent item) { return to_seconds(tally.time[static_cast<std::size_t>(item)]); };
    double faults = 0;
    for (const FaultRule& rule : fault_rules) faults += seconds(spent_on(rule.kind));
    fmt::print("{:>7} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f}\n", i,
               seconds(Spent::compute), faults, seconds(Spent::diff), seconds(Spent::protect), seconds(Spent::barrier),
               seconds(Spent::lock), seconds(Spent::stolen), seconds(Spent::idle));
  }
  if (shown < result.threads.size())
    fmt::print("  ... and {} more (--json gives all)\n", result.threads.size() - shown);
  if (!result.extrapolated.empty()) {
    fmt::print("* extrapolated: no {} was measured on {}x{}, so a message-level model stands in for it\n",
               fmt::join(result.extrapolated, " and no "), layout.nodes, layout.threads_per_node);
  }
  fmt::print("\nFaults and messages, all threads:");
  for (const FaultRule& rule : fault_rules) {
    std::uint64_t count = 0;
    for (const ThreadResult& thread : result.threads)
      count += thread.region.faults[static_cast<std::size_t>(rule.kind)];
    if (count > 0) fmt::print("  {} {}", rule.name, count);
  }
  std::uint64_t messages = 0, bytes = 0, diffs = 0;
  for (const ThreadResult& thread : result.threads) {
    messages += thread.region.messages;
    bytes += thread.region.bytes;
    diffs += thread.region.diffs;
  }
  fmt::print("  diffs {}  messages {}  payload {} B\n", diffs, messages, bytes);
}

int run(const Request& request) {
  if (request.nodes == 0 || request.threads_per_node == 0) {
    throw std::invalid_argument(
        "a cluster has at least one node and one thread per node; --nodes and --threads-per-node must "
        "be above zero");
  }
  // Written so that "nan" is refused too, which CLI11's ranges let pass.
  if (!(request.compute_factor > 0 && request.compute_factor <= max_compute_factor)) {
    throw std::invalid_argument(fmt::format("--compute-factor {} is not a number above zero and up to {}",
                                            request.compute_factor, max_compute_factor));
  }
  if (!(request.options.jitter >= 0 && request.options.jitter <= max_jitter)) {
    throw std::invalid_argument(
        fmt::format("--jitter {} is not a number from 0 to {}", request.options.jitter, max_jitter));
  }
  trace::check_output(request.json);
  const Platform platform = read_platform(request.platform);
  const trace::File file(request.trace);
  const Layout layout{request.nodes, request.threads_per_node};
  const std::uint64_t threads = std::uint64_t{layout.nodes} * layout.threads_per_node;
  if (threads != file.header().threads) {
    throw std::invalid_argument(fmt::format(
        "{} has {} threads, but {} nodes x {} threads per node make {}. Choose nodes and threads so that they match, "
        "or "
        "trace again with -n {} (and OMP_THREAD_LIMIT={} in the environment, if the program itself asks for more)",
        request.trace, file.header().threads, layout.nodes, layout.threads_per_node, threads, threads, threads));
  }
  RunOptions options = request.options;
  options.whole_run = request.region == "whole";
  Request scaled_request = request;
  scaled_request.options = options;
  const TraceSurvey own = survey(file, options.whole_run);
  options.compute_factor = compute_factor(scaled_request, file, own);

  Program program;
  program.regions = file.regions();
  program.clock_calls = own.clock_calls;
  program.intervals = file.totals(0).intervals;
  for (std::uint32_t t = 0; t < file.header().threads; ++t)
    program.sources.push_back(std::make_unique<TraceSource>(file, t));

  Progress progress;
  const bool bar = !request.quiet && ::isatty(2) != 0;
  if (bar) {
    progress = [last = -1](double part) mutable {
      const int percent = static_cast<int>(std::floor(part * 100));
      if (percent == last) return;
      last = percent;
      fmt::print(stderr, "\r[{:<40}] {:3d} %", std::string(static_cast<std::size_t>(percent * 2 / 5), '#'), percent);
      std::fflush(stderr);
    };
  }
  const NetworkKind network = request.network == "queue" ? NetworkKind::queue : NetworkKind::simgrid;
  const Result result = simulate(platform, layout, network, std::move(program), options, progress);
  if (bar) fmt::print(stderr, "\r{:<60}\r", "");

  if (const int status = file.header().exit_status; status != 0) {
    fmt::print(stderr,
               "sdsm: warning: the program traced in {} ended with status {}, so it may have done only a part of its "
               "work; so does the simulation.\n",
               request.trace, status);
  }
  for (const std::string& what : result.extrapolated) {
    fmt::print(stderr,
               "sdsm: warning: {} gives no {} cost for {}x{}; a message-level model stands in for it, and the result "
               "is marked "
               "as extrapolated.\n",
               request.platform, what, layout.nodes, layout.threads_per_node);
  }
  if (!request.json.empty()) {
    std::vector<std::filesystem::path> inputs{request.trace, request.platform};
    if (!request.sequential_trace.empty()) inputs.emplace_back(request.sequential_trace);
    write_json(result_document({file.header().program, layout, options.seed, network, options, inputs}, result),
               request.json);
  }
  if (request.json != "-") print_report(request, layout, result);
  return done;
}

}  // namespace
}  // namespace sdsm::sim

int main(int argc, char** argv) {
  using namespace sdsm::sim;
  Request request;
  CLI::App app{"Predict how long a traced program takes on a cluster whose shared memory is made in software.",
               "sdsm simulate"};
  app.footer(
      "Example:\n"
      "  sdsm trace -n 4 -o laplace.trace -- build/workloads/laplace --impl 4\n"
      "  sdsm simulate laplace.trace --platform platforms/p3-score.xml --nodes 4 --sequential-time 7.5s\n\n"
      "Exit status: 0 done, 1 the run failed, 2 bad input.");
  app.add_option("trace", request.trace, "trace made by `sdsm trace`")->required();
  app.add_option("-p,--platform", request.platform, "SimGrid platform file with the costs of the machine")->required();
  app.add_option("-n,--nodes", request.nodes, "nodes to use")->required()->check(&whole_number);
  app.add_option("-t,--threads-per-node", request.threads_per_node, "OpenMP threads on each node")
      ->check(&whole_number)
      ->capture_default_str();
  auto* const time =
      app.add_option("--sequential-time", request.sequential_time,
                     "one-thread time of the program on the target machine, e.g. 7.5s: the trace's compute is "
                     "scaled so that its sum over threads is this");
  app.add_option("--sequential-trace", request.sequential_trace,
                 "trace of one thread whose compute stands for that time, instead of the sum over this trace's threads")
      ->needs(time);
  app.add_option("--compute-factor", request.compute_factor,
                 "target's compute time per second of the trace's (default 1, if no --sequential-time)")
      ->excludes(time);
  app.add_option("--network", request.network, "queue: store-and-forward FIFO ports, fast; simgrid: SimGrid's own")
      ->check(CLI::IsMember({"queue", "simgrid"}))
      ->capture_default_str();
  app.add_option("--seed", request.options.seed, "of the jitter")->check(&whole_number)->capture_default_str();
  app.add_option("--jitter", request.options.jitter,
                 "coefficient of variation of a lognormal factor on the processor part of each remote fault, 0 to 2")
      ->capture_default_str();
  app.add_option("--region", request.region, "clock: between the program's first and last omp_get_wtime; or whole")
      ->check(CLI::IsMember({"clock", "whole"}))
      ->capture_default_str();
  app.add_flag("--full-page-diffs", request.options.full_page_diffs,
               "diffs carry whole pages, whatever the program changed (to see what diffs save)");
  app.add_option("--json", request.json, "write the result as JSON to this file, or - for stdout");
  app.add_flag("-q,--quiet", request.quiet, "no progress bar");
  report_usage_errors(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return answer(app, error);
  }
  return report_errors([&] { return run(request); });
}
