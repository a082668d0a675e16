#include "models/costs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "models/scash/messages.hpp"

namespace sdsm {
namespace {

std::string name_of(Layout layout) {
  return fmt::format("{}x{}", layout.nodes, layout.threads_per_node);
}

/// Distance of two layouts for "nearest": threads per node weigh more than nodes, larger counts by their ratio.
double distance(Layout a, Layout b) {
  return std::abs(std::log2(static_cast<double>(a.nodes) / b.nodes)) +
         4 * std::abs(std::log2(static_cast<double>(a.threads_per_node) / b.threads_per_node));
}

/// Between points on the line of the two beside it; before the first that one's; beyond the last on the line of the
/// last two, but not below the last.
double on_line_of(const std::map<std::uint32_t, double>& points, std::uint32_t at) {
  std::pair<double, double> low = *points.begin(), high = low;
  if (at <= high.first) return high.second;
  for (auto point = std::next(points.begin()); point != points.end() && high.first < at; ++point) {
    low = high;
    high = *point;
  }
  double rise = high.first > low.first ? (high.second - low.second) / (high.first - low.first) : 0;
  if (at > high.first) rise = std::max(rise, 0.);
  return high.second + rise * (at - high.first);
}

}  // namespace

const ProtocolCosts& Costs::of(ProtocolKind protocol) const {
  return base_of(protocol) == default_protocol ? *this : further_protocols.at(protocol);
}

ProtocolCosts& Costs::of(ProtocolKind protocol) {
  return base_of(protocol) == default_protocol ? *this : further_protocols[protocol];
}

CostModel::CostModel(Costs costs, WireModel model, std::vector<LinkSpec> route, ProtocolKind protocol)
    : costs_(std::move(costs)),
      model_(model),
      route_(std::move(route)),
      protocol_(protocol),
      tables_(tables_of(protocol)) {
  if (base_of(protocol) != default_protocol) {
    static_cast<ProtocolCosts&>(costs_) = ProtocolCosts(costs_.of(protocol));
    costs_.barrier.clear();
    costs_.lock.clear();
  }
  const Time fetch = reference_idle(on_wire(tables_.request_payload)) +
                     reference_idle(on_wire(tables_.reply_beside_page + costs_.page));
  for (std::size_t kind = 0; kind < tables_.faults.size(); ++kind) {
    fault_local_[kind] = costs_.fault[kind] - (tables_.faults[kind].fetches_page ? fetch : Time{});
  }
}

Time CostModel::message_local(Bytes payload) const {
  const Bytes sent = on_wire(payload);
  return costs_.message_fixed + sent.count * costs_.message_per_byte - reference_idle(sent);
}

MessageTimes CostModel::barrier_message(const std::vector<LinkSpec>& route, Time processor) const {
  return {idle_time(model_, route, costs_.framing, control_payload),
          route.back().bandwidth.time_of(wire_bytes(costs_.framing, control_payload)), processor};
}

Time CostModel::synchronisation_messages(Layout team, const std::vector<LinkSpec>& route) const {
  if (team.nodes == 1 || route.empty()) return {};
  const MessageTimes message = barrier_message(route, Time{});
  return gather_time(costs_.barrier_shape, team, message) + depth_of(costs_.barrier_shape, team) * message.wire;
}

std::array<Time, 3> CostModel::synchronisations(Layout team) const {
  Time total{};
  if (const auto known = costs_.barrier.find(team); known != costs_.barrier.end()) {
    total = known->second - 3 * synchronisation_messages(team, costs_.reference) +
            3 * synchronisation_messages(team, route_);
  } else if (team.processes() > 1) {
    MessageTimes message;
    if (!costs_.reference.empty()) message = barrier_message(costs_.reference, message_local(control_payload));
    total = BarrierModel{costs_.barrier_shape, message, costs_.barrier}.extrapolated(team) -
            3 * synchronisation_messages(team, costs_.reference) + 3 * synchronisation_messages(team, route_);
  }
  const Time third = total / 3;
  return {third, third, total - 2 * third};
}

Time CostModel::lock_messages(Layout layout) const {
  const std::uint32_t processes = layout.processes();
  std::int64_t messages = 0;
  for (std::uint32_t from = 0; from < processes; ++from) {
    const std::uint32_t to = (from + 1) % processes;
    messages += layout.node_of(ProcessId{from}) != NodeId{0};
    messages += layout.node_of(ProcessId{to}) != NodeId{0};
  }
  return messages * reference_idle(control_payload) / processes;
}

Time CostModel::lock_local(Layout layout) const {
  if (costs_.lock.empty()) return {};
  const auto nearest = std::min_element(costs_.lock.begin(), costs_.lock.end(), [&](const auto& a, const auto& b) {
    return distance(a.first, layout) < distance(b.first, layout);
  });
  return nearest->second - lock_messages(nearest->first);
}

double CostModel::stretch(std::uint32_t threads, double memory_bound) const {
  if (threads <= 1 || costs_.memory_bus.empty()) return 1;
  std::map<std::uint32_t, double> points = costs_.memory_bus;
  points.emplace(1, 1.);
  return 1 + memory_bound * (on_line_of(points, threads) - 1);
}

Time CostModel::time_at(const std::map<std::uint32_t, Time>& measured, std::uint32_t threads) {
  std::map<std::uint32_t, double> points;
  for (const auto& [count, time] : measured) points.emplace(count, static_cast<double>(time.count()));
  return Time{std::llround(on_line_of(points, threads))};
}

std::vector<std::string> CostModel::contradictions() const {
  std::vector<std::string> found;
  const auto check = [&](const std::string& what, Time measured, Time local) {
    if (local >= Time{}) return;
    found.push_back(
        fmt::format("{} is {} in all, but its messages alone take {} on the reference network; "
                    "raise it, or correct reference.*",
                    what, format_time(measured), format_time(measured - local)));
  };
  for (std::size_t kind = 0; kind < tables_.faults.size(); ++kind) {
    check(fmt::format("{}fault.{}", prefix_of(protocol_), tables_.faults[kind].name), costs_.fault[kind],
          fault_local(kind));
  }
  if (!tables_.has_messages()) return found;
  for (const Bytes payload : {tables_.least_payload, tables_.most_payload}) {
    check(fmt::format("{}message of {} bytes", prefix_of(protocol_), payload.count),
          message_local(payload) + reference_idle(on_wire(payload)), message_local(payload));
  }
  for (const auto& [layout, measured] : costs_.barrier) {
    check("barrier." + name_of(layout), measured, measured - 3 * synchronisation_messages(layout, costs_.reference));
  }
  for (const auto& [layout, measured] : costs_.lock) {
    check("lock." + name_of(layout), measured, measured - lock_messages(layout));
  }
  return found;
}

}  // namespace sdsm
