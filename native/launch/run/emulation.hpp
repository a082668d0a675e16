/// Reads a platform file and a trace for `sdsm run --emulate`: the network, and how long each thread computes.
#pragma once

#include <filesystem>
#include <optional>

#include "commands/descriptor.hpp"
#include "models/ids.hpp"
#include "models/protocol/registry.hpp"
#include "native/dsm/timing/emulation.hpp"
#include "workloads/trace/compute_scale.hpp"

namespace sdsm::run_command {

struct EmulationRequest {
  std::filesystem::path platform;
  std::optional<std::filesystem::path> trace;  ///< none: computing takes as long as it takes
  trace::ComputeScale scale;
};

/// What the processes of a run inherit, and the files behind it.
struct EmulatedCluster {
  dsm::Emulation emulation;
  commands::Descriptor wires;
  commands::Descriptor schedule;
};

/// Reads the platform's reference network (its properties reference.* and frame.*): a cable from every node to one
/// switch. Throws PlatformError, std::invalid_argument if that network, or the protocol's way of sending there, cannot
/// be emulated or the trace is of another number of threads, or too old for pages of that size, trace::FormatError,
/// std::system_error.
EmulatedCluster emulate(const EmulationRequest& request, const Layout& layout, ProtocolKind protocol, Bytes page);

}  // namespace sdsm::run_command
