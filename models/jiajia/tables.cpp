#include <algorithm>
#include <array>

#include "models/jiajia/counts.hpp"
#include "models/jiajia/courses.hpp"
#include "models/protocol/tables.hpp"

namespace sdsm::jiajia {
namespace {

constexpr auto faults = [] {
  std::array<FaultRow, fault_kinds> rows{};
  std::ranges::transform(fault_rules, rows.begin(), [](const FaultRule& rule) {
    return FaultRow{rule.name, rule.access, rule.fetches_page, rule.makes_twin};
  });
  return rows;
}();

constexpr auto messages = [] {
  std::array<MessageRow, message_kinds> rows{};
  std::ranges::transform(message_names, rows.begin(), [](std::string_view name) {
    return MessageRow{name, name != "FORK"};
  });
  return rows;
}();

/// Rows by Cost.
constexpr std::array<CostRow, 4> further_costs{{
    {"diff", "time to compare a written copy with its twin", true},
    {"protect", "time for each page that loses its write permission at a lock, unlock or barrier", true},
    {"invalidate", "time for each copy that a write notice makes invalid", true},
    {"log", "further time of each fault, and of each message that a process sends, as it is logged (default 0us)",
     false},
}};

static_assert(fault_kinds <= most_fault_kinds && message_kinds <= most_message_kinds &&
              further_counts.size() <= most_further_counts && further_costs.size() <= most_further_costs);

constexpr Tables table{faults,
                       messages,
                       further_counts,
                       static_cast<std::size_t>(MessageKind::GETP),
                       static_cast<std::size_t>(MessageKind::GETPGRANT),
                       header + page_request_data,
                       header + page_reply_data,
                       header,
                       header + most_diff_data,
                       further_costs,
                       {},
                       true,
                       {.has_scopes = true,
                        .shares_copies = false,
                        .sees_plain_stores = false,
                        .has_gang_barriers = false,
                        .keeps_locks = false,
                        .operates_in_lock = true,
                        .flush_lock = flush_lock},
                       {protocol::actions_of<courses::lock>, protocol::actions_of<courses::unlock>,
                        protocol::actions_of<courses::barrier>}};

}  // namespace

const Tables& tables() {
  return table;
}

}  // namespace sdsm::jiajia
