#include "models/barrier_shape.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <optional>
#include <vector>

namespace sdsm {
namespace {

/// Time until a node of the tree has the messages of the `nodes` nodes whose numbers begin at its own.
Time combine(std::uint32_t nodes, const MessageTimes& message) {
  std::vector<Time> sent;
  for (std::uint32_t level = 0; (1U << level) < nodes; ++level) {
    const std::uint32_t below = nodes - (1U << level);
    // In a whole subtree of 2^level nodes each node's messages come when it has done with the one before.
    sent.push_back(below >= (1U << level) ? level * (message.wire + message.processor) : combine(below, message));
  }
  std::sort(sent.begin(), sent.end());
  Time arrived{}, taken{};
  bool is_first = true;
  for (const Time at : sent) {
    arrived = is_first ? at + message.wire : std::max(at + message.wire, arrived + message.link);
    taken = std::max(arrived, taken) + message.processor;
    is_first = false;
  }
  return taken;
}

Time scaled(Time time, double factor) {
  return Time{std::llround(static_cast<double>(time.count()) * factor)};
}

/// The value at `nodes` of a table that is not empty: linear between neighbours, constant beyond the first and last.
double interpolated(const std::map<std::uint32_t, double>& ratio, std::uint32_t nodes) {
  const auto above = ratio.lower_bound(nodes);
  if (above == ratio.end()) return ratio.rbegin()->second;
  if (above == ratio.begin() || above->first == nodes) return above->second;
  const auto below = std::prev(above);
  const double part = static_cast<double>(nodes - below->first) / (above->first - below->first);
  return below->second + part * (above->second - below->second);
}

}  // namespace

Layout layout_of(std::span<const ProcessId> members, Layout cluster) {
  Layout team{0, 0};
  std::uint32_t on_node = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const bool is_first = i == 0 || cluster.node_of(members[i]) != cluster.node_of(members[i - 1]);
    if (is_first) ++team.nodes;
    on_node = is_first ? 1 : on_node + 1;
    team.threads_per_node = std::max(team.threads_per_node, on_node);
  }
  return team;
}

std::optional<std::size_t> reports_to(std::size_t place, std::span<const ProcessId> members, Layout cluster,
                                      BarrierShape shape) {
  const auto node_of = [&](std::size_t member) { return cluster.node_of(members[member]); };
  if (node_of(place) == node_of(0)) return std::nullopt;
  if (shape == BarrierShape::flat) return 0;
  if (node_of(place) == node_of(place - 1)) return std::nullopt;
  std::vector<std::size_t> firsts;  // of each node up to this one
  for (std::size_t i = 0; i <= place; ++i) {
    if (i == 0 || node_of(i) != node_of(i - 1)) firsts.push_back(i);
  }
  return firsts[index_of(parent_in_tree(NodeId{static_cast<std::uint32_t>(firsts.size() - 1)}))];
}

std::int64_t messages_of(BarrierShape shape, Layout team) {
  return static_cast<std::int64_t>(team.nodes - 1) * (shape == BarrierShape::flat ? team.threads_per_node : 1);
}

std::int64_t depth_of(BarrierShape shape, Layout team) {
  if (team.nodes == 1) return 0;
  return shape == BarrierShape::flat ? 1 : std::bit_width(team.nodes) - 1;
}

Time gather_time(BarrierShape shape, Layout team, const MessageTimes& message) {
  if (team.nodes == 1) return {};
  if (shape == BarrierShape::tree) return combine(team.nodes, message);
  return message.wire + (messages_of(shape, team) - 1) * std::max(message.link, message.processor) + message.processor;
}

Time BarrierModel::modelled(Layout team) const {
  Time total = 6 * gather_time(shape, team, message);
  if (team.threads_per_node > 1) {
    for (const auto& [layout, time] : measured) {
      if (layout.nodes == 1 && layout.threads_per_node > 1) {
        return total + scaled(time, (team.threads_per_node - 1.0) / (layout.threads_per_node - 1.0));
      }
    }
  }
  return total;
}

Time BarrierModel::extrapolated(Layout team) const {
  std::optional<std::uint32_t> threads;  // the measured number of them nearest to this layout's
  for (const auto& [layout, time] : measured) {
    if (layout.nodes == 1) continue;
    const auto far = [&](std::uint32_t t) {
      return std::abs(std::log2(static_cast<double>(t) / team.threads_per_node));
    };
    if (!threads || far(layout.threads_per_node) < far(*threads)) threads = layout.threads_per_node;
  }
  std::map<std::uint32_t, double> ratio;
  for (const auto& [layout, time] : measured) {
    if (layout.nodes == 1 || layout.threads_per_node != threads) continue;
    if (const Time alike = modelled(layout); alike > Time{}) ratio[layout.nodes] = to_seconds(time) / to_seconds(alike);
  }
  return scaled(modelled(team), ratio.empty() || team.nodes == 1 ? 1 : interpolated(ratio, team.nodes));
}

}  // namespace sdsm
