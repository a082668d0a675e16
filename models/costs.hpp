/// What the protocol's actions cost on one machine. Measured totals come from a platform file; what of them is
/// processor time (the local part) is derived here, once, by taking off the time of their messages on the idle network
/// on which they were measured. The local part then holds on any network.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "models/barrier_shape.hpp"
#include "models/ids.hpp"
#include "models/page_state.hpp"
#include "models/units.hpp"
#include "models/wire.hpp"

namespace sdsm {

/// Measured and assumed numbers of one machine, as the platform file gives them.
struct Costs {
  std::array<Time, fault_kinds> fault{};  ///< uncontended, trap to resumed access; by FaultKind
  Time message_fixed{};                   ///< a diff or control message of b bytes, end to end and uncontended, takes
  Time message_per_byte{};                ///< message_fixed + b message_per_byte ("Send2" of [WR-opt])
  Time dirty_home_page{};                 ///< at a barrier, for each home page that the process wrote itself
  std::map<Layout, Time> barrier;         ///< EPCC overhead of an empty barrier
  BarrierShape barrier_shape = BarrierShape::flat;  ///< for layouts without one of these, and for other networks
  std::map<Layout, Time> lock;  ///< EPCC overhead of LOCK/UNLOCK: one hand-off, all threads contending

  double home_share = 0.5;  ///< of a local part, how much is the home's (receiver's) processor time. Assumed
  Time interrupt_delay{};   ///< before a computing home answers. Optional, uncalibrated
  /// By the number of a node's threads, from 2, that are all at it: a loop that only waits for memory takes so many
  /// times as long as with one thread. Optional.
  std::map<std::uint32_t, double> memory_bus;

  Framing framing;
  std::vector<LinkSpec> reference;  ///< route between two nodes of the network on which the above was measured
  Invalidation invalidation = Invalidation::all;
};

/// Costs on a given network, split into what the wire takes and what processors take.
class CostModel {
 public:
  /// `route`: between the two farthest nodes in use on the network simulated (for barriers); empty with one node.
  CostModel(Costs costs, WireModel model, std::vector<LinkSpec> route);

  const Costs& costs() const { return costs_; }

  /// Processor time of a fault: total minus its request and page reply on the idle reference network.
  Time fault_local(FaultKind kind) const { return fault_local_[static_cast<std::size_t>(kind)]; }

  /// Processor time of a diff or control message of `payload` bytes, both ends together.
  Time message_local(Bytes payload) const;

  /// The home's (receiver's) share of a local part; the rest is the requester's (sender's).
  Time home_part(Time local) const {
    return Time{static_cast<std::int64_t>(static_cast<double>(local.count()) * costs_.home_share)};
  }

  /// The three synchronisations of an empty barrier of a team laid out so; their sum is the barrier's cost. Measured
  /// layouts: the measured total, with its messages' time exchanged for that of the network simulated. Others: see
  /// barrier_is_measured.
  std::array<Time, 3> synchronisations(Layout team) const;

  /// Whether the platform gives a barrier for this layout. If not, the message-level model below is used:
  ///   3 synchronisations, each a gather to process 0 and a release from it: 2 gather_time() of the platform's shape,
  ///   with the idle time of a control message on the wire, its time on a link, its processor time; plus, per further
  ///   thread of a node, what 1x2 (or the nearest one-node layout) gives; times the ratio of measured to modelled of
  ///   the layouts measured with as many threads per node (else with the nearest number of them), interpolated over
  ///   nodes and held constant beyond them.
  bool barrier_is_measured(Layout team) const { return costs_.barrier.contains(team); }
  bool lock_is_measured(Layout layout) const { return costs_.lock.contains(layout); }

  /// Processor time of a lock's hand-off: EPCC's overhead minus the mean time of its messages on the idle reference
  /// network. All P threads contend and the lock goes round, manager process 0: a hand-off is a message to the manager
  /// unless the releaser is on its node, and one from it unless the next holder is. Layouts not measured: that of the
  /// nearest layout that is: a hand-off has at most two messages, whatever the number of nodes, so a lock has no shape.
  Time lock_local(Layout layout) const;

  /// Whether the platform says how much memory slows that many threads of a node down. One thread is alone.
  bool memory_bus_is_measured(std::uint32_t threads) const {
    return threads <= 1 || costs_.memory_bus.contains(threads);
  }

  /// How many times as long computing takes with `threads` threads on its node as alone. `memory_bound`, 0 to 1: the
  /// share of the time alone that waits for memory and takes s times as long; the rest is as fast as before. s is 1 for
  /// one thread, else costs().memory_bus; between numbers that are not measured it lies on the line between their
  /// neighbours, beyond the largest on the line of the last two, but not below the last. With none measured s is 1.
  double stretch(std::uint32_t threads, double memory_bound) const;

  /// Empty, or what is wrong: a local part below zero means that costs and reference network contradict each other.
  std::vector<std::string> contradictions() const;

 private:
  Time reference_idle(Bytes payload) const { return idle_time(model_, costs_.reference, costs_.framing, payload); }
  /// Of the three in a barrier's overhead, which is measured with barriers in a row: messages down the shape and up,
  /// and one after another on a receiver's cable. Only on one way: who is released later arrives later at the next one.
  Time synchronisation_messages(Layout team, const std::vector<LinkSpec>& route) const;
  MessageTimes barrier_message(const std::vector<LinkSpec>& route, Time processor) const;
  Time barrier_model(Layout team, const std::vector<LinkSpec>& route) const;
  Time lock_messages(Layout layout) const;

  Costs costs_;
  WireModel model_;
  std::vector<LinkSpec> route_;
  std::array<Time, fault_kinds> fault_local_{};
};

}  // namespace sdsm
