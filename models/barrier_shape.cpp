#include "models/barrier_shape.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace sdsm {
namespace {

/// Until a node of the tree has what the `nodes` numbers from its own on report to it.
Time combine(std::uint32_t nodes, const MessageTimes& message) {
  std::vector<Time> sent;
  for (std::uint32_t level = 0; (1U << level) < nodes; ++level) {
    const std::uint32_t below = nodes - (1U << level);
    // Of a whole subtree of 2^level nodes each node's messages come when it has done with the one before.
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

}  // namespace

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

}  // namespace sdsm
