#include "sim/replayed_order.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "models/scash/directives.hpp"
#include "workloads/trace/region_numbers.hpp"

namespace sdsm::sim {
namespace {

std::string text_of(const trace::OrderEvent& event) {
  using trace::OrderKind;
  switch (event.kind) {
    case OrderKind::read:
    case OrderKind::write:
      return fmt::format("a {} fault on page {} of region {}", name_of(event.kind), event.value, event.object);
    case OrderKind::take: return fmt::format("'take' of {}", name_of(LockId{event.object}));
    default: return fmt::format("'{}'", name_of(event.kind));
  }
}

}  // namespace

std::string name_of(LockId lock) {
  if (lock == lock_of(AdministrativePage::single)) return "the run-time's lock of single";
  if (lock == lock_of(AdministrativePage::loop)) return "the run-time's lock of dynamic loops";
  return fmt::format("lock {}", index_of(lock));
}

ReplayedOrder::ReplayedOrder(trace::Order order, Layout layout, const std::vector<trace::Region>& regions)
    : order_(std::move(order)), layout_(layout), members_(layout.processes()), nodes_(layout.nodes) {
  if (order_.layout != layout) {
    throw std::invalid_argument(
        fmt::format("the order is of {} nodes of {} threads, and the simulation of {} nodes of {}. Simulate what was "
                    "run, or record an order of this layout",
                    order_.layout.nodes, order_.layout.threads_per_node, layout.nodes, layout.threads_per_node));
  }
  const std::vector<std::uint32_t> numbers = trace::running_regions(regions, layout.processes());
  const auto name = [&](std::uint32_t number, std::size_t region) {
    if (number >= regions_.size()) regions_.resize(number + 1);
    regions_[number] = RegionId{static_cast<std::uint32_t>(region)};
  };
  for (std::size_t i = 0; i < numbers.size(); ++i) name(numbers[i], i);
  name(administrative_region, regions.size());
  for (std::size_t node = 0; node < order_.nodes.size(); ++node) {
    std::uint64_t& drops = nodes_[node].drops;
    const std::vector<trace::OrderEvent>& events = order_.nodes[node];
    for (std::uint64_t i = 0; i < events.size(); ++i) {
      if (events[i].kind == trace::OrderKind::drop) ++drops;
      members_[index_of(events[i].process)].events.push_back({i, drops});
    }
  }
}

const trace::OrderEvent* ReplayedOrder::event(ProcessId thread, std::size_t ahead) const {
  const Member& member = members_[index_of(thread)];
  const std::size_t wanted = member.passed + ahead;
  if (wanted >= member.events.size()) return nullptr;
  return &order_.nodes[index_of(layout_.node_of(thread))][member.events[wanted].index];
}

std::optional<PageId> ReplayedOrder::page_of(const trace::OrderEvent& event) const {
  if (event.object >= regions_.size() || !regions_[event.object]) return std::nullopt;
  return PageId{*regions_[event.object], event.value};
}

void ReplayedOrder::at_turn(ProcessId thread, std::function<void()> then) {
  Member& member = members_[index_of(thread)];
  if (member.events[member.passed].index == node_of(thread).passed) return then();
  member.waits = std::move(then);
}

void ReplayedOrder::pass(ProcessId thread) {
  Member& member = members_[index_of(thread)];
  Node& node = node_of(thread);
  const auto& events = order_.nodes[index_of(layout_.node_of(thread))];
  ++member.passed;
  ++node.passed;
  wake(node, events);
}

void ReplayedOrder::retire(ProcessId thread) {
  members_[index_of(thread)].is_retired = true;
  Node& node = node_of(thread);
  wake(node, order_.nodes[index_of(layout_.node_of(thread))]);
}

/// Wakes the waiting thread that has the turn, and passes over threads that have ended.
void ReplayedOrder::wake(Node& node, const std::vector<trace::OrderEvent>& events) {
  while (node.passed < events.size()) {
    Member& next = members_[index_of(events[node.passed].process)];
    if (!next.is_retired) {
      if (const std::function<void()> waits = std::exchange(next.waits, nullptr)) waits();
      return;
    }
    ++next.passed;
    ++node.passed;
  }
}

std::uint64_t ReplayedOrder::drops_until_latest(ProcessId thread) const {
  const Member& member = members_[index_of(thread)];
  return member.passed == 0 ? 0 : member.events[member.passed - 1].drops;
}

std::uint64_t ReplayedOrder::drops_until_next(ProcessId thread) const {
  const Member& member = members_[index_of(thread)];
  return member.passed < member.events.size() ? member.events[member.passed].drops
                                              : nodes_[index_of(layout_.node_of(thread))].drops;
}

std::string ReplayedOrder::position(ProcessId thread) const {
  const trace::OrderEvent* const own = next(thread);
  if (own == nullptr) return "the recorded order has nothing more of it";
  const std::size_t node = index_of(layout_.node_of(thread));
  const trace::OrderEvent& turn = order_.nodes[node][nodes_[node].passed];
  std::string text = fmt::format("next in the recorded order is {}", text_of(*own));
  if (turn.process != thread) text += fmt::format(", after {} of thread {}", text_of(turn), index_of(turn.process));
  return text;
}

}  // namespace sdsm::sim
