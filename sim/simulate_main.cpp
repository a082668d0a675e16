/// sdsm simulate: plays a trace on a platform and says how long it takes and where the time goes.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>

#include "commands/command_line.hpp"
#include "commands/errors.hpp"
#include "commands/forked_call.hpp"
#include "commands/interruption.hpp"
#include "commands/output.hpp"
#include "commands/progress.hpp"
#include "commands/protocol_option.hpp"
#include "commands/results/run_result.hpp"
#include "commands/standard_streams.hpp"
#include "commands/timelines/options.hpp"
#include "commands/version.hpp"
#include "models/protocol/tables.hpp"
#include "sim/costs_behind.hpp"
#include "sim/memory_limit.hpp"
#include "sim/predicted_output.hpp"
#include "sim/result_json.hpp"
#include "sim/simulation.hpp"
#include "sim/uncertainty.hpp"
#include "workloads/trace/compute_scale.hpp"
#include "workloads/trace/decided.hpp"
#include "workloads/trace/mended.hpp"
#include "workloads/trace/region_numbers.hpp"

namespace sdsm::sim {
namespace {

using namespace commands;
using timelines::Selection;

/// Stands in for a cost that was not measured for the layout.
std::string stand_in(ProtocolKind protocol, const std::string& cost) {
  if (cost == "page-size") return "the processors' part of a fault on a page of another size";
  const bool has_messages = tables_of(protocol).has_messages();
  if (cost == "atomic") return has_messages ? "a fault on an own page" : "a lock's hand-off";
  if (cost == "memory-bus" || !has_messages) return "the line of those numbers of threads that were";
  return "a message-level model";
}

/// For which layout or size it was not measured.
std::string unmeasured(const std::string& cost, Layout layout) {
  return cost == "page-size" ? "pages of this size" : fmt::format("{}x{}", layout.nodes, layout.threads_per_node);
}

struct Request {
  std::string trace;
  std::string platform;
  std::vector<std::string> changes;  ///< of the platform
  std::uint32_t nodes = 0;
  std::uint32_t threads_per_node = 1;
  trace::ComputeScale scale;
  std::optional<Bytes> most_memory;
  std::string page_size;                     ///< empty: the platform's
  std::optional<Invalidation> invalidation;  ///< none: the platform's
  std::string network = "queue";
  std::string region = "clock";
  std::string json;
  std::string pages;
  std::string readings;
  std::optional<trace::Readings> shown;  ///< to the program whose output is predicted, instead of the simulation's
  timelines::Request timeline;
  std::string output;      ///< of the program
  std::string before;      ///< shell command before each of its runs
  std::string played;      ///< the trace, or that of a later run of the program
  bool is_silent = false;  ///< no report and no warnings
  std::string order;
  bool quiet = false;
  std::optional<std::uint64_t> draws;  ///< for a band around the prediction
  std::optional<std::uint64_t> runs;   ///< draws of noise and jitter; none: as many as is usual
  bool is_quiet_machine = false;       ///< no noise, no jitter
  std::string asked_of_jiajia;         ///< an option that only it has
  std::vector<std::string> privatized;
  std::string reductions = "atomic";  ///< or "omni"
  RunOptions options;
};

std::vector<std::string> outputs_of(const Request& request) {
  std::vector<std::string> files{request.json, request.pages, request.readings, request.output};
  for (std::string& file : timelines::files_of(request.timeline)) files.push_back(std::move(file));
  return files;
}

/// Whether threads hand memory over without the run-time: results count how often, then.
bool has_flags(const trace::File& file) {
  using enum EventKind;
  return trace::count_of(file, atomic) + trace::count_of(file, fence) + trace::count_of(file, spin) > 0;
}

Atomics atomics_on(const Platform& platform, std::optional<Atomics> asked) {
  return asked.value_or(platform.costs.atomics);
}

/// Parts that are done as Omni does them.
std::uint64_t reduced_operations(const Request& request, const trace::Reductions& found) {
  if (request.reductions != "omni") return 0;
  std::uint64_t count = 0;
  for (const auto& parts : found.parts) count += parts.size();
  return count;
}

/// What the program did that the times leave out. Older traces have waits as calls without an event; `reduced`: atomic
/// operations that are done otherwise.
std::vector<std::string> uncosted(const trace::File& file, ProtocolKind protocol, Atomics atomics,
                                  std::uint64_t reduced) {
  using enum EventKind;
  std::vector<std::string> found;
  for (const trace::UnseenCall& unseen : file.header().unseen) {
    if (unseen.call.find("wait") != std::string::npos) found.push_back(unseen.call);
    if (unseen.bytes > 0) {
      found.push_back(
          fmt::format("touches of the {} bytes of memory that the program got by {}", unseen.bytes, unseen.call));
    }
  }
  if (!tables_of(protocol).has_pages()) return found;
  const bool operates = atomics == Atomics::home && trace::count_of(file, atomic) > reduced;
  if (trace::count_of(file, fence) > 0 || operates || trace::count_of(file, spin) > 0) {
    found.emplace_back(
        "pages that go between nodes amid an interval, once the program has used an atomic operation, a fence or a "
        "flag");
  }
  return found;
}

/// Where hardware shares memory there are no pages with homes, and no requests.
void refuse_options_of_pages(const Request& request) {
  const RunOptions& options = request.options;
  for (const auto& [name, is_given] : std::initializer_list<std::pair<const char*, bool>>{
           {"--placement", options.placement != HeapPlacement::as_asked},
           {"--full-page-diffs", options.full_page_diffs},
           {"--jitter", options.jitter > 0},
           {"--prefetch", options.prefetch > 0},
           {"--invalidation", request.invalidation.has_value()},
           {"--pages", !request.pages.empty()},
           {"--order", !request.order.empty()},
           {"--page-size", !request.page_size.empty()},
           {"--atomics", options.atomics.has_value()}}) {
    if (!is_given) continue;
    throw BadInput(fmt::format("{} has no meaning under {}, which has no pages. Leave it out, or give --protocol scash",
                               name, name_of(options.protocol)));
  }
}

/// What a protocol does not have, or is not simulated with.
void refuse_combinations(Request& request) {
  if (request.reductions == "omni" && !request.order.empty()) {
    throw BadInput("--order is of a run, which does a reduction's atomic operations. Leave out --reductions omni");
  }
  if (!tables_of(request.options.protocol).has_pages()) refuse_options_of_pages(request);
  check_invalidation(request.invalidation, request.options.protocol);
  check_prefetch(request.options.prefetch, !request.order.empty());
  check_order(!request.order.empty(), request.options.protocol);
  check_asked_of_jiajia(request.asked_of_jiajia, request.options.protocol);
  if (!tables_of(request.options.protocol).traits.has_scopes) return;
  if (request.options.jiajia.home_migration && request.options.jiajia.first_touch_moves) {
    throw BadInput(
        "--home-migration and --first-touch-migration are two rules for the same moves. Leave one of them out");
  }
  if (!request.privatized.empty() && !request.options.jiajia.fork_by_broadcast) {
    throw BadInput(
        "--privatize sends pages with the fork's message, and forks are barriers. Give --fork broadcast, too");
  }
  const auto refuse = [](const std::string& what) {
    throw BadInput(what + " is not simulated under jiajia. Leave it out, or give --protocol scash");
  };
  std::optional<Atomics>& atomics = request.options.atomics;
  if (atomics.value_or(Atomics::lock) != Atomics::lock) refuse(fmt::format("--atomics {}", name_of(*atomics)));
  atomics = Atomics::lock;
}

/// --set gives rules of SCASH that a protocol without them would not play: refused as their options are.
void refuse_settings(const Request& request, const Platform& platform) {
  if (base_of(request.options.protocol) == default_protocol) return;
  for (const PlatformChange& change : platform.changes) {
    Request as_options = request;
    if (change.property == "protocol.invalidation") {
      as_options.invalidation = platform.costs.invalidation;
    } else if (change.property == "protocol.atomics") {
      as_options.options.atomics = platform.costs.atomics;
    } else {
      continue;
    }
    try {
      refuse_combinations(as_options);
    } catch (const BadInput& refusal) {
      throw BadInput(fmt::format("--set {}={}: {}", change.property, change.is, refusal.what()));
    }
  }
}

/// JIAJIA's own scopes are those of its locks and of the barrier of all.
void refuse_waits(const Request& request, const trace::File& file) {
  using enum EventKind;
  const RunOptions& options = request.options;
  if (!tables_of(options.protocol).traits.has_scopes || options.jiajia.scope != jiajia::Scope::lock) return;
  std::uint64_t waits = 0;
  for (const EventKind kind : {post, wait, take, meet, give, spin}) waits += trace::count_of(file, kind);
  if (waits == 0) return;
  throw BadInput(
      fmt::format("{} has {} events of doacross loops, of semaphores and other objects of a "
                  "library, or of loops that wait for another thread's store, which JIAJIA's own scopes do not know. "
                  "Leave out --scope lock",
                  request.trace, waits));
}

/// The size of the pages to simulate. Throws BadInput where trace or protocol do not allow it.
Bytes page_size_of(const Request& request, const Platform& platform, const trace::File& file) {
  const Bytes page = request.page_size.empty() ? platform.costs.page : parse_page_size(request.page_size);
  if (page == least_page || !tables_of(request.options.protocol).has_pages()) return least_page;
  const auto refuse = [&](const std::string& why) {
    throw BadInput(fmt::format("pages of {} bytes ({}): {}", page.count,
                               request.page_size.empty() ? "page.size of the platform" : "--page-size", why));
  };
  if (file.format() < trace::first_format_with_lines) {
    refuse(
        fmt::format("{} is of format {}, which does not tell where the changes of larger pages meet. Trace the "
                    "program again, or give --page-size 4096",
                    request.trace, file.format()));
  }
  if (!request.order.empty()) refuse("--order is of pages of 4096 bytes. Give --page-size 4096, or no --order");
  if (!request.pages.empty()) {
    refuse("--pages names pages of 4096 bytes, and sdsm explain needs it. Give --page-size 4096, or no --pages");
  }
  return page;
}

/// The regions that --privatize names, by their names or what of these is before the bracket.
std::vector<RegionId> privatized_regions(const Request& request, const trace::File& file) {
  std::vector<RegionId> found;
  for (const std::string& name : request.privatized) {
    const auto& regions = file.regions();
    const auto region = std::find_if(regions.begin(), regions.end(), [&](const trace::Region& one) {
      return one.name == name || one.name.substr(0, one.name.find(" (")) == name;
    });
    if (region == regions.end()) {
      std::vector<std::string> names;
      for (const trace::Region& one : regions) names.push_back(one.name.substr(0, one.name.find(" (")));
      throw BadInput(
          fmt::format("--privatize: {} has no '{}'. It has {}", request.trace, name, fmt::join(names, ", ")));
    }
    found.push_back(region->id);
  }
  return found;
}

/// How much of these is read in parallel regions. What is written there is nobody's own: refused.
Bytes read_in_parallel(const trace::File& file, const std::vector<RegionId>& privatized, Bytes page) {
  using enum EventKind;
  const auto parts = static_cast<std::uint64_t>(page.count) / page_bytes;
  std::set<PageId> pages;
  for (std::uint32_t thread = 0; !privatized.empty() && thread < file.header().threads; ++thread) {
    TraceSource source(file, thread);
    bool is_parallel = thread > 0;
    while (const trace::Interval* interval = source.next()) {
      for (const trace::TouchRun& run : interval->touches) {
        const auto named = std::find(privatized.begin(), privatized.end(), run.region);
        if (!is_parallel || named == privatized.end()) continue;
        if (run.access == Access::read) {
          for (std::uint64_t i = 0; i < run.pages; ++i) pages.insert({run.region, (run.first + i) / parts});
          continue;
        }
        throw BadInput(fmt::format(
            "--privatize: thread {} writes page {} of '{}' in a parallel region, so others must see it. Name only what "
            "is read there",
            thread, run.first, file.regions()[index_of(run.region)].name));
      }
      if (thread == 0 && interval->end.kind == fork) is_parallel = true;
      if (thread == 0 && interval->end.kind == join) is_parallel = false;
    }
  }
  return static_cast<std::int64_t>(pages.size()) * page;
}

/// "median of 101 runs; the middle 90 % take 40.1 to 80.3 ms".
std::string spread_in_words(const Uncertainty& spread) {
  return fmt::format("median of {} runs, of which the middle 90 % take {} to {}", spread.draws.size(),
                     format_time(quantile(spread, 0.05)), format_time(quantile(spread, 0.95)));
}

void print_uncertainty(const Uncertainty& uncertainty) {
  fmt::print("{} draws of its costs: median {:.6g} s, middle 90 % from {:.6g} to {:.6g} s\n", uncertainty.draws.size(),
             to_seconds(quantile(uncertainty, 0.5)), to_seconds(quantile(uncertainty, 0.05)),
             to_seconds(quantile(uncertainty, 0.95)));
}

/// What of the band a seed decides, which changes with each draw.
std::string luck_of(const Request& request, const Platform& platform) {
  std::vector<std::string_view> drawn;
  if (request.options.jitter > 0) drawn.push_back("jitter");
  if (platform.costs.noise_deviation > 0) drawn.push_back("system's noise");
  if (drawn.empty()) return "";
  return fmt::format(", and the {}, whose seed changes with each draw", fmt::join(drawn, " and the "));
}

/// Faults, barriers and locks whose costs have no standard error, and computing, each with its share of all threads'
/// time if that is a twentieth or more.
std::string certain_terms(ProtocolKind protocol, const Platform& platform, Layout layout, const Result& result) {
  std::vector<std::pair<std::string_view, Spent>> terms{{"computing", Spent::compute}};
  const std::span<const FaultRow> faults = tables_of(protocol).faults;
  for (std::size_t kind = 0; kind < faults.size(); ++kind) terms.emplace_back(faults[kind].name, spent_on(kind));
  terms.emplace_back("barriers", Spent::barrier);
  terms.emplace_back("locks", Spent::lock);
  std::vector<std::string> shares;
  for (const auto& [name, term] : terms) {
    const std::vector<std::string> costs = costs_behind(term, platform, protocol, layout);
    const bool varies = std::ranges::any_of(platform.uncertain, [&](const UncertainCost& one) {
      return std::ranges::find(costs, one.property) != costs.end();
    });
    if (const double share = share_of(term, result); !varies && share >= 0.05) {
      shares.push_back(fmt::format("{} {:.0f} %", name, 100 * share));
    }
  }
  return shares.empty() ? "" : fmt::format(" Of all threads' time these are: {}.", fmt::join(shares, ", "));
}

/// "jiajia.fault.RUMR (12 % of the time), jiajia.message.fixed and jiajia.message.per-byte (8 %)".
std::string in_words(const std::vector<Assumed>& assumed) {
  std::vector<std::string> words;
  for (const auto& [costs, share] : assumed) {
    words.push_back(fmt::format("{} ({:.0f} %{})", fmt::join(costs, " and "), 100 * share,
                                words.empty() ? " of the threads' time" : ""));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

/// On stderr, as the band may be in a file alone.
void tell_what_the_band_holds(const Request& request, const Platform& platform, const Result& result,
                              const Uncertainty& uncertainty, Layout layout) {
  const std::string again =
      uncertainty.refused == 0
          ? ""
          : fmt::format(" {} draws were made again: their costs were less than their messages take.",
                        uncertainty.refused);
  const auto& costs = platform.uncertain;
  const auto of_runs = std::count_if(costs.begin(), costs.end(), [](const auto& one) { return !one.runs.empty(); });
  const auto of_errors = static_cast<std::ptrdiff_t>(costs.size()) - of_runs;
  std::vector<std::string> held;
  if (of_runs > 0)
    held.push_back(fmt::format("how {} from run to run",
                               of_runs == 1 ? "1 cost differs" : fmt::format("{} costs together differ", of_runs)));
  if (of_errors > 0)
    held.push_back(fmt::format("the standard error{0} of {1} cost{0}", of_errors == 1 ? "" : "s", of_errors));
  say(fmt::format(
      "note: the band {}holds {}{}. It leaves out costs without one, errors of the "
      "model, and those of the trace's compute times.{}{}",
      of_runs > 0 ? "is that of a single run: it " : "", fmt::join(held, ", and "), luck_of(request, platform),
      certain_terms(request.options.protocol, platform, layout, result), again));
}

/// By how much a program's time may be another one.
struct Doubt {
  const Uncertainty* uncertainty;
  const Uncertainty* spread;
  std::optional<ComputingRange> computing;
  double compute_factor;
};

/// The time of all threads' computing on one processor, by the platform's costs and noise not slowed down.
double alone_s(const Result& result) {
  double sum = 0;
  for (const ThreadResult& thread : result.threads) {
    sum += std::max(
        to_seconds(thread.region.time[static_cast<std::size_t>(Spent::compute)] - thread.region.added_computing), 0.);
  }
  return sum;
}

/// How many times as fast it is as its computing on one processor, with the least and the greatest factor. `factor`:
/// the result's.
std::array<double, 2> speedups(const ComputingRange& range, const Result& result, double factor) {
  const double alone = alone_s(result) / factor;
  return {alone * range.least_factor / to_seconds(range.shortest),
          alone * range.greatest_factor / to_seconds(range.longest)};
}

std::string in_words(const ComputingRange& range, const Result& result, double factor) {
  const auto [slow, fast] = speedups(range, result, factor);
  return fmt::format("with computing {:.3g} to {:.3g} times as long it takes {} to {}, {:.3g} to {:.3g} times as fast",
                     range.least_factor, range.greatest_factor, format_time(range.shortest), format_time(range.longest),
                     slow, fast);
}

void print_report(const Request& request, const Platform& platform, Layout layout, const Result& result,
                  const Doubt& doubt, std::uint64_t reductions) {
  const auto& [uncertainty, spread, computing, factor] = doubt;
  const ProtocolKind protocol = request.options.protocol;
  fmt::print("{}  on {}, {} node{} x {} thread{}{}{}\n", request.trace, request.platform, layout.nodes,
             layout.nodes == 1 ? "" : "s", layout.threads_per_node, layout.threads_per_node == 1 ? "" : "s",
             protocol == default_protocol ? "" : fmt::format(", protocol {}", name_of(protocol)),
             tables_of(protocol).has_messages() ? ", network " + request.network : "");
  fmt::print("makespan {} ({}whole run {})\n", format_time(result.makespan),
             spread ? spread_in_words(*spread) + "; " : "", format_time(result.whole_makespan));
  if (!request.scale.sequential_time.empty() && result.makespan.count() > 0) {
    const Time alone = request.scale.sequential();
    fmt::print("speedup {:.3g} (over {} with one thread, of --sequential-time)\n",
               to_seconds(alone) / to_seconds(result.makespan), format_time(alone));
  }
  if (uncertainty) print_uncertainty(*uncertainty);
  if (computing) fmt::print("{} as its computing on one processor\n", in_words(*computing, result, factor));
  fmt::print("without any waiting {} (each action at its cost), waiting at barriers alone {}\n",
             format_time(result.baselines.counts), format_time(result.baselines.critical_path));
  fmt::print("\n");
  const auto marked = [&](const std::string& cost) {
    const auto& names = result.extrapolated;
    return cost + (std::find(names.begin(), names.end(), cost) == names.end() ? "" : "*");
  };
  fmt::print("Where the time goes, seconds:\n");
  const std::string compute = marked("memory-bus").ends_with('*') ? "compute*" : "compute";
  fmt::print("{:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "thread", compute, "faults", "diff", "protect",
             marked("barrier"), marked("lock"), "stolen", "idle");
  const std::size_t shown = std::min<std::size_t>(result.threads.size(), 32);
  for (std::size_t i = 0; i < shown; ++i) {
    const Tally& tally = result.threads[i].region;
    const auto seconds = [&](Spent item) { return to_seconds(tally.time[static_cast<std::size_t>(item)]); };
    double faults = 0;
    for (std::size_t kind = 0; kind < most_fault_kinds; ++kind) faults += seconds(spent_on(kind));
    fmt::print("{:>7} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f}\n", i,
               seconds(Spent::compute), faults, seconds(Spent::diff), seconds(Spent::protect), seconds(Spent::barrier),
               seconds(Spent::lock), seconds(Spent::stolen), seconds(Spent::idle));
  }
  if (shown < result.threads.size())
    fmt::print("  ... and {} more (--json gives all)\n", result.threads.size() - shown);
  for (const std::string& cost : result.extrapolated) {
    fmt::print("* extrapolated: no {} was measured on {}, so {} stands in for it\n", cost, unmeasured(cost, layout),
               stand_in(request.options.protocol, cost));
  }
  if (const auto assumed = assumed_costs(platform, protocol, layout, result); !assumed.empty()) {
    fmt::print("assumed, as nobody measured them: {}\n", in_words(assumed));
  }
  fmt::print("\nFaults and messages, all threads:");
  const std::span<const FaultRow> kinds = tables_of(request.options.protocol).faults;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    std::uint64_t count = 0;
    for (const ThreadResult& thread : result.threads) count += thread.region.faults[kind];
    if (count > 0) fmt::print("  {} {}", kinds[kind].name, count);
  }
  std::uint64_t messages = 0, bytes = 0, diffs = 0, atomics = 0;
  for (const ThreadResult& thread : result.threads) {
    atomics += thread.region.atomics;
    messages += thread.region.messages;
    bytes += thread.region.bytes;
    diffs += thread.region.diffs;
  }
  fmt::print("  diffs {}  messages {}  payload {} B", diffs, messages, bytes);
  if (atomics > 0) {
    fmt::print("  atomics {} ({})", atomics,
               kinds.empty() ? "by hardware" : name_of(atomics_on(platform, request.options.atomics)));
  }
  fmt::print("\n");
  if (reductions > 0) fmt::print("Reductions over one variable: {} ({})\n", reductions, request.reductions);
}

void write_timeline(const Request& request, const trace::File& file, timelines::Timeline& timeline,
                    const Result& result) {
  timeline.end();
  timelines::Labels labels;
  labels.run = "simulated";
  labels.origin = request.trace;
  labels.layout = timeline.layout();
  labels.tables = &tables_of(request.options.protocol);
  labels.links = result.links;
  for (const trace::Region& region : file.regions()) labels.regions.push_back(region.name);
  labels.regions.emplace_back("run-time");
  if (result.window.begin < Time::max()) labels.measured_from = result.window.begin;
  if (result.window.end < Time::max()) labels.measured_until = result.window.end;
  timelines::write(request.timeline, timeline, labels);
}

std::string in_words(const Beyond& beyond) {
  if (beyond.what == "diff_bytes") return fmt::format("a diff of {} bytes is larger", beyond.value);
  return fmt::format("{} {} are more", beyond.value, beyond.what == "nodes" ? "nodes" : "threads per node");
}

/// Under the numbers that the regions have in a run of the program.
std::string page_table(const trace::File& file, Layout layout, const Result& result) {
  std::vector<std::uint32_t> numbers = trace::running_regions(file.regions(), layout.processes());
  trace::RegionNames names;
  for (const trace::Region& region : file.regions()) names[numbers[index_of(region.id)]] = region.name;
  numbers.push_back(administrative_region);
  trace::PageBook book;
  for (const auto& [key, figures] : result.pages) {
    const auto& [page, process] = key;
    book[{{RegionId{numbers[index_of(page.region)]}, page.index}, process}] = figures;
  }
  return trace::page_table_text(book, names, layout);
}

/// What --from-host-speed has made of which speeds, and how far to trust them. With --output the program may have been
/// traced again, and its compute times and the speed that belongs to them are of that trace.
void tell_speeds(const Request& request, const Platform& platform, const trace::File& file) {
  const std::string source = request.played == request.trace
                                 ? request.trace
                                 : fmt::format("the trace that was made anew of what {} traces", request.trace);
  const trace::FactorRange range = trace::factor_range(request.scale, file);
  const std::string by_kind = range.is_known()
                                  ? fmt::format(" ({:.3g} by arithmetic, {:.3g} by caches, {:.3g} by memory)",
                                                range.arithmetic, range.cache, range.memory)
                                  : "";
  say(fmt::format(
      "note: computing takes {:.4g} times as long as in {}{}: the machine that traced did {}, hosts of {} do {}.",
      range.middle(), source, by_kind, trace::in_words(file.header().speed), request.platform,
      trace::in_words(request.scale.host)));
  if (!range.is_known()) {
    say(fmt::format(
        "warning: that factor is one of arithmetic in a first-level cache. Of programs that wait for caches or memory "
        "it may be several times off: {} gives no cache.latency and memory.bandwidth, or the trace is of an "
        "older sdsm. `sdsm platform new --speed-of` writes them.",
        request.platform));
  }
  if (platform.speed_origin == SpeedOrigin::measured) return;
  say(fmt::format(
      "warning: nobody says that the speed of {}'s hosts was measured, with the loop that `sdsm trace` measures its "
      "machine by{}. Programs may run several times faster or slower there than this predicts.",
      request.platform,
      platform.speed_origin == SpeedOrigin::assumed ? " (host.speed-is: assumed)" : " (it has no host.speed-is)"));
}

void warn_of(const Request& request, const Platform& platform, Layout layout, const trace::File& file,
             const Result& result, const trace::Reductions& reductions, const trace::Decided& decided,
             const Uncertainty* spread) {
  if (const std::string note = trace::note_of(decided); !note.empty()) say(note + ".");
  if (!request.scale.is_given()) {
    say("note: compute times are those of the machine that traced. For another's, give --sequential-time or "
        "--compute-factor.");
  }
  if (platform.costs.noise_deviation > 0 && !request.is_quiet_machine) {
    say(fmt::format(
        "note: on this machine a processor's pace varies by {:.2g} %, so runs differ: {}. --quiet-machine is without.",
        100 * platform.costs.noise_deviation,
        spread ? "this is the " + spread_in_words(*spread) : "this is one of them"));
  }
  if (request.scale.from_host_speed) tell_speeds(request, platform, file);
  if (!request.scale.sequential_trace.empty()) {
    const auto program_of = [](const trace::File& trace) {
      const std::vector<std::string>& words = trace.header().program;
      return words.empty() ? std::string() : std::filesystem::path(words[0]).filename().string();
    };
    const std::string traced = program_of(file), alone = program_of(trace::File(request.scale.sequential_trace));
    if (traced != alone) {
      say(fmt::format(
          "warning: {} is a trace of {}, but {} is one of {}: its compute time is no measure of the other's.",
          request.scale.sequential_trace, alone, request.trace, traced));
    }
  }
  if (const int status = file.header().exit_status; status != 0) {
    say(
        fmt::format("warning: the program traced in {} ended with status {}, so it may have done only a part of its "
                    "work; so does the simulation.",
                    request.trace, status));
  }
  if (request.reductions == "omni" && reductions.count == 0) {
    say("note: --reductions omni changes nothing: no reduction over one variable was recognised in the trace.");
  }
  if (const std::vector<std::string> left_out =
          uncosted(file, request.options.protocol, atomics_on(platform, request.options.atomics),
                   reduced_operations(request, reductions));
      !left_out.empty()) {
    say(fmt::format("warning: the prediction leaves out: {}.", fmt::join(left_out, "; ")));
  }
  if (result.has_unknown_turns) {
    say("warning: the trace does not tell the turns of its ordered regions (an older sdsm made it), so whoever comes "
        "first goes on, and their loops may come out too short. Trace the program again.");
  }
  for (const std::string& what : result.extrapolated) {
    say(fmt::format(
        "warning: {} gives no {} cost for {}; {} stands in for it, and the result is marked as extrapolated.",
        request.platform, what, unmeasured(what, layout), stand_in(request.options.protocol, what)));
  }
  if (const auto assumed = assumed_costs(platform, request.options.protocol, layout, result); !assumed.empty()) {
    say(fmt::format("warning: the prediction rests on costs that nobody measured: {}.", in_words(assumed)));
  }
  for (const Beyond& beyond : beyond_calibration(platform, layout, result)) {
    say(
        fmt::format("warning: {} than the {} that {} was calibrated with: this prediction is outside of the calibrated "
                    "range.",
                    in_words(beyond), beyond.calibrated, request.platform));
  }
}

std::vector<std::filesystem::path> inputs_of(const Request& request) {
  std::vector<std::filesystem::path> inputs{request.trace, request.platform};
  if (!request.scale.sequential_trace.empty()) inputs.emplace_back(request.scale.sequential_trace);
  if (!request.order.empty()) inputs.emplace_back(request.order);
  return inputs;
}

Platform platform_of(const Request& request, NetworkKind network) {
  Platform platform = read_platform(request.platform, {request.changes, row_of(network).model});
  platform.costs.invalidation = request.invalidation.value_or(platform.costs.invalidation);
  return platform;
}

/// Throws BadInput if the trace has another number of threads, or the platform no room for these.
Layout layout_of(const Request& request, const Platform& platform, const trace::File& file) {
  const Layout layout{request.nodes, request.threads_per_node};
  const std::uint64_t threads = std::uint64_t{layout.nodes} * layout.threads_per_node;
  if (threads != file.header().threads) {
    require_room(platform, layout);  // a trace of so many threads would not help
    throw BadInput(fmt::format(
        "{} has {} threads, but {} nodes x {} threads per node make {}. Choose nodes and threads so that they match, "
        "or trace again with -n {} (and OMP_THREAD_LIMIT={} in the environment, if the program itself asks for more)",
        request.trace, file.header().threads, layout.nodes, layout.threads_per_node, threads, threads, threads));
  }
  return layout;
}

std::uint64_t usual_draws_of(const trace::File& file) {
  std::uint64_t intervals = 0, touches = 0;
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    intervals += file.totals(thread).intervals;
    touches += file.totals(thread).page_touches;
  }
  return usual_draws(intervals, touches);
}

/// The request's options, with what the trace and the platform decide.
RunOptions options_of(const Request& request, const Platform& platform, const trace::File& file) {
  RunOptions options = request.options;
  options.page_figures = !request.pages.empty();
  if (options.constructs) {
    for (const auto& [single, barrier] : trace::barriers_of_singles(file)) options.singles[barrier] = single;
  }
  options.readings = !request.readings.empty();
  options.whole_run = request.region == "whole";
  options.is_noisy = !request.is_quiet_machine;
  if (request.is_quiet_machine) options.jitter = 0;
  const Bytes page = page_size_of(request, platform, file);
  options.page = page;
  options.privatized = privatized_regions(request, file);
  options.privatized_pages = read_in_parallel(file, options.privatized, page);
  return options;
}

/// The order to repeat, if one is asked for. Warns of one that the platform's atomic operations may not fit.
std::optional<trace::Order> order_of(const Request& request, const Platform& platform, const trace::File& file) {
  if (request.order.empty()) return std::nullopt;
  trace::Order order = trace::read_order(request.order);
  const std::optional<Atomics> asked = request.options.atomics;
  const bool is_unasked = !asked && atomics_on(platform, asked) != Atomics::home;
  if (is_unasked && !request.is_silent && trace::count_of(file, EventKind::atomic) > 0) {
    say(
        fmt::format("warning: {} does atomic operations otherwise than `sdsm run`, which does them at their pages' "
                    "homes unless told. If the order is of such a run, give --atomics home",
                    request.platform));
  }
  return order;
}

/// The trace as the simulator plays it. Each simulation takes a new one, as playing uses its sources up.
Program program_of(const trace::File& file, const trace::TraceSurvey& survey, Bytes page,
                   const std::optional<trace::Order>& order) {
  Program made;
  made.regions = trace::LargerPages::regions(file.regions(), page);
  made.clock_rank = survey.clock_rank;
  made.clock_calls = survey.clock_calls;
  if (const auto by = file.header().ended_by) made.ended_by = ProcessId{*by};
  made.has_spins = trace::count_of(file, EventKind::spin) > 0;
  made.has_operations = trace::count_of(file, EventKind::atomic) + trace::count_of(file, EventKind::fence) > 0;
  made.order = order;
  made.intervals = file.totals(0).intervals;
  for (std::uint32_t t = 0; t < file.header().threads; ++t)
    made.sources.push_back(std::make_unique<TraceSource>(file, t, page));
  return made;
}

RunDescription description_of(const Request& request, const std::vector<std::filesystem::path>& inputs,
                              const Platform& platform, const trace::File& file, Layout layout, NetworkKind network,
                              const RunOptions& options, const trace::Reductions& reductions,
                              const trace::Decided& decided, bool varies, std::uint64_t draws) {
  return {file.header().program,
          layout,
          options.seed,
          network,
          options,
          request.scale,
          inputs,
          has_flags(file),
          uncosted(file, options.protocol, atomics_on(platform, request.options.atomics),
                   reduced_operations(request, reductions)),
          request.privatized,
          reductions.count,
          request.reductions,
          decided,
          varies,
          draws,
          request.is_quiet_machine,
          file.header().speed};
}

/// On stdout, unless an output goes there.
void report(const Request& request, const Platform& platform, Layout layout, const Result& result, const Doubt& doubt,
            std::uint64_t reductions) {
  if (request.is_silent) return;
  const std::vector<std::string> outputs = outputs_of(request);
  const bool is_on_stdout = std::find(outputs.begin(), outputs.end(), "-") == outputs.end();
  tell_changes(platform, is_on_stdout);
  if (is_on_stdout) print_report(request, platform, layout, result, doubt, reductions);
}

trace::Speed speed_of_hosts(const Platform& platform) {
  const HostSpeed& speed = host_speed(platform);
  if (!(speed.flops >= 1 && speed.flops <= static_cast<double>(trace::most_speed))) {
    throw BadInput(fmt::format("--from-host-speed: {} gives its hosts the speed {}, which no processor has. Correct it",
                               platform.path.string(), speed.text));
  }
  return {.flops = static_cast<std::uint64_t>(speed.flops),
          .cache_latency_ps = static_cast<std::uint64_t>(platform.host_memory.cache_latency.count()),
          .memory_bandwidth = static_cast<std::uint64_t>(platform.host_memory.bandwidth)};
}

int simulate(Request request) {
  trace::check_scale(request.scale);
  const std::vector<std::filesystem::path> inputs = inputs_of(request);
  check_outputs(outputs_of(request), inputs);
  const NetworkKind network = network_named(request.network);
  const Platform platform = platform_of(request, network);
  refuse_settings(request, platform);
  if (request.scale.from_host_speed) request.scale.host = speed_of_hosts(platform);
  const trace::File file(request.played);
  const Layout layout = layout_of(request, platform, file);
  const Selection selection = selection_of(request.timeline, file.header().threads);
  refuse_waits(request, file);
  trace::check_touches(file);
  check_memory(file, layout, request.most_memory.value_or(default_memory_limit()));
  RunOptions options = options_of(request, platform, file);
  const trace::TraceSurvey survey = trace::survey(file, options.whole_run);
  options.compute_factor = trace::compute_factor(request.scale, file, survey, options.whole_run);
  const std::optional<trace::Order> order = order_of(request, platform, file);
  const trace::Reductions reductions = trace::find_reductions(file);
  const trace::Decided decided = trace::decided_when_traced(file);
  const auto program = [&] {
    Program made = program_of(file, survey, *options.page, order);
    if (request.reductions == "omni") made.reductions = reductions.parts;
    return made;
  };

  commands::Progress display(request.quiet);
  if (request.runs && *request.runs % 2 == 0) {
    throw BadInput(fmt::format("--draws {}: one of the runs is to be the median. Give an odd number, such as {}",
                               *request.runs, *request.runs + 1));
  }
  const bool varies = options.jitter > 0 || (options.is_noisy && platform.costs.noise_deviation > 0);
  const std::uint64_t runs = varies ? request.runs.value_or(usual_draws_of(file)) : 1;
  const double simulations = static_cast<double>(request.draws.value_or(0) + runs + (runs > 1 ? 1 : 0));
  double shown = 0;
  const Progress draws_progress = [&](double part) { display.show_part((shown + part) / simulations); };
  const Progress last_progress = [&](double part) { display.show_part(1 - (1 - part) / simulations); };
  // The draws go first, as their processes must come from one that has no engine yet.
  std::optional<Uncertainty> uncertainty;
  const auto draw = [&](Varied varied, std::uint64_t count) {
    const Progress progress = [&](double part) { draws_progress(part * static_cast<double>(count)); };
    Uncertainty drawn = simulate_draws(platform, layout, network, program, options, varied, count, progress);
    shown += static_cast<double>(count);
    return drawn;
  };
  if (request.draws) uncertainty = draw(Varied::costs, *request.draws);
  std::optional<Uncertainty> spread;
  if (runs > 1) {
    spread = draw(Varied::noise, runs);
    options.draw = median_draw(*spread).number;
  }
  const Uncertainty* const varied = spread ? &*spread : nullptr;
  std::optional<ComputingRange> computing;
  if (request.scale.from_host_speed && !request.is_silent) {
    if (const trace::FactorRange range = trace::factor_range(request.scale, file); range.is_wide()) {
      const std::array factors{range.least, range.greatest};
      const std::vector<Draw> ends =
          simulate_draws(platform, layout, network, program, options, Varied::computing, factors.size(), {}, factors)
              .draws;
      computing = {range.least, range.greatest, ends[0].makespan, ends[1].makespan};
    }
  }
  std::optional<timelines::Timeline> timeline;
  if (!request.timeline.file.empty()) timeline.emplace(layout, tables_of(options.protocol), selection);
  options.timeline = timeline ? &*timeline : nullptr;
  const Result result = simulate(platform, layout, network, program(), options, last_progress);
  display.end();

  if (timeline) write_timeline(request, file, *timeline, result);
  if (!request.is_silent) warn_of(request, platform, layout, file, result, reductions, decided, varied);
  if (!request.pages.empty()) write_output(page_table(file, layout, result), request.pages);
  if (!request.readings.empty())
    write_output(trace::readings_text(request.shown.value_or(result.readings)), request.readings);
  const Uncertainty* const band = uncertainty ? &*uncertainty : nullptr;
  if (computing) {
    const auto [slow, fast] = speedups(*computing, result, options.compute_factor);
    if ((slow < 1) != (fast < 1)) {
      say(fmt::format("warning: whether this is faster than one processor depends on what the program waits for: {}.",
                      in_words(*computing, result, options.compute_factor)));
    }
  }
  if (band) tell_what_the_band_holds(request, platform, result, *band, layout);
  if (!request.json.empty()) {
    RunDescription description =
        description_of(request, inputs, platform, file, layout, network, options, reductions, decided, varies, runs);
    description.computing = computing;
    write_result(description, platform, result, band, varied, request.json);
  }
  report(request, platform, layout, result, {band, varied, computing, options.compute_factor}, reductions.count);
  return done;
}

/// In a process of its own, as SimGrid allows one engine per process, and an interruption has files to take away here.
void simulate_apart(const Request& request) {
  std::fflush(stdout);
  ForkedCall call([&] {
    simulate(request);
    if (std::fflush(stdout) != 0)
      throw RunError("the output could not be written to stdout. Make room, or give another place");
    return std::string();
  });
  pollfd end{call.descriptor(), POLLIN, 0};
  while (poll(&end, 1, -1) < 0) throw_if_interrupted(PredictedOutput::interrupted);
  call.result();
}

/// Writes what the program prints on the cluster, and lets what is simulated be the program as it behaves there.
int simulate_with_output(Request request) {
  check_outputs(outputs_of(request), {request.trace, request.platform});
  catch_interruptions();
  const auto predict = [&](const auto& played, const auto& readings) {
    Request own = request;
    own.played = played;
    own.readings = readings;
    own.json = own.pages = own.output = "";
    own.timeline = {};
    own.draws.reset();
    own.is_silent = own.quiet = true;
    simulate_apart(own);
  };
  const auto say_unless_quiet = [&](const std::string& line) {
    if (!request.quiet) say(line);
  };
  const PredictedOutput predicted(request.trace, request.before, predict, say_unless_quiet);
  if (predicted.rounds() > 1) {
    say(fmt::format(
        "note: by the predicted clock the program does other things than in {}. What it does was settled in "
        "round {} of at most {}, and that is what is simulated.",
        request.trace, predicted.rounds(), most_rounds));
  }
  request.played = predicted.trace();
  request.shown = predicted.shown();
  if (const auto clocks = trace::unpredicted_clocks(trace::File(request.played).header()); !clocks.empty()) {
    say(fmt::format(
        "warning: the program has {}: what it prints of that is this machine's time, not the cluster's. Let it read "
        "omp_get_wtime, or a clock of the C library.",
        clocks));
  }
  simulate_apart(request);
  tell(predicted.errors());
  write_output(predicted.output(), request.output);
  return done;
}

/// An option with a default whose value is one of these words.
void add_choice(CommandLine& app, const std::string& name, std::string& word, const std::vector<std::string>& words,
                const std::string& help) {
  app.add_option(name, word, help)
      .check(one_of(words))
      .type_name(fmt::format("{}", fmt::join(words, "|")))
      .capture_default_str();
}

void add_inputs(CommandLine& app, Request& request) {
  add_name(app, "trace", request.trace, "trace made by `sdsm trace`", "TRACE").required();
  add_name(app, "-p,--platform", request.platform, platform_help, "PLATFORM").required();
  app.add_option("--set", request.changes, settings_help).allow_extra_args(false).type_name("KEY=VALUE");
  const Check count = whole_number(1, std::numeric_limits<std::uint32_t>::max());
  app.add_option("-n,--nodes", request.nodes, "nodes to use").required().check(count).type_name("N");
  app.add_option("-t,--threads-per-node", request.threads_per_node, "OpenMP threads on each node")
      .check(count)
      .type_name("T")
      .capture_default_str();
  trace::add_options(app, request.scale);
  trace::add_host_speed(app, request.scale);
}

void add_model(CommandLine& app, Request& request, std::string& placement, std::string& atomics) {
  add_protocol(app, request.options.protocol, [](const ProtocolRow&) { return std::string_view(); });
  add_prefetch(app, request.options.prefetch);
  add_invalidation(app, request.invalidation, "the platform's protocol.invalidation");
  app.add_option(
         "--memory-bound", request.options.memory_bound,
         "share of the program's computing that waits for memory, 0 to 1: with T threads on a node that share takes "
         "the platform's memory-bus.T times as long. docs/platforms.md says how to find it")
      .check(number(0, 1))
      .type_name("SHARE")
      .capture_default_str();
  add_choice(app, "--network", request.network, network_names(), describe_networks());
  app.add_option("--seed", request.options.seed, "seed of --jitter, --uncertainty and the platform's noise.*")
      .check(whole_number())
      .type_name("N")
      .capture_default_str();
  app.add_option("--jitter", request.options.jitter,
                 "coefficient of variation of a lognormal factor on each processor part of a remote fault, 0 to 2")
      .check(number(0, 2))
      .type_name("CV")
      .capture_default_str();
  app.add_option(
         "--draws", request.runs,
         "with --jitter or the platform's noise: simulate N runs (an odd number, 1 to 9999) and show the one of "
         "median time, and how they differ (default: 21 to 401, for about 2 s)")
      .type_name("N")
      .check(whole_number(1, most_draws - 1));
  app.add_flag("--quiet-machine", request.is_quiet_machine, "without jitter and without the platform's noise.*");
  app.add_option(
         "--uncertainty", request.draws,
         "also simulate N (10 to 10000) sets of costs, drawn from the standard errors and runs in the platform file, "
         "and report the median and the middle 90 % of their times")
      .type_name("N")
      .check(whole_number(least_draws, most_draws));
  add_choice(app, "--placement", placement, {"as-asked", "round-robin", "block", "first-touch"},
             "homes of heap blocks and static arrays: as the program asks, or one rule for all");
  app.add_option("--atomics", atomics,
                 "how inline atomic operations are done: at the page's home, within a lock, or at the home without "
                 "ordering other memory (default: as the platform says, else home)")
      .check(one_of({"home", "lock", "relaxed"}));
  add_choice(app, "--reductions", request.reductions, {"atomic", "omni"},
             "what each member of a team does at the end of a reduction over one variable: the atomic operation that "
             "gcc leaves of it, as sdsm run does, or Omni's steps: a slot for each thread, a barrier, combining, a "
             "barrier");
  app.add_option("--page-size", request.page_size,
                 "size of a page: 4096 times a power of two, up to 64KiB (default: page.size of the platform, else "
                 "4096)")
      .check(&page_size_text_problem)
      .type_name("BYTES");
  add_choice(app, "--region", request.region, {"clock", "whole"},
             "what to measure: clock is the time between the program's first and last reading of its clock, whole is "
             "the whole run");
  app.add_flag("--full-page-diffs", request.options.full_page_diffs,
               "every diff carries the whole page (to see what diffs save)");
}

void add_jiajia(CommandLine& app, Request& request) {
  add_jiajia_rules(app, request.options.jiajia, request.asked_of_jiajia);
  const auto of_jiajia = [&request](const char* name, auto take) {
    return [&request, name, take](const auto& value) {
      request.asked_of_jiajia = name;
      take(value);
    };
  };
  app.add_option_function<std::uint32_t>(
         "--first-touch-migration",
         of_jiajia("--first-touch-migration",
                   [&request](std::uint32_t moves) { request.options.jiajia.first_touch_moves = moves; }),
         "under jiajia, a page that one thread alone wrote or fetched in a parallel region moves there at a barrier, "
         "and again at most MOVES times")
      .check(whole_number(0, 1000000))
      .type_name("MOVES");
  app.add_option_function<std::string>(
         "--fork",
         of_jiajia(
             "--fork",
             [&request](const std::string& how) { request.options.jiajia.fork_by_broadcast = how == "broadcast"; }),
         "under jiajia, how a parallel region of all threads begins: by a barrier and a page that all read, or by a "
         "message of the initial thread to all others")
      .check(one_of({"barrier", "broadcast"}))
      .type_name("barrier|broadcast")
      .default_str("barrier");
  std::vector<std::string> quirks;
  for (const jiajia::QuirkRow& row : jiajia::quirk_rows) quirks.emplace_back(row.name);
  app.add_option_function<std::vector<std::string>>(
         "--quirks",
         of_jiajia("--quirks",
                   [&request](const std::vector<std::string>& names) {
                     for (const jiajia::QuirkRow& row : jiajia::quirk_rows) {
                       if (std::find(names.begin(), names.end(), row.name) == names.end()) continue;
                       request.options.jiajia.quirks.*row.quirk = true;
                     }
                   }),
         fmt::format("under jiajia, departures of the real system from its rules: {}", fmt::join(quirks, ", ")))
      .delimiter(',')
      .allow_extra_args(false)
      .check(one_of(quirks))
      .type_name("NAME[,NAME]");
  app.add_option_function<std::vector<std::string>>(
         "--privatize",
         of_jiajia("--privatize", [&request](const std::vector<std::string>& names) { request.privatized = names; }),
         "under jiajia with --fork broadcast, memory that parallel regions only read, by its names in `sdsm trace "
         "info`: its pages are sent with each fork, and nobody faults on them")
      .delimiter(',')
      .allow_extra_args(false)
      .type_name("NAME[,NAME]");
}

void add_outputs(CommandLine& app, Request& request) {
  const Option json = add_output(app, "--json", request.json, "write the result as JSON to this file, or - for stdout");
  add_output(app, "--pages", request.pages,
             "write what each page cost each thread to this file (or - for stdout), as a CSV table");
  app.add_flag("--constructs", request.options.constructs,
               "with --json: the account of each loop, barrier, lock, parallel region, ..., by thread")
      .needs(json);
  const Option output =
      add_output(app, "--output", request.output,
                 "write what the program prints on the cluster to this file (or - for stdout): it is traced again, in "
                 "this folder, with a clock that shows what was predicted");
  add_name(app, "--before", request.before,
           "shell command that runs before each of the program's runs, as `sdsm trace --before` does", "COMMAND")
      .needs(output);
  add_output(app, "--readings", request.readings,
             "write what each reading of the clock gives, by thread and in seconds from the program's begin, to this "
             "file (or - for stdout), as a CSV table; with --output, what its clock showed when it wrote that");
  add_name(app, "--order", request.order,
           "repeat the order in which each node's threads took their faults and locks in a run (sdsm run --order)");
  app.add_option_function<std::string>(
         "--max-memory", [&](const std::string& text) { request.most_memory = parse_bytes(text); },
         "refuse a trace whose touched pages need more memory for their tables than this, such as 8GiB (default: half "
         "of the free memory)")
      .check(&bytes_problem)
      .type_name("BYTES");
  timelines::add_options(app, request.timeline);
  app.add_flag("-q,--quiet", request.quiet, "no progress bar");
}

}  // namespace
}  // namespace sdsm::sim

