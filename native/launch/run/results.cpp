#include "native/launch/run/results.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

#include "commands/results/run_result.hpp"
#include "models/protocol/tables.hpp"

namespace sdsm::run_command {
namespace {

constexpr std::uint64_t charged_ns(const dsm::Tally& tally) {
  std::uint64_t sum = 0;
  for (const std::uint64_t time : tally.spent_ns) sum += time;
  return sum;
}

/// The part of `tally`'s duration that no other term claims.
constexpr std::uint64_t compute_ns(const dsm::Tally& tally) {
  return tally.now_ns - std::min(tally.now_ns, charged_ns(tally));
}

/// Terms that claim more than the account's duration give way, the last ones first: what a trap takes outside of its
/// handler is charged as it was measured once, which may be more than it took, and a process that the program left in a
/// region may have worked behind its end.
void cut_to_duration(dsm::Tally& tally) {
  for (std::size_t term = spent_terms; term-- > 0;) {
    const std::uint64_t charged = charged_ns(tally);
    if (charged <= tally.now_ns) return;
    tally.spent_ns[term] -= std::min(tally.spent_ns[term], charged - tally.now_ns);
  }
}

/// The account of a process's own time becomes one of `lasts_ns` of the run.
void fit(dsm::Tally& tally, std::uint64_t lasts_ns) {
  std::uint64_t& idle = tally.spent(Spent::idle);
  idle += lasts_ns;
  idle -= std::min(idle, tally.now_ns);
  tally.now_ns = lasts_ns;
  cut_to_duration(tally);
}

constexpr double seconds(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-9;
}

double whole_makespan_s(const std::vector<dsm::Result>& processes) {
  return seconds(processes.front().whole.now_ns);
}

struct Column {
  std::string title;
  std::function<std::string(const dsm::Tally&)> cell;
};

std::string time_cell(std::uint64_t nanoseconds) {
  return fmt::format("{:.4f}", seconds(nanoseconds));
}

std::uint64_t fault_time(const dsm::Tally& tally) {
  std::uint64_t sum = 0;
  for (std::size_t kind = 0; kind < most_fault_kinds; ++kind) sum += tally.spent(spent_on(kind));
  return sum;
}

std::vector<Column> columns(const Tables& tables, const std::vector<dsm::Result>& processes) {
  const auto time = [](std::string title, Spent term) {
    return Column{std::move(title), [term](const dsm::Tally& tally) { return time_cell(tally.spent(term)); }};
  };
  const auto count = [](std::string title, std::uint64_t dsm::Tally::*which) {
    return Column{std::move(title), [which](const dsm::Tally& tally) { return std::to_string(tally.*which); }};
  };
  std::vector<Column> all{
      {"compute", [](const dsm::Tally& tally) { return time_cell(compute_ns(tally)); }},
      {"fault", [](const dsm::Tally& tally) { return time_cell(fault_time(tally)); }},
      time("diff", Spent::diff),
      time("protect", Spent::protect),
      time("barrier", Spent::barrier),
      time("lock", Spent::lock),
      time("idle", Spent::idle),
  };
  for (std::size_t kind = 0; kind < tables.faults.size(); ++kind) {
    const bool occurs = std::any_of(processes.begin(), processes.end(),
                                    [&](const dsm::Result& result) { return result.region.faults[kind] > 0; });
    if (!occurs) continue;
    all.push_back({std::string(tables.faults[kind].name),
                   [kind](const dsm::Tally& tally) { return std::to_string(tally.faults[kind]); }});
  }
  for (auto& column : {count("messages", &dsm::Tally::messages), count("bytes", &dsm::Tally::bytes),
                       count("diffs", &dsm::Tally::diffs), count("barriers", &dsm::Tally::barriers),
                       count("locks", &dsm::Tally::locks)}) {
    all.push_back(column);
  }
  const bool has_atomics = std::any_of(processes.begin(), processes.end(),
                                       [](const dsm::Result& result) { return result.region.atomics > 0; });
  if (has_atomics) all.push_back(count("atomics", &dsm::Tally::atomics));
  return all;
}

std::string plural(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

using results::Json;

results::Times times_of(const dsm::Tally& tally) {
  results::Times times{.compute_s = seconds(compute_ns(tally)),
                       .diff_s = seconds(tally.spent(Spent::diff)),
                       .protect_s = seconds(tally.spent(Spent::protect)),
                       .barrier_s = seconds(tally.spent(Spent::barrier)),
                       .lock_s = seconds(tally.spent(Spent::lock)),
                       .stolen_s = seconds(tally.spent(Spent::stolen)),
                       .idle_s = seconds(tally.spent(Spent::idle))};
  for (std::size_t kind = 0; kind < most_fault_kinds; ++kind)
    times.fault_s[kind] = seconds(tally.spent(spent_on(kind)));
  return times;
}

Json thread_list(const ClusterOptions& options, const std::vector<dsm::Result>& processes,
                 dsm::Tally dsm::Result::*which) {
  Json threads = Json::array();
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    const dsm::Tally& tally = processes[i].*which;
    const ProcessId id{i};
    Json own{{"traps", tally.traps},
             {"atomics", tally.atomics},
             {"waits", tally.waits},
             {"pages_served", tally.pages_served},
             {"page_service_s", seconds(tally.page_service_ns)}};
    if (processes[i].trap_ns > 0) own["trap_s"] = seconds(processes[i].trap_ns);
    if (options.prefetch > 0) own["prefetched"] = tally.prefetched;
    threads.push_back(
        results::thread(tables_of(options.protocol), id, options.layout.node_of(id), times_of(tally), tally, &own));
  }
  return threads;
}

}  // namespace

void fit_to_run(std::vector<dsm::Result>& processes) {
  const dsm::Result initial = processes.front();
  if (initial.whole.now_ns == 0) return;
  for (dsm::Result& process : processes) {
    if (process.whole.now_ns == 0) continue;
    fit(process.whole, initial.whole.now_ns);
    fit(process.region, initial.region.now_ns);
  }
}

double makespan_s(const std::vector<dsm::Result>& processes) {
  return seconds(processes.front().region.now_ns);
}

RunFigures figures_of(const std::vector<dsm::Result>& processes) {
  RunFigures figures{.makespan_s = makespan_s(processes)};
  for (const dsm::Result& process : processes) {
    figures.retransmissions += process.retransmissions;
    figures.messages += process.whole.messages + process.whole.served;
  }
  return figures;
}

std::vector<std::string> doubts_about(const ClusterOptions& options, const std::vector<RunFigures>& runs,
                                      double processes_per_processor) {
  std::vector<std::string> doubts;
  const auto most = std::ranges::max_element(runs, {}, &RunFigures::retransmissions);
  constexpr std::uint64_t worth_mentioning = 1000;  // one in so many messages: each costs 0.2 s and more
  if (most->retransmissions * worth_mentioning > most->messages) {
    doubts.push_back(
        fmt::format("note: the network loses packets: TCP sent {} segments again, for {} messages. Each loss may cost "
                    "0.2 s, so the times are too long. Check the network",
                    most->retransmissions, most->messages));
  }
  if (processes_per_processor > 1) {
    doubts.push_back(
        fmt::format("note: {:.3g} processes share each processor{}: the times are not those of a cluster. Use fewer "
                    "threads, or more hosts",
                    processes_per_processor, options.hosts ? " of a host" : ""));
  }
  return doubts;
}

std::size_t median_run(const std::vector<RunFigures>& runs) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t run) { return runs[run].makespan_s; });
  return order[(order.size() - 1) / 2];
}

