/// The table of networks that can be simulated, one row each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/network.hpp"

namespace sdsm::sim {

/// A row has the name, the model of a message's idle time (models/wire.hpp), whether the simulator alone uses SimGrid's
/// clock (Clock::Alone), and the text in --help. Each network's file defines make_NAME_network.
// clang-format off
#define SDSM_NETWORKS(row)                                                 \
  row(queue, store_and_forward, yes, "store-and-forward FIFO ports, fast") \
  row(simgrid, flow, no, "SimGrid's own")
// clang-format on

#define SDSM_NETWORK_KIND(name, model, alone, meaning) name,
enum class NetworkKind : std::uint8_t { SDSM_NETWORKS(SDSM_NETWORK_KIND) };
#undef SDSM_NETWORK_KIND

struct NetworkRow {
  NetworkKind kind;
  std::string_view name;
  WireModel model;
  Clock::Alone alone;
  std::string_view meaning;
  std::unique_ptr<Network> (*make)(Clock& clock, const Topology& topology, const Framing& framing);
};

/// Rows in the order of NetworkKind.
std::span<const NetworkRow> network_rows();

inline const NetworkRow& row_of(NetworkKind kind) {
  return network_rows()[static_cast<std::size_t>(kind)];
}
inline std::string_view name_of(NetworkKind kind) {
  return row_of(kind).name;
}

/// Precondition: a network has that name.
NetworkKind network_named(std::string_view name);

/// All names for options, and "NAME: what it is; ...".
std::vector<std::string> network_names();
std::string describe_networks();

}  // namespace sdsm::sim
