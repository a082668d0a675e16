/// Who sends whom a message in one synchronisation of a barrier, and how long that takes on an idle network. Every
/// shape has two phases, a gather to process 0 and a release that takes the same ways back.
#pragma once

#include <cstdint>

#include "models/ids.hpp"
#include "models/units.hpp"

namespace sdsm {

enum class BarrierShape : std::uint8_t {
  /// Each process of another node sends process 0 a message and gets one: what this project's protocol does.
  flat,
  /// Nodes combine along a binomial tree: in level l = 1, 2, ... ceil(log2 N) each node whose number is an odd multiple
  /// of 2^(l-1) reports to the node 2^(l-1) before it, so that a node takes in at most one message a level (fan-in 2
  /// with what it has itself). Processes of one node combine without messages.
  tree,
};

/// What a message takes: `wire` from end to end over the idle route, `link` of it on one link, `processor` at its ends.
struct MessageTimes {
  Time wire{};
  Time link{};
  Time processor{};
};

/// The node to which one reports in the tree. Precondition: not node 0.
constexpr NodeId parent_in_tree(NodeId node) {
  return NodeId{index_of(node) & (index_of(node) - 1)};
}

/// Messages that cross the network in one gather.
std::int64_t messages_of(BarrierShape shape, Layout team);

/// The most messages that wait for each other, one after the other, in one gather: 1, or floor(log2 N) in the tree.
std::int64_t depth_of(BarrierShape shape, Layout team);

/// From the moment when all are there until process 0 has all messages. Who receives takes one message after another,
/// from its link and then with its processor:
///   flat: w + (k - 1) max(f, c) + c with k messages of wire w, link f, processor c;
///   tree: the same at each node, of messages that come when their senders have theirs; with 2^L nodes L (w + c).
/// A release is a gather run backwards and takes as long.
Time gather_time(BarrierShape shape, Layout team, const MessageTimes& message);

}  // namespace sdsm
