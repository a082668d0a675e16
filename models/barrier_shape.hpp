/// The messages of one synchronisation of a barrier, and how long they take on an idle network. Every shape has two
/// phases: a gather to process 0, and a release back along the same ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "models/ids.hpp"
#include "models/units.hpp"

namespace sdsm {

enum class BarrierShape : std::uint8_t {
  /// Each process of another node sends process 0 a message and gets one, as this project's own DSM does.
  flat,
  /// A binomial tree of nodes: in level l = 1, 2, ... ceil(log2 N) each node whose number is an odd multiple of 2^(l-1)
  /// reports to the node 2^(l-1) before it. Processes of one node combine without messages.
  tree,
};

/// Times of a message: `wire` from end to end over the idle route, `link` on one link, `processor` at both ends.
struct MessageTimes {
  Time wire{};
  Time link{};
  Time processor{};
};

/// The node to which `node` reports in the tree. Precondition: `node` is not 0.
constexpr NodeId parent_in_tree(NodeId node) {
  return NodeId{index_of(node) & (index_of(node) - 1)};
}

/// The nodes that a barrier's members are on, and the most members on one. `members` ascend.
Layout layout_of(std::span<const ProcessId> members, Layout cluster);

/// The member, by its place in `members`, to which member `place` sends its messages; empty if it sends none. The first
/// member is the master, and its node is the tree's root; the others' nodes are numbered in their order.
std::optional<std::size_t> reports_to(std::size_t place, std::span<const ProcessId> members, Layout cluster,
                                      BarrierShape shape);

/// Messages that cross the network in one gather.
std::int64_t messages_of(BarrierShape shape, Layout team);

/// Messages of one gather that wait for each other in its longest chain: 1, or floor(log2 N) in the tree.
std::int64_t depth_of(BarrierShape shape, Layout team);

/// Time from the moment when all processes have arrived until process 0 has all messages. A receiver takes one message
/// after another, from its link and then with its processor:
///   flat: w + (k - 1) max(f, c) + c with k messages of wire w, link f, processor c;
///   tree: the same at each node; a node sends when it has received all of its own. With 2^L nodes: L (w + c).
/// A release is a gather run backwards and takes as long.
Time gather_time(BarrierShape shape, Layout team, const MessageTimes& message);

/// Times of barriers on the network on which some of them were measured.
struct BarrierModel {
  BarrierShape shape = BarrierShape::flat;
  MessageTimes message;             ///< a control message on that network; all zero without one
  std::map<Layout, Time> measured;  ///< EPCC overhead of an empty barrier

  /// From messages alone: 3 synchronisations, each a gather and a release. Each further thread of a node adds what
  /// layout 1x2 (or the nearest one-node layout) says.
  Time modelled(Layout team) const;

  /// modelled(), times the ratio of measured to modelled. The ratio is that of the layouts measured with as many
  /// threads per node (else with the nearest number of threads), interpolated over nodes and constant beyond them.
  Time extrapolated(Layout team) const;
};

}  // namespace sdsm
