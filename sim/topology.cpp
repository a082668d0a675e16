#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>

#include "models/messages.hpp"
#include "sim/network.hpp"

namespace sdsm::sim {
namespace {

/// "node-2" before "node-10": runs of digits compare as numbers.
bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const auto number = [&](const std::string& s, std::size_t& at) {
        while (at + 1 < s.size() && s[at] == '0' && digit(s[at + 1])) ++at;
        const std::size_t begin = at;
        while (at < s.size() && digit(s[at])) ++at;
        return s.substr(begin, at - begin);
      };
      const std::string x = number(a, i), y = number(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

}  // namespace

std::vector<LinkSpec> Topology::route(NodeId from, NodeId to) const {
  std::vector<LinkSpec> specs;
  for (const std::uint32_t link : routes[index_of(from)][index_of(to)]) specs.push_back(links[link]);
  return specs;
}

std::vector<LinkSpec> Topology::longest_route(WireModel model, const Framing& framing) const {
  std::vector<LinkSpec> longest;
  Time most{-1};
  for (std::uint32_t node = 1; node < hosts.size(); ++node) {
    std::vector<LinkSpec> candidate = route(NodeId{node}, NodeId{0});
    if (const Time idle = idle_time(model, candidate, framing, control_payload); idle > most) {
      most = idle;
      longest = std::move(candidate);
    }
  }
  return longest;
}

Topology read_topology(simgrid::s4u::Engine& engine, std::uint32_t nodes, std::uint32_t threads_per_node) {
  Topology topology;
  topology.hosts = engine.get_all_hosts();
  std::sort(topology.hosts.begin(), topology.hosts.end(),
            [](auto* a, auto* b) { return natural_less(a->get_name(), b->get_name()); });
  if (topology.hosts.size() < nodes) {
    throw std::invalid_argument(fmt::format("the platform has {} hosts, {} nodes were asked for. Use --nodes {} or a larger "
                                            "platform",
                                            topology.hosts.size(), nodes, topology.hosts.size()));
  }
  topology.hosts.resize(nodes);
  for (auto* host : topology.hosts) {
    if (host->get_core_count() < static_cast<int>(threads_per_node)) {
      throw std::invalid_argument(fmt::format("host '{}' has {} cores, {} threads per node were asked for. Use more nodes, or "
                                              "give the host more cores",
                                              host->get_name(), host->get_core_count(), threads_per_node));
    }
  }
  std::map<simgrid::s4u::Link*, std::uint32_t> known;
  topology.routes.resize(nodes);
  for (std::uint32_t from = 0; from < nodes; ++from) {
    topology.routes[from].resize(nodes);
    for (std::uint32_t to = 0; to < nodes; ++to) {
      if (from == to) continue;
      std::vector<simgrid::s4u::Link*> links;
      double latency = 0;
      auto* const source = topology.hosts[from];
      auto* const target = topology.hosts[to];
      try {
        source->route_to(target, links, &latency);
      } catch (const std::exception&) {
        links.clear();
      }
      if (links.empty()) {
        throw std::invalid_argument(fmt::format("no route from '{}' to '{}'. Add a <route>, or use fewer --nodes",
                                                source->get_name(), target->get_name()));
      }
      for (auto* link : links) {
        const auto [entry, fresh] = known.emplace(link, static_cast<std::uint32_t>(topology.links.size()));
        if (fresh) {
          topology.links.push_back({{link->get_bandwidth()}, from_seconds(link->get_latency())});
          topology.exclusive.push_back(link->get_sharing_policy() != simgrid::s4u::Link::SharingPolicy::FATPIPE);
        }
        topology.routes[from][to].push_back(entry->second);
      }
    }
  }
  return topology;
}

}  // namespace sdsm::sim
