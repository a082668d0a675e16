/// The cluster's network behind one interface: what it is asked is to bring a message from a node to a node.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "models/ids.hpp"
#include "models/wire.hpp"
#include "sim/clock.hpp"

namespace sdsm::sim {

class Network {
 public:
  virtual ~Network() = default;

  /// Sends `payload` bytes now and calls `arrived` when the last bit is there; at once if both are one node. Messages
  /// compete for links first come, first served.
  virtual void send(NodeId from, NodeId to, Bytes payload, std::function<void()> arrived) = 0;

  virtual WireModel model() const = 0;
};

/// Links and routes between the nodes in use, read from SimGrid's platform.
struct Topology {
  std::vector<simgrid::s4u::Host*> hosts;  ///< node i is hosts[i]; by name, numbers in names compared as numbers
  std::vector<LinkSpec> links;
  std::vector<bool> exclusive;  ///< false: a FATPIPE link, on which messages do not compete
  std::vector<std::vector<std::vector<std::uint32_t>>> routes;  ///< [from][to]: indices into links, in order

  std::vector<LinkSpec> route(NodeId from, NodeId to) const;
  /// Between node 0 and the node farthest from it by idle time of a small message; empty with one node.
  std::vector<LinkSpec> longest_route(WireModel model, const Framing& framing) const;
};

/// Precondition: the engine's platform is loaded. Throws std::invalid_argument if it has fewer hosts than `nodes`, too
/// few cores for `threads_per_node`, or a pair of nodes without a route.
Topology read_topology(simgrid::s4u::Engine& engine, std::uint32_t nodes, std::uint32_t threads_per_node);

/// Store and forward: each link is a FIFO port, reserved when a message's first frame reaches it.
std::unique_ptr<Network> make_queue_network(Clock& clock, const Topology& topology, const Framing& framing);

/// SimGrid's own communications, links limited to one message at a time. Slower; the reference.
std::unique_ptr<Network> make_simgrid_network(Clock& clock, const Topology& topology, const Framing& framing);

}  // namespace sdsm::sim
