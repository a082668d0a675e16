#include "commands/protocol_option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "commands/command_line.hpp"
#include "commands/errors.hpp"
#include "models/prefetch.hpp"
#include "models/protocol/tables.hpp"

namespace sdsm::commands {

void add_protocol(CommandLine& app, ProtocolKind& protocol,
                  const std::function<std::string_view(const ProtocolRow&)>& why_not) {
  std::vector<std::string> names, lines;
  for (const ProtocolRow& row : protocol_rows) {
    if (!why_not(row).empty()) continue;
    names.emplace_back(row.name);
    lines.push_back(fmt::format("{}: {}", row.name, row.meaning));
  }
  app.add_option_function<std::string>(
         "--protocol", [&](const std::string& name) { protocol = *protocol_named(name); },
         fmt::format("protocol of the shared memory. {}", fmt::join(lines, "; ")))
      .check([=](const std::string& name) -> std::string {
        const std::optional<ProtocolKind> known = protocol_named(name);
        const std::string_view why = known ? why_not(row_of(*known)) : "";
        if (why.empty()) return one_of(names)(name);
        return fmt::format("'{}' is not played here: {}. Give one of {}", name, why, fmt::join(names, ", "));
      })
      .type_name(fmt::format("{}", fmt::join(names, "|")))
      .default_str(std::string(name_of(protocol)));
}

void add_prefetch(CommandLine& app, std::uint32_t& pages) {
  app.add_option(
         "--prefetch", pages,
         fmt::format(
             "a fetch also brings those of the next K pages of the same home and array of which the node (under "
             "jiajia the process) has no copy, 0 to {}",
             most_prefetch))
      .check(whole_number(0, most_prefetch))
      .type_name("K")
      .capture_default_str();
}

void check_prefetch(std::uint32_t pages, bool has_order) {
  if (pages == 0 || !has_order) return;
  throw BadInput(
      "--prefetch and --order do not go together: an order has the fetched pages alone. Leave one of them out");
}

void check_order(bool has_order, ProtocolKind protocol) {
  if (!has_order || tables_of(protocol).traits.shares_copies) return;
  throw BadInput(
      "--order: under jiajia counts do not depend on the order of a node's faults, as its processes share no copies, "
      "and "
      "the order in which processes take locks is not recorded. Leave it out, or give --protocol scash");
}

void add_jiajia_rules(CommandLine& app, jiajia::Rules& rules, std::string& asked) {
  app.add_option_function<std::string>(
         "--scope",
         [&](const std::string& name) {
           asked = "--scope";
           rules.scope = name == "lock" ? jiajia::Scope::lock : jiajia::Scope::openmp;
         },
         "under jiajia, what an unlock hands on: openmp is all that the thread wrote or heard of since the last "
         "barrier, lock is what it wrote under the lock, as JIAJIA itself does")
      .check(one_of({"openmp", "lock"}))
      .type_name("openmp|lock")
      .default_str("openmp");
  const auto add = [&](const char* name, bool jiajia::Rules::*rule, const char* help) {
    app.add_flag_callback(
        name,
        [&rules, &asked, name, rule] {
          asked = name;
          rules.*rule = true;
        },
        help);
  };
  add("--home-migration", &jiajia::Rules::home_migration,
      "under jiajia, a page that one thread alone wrote moves there at a barrier");
  add("--adaptive-write-detection", &jiajia::Rules::adaptive_write_detection,
      "under jiajia, a home page that its home alone writes stays writable at barriers");
}

void check_asked_of_jiajia(const std::string& asked, ProtocolKind protocol) {
  if (tables_of(protocol).traits.has_scopes || asked.empty()) return;
  throw BadInput(
      fmt::format("{} is of protocol jiajia, but the protocol is {}. Leave it out, or give --protocol jiajia", asked,
                  name_of(protocol)));
}

void add_invalidation(CommandLine& app, std::optional<Invalidation>& invalidation, const std::string& otherwise) {
  app.add_option_function<std::string>(
         "--invalidation",
         [&](const std::string& name) { invalidation = name == "all" ? Invalidation::all : Invalidation::changed; },
         fmt::format("under scash, copies of pages that a barrier drops: all, or those that another node has changed "
                     "since they came [{}]",
                     otherwise))
      .check(one_of({"all", "changed"}))
      .type_name("all|changed");
}

void check_invalidation(const std::optional<Invalidation>& invalidation, ProtocolKind protocol) {
  if (!invalidation) return;
  if (base_of(protocol) != default_protocol) {
    throw BadInput(fmt::format("--invalidation is not played under {}. Leave it out, or give --protocol scash",
                               name_of(protocol)));
  }
  if (go_together(home_pages_of(protocol), *invalidation)) return;
  throw BadInput(
      fmt::format("--invalidation changed keeps copies of pages that nobody says were written, and under {} nobody "
                  "knows what homes write. Leave it out, or give --protocol scash",
                  name_of(protocol)));
}

}  // namespace sdsm::commands
