#include "sim/result_json.hpp"

#include <fmt/core.h>

#include <simgrid/version.h>

#include "workloads/trace/file_hash.hpp"

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

}  // namespace

Json result_document(const RunDescription& description, const Result& result) {
  Json inputs = Json::array();
  for (const auto& path : description.inputs)
    inputs.push_back({{"path", path.string()}, {"sha256", trace::sha256_of(path)}});
  return {{"format", result_format},
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
}

}  // namespace sdsm::sim
