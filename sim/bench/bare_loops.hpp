/// The least that a remote fault could cost the simulator with and without SimGrid. Each loop returns its number of
/// faults: think 0..200 us, request of 64 B, 20 us at a random home, page of 4096 B, 10 us at the requester.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sdsm::sim::bench {

/// The thread's actor waits for two S4U communications per fault.
std::uint64_t two_communications(const std::filesystem::path& platform, std::uint32_t nodes,
                                 std::uint64_t faults_per_node);

/// SimGrid timers drive our own FIFO queues: five timers per fault, no protocol, trace, account or actor switch.
std::uint64_t simgrid_timers(const std::filesystem::path& platform, std::uint32_t nodes, std::uint64_t faults_per_node);

/// A heap of the standard library holds the same five events: no SimGrid.
std::uint64_t event_heap(std::uint32_t nodes, std::uint64_t faults_per_node);

}  // namespace sdsm::sim::bench
