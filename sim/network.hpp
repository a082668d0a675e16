/// The cluster's network carries messages between nodes.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/ids.hpp"
#include "models/wire.hpp"
#include "sim/clock.hpp"

namespace sdsm::timelines {
class Timeline;
}

namespace sdsm::sim {

class Network {
 public:
  virtual ~Network() = default;

  /// Sends `payload` now; calls `arrived` with its last bit, at once within a node. Links serve in order of arrival.
  virtual void send(NodeId from, NodeId to, Bytes payload, std::function<void()> arrived) = 0;

  timelines::Timeline* timeline = nullptr;  ///< shows how many messages wait for each link, if the network knows
};

/// The platform has too few hosts or cores.
class TooSmall : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Links and routes between the nodes, from SimGrid's platform; routes at their first use: 1000 nodes have a million.
class Topology {
 public:
  /// Throws TooSmall if the engine's platform has fewer than `nodes` hosts, or one of them has fewer than
  /// `threads_per_node` cores. With up to 64 nodes, the constructor finds a missing route; with more, the route's first
  /// use does.
  Topology(simgrid::s4u::Engine& engine, std::uint32_t nodes, std::uint32_t threads_per_node);
  /// All hosts are nodes; of more than `most` hosts, the first two and the last of each zone, and each n-th of all.
  Topology(simgrid::s4u::Engine& engine, std::size_t most);

  struct Link {
    LinkSpec spec;
    bool exclusive;  ///< false: a FATPIPE link, on which messages do not compete
    std::string name;
  };

  simgrid::s4u::Host* host(NodeId node) const { return hosts_[index_of(node)]; }
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(hosts_.size()); }
  const Link& link(std::uint32_t index) const { return links_[index]; }
  std::size_t link_count() const { return links_.size(); }

  /// Returns the indices of the links from one node to another, in order; none within a node. Valid until the next call
  /// that looks up a new route. Throws std::invalid_argument if there is no route.
  std::span<const std::uint32_t> route(NodeId from, NodeId to) const;

  /// Looks up the routes of all pairs of nodes. Throws as route() does.
  void find_all_routes() const;

  /// Returns the route from node 0 to the node farthest from it, by idle time of a small message; empty with one node.
  std::vector<LinkSpec> longest_route(WireModel model, const Framing& framing) const;

 private:
  std::uint32_t look_up(std::uint32_t from, std::uint32_t to) const;

  std::vector<simgrid::s4u::Host*> hosts_;  ///< sorted by name, with numbers in names compared as numbers
  // Filled at each route's first use:
  mutable std::vector<Link> links_;
  mutable std::unordered_map<simgrid::s4u::Link*, std::uint32_t> known_;
  mutable std::vector<std::uint32_t>
      route_at_;  ///< [from * nodes + to]: place in route_links_ of a count and as many links
  mutable std::vector<std::uint32_t> route_links_{0};
};

}  // namespace sdsm::sim
