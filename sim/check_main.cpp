/// sdsm check: reads a platform file, says everything that is wrong with it, and runs nothing.

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "commands/output.hpp"
#include "commands/standard_streams.hpp"
#include "sim/command_line.hpp"
#include "sim/simulation.hpp"

int main(int argc, char** argv) {
  sdsm::commands::open_closed_streams();
  using namespace sdsm;
  using namespace sdsm::sim;
  std::string path;
  bool properties = false;
  CLI::App app{"Check a platform file: properties, their units, hosts, routes, costs against the network.",
               "sdsm check"};
  app.footer(
      "Example:\n  sdsm check platforms/p3-score.xml\n\nExit status: 0 nothing found, 2 problems found (one line "
      "each).");
  auto* const file = app.add_option("platform", path, "SimGrid platform file with the costs of the machine")
                         ->check(&sdsm::commands::name_problem);
  app.add_flag("--properties", properties, "list the properties that a platform may have")->excludes(file);
  report_usage_errors(app);
  try {
    app.parse(argc, argv);
    if (path.empty() && !properties) throw CLI::RequiredError("platform");
  } catch (const CLI::ParseError& error) {
    return answer(app, error);
  }
  return report_errors([&]() -> int {
    if (properties) {
      fmt::print("{}", describe_properties());
      return done;
    }
    const Platform platform = read_platform(path);
    std::size_t hosts = 0;
    if (const auto findings = check_platform(platform, &hosts); !findings.empty()) throw PlatformError(findings);
    fmt::print("{}: nothing found. {} hosts, {} properties, barriers measured on {} layouts, locks on {}.\n", path,
               hosts, platform.properties.size(), platform.costs.barrier.size(), platform.costs.lock.size());
    return done;
  });
}
