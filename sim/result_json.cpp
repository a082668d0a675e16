#include "sim/result_json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include <simgrid/version.h>

#include "commands/file_hash.hpp"

namespace sdsm::sim {
namespace {

using Json = nlohmann::ordered_json;

Time spent(const Tally& tally, Spent item) {
  return tally.time[static_cast<std::size_t>(item)];
}

void write_tally(Json& json, const Tally& tally) {
  Json fault_time, faults, messages;
  for (const FaultRule& rule : fault_rules) {
    fault_time[rule.name] = to_seconds(spent(tally, spent_on(rule.kind)));
    faults[rule.name] = tally.faults[static_cast<std::size_t>(rule.kind)];
  }
  for (std::size_t kind = 0; kind < message_kinds; ++kind) {
    messages[name_of(static_cast<MessageKind>(kind))] = tally.messages_by_kind[kind];
  }
  json["time_s"] = {
      {"compute", to_seconds(spent(tally, Spent::compute))}, {"fault", fault_time},
      {"diff", to_seconds(spent(tally, Spent::diff))},       {"protect", to_seconds(spent(tally, Spent::protect))},
      {"barrier", to_seconds(spent(tally, Spent::barrier))}, {"lock", to_seconds(spent(tally, Spent::lock))},
      {"stolen", to_seconds(spent(tally, Spent::stolen))},   {"idle", to_seconds(spent(tally, Spent::idle))}};
  json["faults"] = faults;
  json["barriers"] = tally.barriers;
  json["locks"] = tally.locks;
  json["messages"] = tally.messages;
  json["bytes"] = tally.bytes;
  json["messages_by_kind"] = messages;
  json["served"] = tally.served;
  json["served_bytes"] = tally.served_bytes;
  json["diffs"] = tally.diffs;
  json["diff_bytes"] = tally.diff_bytes;
}

Json thread_list(const Result& result, Tally ThreadResult::*which) {
  Json threads = Json::array();
  for (const ThreadResult& thread : result.threads) {
    Json json = {{"id", index_of(thread.id)}, {"node", index_of(thread.node)}};
    write_tally(json, thread.*which);
    threads.push_back(std::move(json));
  }
  return threads;
}

Json uncertainty_of(const RunDescription& description, const Platform& platform, const Uncertainty& uncertainty) {
  Json errors, draws = Json::array();
  for (const UncertainCost& cost : platform.uncertain) errors[cost.property] = cost.standard_error;
  for (const Draw& draw : uncertainty.draws) {
    Json parameters;
    for (std::size_t i = 0; i < draw.costs.size(); ++i) parameters[platform.uncertain[i].property] = draw.costs[i];
    draws.push_back(
        {{"makespan_s", to_seconds(draw.makespan)}, {"seed", draw.seed}, {"parameters", std::move(parameters)}});
  }
  Json holds = Json::array({"standard errors"});
  if (description.options.jitter > 0) holds.push_back("jitter");
  return {{"samples", uncertainty.draws.size()},
          {"refused", uncertainty.refused},
          {"holds", holds},
          {"median_s", to_seconds(quantile(uncertainty, 0.5))},
          {"low_5_percent_s", to_seconds(quantile(uncertainty, 0.05))},
          {"high_95_percent_s", to_seconds(quantile(uncertainty, 0.95))},
          {"standard_errors", errors},
          {"draws", draws}};
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

Json result_document(const RunDescription& description, const Platform& platform, const Result& result,
                     const Uncertainty* uncertainty) {
  Json inputs = Json::array();
  for (const auto& path : description.inputs)
    inputs.push_back({{"path", path.string()}, {"sha256", commands::sha256_of(path)}});
  Json document = {
      {"format", result_format},
      {"kind", "simulation"},
      {"program", description.program},
      {"nodes", description.layout.nodes},
      {"threads_per_node", description.layout.threads_per_node},
      {"seed", description.seed},
      {"makespan_s", to_seconds(result.makespan)},
      {"threads", thread_list(result, &ThreadResult::region)},
      {"whole_run",
       {{"makespan_s", to_seconds(result.whole_makespan)}, {"threads", thread_list(result, &ThreadResult::whole)}}},
      {"extrapolated", result.extrapolated},
      {"options",
       {{"compute_factor", description.options.compute_factor},
        {"memory_bound", description.options.memory_bound},
        {"jitter", description.options.jitter},
        {"placement", sdsm::name_of(description.options.placement)},
        {"full_page_diffs", description.options.full_page_diffs},
        {"region", description.options.whole_run ? "whole" : "clock"}}},
      {"inputs", inputs},
      {"versions",
       {{"sdsm", SDSM_VERSION},
        {"simgrid", fmt::format("{}.{}", SIMGRID_VERSION_MAJOR, SIMGRID_VERSION_MINOR)},
        {"network", name_of(description.network)}}}};
  if (platform.calibrated.is_told()) {
    Json beyond = Json::array();
    for (const Beyond& one : beyond_calibration(platform, description.layout, result)) {
      beyond.push_back({{"what", one.what}, {"value", one.value}, {"calibrated", one.calibrated}});
    }
    document["outside_calibration"] = std::move(beyond);
  }
  if (uncertainty) document["uncertainty"] = uncertainty_of(description, platform, *uncertainty);
  return document;
}

}  // namespace sdsm::sim
