/// The protocol's costs on one machine. A platform file gives measured totals. The local part of a total, its processor
/// time, is the total minus its messages on the idle network of the measurement. It holds on any network.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/account.hpp"
#include "models/atomics.hpp"
#include "models/barrier_shape.hpp"
#include "models/ids.hpp"
#include "models/protocol/tables.hpp"
#include "models/scash/page_state.hpp"
#include "models/units.hpp"
#include "models/wire.hpp"

namespace sdsm {

/// Whether serving a page interrupts the home's thread, which does `doing` on its processor. A thread that has just
/// fetched a page is awake for messages anyway.
inline bool interrupted_by_service(Spent doing, const Tables& tables) {
  return !is_fault(doing) || !tables.faults[fault_number(doing)].fetches_page;
}

/// Costs of a protocol's actions, as its tables name them.
struct ProtocolCosts {
  std::array<Time, most_fault_kinds> fault{};  ///< uncontended, trap to resumed access; by kind
  /// An uncontended diff or control message of b bytes takes message_fixed + b message_per_byte, end to end ("Send2" of
  /// [WR-opt]).
  Time message_fixed{};
  Time message_per_byte{};
  Bytes datagram;         ///< size of every message on the wire; 0: as much as it carries
  Bytes acknowledgement;  ///< its size; a sender waits for it before the next message. 0: none
  std::array<Time, most_further_costs> further_cost{};  ///< by row of Tables::further_costs
  std::array<std::map<std::uint32_t, Time>, most_costs_by_threads>
      by_threads{};  ///< by row of Tables::costs_by_threads

  /// `which`: a protocol's own enumeration of its rows.
  template <typename Which>
  Time further(Which which) const {
    return further_cost[static_cast<std::size_t>(which)];
  }
};

/// Measured and assumed numbers of one machine, as the platform file gives them. The base's are SCASH's.
struct Costs : ProtocolCosts {
  std::map<ProtocolKind, ProtocolCosts> further_protocols;
  Bytes page = least_page;  ///< with which faults were measured
  Time further_page{};      ///< processors' time for each page that comes beside the fetched one
  /// Part of an own page's first write: the slow-down of the program's own work after the trap, which leaves caches
  /// cold. Accounts have it in computing. It is never more than that write's cost.
  Time fault_cold{};
  /// Part of every fault: what its trap takes before and after the protocol's work. A run uses this number and does not
  /// time each trap, so what other processes take of the processor during a trap counts as computing. 0: not measured
  Time fault_trap{};
  /// Extra time of a node's first fetch of a page: the system gives it the copy's memory.
  Time first_copy{};
  /// For the same reason, extra time of a node's first write of an own page (after the trap), and of the first twin of
  /// a page (within the trap).
  Time first_write{};
  Time dirty_home_page{};  ///< at a barrier, for each of its own home pages that a process wrote
  Time further_run{};  ///< at a barrier, for each run of adjacent pages that a process protects again, after the first
  std::map<Layout, Time> barrier;                   ///< EPCC overhead of an empty barrier
  BarrierShape barrier_shape = BarrierShape::flat;  ///< for layouts without a measured barrier, and for other networks
  std::map<Layout, Time> lock;  ///< EPCC overhead of LOCK/UNLOCK: one hand-off, all threads contending

  double home_share = 0.5;  ///< the home's (receiver's) share of a local part. Assumed, unless measured
  /// The home's share where serving a page interrupts no computing; home_share unless given. It is larger where
  /// processors have to be woken.
  std::optional<double> waiting_share;
  /// The home's share of a fetch, whatever its thread does; the two above unless given. It is 0 where the home's
  /// adapter answers without a processor (RDMA).
  std::optional<double> fetch_share;
  Time interrupt_delay{};       ///< before a computing home answers. Optional, uncalibrated
  double noise_deviation = 0;   ///< standard deviation of the time of equal work, from period to period, over its mean
  Time noise_duration = 100ms;  ///< mean length of such a period. Assumed, unless measured
  /// By number of threads of a node, 2 or more: the time of a loop that only waits for memory when all of them run it,
  /// divided by its time when one does. Optional.
  std::map<std::uint32_t, double> memory_bus;

  Framing framing;
  std::vector<LinkSpec> reference;  ///< route between two nodes of the network on which the above was measured
  Invalidation invalidation = Invalidation::all;

  Atomics atomics = Atomics::home;  ///< how the machine does atomic operations
  Time atomic_own{};                ///< an atomic operation on a page of the own node, trap included. 0: not measured

  /// Throws std::out_of_range if the platform gives none of the protocol.
  const ProtocolCosts& of(ProtocolKind protocol) const;
  ProtocolCosts& of(ProtocolKind protocol);
};

/// Costs on a given network, split into what the wire takes and what processors take.
class CostModel {
 public:
  /// `route`: the longest between nodes in use, on the simulated network, for barriers; empty with one node.
  CostModel(Costs costs, WireModel model, std::vector<LinkSpec> route, ProtocolKind protocol = default_protocol);

  const Costs& costs() const { return costs_; }

  /// Processor time of a fault: total minus its request and page reply on the idle reference network.
  template <typename Kind>
  Time fault_local(Kind kind) const {
    return fault_local_[static_cast<std::size_t>(kind)];
  }

