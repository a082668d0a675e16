/// What the simulator's speed is compared with: the least that a remote fault could cost with and without SimGrid. The
/// same faults everywhere: think 0..200 us, request of 64 B, 20 us at the home, page of 4096 B, 10 us at the requester;
/// homes at random. Each returns the number of faults done.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sdsm::sim::bench {

/// Two S4U communications per fault, waited for by the thread's actor.
std::uint64_t two_communications(const std::filesystem::path& platform, std::uint32_t nodes,
                                 std::uint64_t faults_per_node);

/// SimGrid timers with FIFO queues of our own: five timers per fault, no protocol, no trace, no account, no actor
/// switch.
std::uint64_t simgrid_timers(const std::filesystem::path& platform, std::uint32_t nodes, std::uint64_t faults_per_node);

/// The same five events on a heap of the standard library: no SimGrid.
std::uint64_t event_heap(std::uint32_t nodes, std::uint64_t faults_per_node);

}  // namespace sdsm::sim::bench
