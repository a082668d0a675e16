#include "commands/protocol_option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "commands/command_line.hpp"

namespace sdsm::commands {

void add_protocol(CLI::App& app, ProtocolKind& protocol, const std::function<bool(const ProtocolRow&)>& plays) {
  std::vector<std::string> names, lines;
  for (const ProtocolRow& row : protocol_rows) {
    if (!plays(row)) continue;
    names.emplace_back(row.name);
    lines.push_back(fmt::format("{}: {}", row.name, row.meaning));
  }
  app.add_option_function<std::string>(
         "--protocol", [&](const std::string& name) { protocol = *protocol_named(name); },
         fmt::format("protocol of the shared memory. {}", fmt::join(lines, "; ")))
      ->check(one_of(names))
      ->type_name(fmt::format("{}", fmt::join(names, "|")))
      ->default_str(std::string(name_of(protocol)));
}

}  // namespace sdsm::commands
