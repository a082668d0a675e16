#include "sim/result_json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include <simgrid/version.h>
#include <nlohmann/json.hpp>

#include "commands/results/run_result.hpp"
#include "models/protocol/tables.hpp"
#include "sim/costs_behind.hpp"

namespace sdsm::sim {
namespace {

using results::Json;

Time spent(const Tally& tally, Spent item) {
  return tally.time[static_cast<std::size_t>(item)];
}

results::Times times_of(const Tally& tally) {
  results::Times times{.compute_s = to_seconds(spent(tally, Spent::compute)),
                       .diff_s = to_seconds(spent(tally, Spent::diff)),
                       .protect_s = to_seconds(spent(tally, Spent::protect)),
                       .barrier_s = to_seconds(spent(tally, Spent::barrier)),
                       .lock_s = to_seconds(spent(tally, Spent::lock)),
                       .stolen_s = to_seconds(spent(tally, Spent::stolen)),
                       .idle_s = to_seconds(spent(tally, Spent::idle))};
  for (std::size_t kind = 0; kind < most_fault_kinds; ++kind) {
    times.fault_s[kind] = to_seconds(spent(tally, spent_on(kind)));
  }
  return times;
}

/// Stolen time by item, with faults by kind; zero items are left out.
Json stolen_from(const Tables& tables, const Tally& tally) {
  const auto seconds = [&](Spent item) { return to_seconds(tally.stolen_from[static_cast<std::size_t>(item)]); };
  Json terms = Json::object(), faults = Json::object();
  const auto add = [](Json& to, std::string_view name, double time) {
    if (time > 0) to[std::string(name)] = time;
  };
  add(terms, "compute", seconds(Spent::compute));
  for (std::size_t kind = 0; kind < tables.faults.size(); ++kind)
    add(faults, tables.faults[kind].name, seconds(spent_on(kind)));
  if (!faults.empty()) terms["fault"] = faults;
  add(terms, "diff", seconds(Spent::diff));
  add(terms, "protect", seconds(Spent::protect));
  add(terms, "barrier", seconds(Spent::barrier));
  add(terms, "lock", seconds(Spent::lock));
  add(terms, "idle", seconds(Spent::idle));
  return terms;
}

Json thread_list(const Result& result, const RunDescription& description, Tally ThreadResult::*which) {
  const Tables& tables = tables_of(description.options.protocol);
  Json threads = Json::array();
  for (const ThreadResult& thread : result.threads) {
    const Tally& tally = thread.*which;
    Json own;
    if (description.has_flags) own = {{"atomics", tally.atomics}, {"waits", tally.waits}};
    if (description.options.prefetch > 0) own["prefetched"] = tally.prefetched;
    if (spent(tally, Spent::stolen) > Time{}) own["stolen_from_s"] = stolen_from(tables, tally);
    if (tally.added_computing != Time{}) own["added_computing_s"] = to_seconds(tally.added_computing);
    threads.push_back(
        results::thread(tables, thread.id, thread.node, times_of(tally), tally, own.is_null() ? nullptr : &own));
  }
  return threads;
}

/// What a construct took of the thread; what it has nothing of is left out.
Json share_of(const Tables& tables, ProcessId thread, const ConstructTally& share) {
  const Tally& tally = share.tally;
  Json time = Json::object(), faults = Json::object(), fault_times = Json::object();
  const auto add = [&](Json& to, std::string_view name, Spent item) {
    if (spent(tally, item) != Time{}) to[std::string(name)] = to_seconds(spent(tally, item));
  };
  add(time, "compute", Spent::compute);
  for (std::size_t kind = 0; kind < tables.faults.size(); ++kind) {
    add(fault_times, tables.faults[kind].name, spent_on(kind));
    if (tally.faults[kind] > 0) faults[tables.faults[kind].name] = tally.faults[kind];
  }
  if (!fault_times.empty()) time["fault"] = std::move(fault_times);
  add(time, "diff", Spent::diff);
  add(time, "protect", Spent::protect);
  add(time, "barrier", Spent::barrier);
  add(time, "lock", Spent::lock);
  add(time, "stolen", Spent::stolen);
  add(time, "idle", Spent::idle);
  return {{"id", index_of(thread)},      {"times", share.times}, {"time_s", std::move(time)},
          {"faults", std::move(faults)}, {"diffs", tally.diffs}, {"diff_bytes", tally.diff_bytes},
          {"messages", tally.messages},  {"bytes", tally.bytes}};
}

/// In the order in which threads, from the first one on, came to them.
Json constructs_of(const Result& result, const RunDescription& description) {
  const Tables& tables = tables_of(description.options.protocol);
  std::vector<Construct> order;
  std::vector<Json> shares;  // by construct
  for (std::size_t thread = 0; thread < result.threads.size(); ++thread) {
    for (const ConstructTally& one : result.constructs[thread]) {
      if (one.times == 0 && one.tally.total() == Time{}) continue;
      const auto found = std::find(order.begin(), order.end(), one.construct);
      const auto place = static_cast<std::size_t>(found - order.begin());
      if (found == order.end()) {
        order.push_back(one.construct);
        shares.push_back(Json::array());
      }
      shares[place].push_back(share_of(tables, result.threads[thread].id, one));
    }
  }
  Json list = Json::array();
  for (std::size_t i = 0; i < order.size(); ++i) {
    list.push_back(
        {{"kind", name_of(order[i].kind)}, {"call_site", order[i].call_site}, {"threads", std::move(shares[i])}});
  }
  return list;
}

Json uncertainty_of(const RunDescription& description, const Platform& platform, const Uncertainty& uncertainty) {
  Json errors, runs, draws = Json::array();
  for (const UncertainCost& cost : platform.uncertain) {
    errors[cost.property] = cost.standard_error;
    if (!cost.runs.empty()) runs[cost.property] = cost.runs;
  }
  for (const Draw& draw : uncertainty.draws) {
    Json parameters;
    for (std::size_t i = 0; i < draw.costs.size(); ++i) parameters[platform.uncertain[i].property] = draw.costs[i];
    draws.push_back(
        {{"makespan_s", to_seconds(draw.makespan)}, {"seed", draw.seed}, {"parameters", std::move(parameters)}});
  }
  Json holds = Json::array();
  if (runs.size() < errors.size()) holds.push_back("standard errors");
  if (!runs.empty()) holds.push_back("runs");
  if (description.options.jitter > 0) holds.push_back("jitter");
  Json band{{"samples", uncertainty.draws.size()},
            {"refused", uncertainty.refused},
            {"holds", holds},
            {"median_s", to_seconds(quantile(uncertainty, 0.5))},
            {"low_5_percent_s", to_seconds(quantile(uncertainty, 0.05))},
            {"high_95_percent_s", to_seconds(quantile(uncertainty, 0.95))},
            {"standard_errors", errors}};
  if (!runs.empty()) band["runs"] = runs;
  band["draws"] = draws;
  return band;
}

/// Times of runs that differ by the machine's noise and jitter.
Json spread_of(const Uncertainty& spread) {
  Json times = Json::array();
  for (const Draw& draw : spread.draws) times.push_back(to_seconds(draw.makespan));
  return {{"samples", spread.draws.size()},
          {"shown", median_draw(spread).number},
          {"low_5_percent_s", to_seconds(quantile(spread, 0.05))},
          {"high_95_percent_s", to_seconds(quantile(spread, 0.95))},
          {"times_s", std::move(times)}};
}

}  // namespace

std::vector<Beyond> beyond_calibration(const Platform& platform, Layout layout, const Result& result) {
  std::uint64_t diff = 0;
  for (const ThreadResult& thread : result.threads) diff = std::max(diff, thread.region.largest_diff);
  const CalibratedRange& range = platform.calibrated;
  std::vector<Beyond> found;
  const auto compare = [&](const std::string& what, std::uint64_t value, std::optional<std::uint64_t> most) {
    if (most && value > *most) found.push_back({what, value, *most});
  };
  compare("nodes", layout.nodes, range.nodes);
  compare("threads_per_node", layout.threads_per_node, range.threads_per_node);
  if (range.diff) compare("diff_bytes", diff, static_cast<std::uint64_t>(range.diff->count));
  return found;
}

void add_changes(Json& document, const Platform& platform) {
  if (platform.settings.empty()) return;
  document["set"] = platform.settings;
  Json& changed = document["changed"] = Json::array();
  for (const PlatformChange& one : platform.changes) {
    changed.push_back({{"property", one.property}, {"was", one.was ? Json(*one.was) : Json()}, {"is", one.is}});
  }
}

std::string simgrid_version() {
  return fmt::format("{}.{}", SIMGRID_VERSION_MAJOR, SIMGRID_VERSION_MINOR);
}

Json versions(NetworkKind network) {
  return {{"simgrid", simgrid_version()}, {"network", name_of(network)}};
}

namespace {

Json result_document(const RunDescription& description, const Platform& platform, const Result& result,
                     const Uncertainty* uncertainty, const Uncertainty* spread) {
  Json document = results::head("simulation", description.program, description.layout, description.options.protocol);
  document["seed"] = description.seed;
  const bool has_flags = description.has_flags;
  results::add_part(document, to_seconds(result.makespan), thread_list(result, description, &ThreadResult::region));
  results::add_part(document["whole_run"], to_seconds(result.whole_makespan),
                    thread_list(result, description, &ThreadResult::whole));
  document["baselines"] = {{"counts_s", to_seconds(result.baselines.counts)},
                           {"critical_path_s", to_seconds(result.baselines.critical_path)}};
  if (description.options.constructs) document["constructs"] = constructs_of(result, description);
  document["extrapolated"] = result.extrapolated;
  for (const auto& [costs, share] : assumed_costs(platform, description.options.protocol, description.layout, result)) {
    document["assumed"].push_back({{"costs", costs}, {"share", share}});
  }
  document["options"] = {{"compute_factor", description.options.compute_factor},
                         {"compute_from", description.scale.origin()},
                         {"memory_bound", description.options.memory_bound},
                         {"jitter", description.options.jitter},
                         {"placement", sdsm::name_of(description.options.placement)},
                         {"page_bytes", description.options.page.value_or(platform.costs.page).count},
                         {"full_page_diffs", description.options.full_page_diffs},
                         {"region", description.options.whole_run ? "whole" : "clock"}};
  if (description.varies) document["options"]["draws"] = description.draws;
  if (description.is_quiet_machine) document["options"]["quiet_machine"] = true;
  if (tables_of(description.options.protocol).traits.has_scopes) {
    const jiajia::Rules& rules = description.options.jiajia;
    document["options"].update({{"scope", rules.scope == jiajia::Scope::lock ? "lock" : "openmp"},
                                {"home_migration", rules.home_migration},
                                {"adaptive_write_detection", rules.adaptive_write_detection}});
    if (rules.first_touch_moves) document["options"]["first_touch_moves"] = *rules.first_touch_moves;
    if (rules.fork_by_broadcast) document["options"]["fork"] = "broadcast";
    for (const jiajia::QuirkRow& row : jiajia::quirk_rows) {
      if (rules.quirks.*row.quirk) document["options"]["quirks"].push_back(row.name);
    }
    if (!description.privatized.empty()) document["options"]["privatized"] = description.privatized;
  }
  if (base_of(description.options.protocol) == default_protocol &&
      platform.costs.invalidation == Invalidation::changed) {
    document["options"]["invalidation"] = "changed";
  }
  if (description.options.prefetch > 0) document["options"]["prefetch"] = description.options.prefetch;
  if (!description.scale.sequential_time.empty()) {
    document["options"]["sequential_time_s"] = to_seconds(description.scale.sequential());
  }
  if (description.scale.from_host_speed) {
    document["options"]["traced_flops"] = description.traced.flops;
    document["options"]["host_flops"] = description.scale.host.flops;
  }
  if (description.reductions > 0) document["options"]["reductions"] = description.reductions_as;
  if (has_flags && tables_of(description.options.protocol).has_pages()) {
    document["options"]["atomics"] = sdsm::name_of(description.options.atomics.value_or(platform.costs.atomics));
  }
  if (description.reductions > 0) document["reductions"] = description.reductions;
  add_changes(document, platform);
  if (!description.uncosted.empty()) document["uncosted"] = description.uncosted;
  for (const auto& [what, share] : description.decided.notable()) document["decided_when_traced"][what] = share;
  const Json made_by = versions(description.network);
  results::add_origin(document, description.inputs, &made_by);
  if (platform.calibrated.is_known()) {
    Json beyond = Json::array();
    for (const Beyond& one : beyond_calibration(platform, description.layout, result)) {
      beyond.push_back({{"what", one.what}, {"value", one.value}, {"calibrated", one.calibrated}});
    }
    document["outside_calibration"] = std::move(beyond);
  }
  if (const std::optional<ComputingRange>& range = description.computing) {
    document["computing_range"] = {{"least_factor", range->least_factor},
                                   {"greatest_factor", range->greatest_factor},
                                   {"shortest_s", to_seconds(range->shortest)},
                                   {"longest_s", to_seconds(range->longest)}};
  }
  if (spread) document["spread"] = spread_of(*spread);
  if (uncertainty) document["uncertainty"] = uncertainty_of(description, platform, *uncertainty);
  return document;
}

}  // namespace

void write_result(const RunDescription& description, const Platform& platform, const Result& result,
                  const Uncertainty* uncertainty, const Uncertainty* spread, const std::string& file) {
  results::write(result_document(description, platform, result, uncertainty, spread), file);
}

}  // namespace sdsm::sim
