/// The microbenchmarks that a platform was calibrated from, re-run inside the simulator: each fault alone, EPCC's loops
/// around an empty barrier and around a lock, releases with diffs of several sizes, barriers after writes of home
/// pages, memory-bound loops, messages by size as NetPIPE and others time them. What comes out must be what the
/// platform file says.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/messages.hpp"
#include "sim/simulation.hpp"

namespace sdsm::sim {

struct Replayed {
  /// The property of the platform file: "fault.RUMR", "barrier.4x1", "lock.2x1"; or "release.64" (changed words),
  /// "network.4096" (bytes), "network.stream.4096".
  std::string what;
  Layout layout;              ///< of the re-run
  std::optional<Time> given;  ///< by the platform file, on its reference network; none for a layout that it lacks
  Time simulated{};           ///< on the platform's own network
};

inline constexpr std::array<std::string_view, 6> replay_groups{"fault",   "barrier",    "lock",
                                                               "release", "memory-bus", "network"};

/// What is re-run beside the costs that the platform gives.
struct ReplayRequest {
  std::set<std::string> groups{};  ///< of replay_groups; empty: all
  std::set<Layout> layouts{};      ///< of which barriers and locks are re-run though the platform may not give them
  std::vector<Bytes> messages{control_payload, max_payload, page_payload};  ///< one at a time, "network.N"
  std::vector<Bytes> streams{};  ///< each of many sent at once, "network.stream.N"
};
/// So that the time of no message comes near to what a run can last on a network of some speed.
inline constexpr Bytes most_message_bytes{std::int64_t{1} << 40};

/// Every fault, each barrier and lock of the platform, releases, dirty home pages, a millisecond of memory-bound
/// computing for each number of threads it tells of, and messages, if its hosts have room for them. Each runs in a
/// child process, as SimGrid allows one engine per process: call it before any engine exists. `skipped` names what
/// there was no room for.
std::vector<Replayed> replay_microbenchmarks(const Platform& platform, NetworkKind network,
                                             std::vector<std::string>* skipped = nullptr,
                                             const ReplayRequest& request = {});

/// The programs themselves. Times between events are 1 ms for faults and 10 us (EPCC's delay) in loops.
/// Each result is the difference of two runs of which one repeats twice as often: what a run pays once (starting and
/// ending the team) drops out. Of a fault: the mean time that the thread which met it was charged for its kind.
Time replay_fault(const Platform& platform, NetworkKind network, FaultKind kind, std::uint32_t faults);
Time replay_barrier(const Platform& platform, NetworkKind network, Layout layout, std::uint32_t repetitions);
Time replay_lock(const Platform& platform, NetworkKind network, Layout layout, std::uint32_t repetitions_per_thread);
/// What a release waits for the diff of one page, on two nodes: a run of `words` changed words, home on the other node.
Time replay_release(const Platform& platform, NetworkKind network, std::uint16_t words, std::uint32_t releases);
/// What a barrier takes for each of `pages` home pages that their owner wrote before it.
Time replay_dirty_pages(const Platform& platform, NetworkKind network, std::uint32_t pages, std::uint32_t barriers);
/// What a millisecond of memory-bound computing takes with that many threads of one node at it.
Time replay_memory_bus(const Platform& platform, NetworkKind network, std::uint32_t threads, std::uint32_t loops);
/// One way over the idle route from node 1 to node 0, without the processors' parts.
std::vector<Time> replay_messages(const Platform& platform, NetworkKind network, const std::vector<Bytes>& payloads);
/// For how long each of many messages that were sent at once keeps the next one waiting.
std::vector<Time> replay_streams(const Platform& platform, NetworkKind network, const std::vector<Bytes>& payloads);

}  // namespace sdsm::sim
