#include <fmt/core.h>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <stdexcept>

#include "models/scash/messages.hpp"
#include "platforms/file/platform.hpp"
#include "sim/network.hpp"

namespace sdsm::sim {
namespace {

/// Compares runs of digits as numbers: "node-2" before "node-10".
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

std::vector<simgrid::s4u::Host*> sorted_hosts(const simgrid::s4u::Engine& engine) {
  std::vector<simgrid::s4u::Host*> hosts = engine.get_all_hosts();
  std::sort(hosts.begin(), hosts.end(), [](auto* a, auto* b) { return natural_less(a->get_name(), b->get_name()); });
  return hosts;
}

}  // namespace

Topology::Topology(simgrid::s4u::Engine& engine, std::size_t most) : hosts_(sorted_hosts(engine)) {
  if (hosts_.size() > most) {
    std::map<std::string, std::vector<std::size_t>> of_zone;
    for (std::size_t i = 0; i < hosts_.size(); ++i) of_zone[hosts_[i]->get_englobing_zone()->get_name()].push_back(i);
    std::set<std::size_t> chosen;
    for (const auto& [zone, places] : of_zone) {
      if (chosen.size() < most / 2) chosen.insert({places.front(), places[places.size() > 1 ? 1 : 0], places.back()});
    }
    for (std::size_t i = 0; i < most / 2; ++i) chosen.insert(i * hosts_.size() / (most / 2));
    std::vector<simgrid::s4u::Host*> some;
    for (const std::size_t i : chosen) some.push_back(hosts_[i]);
    hosts_ = std::move(some);
  }
  route_at_.assign(hosts_.size() * hosts_.size(), 0);
}

Topology::Topology(simgrid::s4u::Engine& engine, std::uint32_t nodes, std::uint32_t threads_per_node)
    : hosts_(sorted_hosts(engine)) {
  if (hosts_.size() < nodes) {
    throw TooSmall(fmt::format(
        "the platform has {0} host{2}, but {1} nodes were asked for, and each node is a host. Use --nodes {0}{3}, "
        "or write a larger platform: sdsm platform new --nodes {1} --network NETWORK --from THIS -o FILE",
        hosts_.size(), nodes, hosts_.size() == 1 ? "" : "s", hosts_.size() == 1 ? "" : " or fewer"));
  }
  hosts_.resize(nodes);
  for (auto* host : hosts_) {
    if (static_cast<std::uint32_t>(host->get_core_count()) < threads_per_node) {
      throw TooSmall(
          fmt::format("host '{}' has {} core{}, but {} threads per node were asked for, and each thread has a core to "
                      "itself. Use more nodes with fewer threads on each, or give the host core=\"{}\"",
                      host->get_name(), host->get_core_count(), host->get_core_count() == 1 ? "" : "s",
                      threads_per_node, threads_per_node));
    }
  }
  route_at_.assign(std::size_t{nodes} * nodes, 0);
  if (nodes <= 64) find_all_routes();
}

void Topology::find_all_routes() const {
  for (std::uint32_t from = 0; from < nodes(); ++from) {
    for (std::uint32_t to = 0; to < nodes(); ++to) route(NodeId{from}, NodeId{to});
  }
}

std::span<const std::uint32_t> Topology::route(NodeId from, NodeId to) const {
  if (from == to) return {};
  std::uint32_t& at = route_at_[std::size_t{index_of(from)} * nodes() + index_of(to)];
  if (at == 0) at = look_up(index_of(from), index_of(to));
  return {route_links_.data() + at + 1, route_links_[at]};
}

std::uint32_t Topology::look_up(std::uint32_t from, std::uint32_t to) const {
  std::vector<simgrid::s4u::Link*> links;
  double latency = 0;
  try {
    hosts_[from]->route_to(hosts_[to], links, &latency);
  } catch (const std::exception&) {
    links.clear();
  }
  if (links.empty()) {
    throw std::invalid_argument(fmt::format("no route from '{}' to '{}'. Add a <route>, or use fewer --nodes",
                                            hosts_[from]->get_name(), hosts_[to]->get_name()));
  }
  const auto at = static_cast<std::uint32_t>(route_links_.size());
  route_links_.push_back(static_cast<std::uint32_t>(links.size()));
  for (auto* link : links) {
    const auto [entry, fresh] = known_.emplace(link, static_cast<std::uint32_t>(links_.size()));
    if (fresh) {
      if (!(link->get_bandwidth() >= least_bandwidth) ||
          !(link->get_latency() >= 0 && link->get_latency() <= most_latency)) {
        throw std::invalid_argument(
            fmt::format("link '{}' has {} bytes per second and a latency of {} s. Give it at least {} "
                        "bytes per second and at most {} s",
                        link->get_name(), link->get_bandwidth(), link->get_latency(), least_bandwidth, most_latency));
      }
      links_.push_back({{{link->get_bandwidth()}, from_seconds(link->get_latency())},
                        link->get_sharing_policy() != simgrid::s4u::Link::SharingPolicy::FATPIPE,
                        link->get_name()});
    }
    route_links_.push_back(entry->second);
  }
  return at;
}

std::vector<LinkSpec> Topology::longest_route(WireModel model, const Framing& framing) const {
  std::vector<LinkSpec> longest;
  Time most{-1};
  for (std::uint32_t node = 1; node < nodes(); ++node) {
    std::vector<LinkSpec> candidate;
    for (const std::uint32_t index : route(NodeId{node}, NodeId{0})) candidate.push_back(link(index).spec);
    if (const Time idle = idle_time(model, candidate, framing, control_payload); idle > most) {
      most = idle;
      longest = std::move(candidate);
    }
  }
  return longest;
}

}  // namespace sdsm::sim
