#include "native/run_command/result_document.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "commands/results/run_result.hpp"
#include "native/run_command/figures.hpp"

namespace sdsm::run_command {
namespace {

using results::Json;

results::Tally told(const dsm::Tally& tally) {
  results::Tally told{.compute_s = seconds(compute_ns(tally)),
                      .diff_s = seconds(tally.diff_ns),
                      .protect_s = seconds(tally.protect_ns),
                      .barrier_s = seconds(tally.barrier_ns),
                      .lock_s = seconds(tally.lock_ns),
                      // Another thread serves others; its time shows in what the served one waits.
                      .stolen_s = 0,
                      .idle_s = seconds(tally.idle_ns),
                      .barriers = tally.barriers,
                      .locks = tally.locks,
                      .messages = tally.messages_sent,
                      .bytes = tally.bytes_sent,
                      .served = tally.served,
                      .served_bytes = tally.served_bytes,
                      .diffs = tally.diffs,
                      .diff_bytes = tally.diff_bytes};
  std::transform(std::begin(tally.fault_ns), std::end(tally.fault_ns), told.fault_s.begin(), &seconds);
  std::copy(std::begin(tally.faults), std::end(tally.faults), told.faults.begin());
  std::copy(std::begin(tally.messages), std::end(tally.messages), told.messages_by_kind.begin());
  return told;
}

Json thread_list(const Layout& layout, const std::vector<dsm::Result>& processes, dsm::Tally dsm::Result::*which) {
  Json threads = Json::array();
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    const dsm::Tally& tally = processes[i].*which;
    const ProcessId id{i};
    threads.push_back(results::thread(id, layout.node_of(id), told(tally),
                                      {{"traps", tally.traps},
                                       {"atomics", tally.atomics},
                                       {"pages_served", tally.pages_served},
                                       {"page_service_s", seconds(tally.page_service_ns)}}));
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
  Json document = results::head("native", description.program, layout);
  results::add_part(document, makespan_s(median), thread_list(layout, median, &dsm::Result::region));
  results::add_part(document["whole_run"], whole_makespan_s(median), thread_list(layout, median, &dsm::Result::whole));
  document["median_s"] = makespan_s(median);
  document["min_s"] = *least;
  document["max_s"] = *most;
  for (const double makespan : makespans_s) document["runs"].push_back({{"makespan_s", makespan}});
  Json& options = document["options"];
  options = {{"placement", sdsm::name_of(description.options.placement)},
             {"atomics", dsm::name_of(description.options.atomics)},
             {"transport", name_of(description.options.transport)},
             {"region", median.front().clock_calls >= 2 ? "clock" : "whole"}};
  if (description.options.hosts) {
    for (const Host& host : description.options.hosts->hosts) options["hosts"].push_back(host.name);
  }
  results::add_origin(document, description.inputs);
  return document;
}

std::string name_of(dsm::Transport transport) {
  switch (transport) {
    case dsm::Transport::unix_sockets: return "unix";
    case dsm::Transport::tcp: return "tcp";
  }
  return "?";
}

}  // namespace sdsm::run_command