namespace {

Json result_document(const RunDescription& description, const ClusterResult& median_result,
                     const std::vector<RunFigures>& runs) {
  const Layout& layout = description.options.layout;
  const std::vector<dsm::Result>& median = median_result.processes;
  const auto [least, most] = std::ranges::minmax(runs, {}, &RunFigures::makespan_s);
  Json document = results::head("native", description.program, layout, description.options.protocol);
  results::add_part(document, makespan_s(median), thread_list(description.options, median, &dsm::Result::region));
  results::add_part(document["whole_run"], whole_makespan_s(median),
                    thread_list(description.options, median, &dsm::Result::whole));
  document["median_s"] = makespan_s(median);
  document["min_s"] = least.makespan_s;
  document["max_s"] = most.makespan_s;
  for (const RunFigures& run : runs) {
    Json& added = document["runs"].emplace_back(Json{{"makespan_s", run.makespan_s}});
    if (description.options.transport == dsm::Transport::tcp) added["retransmissions"] = run.retransmissions;
  }
  Json& options = document["options"];
  options = {{"placement", sdsm::name_of(description.options.placement)},
             {"atomics", sdsm::name_of(description.options.atomics)},
             {"page_bytes", description.options.page.count},
             {"transport", name_of(description.options.transport)},
             {"region", median.front().clock_calls >= 2 ? "clock" : "whole"}};
  if (description.options.invalidation == Invalidation::changed) options["invalidation"] = "changed";
  if (tables_of(description.options.protocol).traits.has_scopes) {
    const jiajia::Rules& rules = description.options.jiajia;
    options["scope"] = rules.scope == jiajia::Scope::lock ? "lock" : "openmp";
    options["home_migration"] = rules.home_migration;
    options["adaptive_write_detection"] = rules.adaptive_write_detection;
  }
  if (description.options.prefetch > 0) options["prefetch"] = description.options.prefetch;
  if (median_result.processes_per_processor > 0) {
    options["processes_per_processor"] = median_result.processes_per_processor;
  }
  if (description.options.is_bound) options["bound"] = true;
  if (description.options.hosts) {
    for (const Host& host : description.options.hosts->hosts) options["hosts"].push_back(host.name);
  }
  results::add_origin(document, description.inputs);
  return document;
}

}  // namespace