int main(int argc, char** argv) {
  using namespace sdsm::sim;
  using namespace sdsm::commands;
  Request request;
  CommandLine app{"Predict how long a traced program takes on a cluster whose shared memory is made in software.",
                  "sdsm simulate"};
  app.footer(
      "Example:\n"
      "  sdsm trace -n 4 -o laplace.trace -- ./laplace --impl 4\n"
      "  sdsm simulate laplace.trace --platform p3-score --nodes 4 --sequential-time 7.5s\n"
      "  sdsm simulate laplace.trace --platform p3-score --nodes 4 --set network.bandwidth=1Gbps --set 'fault.*=x0.5'\n"
      "  sdsm simulate laplace.trace --platform machine.xml --nodes 4 --uncertainty 100  (machine.xml: of sdsm "
      "calibrate)\n\n"
      "Exit status: 0 done, 1 the run failed, 2 bad input.");
  std::string placement(name_of(request.options.placement));
  app.version_text(fmt::format("sdsm simulate {}\nSimGrid {}, trace formats {} to {}, result format {}", version(),
                               simgrid_version(), sdsm::trace::first_format, sdsm::trace::format_version,
                               sdsm::results::format));
  add_inputs(app, request);
  std::string atomics;
  add_model(app, request, placement, atomics);
  add_jiajia(app, request);
  add_outputs(app, request);
  return run(app, argc, argv, [&] {
    request.platform = sdsm::find_platform(request.platform);
    request.options.placement = *sdsm::heap_placement_named(placement);
    if (!atomics.empty()) request.options.atomics = sdsm::atomics_named(atomics);
    refuse_combinations(request);
    request.played = request.trace;
    return request.output.empty() ? simulate(request) : simulate_with_output(request);
  });
}
