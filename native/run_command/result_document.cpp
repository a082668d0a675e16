#include "native/run_command/result_document.hpp"

#include <algorithm>
#include <numeric>

#include "commands/file_hash.hpp"
#include "native/run_command/figures.hpp"

namespace sdsm::run_command {
namespace {

using Json = nlohmann::ordered_json;

void write_tally(Json& json, const dsm::Tally& tally) {
  Json fault_time, faults, messages;
  for (const FaultRule& rule : fault_rules) {
    const auto kind = static_cast<std::size_t>(rule.kind);
    fault_time[rule.name] = seconds(tally.fault_ns[kind]);
    faults[rule.name] = tally.faults[kind];
  }
  for (std::size_t kind = 0; kind < message_kinds; ++kind) {
    messages[sdsm::name_of(static_cast<MessageKind>(kind))] = tally.messages[kind];
  }
  // Nothing is stolen here: whoever serves others is another thread, whose time shows in what the served one waits.
  json["time_s"] = {{"compute", seconds(compute_ns(tally))},
                    {"fault", fault_time},
                    {"diff", seconds(tally.diff_ns)},
                    {"protect", seconds(tally.protect_ns)},
                    {"barrier", seconds(tally.barrier_ns)},
                    {"lock", seconds(tally.lock_ns)},
                    {"stolen", 0.0},
                    {"idle", seconds(tally.idle_ns)}};
  json["faults"] = faults;
  json["barriers"] = tally.barriers;
  json["locks"] = tally.locks;
  json["messages"] = tally.messages_sent;
  json["bytes"] = tally.bytes_sent;
  json["messages_by_kind"] = messages;
  json["served"] = tally.served;
  json["served_bytes"] = tally.served_bytes;
  json["diffs"] = tally.diffs;
  json["diff_bytes"] = tally.diff_bytes;
  json["traps"] = tally.traps;
  json["pages_served"] = tally.pages_served;
  json["page_service_s"] = seconds(tally.page_service_ns);
}

Json thread_list(const Layout& layout, const std::vector<dsm::Result>& processes, dsm::Tally dsm::Result::*which) {
  Json threads = Json::array();
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    Json json = {{"id", i}, {"node", index_of(layout.node_of(ProcessId{i}))}};
    write_tally(json, processes[i].*which);
    threads.push_back(std::move(json));
  }
  return threads;
}

}  // namespace

std::size_t median_run(const std::vector<double>& makespans_s) {
  std::vector<std::size_t> order(makespans_s.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return makespans_s[a] < makespans_s[b]; });
  return order[(order.size() - 1) / 2];
}

Json result_document(const RunDescription& description, const std::vector<dsm::Result>& median,
                     const std::vector<double>& makespans_s) {
  const Layout& layout = description.options.layout;
  const auto [least, most] = std::minmax_element(makespans_s.begin(), makespans_s.end());
  Json runs = Json::array();
  for (const double makespan : makespans_s) runs.push_back({{"makespan_s", makespan}});
  Json options = {{"placement", sdsm::name_of(description.options.placement)},
                  {"transport", name_of(description.options.transport)},
                  {"region", median.front().clock_calls >= 2 ? "clock" : "whole"}};
  if (description.options.hosts) {
    for (const Host& host : description.options.hosts->hosts) options["hosts"].push_back(host.name);
  }
  return {{"format", result_format},
          {"kind", "native"},
          {"program", description.program},
          {"nodes", layout.nodes},
          {"threads_per_node", layout.threads_per_node},
          {"makespan_s", makespan_s(median)},
          {"median_s", makespan_s(median)},
          {"min_s", *least},
          {"max_s", *most},
          {"runs", runs},
          {"threads", thread_list(layout, median, &dsm::Result::region)},
          {"whole_run",
           {{"makespan_s", whole_makespan_s(median)}, {"threads", thread_list(layout, median, &dsm::Result::whole)}}},
          {"options", options},
          {"inputs",
           Json::array({{{"path", description.file.string()}, {"sha256", commands::sha256_of(description.file)}}})},
          {"versions", {{"sdsm", SDSM_VERSION}}}};
}

std::string name_of(dsm::Transport transport) {
  switch (transport) {
    case dsm::Transport::unix_sockets: return "unix";
    case dsm::Transport::tcp: return "tcp";
  }
  return "?";
}

}  // namespace sdsm::run_command
