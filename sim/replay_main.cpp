/// sdsm replay: re-runs in the simulator the microbenchmarks that a platform was calibrated from.

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <chrono>

#include "sim/command_line.hpp"
#include "sim/replay.hpp"
#include "workloads/trace/output.hpp"

int main(int argc, char** argv) {
  using namespace sdsm;
  using namespace sdsm::sim;
  std::string path, network_name = "queue", json;
  CLI::App app{"Re-run in the simulator the microbenchmarks that a platform's costs were measured with.",
               "sdsm replay"};
  app.footer(
      "On the network on which they were measured, each must come out as the platform file says, within 1 ns; on "
      "another\n"
      "network only the message parts differ.\n\n"
      "Example:\n  sdsm replay platforms/p3-score.xml\n\n"
      "Exit status: 0 done (differences are shown, not judged; --strict judges), 1 a difference with --strict, 2 bad "
      "input.");
  bool strict = false;
  app.add_option("platform", path, "SimGrid platform file with the costs of the machine")->required();
  app.add_option("--network", network_name, "queue or simgrid")
      ->check(CLI::IsMember({"queue", "simgrid"}))
      ->capture_default_str();
  app.add_flag("--strict", strict,
               "exit with 1 if a cost differs from the platform file by more than 1 ns, or could not be re-run");
  app.add_option("--json", json, "write the result as JSON to this file, or - for stdout");
  report_usage_errors(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return answer(app, error);
  }
  return report_errors([&]() -> int {
    trace::check_output(json, {path});
    const Platform platform = read_platform(path);
    std::vector<std::string> skipped;
    const auto replayed =
        replay_microbenchmarks(platform, network_name == "queue" ? NetworkKind::queue : NetworkKind::simgrid, &skipped);
    bool differs = false;
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Replayed& row : replayed) {
      differs |= std::chrono::abs(row.simulated - row.given) > Time{1ns};
      rows.push_back({{"what", row.what},
                      {"nodes", row.layout.nodes},
                      {"threads_per_node", row.layout.threads_per_node},
                      {"given_s", to_seconds(row.given)},
                      {"simulated_s", to_seconds(row.simulated)}});
    }
    if (!json.empty()) {
      write_json({{"format", 1},
                  {"kind", "replay"},
                  {"platform", path},
                  {"network", network_name},
                  {"rows", rows},
                  {"skipped", skipped}},
                 json);
    }
    if (json != "-") {
      fmt::print("{:<14} {:>7} {:>16} {:>16} {:>14}\n", "cost", "on", "given, us", "simulated, us", "difference, ns");
      for (const Replayed& row : replayed) {
        fmt::print("{:<14} {:>7} {:>16.6f} {:>16.6f} {:>14.3f}\n", row.what,
                   fmt::format("{}x{}", row.layout.nodes, row.layout.threads_per_node), to_seconds(row.given) * 1e6,
                   to_seconds(row.simulated) * 1e6, to_seconds(row.simulated - row.given) * 1e9);
      }
    }
    for (const std::string& what : skipped)
      fmt::print(stderr, "sdsm: {}: the platform has no room to re-run it\n", what);
    return strict && (differs || !skipped.empty()) ? run_failed : done;
  });
}