void write_result(const RunDescription& description, const ClusterResult& median, const std::vector<RunFigures>& runs,
                  const std::string& file) {
  results::write(result_document(description, median, runs), file);
}

std::string name_of(dsm::Transport transport) {
  switch (transport) {
    case dsm::Transport::unix_sockets: return "unix";
    case dsm::Transport::tcp: return "tcp";
  }
  return "?";
}

std::string report_text(const std::string& program, const ClusterOptions& options,
                        const std::vector<dsm::Result>& processes) {
  const Layout& layout = options.layout;
  const bool has_region = processes.front().clock_calls >= 2;
  std::string text = fmt::format(
      "sdsm: {} on {} of {}{}: {:.4f} s", program, plural(layout.nodes, "node"),
      plural(layout.threads_per_node, "thread"),
      options.protocol == default_protocol ? "" : fmt::format(", protocol {}", sdsm::name_of(options.protocol)),
      makespan_s(processes));
  text += has_region ? fmt::format(" between its first and last reading of its clock ({:.4f} s in all)\n",
                                   whole_makespan_s(processes))
                     : " from begin to end\n";
  text += "times in s\n";
  // A row of cells for each thread, below the titles.
  std::vector<std::vector<std::string>> rows{{"thread", "node"}};
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    rows.push_back({std::to_string(i), std::to_string(index_of(layout.node_of(ProcessId{i})))});
  }
  for (const Column& column : columns(tables_of(options.protocol), processes)) {
    rows[0].push_back(column.title);
    for (std::size_t i = 0; i < processes.size(); ++i) rows[i + 1].push_back(column.cell(processes[i].region));
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::size_t width = 0;
      for (const auto& other : rows) width = std::max(width, other[i].size());
      text += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", row[i], width);
    }
    text += "\n";
  }
  if (const std::uint64_t again = figures_of(processes).retransmissions; again > 0) {
    text += fmt::format("TCP retransmissions {}\n", again);
  }
  return text;
}

std::string repeats_text(const std::vector<RunFigures>& runs) {
  const auto [least, most] = std::ranges::minmax(runs, {}, &RunFigures::makespan_s);
  return fmt::format("sdsm: {} runs: median {:.4f} s, least {:.4f} s, most {:.4f} s\n", runs.size(),
                     runs[median_run(runs)].makespan_s, least.makespan_s, most.makespan_s);
}

}  // namespace sdsm::run_command
