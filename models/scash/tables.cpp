#include <algorithm>
#include <array>

#include "models/protocol/tables.hpp"
#include "models/scash/courses.hpp"
#include "models/scash/messages.hpp"
#include "models/scash/page_state.hpp"

namespace sdsm::scash {
namespace {

constexpr auto faults = [] {
  std::array<FaultRow, fault_kinds> rows{};
  // Whether a local page gets a twin depends on which process of its node writes it first.
  std::ranges::transform(fault_rules, rows.begin(), [](const FaultRule& rule) {
    return FaultRow{rule.name, rule.access, rule.fetches_page, rule.makes_twin && rule.owner == Owner::remote};
  });
  return rows;
}();

constexpr auto messages = [] {
  std::array<MessageRow, message_kinds> rows{};
  for (std::size_t kind = 0; kind < message_kinds; ++kind) {
    rows[kind] = {name_of(static_cast<MessageKind>(kind)), kind < usual_message_kinds};
  }
  return rows;
}();

static_assert(fault_kinds <= most_fault_kinds && message_kinds <= most_message_kinds);

constexpr protocol::Courses run_courses{protocol::actions_of<courses::acquire>, protocol::actions_of<courses::release>,
                                        protocol::actions_of<courses::barrier>,
                                        protocol::actions_of<courses::acquire_alone>,
                                        protocol::actions_of<courses::give_back>};

constexpr Tables table{faults,       messages,
                       {},           static_cast<std::size_t>(MessageKind::page_request),
                       std::nullopt, control_payload,
                       Bytes{0},     control_payload,
                       max_payload,  {},
                       {},           false,
                       {},           run_courses};

constexpr Tables home_open = [] {
  Tables tables = table;
  tables.traits.opens_home_pages = true;
  return tables;
}();

}  // namespace

const Tables& tables() {
  return table;
}

}  // namespace sdsm::scash

const sdsm::Tables& sdsm::home_open::tables() {
  return scash::home_open;
}

sdsm::HomePages sdsm::home_pages_of(ProtocolKind protocol) {
  return tables_of(protocol).traits.opens_home_pages ? HomePages::open : HomePages::read_only;
}
