#include <algorithm>
#include <array>

#include "models/jiajia/counts.hpp"
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
  std::ranges::transform(message_names, rows.begin(), [](std::string_view name) { return MessageRow{name, true}; });
  return rows;
}();

static_assert(fault_kinds <= most_fault_kinds && message_kinds <= most_message_kinds &&
              further_counts.size() <= most_further_counts);

constexpr Bytes page{4096};
constexpr Tables table{faults,
                       messages,
                       further_counts,
                       static_cast<std::size_t>(Message::GETP),
                       static_cast<std::size_t>(Message::GETPGRANT),
                       header + page_request_data,
                       header + page_reply_data + page,
                       header,
                       header + most_diff_data};

}  // namespace

const Tables& tables() {
  return table;
}

}  // namespace sdsm::jiajia
