#include "sim/network_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace sdsm::sim {

#define SDSM_NETWORK_FACTORY(name, model, alone, meaning) \
  std::unique_ptr<Network> make_##name##_network(Clock& clock, const Topology& topology, const Framing& framing);
SDSM_NETWORKS(SDSM_NETWORK_FACTORY)

std::span<const NetworkRow> network_rows() {
#define SDSM_NETWORK_ROW(name, model, alone, meaning) \
  NetworkRow{NetworkKind::name, #name, WireModel::model, Clock::Alone::alone, meaning, &make_##name##_network},
  static const std::array rows{SDSM_NETWORKS(SDSM_NETWORK_ROW)};
  return rows;
}

NetworkKind network_named(std::string_view name) {
  const auto rows = network_rows();
  return std::find_if(rows.begin(), rows.end(), [&](const NetworkRow& row) { return row.name == name; })->kind;
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const NetworkRow& row : network_rows()) names.emplace_back(row.name);
  return names;
}

std::string describe_networks() {
  std::vector<std::string> lines;
  for (const NetworkRow& row : network_rows()) lines.push_back(fmt::format("{}: {}", row.name, row.meaning));
  return fmt::format("{}", fmt::join(lines, "; "));
}

}  // namespace sdsm::sim
