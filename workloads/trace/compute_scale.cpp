#include "workloads/trace/compute_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "commands/command_line.hpp"

namespace sdsm::trace {

void add_options(commands::CommandLine& app, ComputeScale& scale) {
  app.add_option("--sequential-time", scale.sequential_time,
                 "one-thread time of the program on the target machine, e.g. 7.5s: scales the trace's compute so that "
                 "its sum over all threads is this")
      .check(&commands::time_problem)
      .type_name("TIME");
  commands::add_name(
      app, "--sequential-trace", scale.sequential_trace,
      "trace of one thread whose compute stands for that time, instead of the sum over this trace's threads", "TRACE");
  app.add_option("--compute-factor", scale.factor,
                 "the target's compute time for each second of the trace's (default 1), instead of a time")
      .check(commands::number())
      .type_name("FACTOR");
}

void add_host_speed(commands::CommandLine& app, ComputeScale& scale) {
  app.add_flag("--from-host-speed", scale.from_host_speed,
               "scale computing by the speed of the machine that traced, which the trace keeps, over that of the "
               "platform's hosts");
}

std::string_view ComputeScale::origin() const {
  if (from_host_speed) return "host-speed";
  if (!sequential_trace.empty()) return "sequential-trace";
  if (!sequential_time.empty()) return "sequential-time";
  return factor ? "compute-factor" : "trace";
}

Time ComputeScale::sequential() const {
  const Time time = parse_time(sequential_time);
  if (time <= Time{}) throw std::invalid_argument("--sequential-time must be above zero");
  return time;
}

/// The region of other threads: from the fork after the first clock event on, in the order of forks. Clock events bound
/// work of the initial thread; other threads work in teams only, so their intervals are in the region if their team was
/// forked in it. Regions that begin or end inside a team are counted from that team's fork.
TraceSurvey survey(const File& file, bool whole) {
  TraceSurvey survey;
  if (file.header().threads == 0) return survey;
  {
    ThreadCursor cursor = file.thread(0);
    while (const Interval* interval = cursor.next()) {
      if (interval->end.kind != EventKind::clock) continue;
      const unsigned rank = rank_of(static_cast<ClockSource>(interval->end.detail));
      if (rank > survey.clock_rank) survey = {.clock_rank = rank};
      survey.clock_calls += rank == survey.clock_rank;
    }
  }
  if (whole || survey.clock_calls < 2) {
    for (std::uint32_t t = 0; t < file.header().threads; ++t) survey.region_compute_ns += file.totals(t).compute_ns;
    return survey;
  }
  std::uint64_t first_team = ~std::uint64_t{0}, end_team = 0, seen = 0;
  {
    ThreadCursor cursor = file.thread(0);
    std::uint64_t team = 0;  // number of the last fork, +1
    while (const Interval* interval = cursor.next()) {
      if (seen >= 1 && seen < survey.clock_calls) survey.region_compute_ns += interval->compute_ns;
      if (interval->end.kind == EventKind::fork) team = interval->end.object + 1;
      if (bounds_region(interval->end, survey.clock_rank)) {
        ++seen;
        if (seen == 1) first_team = team;
        if (seen == survey.clock_calls) end_team = team;
      }
    }
  }
  for (std::uint32_t t = 1; t < file.header().threads; ++t) {
    ThreadCursor cursor = file.thread(t);
    bool inside = false;
    while (const Interval* interval = cursor.next()) {
      if (interval->end.kind == EventKind::team_begin) {
        inside = interval->end.object >= first_team && interval->end.object < end_team;
      } else if (inside) {
        survey.region_compute_ns += interval->compute_ns;
      }
    }
  }
  return survey;
}

void check_scale(const ComputeScale& scale) {
  constexpr double most = 1e9;
  if (scale.sequential_time.empty() && !scale.sequential_trace.empty()) {
    throw std::invalid_argument("--sequential-trace says what --sequential-time scales. Give that, too");
  }
  if (scale.from_host_speed && (scale.factor || !scale.sequential_time.empty())) {
    throw std::invalid_argument(fmt::format("--from-host-speed and {} both scale the compute times. Give one of them",
                                            scale.factor ? "--compute-factor" : "--sequential-time"));
  }
  if (!scale.factor) return;
  if (!scale.sequential_time.empty()) {
    throw std::invalid_argument(
        "--compute-factor and --sequential-time both scale the compute times. Give one of them");
  }
  // Written so that "nan" is refused too, which CLI11's ranges let pass.
  if (*scale.factor > 0 && *scale.factor <= most) return;
  throw std::invalid_argument(
      fmt::format("--compute-factor {} is not a number above zero and up to {}", *scale.factor, most));
}

namespace {

double ratio(std::uint64_t above, std::uint64_t below) {
  return below == 0 ? 0 : static_cast<double>(above) / static_cast<double>(below);
}

}  // namespace

double FactorRange::middle() const {
  return std::sqrt(least * greatest);
}

FactorRange factor_range(const ComputeScale& scale, const File& file) {
  const Speed& traced = file.header().speed;
  const Speed& host = scale.host;
  if (traced.flops == 0) {
    throw std::invalid_argument(
        fmt::format("--from-host-speed: {} does not keep how fast the machine that traced it was, as it is of an older "
                    "sdsm. Trace the program again, or give --sequential-time or --compute-factor",
                    file.path().string()));
  }
  if (host.flops == 0)
    throw std::invalid_argument("--from-host-speed: the platform's hosts do less than one operation a second");
  FactorRange range;
  range.arithmetic = range.least = range.greatest = ratio(traced.flops, host.flops);
  const double cache = ratio(host.cache_latency_ps, traced.cache_latency_ps);
  const double memory = ratio(traced.memory_bandwidth, host.memory_bandwidth);
  if (cache > 0 && memory > 0) {
    range.cache = cache;
    range.memory = memory;
    range.least = std::min({range.arithmetic, cache, memory});
    range.greatest = std::max({range.arithmetic, cache, memory});
    if (traced.spread > doubtful_speed_spread) range.greatest *= 1 + static_cast<double>(traced.spread) * 1e-3;
  }
  return range;
}

double compute_factor(const ComputeScale& scale, const File& file, const TraceSurvey& own, bool whole) {
  if (scale.from_host_speed) return factor_range(scale, file).middle();
  if (scale.sequential_time.empty()) return scale.factor.value_or(1);
  const Time target = scale.sequential();
  std::uint64_t compute_ns = own.region_compute_ns;
  std::string source = file.path().string();
  if (!scale.sequential_trace.empty()) {
    const File sequential(scale.sequential_trace);
    if (sequential.header().threads != 1) {
      throw std::invalid_argument(fmt::format("{} has {} threads; --sequential-trace needs a trace of one thread",
                                              scale.sequential_trace, sequential.header().threads));
    }
    compute_ns = survey(sequential, whole).region_compute_ns;
    source = scale.sequential_trace;
  }
  if (compute_ns == 0) {
    throw std::invalid_argument(
        fmt::format("{} has no compute time in its measured region to scale. Use --region whole, or "
                    "--compute-factor",
                    source));
  }
  return to_seconds(target) * 1e9 / static_cast<double>(compute_ns);
}

}  // namespace sdsm::trace
