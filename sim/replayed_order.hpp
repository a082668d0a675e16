/// Repeats the order of a real run: each thread of a node acts on what they share in the turn that it had there. A
/// thread's events are in its program's order, so it finds its own next one, and waits until its companions' earlier
/// ones are over.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "workloads/trace/order.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::sim {

/// A lock's name for people: its number or, of the run-time's own locks, what it guards.
std::string name_of(LockId lock);

class ReplayedOrder {
 public:
  /// `regions`: of the trace. Throws std::invalid_argument if the order is of another layout.
  ReplayedOrder(trace::Order order, Layout layout, const std::vector<trace::Region>& regions);

  /// The thread's next event; null at its end.
  const trace::OrderEvent* next(ProcessId thread) const { return event(thread, 0); }
  const trace::OrderEvent* second(ProcessId thread) const { return event(thread, 1); }

  /// The page of an event that is a fault; none if the trace has no such page.
  std::optional<PageId> page_of(const trace::OrderEvent& event) const;

  /// Calls `then` as soon as the thread's next event is the next of its node, perhaps at once. Precondition: next().
  void at_turn(ProcessId thread, std::function<void()> then);
  /// The thread's next event, whose turn it is, is over.
  void pass(ProcessId thread);
  /// The thread has ended: its remaining events pass when it is their turn.
  void retire(ProcessId thread);

  /// How often locks dropped the node's copies until the thread's latest event, and until its next one.
  std::uint64_t drops_until_latest(ProcessId thread) const;
  std::uint64_t drops_until_next(ProcessId thread) const;

  /// The thread's next event, and whom its node waits for, in words.
  std::string position(ProcessId thread) const;

 private:
  struct Member {
    struct Place {
      std::uint64_t index = 0;  ///< in its node's events
      std::uint64_t drops = 0;  ///< among them, up to this one
    };
    std::vector<Place> events;
    std::size_t passed = 0;
    std::function<void()> waits;
    bool is_retired = false;
  };
  struct Node {
    std::uint64_t passed = 0;
    std::uint64_t drops = 0;  ///< in all of its events
  };

  const trace::OrderEvent* event(ProcessId thread, std::size_t ahead) const;
  Node& node_of(ProcessId thread) { return nodes_[index_of(layout_.node_of(thread))]; }
  void wake(Node& node, const std::vector<trace::OrderEvent>& events);

  trace::Order order_;
  Layout layout_;
  std::vector<std::optional<RegionId>> regions_;  ///< of the trace, by the run's number
  std::vector<Member> members_;
  std::vector<Node> nodes_;
};

}  // namespace sdsm::sim
