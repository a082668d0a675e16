/// sdsm replay: re-runs in the simulator the microbenchmarks that a platform was calibrated from.

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

#include "commands/command_line.hpp"
#include "commands/errors.hpp"
#include "commands/output.hpp"
#include "commands/results/run_result.hpp"
#include "commands/standard_streams.hpp"
#include "sim/replay.hpp"
#include "sim/result_json.hpp"

namespace {

using namespace sdsm;
using namespace sdsm::commands;
using namespace sdsm::sim;

std::vector<Bytes> sizes_of(const std::vector<std::string>& texts) {
  std::vector<Bytes> sizes;
  for (const std::string& text : texts) {
    const Bytes size{static_cast<std::int64_t>(parse_whole_number(text, 0, most_message_bytes.count))};
    if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
  }
  return sizes;
}

Layout layout_of(const std::string& text) {
  const std::size_t cross = text.find('x');
  try {
    if (cross == std::string::npos) throw std::invalid_argument("no x");
    const auto nodes = parse_whole_number(std::string_view(text).substr(0, cross), 1, most_nodes);
    const auto threads = parse_whole_number(std::string_view(text).substr(cross + 1), 1, most_threads_per_node);
    return {static_cast<std::uint32_t>(nodes), static_cast<std::uint32_t>(threads)};
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument(
        fmt::format("'{}' is no layout. Write NxT: 1 to {} nodes N, 1 to {} threads T on each, such as 16x1", text,
                    most_nodes, most_threads_per_node));
  }
}

/// Throws BadInput if the platform has nothing that is re-run here.
void require_replayable(const Platform& platform) {
  if (std::ranges::find(platform.protocols, default_protocol) != platform.protocols.end()) return;
  throw BadInput(
      fmt::format("{}: it has costs of protocol {} alone, and sdsm replay re-runs those of scash. Give a platform that "
                  "has them (fault.*, barrier.NxT, lock.NxT), such as p3-score",
                  platform.path.string(), name_of(platform.protocols.front())));
}

bool is_off(const Replayed& row) {
  return row.given && std::chrono::abs(row.simulated - *row.given) > Time{1ns};
}

results::Json document(const Platform& platform, NetworkKind network, const std::vector<Replayed>& replayed,
                       const std::vector<std::string>& skipped) {
  results::Json document = results::head("replay");
  document.update({{"platform", platform.path.string()}, {"network", name_of(network)}});
  results::Json& rows = document["rows"] = results::Json::array();
  for (const Replayed& row : replayed) {
    rows.push_back({{"what", row.what},
                    {"nodes", row.layout.nodes},
                    {"threads_per_node", row.layout.threads_per_node},
                    {"given_s", row.given ? results::Json(to_seconds(*row.given)) : nullptr},
                    {"simulated_s", to_seconds(row.simulated)}});
  }
  document["skipped"] = skipped;
  add_changes(document, platform);
  const results::Json made_by = versions(network);
  results::add_origin(document, {platform.path}, &made_by);
  return document;
}

void print_table(const std::vector<Replayed>& replayed) {
  fmt::print("{:<24} {:>7} {:>16} {:>16} {:>14}\n", "cost", "on", "given, us", "simulated, us", "difference, ns");
  for (const Replayed& row : replayed) {
    fmt::print("{:<24} {:>7} {:>16} {:>16.6f} {:>14}\n", row.what,
               fmt::format("{}x{}", row.layout.nodes, row.layout.threads_per_node),
               row.given ? fmt::format("{:.6f}", to_seconds(*row.given) * 1e6) : "not given",
               to_seconds(row.simulated) * 1e6,
               row.given ? fmt::format("{:.3f}", to_seconds(row.simulated - *row.given) * 1e9) : "");
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string path, network_name = "queue", json;
  CommandLine app{"Re-run in the simulator the microbenchmarks that a platform's costs were measured with.",
                  "sdsm replay"};
  app.footer(
      "On the network on which costs were measured, each must come out as the platform file says, within 1 ns; on "
      "another\n"
      "network only the message parts differ. network.B is the time of a message of B bytes one way on the idle "
      "network,\n"
      "without processors; network.stream.B that of each of many sent at once. Barriers and locks of --layouts that "
      "the\n"
      "platform does not give have no figure to compare with.\n\n"
      "Examples:\n  sdsm replay p3-score\n"
      "  sdsm replay p3-score --only network --messages 1,64,4096,1048576\n"
      "  sdsm replay p3-score --set network.bandwidth=1Gbps --set network.latency=20us\n"
      "  sdsm replay cluster.xml --only barrier --layouts 16x1,32x1\n\n"
      "Exit status: 0 done (differences are shown, not judged; --strict judges), 1 a difference with --strict, 2 bad "
      "input.");
  bool strict = false;
  add_name(app, "platform", path, platform_help, "PLATFORM").required();
  std::vector<std::string> changes;
  app.add_option("--set", changes, settings_help).allow_extra_args(false).type_name("KEY=VALUE");
  app.add_option("--network", network_name, describe_networks()).check(one_of(network_names())).capture_default_str();
  std::vector<std::string> messages, streams, layouts, only;
  app.add_option("--messages", messages, "time messages of these sizes in bytes (default 32,1460,4096)")
      .delimiter(',')
      .allow_extra_args(false);
  app.add_option("--streams", streams, "time many messages at once of these sizes in bytes (default none)")
      .delimiter(',')
      .allow_extra_args(false);
  app.add_option("--layouts", layouts, "NxT: also re-run barriers and locks of these layouts, measured or not")
      .delimiter(',')
      .allow_extra_args(false);
  app.add_option("--only", only, "re-run only these of fault, barrier, lock, release, memory-bus and network")
      .delimiter(',')
      .allow_extra_args(false)
      .check(one_of({replay_groups.begin(), replay_groups.end()}));
  app.add_flag("--strict", strict,
               "exit with 1 if a cost differs from the platform file by more than 1 ns, or could not be re-run");
  add_output(app, "--json", json, "write the result as JSON to this file, or - for stdout");
  return run(app, argc, argv, [&]() -> int {
    path = find_platform(path);
    check_output(json, {path});
    ReplayRequest request;
    if (!messages.empty()) request.messages = sizes_of(messages);
    request.streams = sizes_of(streams);
    for (const std::string& layout : layouts) request.layouts.insert(layout_of(layout));
    request.groups.insert(only.begin(), only.end());
    const NetworkKind network = network_named(network_name);
    const Platform platform = read_platform(path, {changes, row_of(network).model});
    require_replayable(platform);
    std::vector<std::string> skipped;
    const auto replayed = replay_microbenchmarks(platform, network, &skipped, request);
    if (!json.empty()) results::write(document(platform, network, replayed, skipped), json);
    tell_changes(platform, json != "-");
    if (json != "-") print_table(replayed);
    for (const std::string& what : skipped) say(fmt::format("{}: the platform has no room to re-run it", what));
    const bool differs = std::any_of(replayed.begin(), replayed.end(), is_off);
    return strict && (differs || !skipped.empty()) ? run_failed : done;
  });
}
