/// sdsm check: reads a platform file, says everything that is wrong with it, and runs nothing.

#include <fmt/core.h>

#include "commands/command_line.hpp"
#include "commands/errors.hpp"
#include "platforms/file/platform.hpp"
#include "sim/simulation.hpp"

int main(int argc, char** argv) {
  using namespace sdsm;
  using namespace sdsm::sim;
  using namespace sdsm::commands;
  std::string path;
  bool properties = false;
  std::vector<std::string> changes;
  CLI::App app{"Check a platform file: properties, their units, hosts, routes, costs against the network.",
               "sdsm check"};
  app.footer(
      std::string("Examples:\n  sdsm check p3-score\n  sdsm check p3-score --set network.bandwidth=1Gbps --set "
                  "'fault.*=x0.5'\n\n") +
      fmt::format("Limits: {} hosts, of which {} in one zone beside clusters; {} links of a route; {} blanks in a row; "
                  "{} MiB.\n\n",
                  most_hosts, most_hosts_of_zone, most_links_of_route, most_blanks, most_platform_bytes >> 20) +
      "Exit status: 0 nothing found, 2 problems found (one line each).");
  auto* const file = add_name(app, "platform", path, platform_help, "PLATFORM");
  app.add_option("--set", changes, settings_help)->allow_extra_args(false)->type_name("KEY=VALUE");
  app.add_flag("--properties", properties, "list the properties that a platform may have")->excludes(file);
  return run(app, argc, argv, [&]() -> int {
    if (properties) {
      fmt::print("{}", describe_properties());
      return done;
    }
    if (path.empty()) throw BadInput("which platform? Name its file, or --properties: sdsm check p3-score");
    path = find_platform(path);
    const Platform platform = read_platform(path, {changes});
    std::size_t hosts = 0;
    if (const auto findings = check_platform(platform, &hosts); !findings.empty()) throw BadInput(findings);
    tell_changes(platform, true);
    fmt::print("{}: nothing found. {} hosts, {} properties, barriers measured on {} layouts, locks on {}.\n", path,
               hosts, platform.properties.size(), platform.costs.barrier.size(), platform.costs.lock.size());
    return done;
  });
}
