/// Re-runs in the simulator the microbenchmarks that calibrate a platform: each fault alone, EPCC's loops around an
/// empty barrier and around a lock, releases with diffs of several sizes, barriers after writes of home pages,
/// memory-bound loops, messages by size as NetPIPE and others time them. The results must match the platform file.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/scash/messages.hpp"
#include "sim/simulation.hpp"

namespace sdsm::sim {

struct Replayed {
  /// The property of the platform file: "fault.RUMR", "barrier.4x1", "lock.2x1"; or "release.64" (changed words),
  /// "network.4096" (bytes), "network.stream.4096".
  std::string what;
  Layout layout;              ///< of the re-run
  std::optional<Time> given;  ///< in the platform file, on its reference network; none for a layout that it lacks
  Time simulated{};           ///< on the platform's own network
};

inline constexpr std::array<std::string_view, 6> replay_groups{"fault",   "barrier",    "lock",
                                                               "release", "memory-bus", "network"};

/// Selects what to re-run.
struct ReplayRequest {
  std::set<std::string> groups{};  ///< names from replay_groups; empty: all
  std::set<Layout> layouts{};      ///< re-run barriers and locks of these, even if the platform lacks them
  std::vector<Bytes> messages{control_payload, max_payload, page_payload};  ///< sizes sent one at a time, "network.N"
  std::vector<Bytes> streams{};  ///< sizes of messages sent in a burst, "network.stream.N"
};
/// Keeps any message far below the 104-day limit of a run, on a network of reasonable speed.
inline constexpr Bytes most_message_bytes{std::int64_t{1} << 40};

/// Re-runs every fault, each barrier and lock of the platform, releases, dirty home pages, messages, and a millisecond
/// of memory-bound computing for each number of threads that the platform gives. `skipped` receives what the platform
/// has too few hosts or cores for. Each benchmark runs in a child process, as SimGrid allows one engine per process:
/// call this before any engine exists.
std::vector<Replayed> replay_microbenchmarks(const Platform& platform, NetworkKind network,
                                             std::vector<std::string>* skipped = nullptr,
                                             const ReplayRequest& request = {});

/// The benchmarks. Threads compute 1 ms between faults, and 10 us (EPCC's delay) in loops. Each result is the
/// difference of two runs, one with twice the repetitions, so that one-time costs (starting and ending the team)
/// cancel. A fault's result is its kind's mean time in the thread's account.
Time replay_fault(const Platform& platform, NetworkKind network, FaultKind kind, std::uint32_t faults);
Time replay_barrier(const Platform& platform, NetworkKind network, Layout layout, std::uint32_t repetitions);
Time replay_lock(const Platform& platform, NetworkKind network, Layout layout, std::uint32_t repetitions_per_thread);
/// Time that a release waits for the diff of one page at home on the other node: one run of `words` changed words.
Time replay_release(const Platform& platform, NetworkKind network, std::uint16_t words, std::uint32_t releases);
/// A barrier's time for each of `pages` home pages that their owner wrote before it.
Time replay_dirty_pages(const Platform& platform, NetworkKind network, std::uint32_t pages, std::uint32_t barriers);
/// A barrier's extra time for each of `runs` separate home pages beyond the first that their owner wrote before it,
/// compared with as many adjacent pages.
Time replay_further_runs(const Platform& platform, NetworkKind network, std::uint32_t runs, std::uint32_t barriers);
/// Time of a millisecond of memory-bound computing on each of `threads` threads of one node.
Time replay_memory_bus(const Platform& platform, NetworkKind network, std::uint32_t threads, std::uint32_t loops);
/// Times one way over the idle route from node 1 to node 0, without the processors' parts.
std::vector<Time> replay_messages(const Platform& platform, NetworkKind network, const std::vector<Bytes>& payloads);
/// Time that one of many messages sent at once delays the next, for each payload.
std::vector<Time> replay_streams(const Platform& platform, NetworkKind network, const std::vector<Bytes>& payloads);

}  // namespace sdsm::sim
