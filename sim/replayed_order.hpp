/// Repeats the order of a real run: the threads of a node act on their shared state in the recorded order. A thread's
/// events are in its program's order, so it finds its own next one, and waits for earlier ones of the same node.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "workloads/trace/order.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::sim {

/// A lock's name in messages: its number or, for the run-time's own locks, what it guards.
std::string name_of(LockId lock);

class ReplayedOrder {
 public:
  /// `regions` are the trace's. Throws std::invalid_argument if the order is of another layout.
  ReplayedOrder(trace::Order order, Layout layout, const std::vector<trace::Region>& regions);

  /// Returns the thread's next event, or null at its end.
  const trace::OrderEvent* next(ProcessId thread) const { return event(thread, 0); }
  const trace::OrderEvent* second(ProcessId thread) const { return event(thread, 1); }

  /// Returns the page of an event that is a fault; none if the trace lacks this page.
  std::optional<PageId> page_of(const trace::OrderEvent& event) const;

  /// Calls `then` as soon as the thread's next event is the next of its node, perhaps at once. Precondition: next().
  void at_turn(ProcessId thread, std::function<void()> then);
  /// Ends the thread's next event, which has the turn.
  void pass(ProcessId thread);
  /// The thread has ended: its remaining events pass at their turns.
  void retire(ProcessId thread);

  /// Count how often locks dropped the node's copies up to the thread's latest event, and up to its next one.
  std::uint64_t drops_until_latest(ProcessId thread) const;
  std::uint64_t drops_until_next(ProcessId thread) const;

  /// Describes the thread's next event and the event for which its node waits.
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
  std::vector<std::optional<RegionId>> regions_;  ///< the trace's regions, by their numbers in the run
  std::vector<Member> members_;
  std::vector<Node> nodes_;
};

}  // namespace sdsm::sim