  /// The part of fault_local() by which the trap slows the program's own work afterwards. Only an own page's first
  /// write has it, as the costs of other faults were measured without it.
  Time fault_cold(FaultKind kind) const {
    return kind == FaultKind::WROH ? std::min(costs_.fault_cold, fault_local(kind)) : Time{};
  }

  /// Bytes on the wire of a message that carries `payload` bytes.
  Bytes on_wire(Bytes payload) const { return costs_.datagram.count > 0 ? costs_.datagram : payload; }

  /// Processor time of a diff or control message of `payload` bytes, at both ends together.
  Time message_local(Bytes payload) const;

  /// The home's (receiver's) share of a local part; the rest is the requester's (sender's).
  Time home_part(Time local) const { return part(local, costs_.home_share); }

  /// home_part() of a fetch where the home's thread computes.
  Time computing_home_part(Time local) const { return part(local, costs_.fetch_share.value_or(costs_.home_share)); }

  /// home_part() of a fetch where the home's thread waits, or installs a page itself.
  Time waiting_home_part(Time local) const {
    return part(local, costs_.fetch_share.value_or(costs_.waiting_share.value_or(costs_.home_share)));
  }

  /// Times of the three synchronisations of a team's empty barrier; their sum is its cost. A measured layout costs its
  /// measured total, with the messages' time replaced by that on the simulated network. For other layouts see
  /// barrier_is_measured().
  std::array<Time, 3> synchronisations(Layout team) const;

  /// Whether the platform gives a barrier for this layout. If not, BarrierModel::extrapolated() stands in for it.
  bool barrier_is_measured(Layout team) const { return costs_.barrier.contains(team); }
  bool lock_is_measured(Layout layout) const { return costs_.lock.contains(layout); }

  /// Processor time of a lock's hand-off: EPCC's overhead minus the mean time of its messages on the idle reference
  /// network. All P threads contend, the lock goes round, and process 0 manages it: a hand-off is a message to the
  /// manager unless the releaser is on its node, and one from it unless the next holder is. A layout that was not
  /// measured has the nearest measured one's, as a hand-off has at most two messages on any number of nodes.
  Time lock_local(Layout layout) const;
  /// A lock that its last holder takes again while it runs alone: what EPCC measured with one thread.
  Time lock_alone() const { return lock_local({1, 1}); }

  /// An atomic operation on a page of the own node. If none was measured, a fault on an own page (WROH) stands in for
  /// it: that is a trap too, whose handler changes the page's protection instead.
  Time atomic_own() const {
    return atomic_is_measured() ? costs_.atomic_own : costs_.fault[static_cast<std::size_t>(FaultKind::WROH)];
  }
  bool atomic_is_measured() const { return costs_.atomic_own > Time{}; }

  /// Cost of an action that depends on the number of threads. Between measured numbers it is interpolated linearly;
  /// below the first it is the first's; beyond the last it is extrapolated from the last two, but at least the last's.
  /// `which`: a protocol's own enumeration of Tables::costs_by_threads. Precondition: one was measured.
  template <typename Which>
  Time by_threads(Which which, std::uint32_t threads) const {
    return time_at(costs_.by_threads[static_cast<std::size_t>(which)], threads);
  }
  template <typename Which>
  bool is_measured(Which which, std::uint32_t threads) const {
    return costs_.by_threads[static_cast<std::size_t>(which)].contains(threads);
  }

  /// Whether the platform says how much that many threads of a node slow each other's memory down.
  bool memory_bus_is_measured(std::uint32_t threads) const {
    return threads <= 1 || costs_.memory_bus.contains(threads);
  }

  /// How many times as long computing takes with `threads` threads on its node as with one. `memory_bound`, 0 to 1, is
  /// the share of the one-thread time that waits for memory: it takes s times as long, and the rest keeps its time. s
  /// is 1 for one thread, else costs().memory_bus: interpolated linearly between measured numbers of threads; beyond
  /// the largest on the line of the last two, but not below the last. With none measured s is 1.
  double stretch(std::uint32_t threads, double memory_bound) const;

  /// Local parts below zero, where costs and reference network contradict each other; empty if there are none.
  std::vector<std::string> contradictions() const;

 private:
  static Time part(Time local, double share) {
    return Time{static_cast<std::int64_t>(static_cast<double>(local.count()) * share)};
  }
  Time reference_idle(Bytes payload) const { return idle_time(model_, costs_.reference, costs_.framing, payload); }
  /// Time that the messages of one synchronisation add to a barrier's overhead, which is measured with barriers in a
  /// row. Messages that wait for each other along the shape count both ways. Messages that queue on a receiver's cable
  /// count one way, as a process that is released later arrives later at the next barrier.
  Time synchronisation_messages(Layout team, const std::vector<LinkSpec>& route) const;
  static Time time_at(const std::map<std::uint32_t, Time>& measured, std::uint32_t threads);
  MessageTimes barrier_message(const std::vector<LinkSpec>& route, Time processor) const;
  Time lock_messages(Layout layout) const;

  Costs costs_;
  WireModel model_;
  std::vector<LinkSpec> route_;
  ProtocolKind protocol_;
  const Tables& tables_;
  std::array<Time, most_fault_kinds> fault_local_{};
};

}  // namespace sdsm
