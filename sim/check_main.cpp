/// sdsm check: reads a platform file, says everything that is wrong with it, and runs nothing.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string>
#include <vector>

#include "commands/command_line.hpp"
#include "commands/errors.hpp"
#include "models/protocol/tables.hpp"
#include "platforms/file/platform.hpp"
#include "sim/simulation.hpp"

namespace {

using namespace sdsm;

/// On how many layouts or numbers of threads the platform's protocols have measured barriers and locks.
std::string measured_synchronisation(const Platform& platform) {
  std::vector<std::string> measured;
  for (const ProtocolKind protocol : platform.protocols) {
    if (protocol == default_protocol) {
      measured.push_back(fmt::format("barriers measured on {} layouts, locks on {}", platform.costs.barrier.size(),
                                     platform.costs.lock.size()));
      continue;
    }
    const std::span<const CostRow> rows = tables_of(protocol).costs_by_threads;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      measured.push_back(fmt::format("{}{} measured for {} numbers of threads", prefix_of(protocol), rows[i].name,
                                     platform.costs.of(protocol).by_threads[i].size()));
    }
  }
  if (measured.empty()) return fmt::format("costs of protocol {}", name_of(platform.protocols.front()));
  return fmt::format("{}", fmt::join(measured, ", "));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sdsm;
  using namespace sdsm::sim;
  using namespace sdsm::commands;
  std::string path;
  bool properties = false;
  std::vector<std::string> changes;
  CommandLine app{"Check a platform file: properties, their units, hosts, routes, costs against the network.",
                  "sdsm check"};
  app.footer(
      std::string("Examples:\n  sdsm check p3-score\n  sdsm check p3-score --set network.bandwidth=1Gbps --set "
                  "'fault.*=x0.5'\n\n") +
      fmt::format("Limits: {} hosts, of which {} in one zone beside clusters; {} links of a route; {} blanks in a row; "
                  "{} MiB; {} s of a cost.\n\n",
                  most_hosts, most_hosts_of_zone, most_links_of_route, most_blanks, most_platform_bytes >> 20,
                  most_cost_seconds) +
      "Exit status: 0 nothing found, 2 problems found (one line each).");
  const Option file = add_name(app, "platform", path, platform_help, "PLATFORM");
  app.add_option("--set", changes, settings_help).allow_extra_args(false).type_name("KEY=VALUE");
  app.add_flag("--properties", properties, "list the properties that a platform may have").excludes(file);
  return run(app, argc, argv, [&]() -> int {
    if (properties) {
      fmt::print("{}", describe_properties());
      return done;
    }
    if (path.empty()) throw BadInput("which platform? Name its file, or --properties: sdsm check p3-score");
    path = find_platform(path);
    const Platform platform = read_platform(path, {changes});
    CheckedHosts hosts;
    if (const auto findings = check_platform(platform, hosts); !findings.empty()) throw BadInput(findings);
    tell_changes(platform, true);
    const std::string tried = hosts.tried < hosts.all ? fmt::format(" (routes tried between {})", hosts.tried) : "";
    fmt::print("{}: nothing found. {} hosts{}, {} properties, {}.\n", path, hosts.all, tried,
               platform.properties.size(), measured_synchronisation(platform));
    return done;
  });
}
