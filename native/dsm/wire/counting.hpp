/// This process's counts. Its application thread counts what it asks of others, the thread that handles a request what
/// it does for others.
#pragma once

#include "models/jiajia/messages.hpp"
#include "models/scash/messages.hpp"
#include "native/dsm/wire/identity.hpp"
#include "native/dsm/wire/tally.hpp"

namespace sdsm::dsm {

inline constinit Tally asked GUARDED_BY(application){};
inline constinit Tally served GUARDED_BY(handling){};

/// Tasks, as Result has them.
struct TasksRun {
  std::uint64_t count = 0;
  std::uint64_t regions = 0;
};
inline constinit TasksRun tasks_run GUARDED_BY(application){};

/// The sum of both, taken at time `ns`.
inline Tally tally_at(std::uint64_t ns) REQUIRES(application) EXCLUDES(handling) {
  const Held nothing_is_handled(handling);
  Tally taken = asked + served;
  taken.now_ns = ns;
  return taken;
}

/// Counts a message if `to` is on another node. `kind`: as the protocol numbers them.
inline void count_message_of_kind(ProcessId to, std::size_t kind, std::uint64_t bytes) REQUIRES(application) {
  if (is_on_own_node(to)) return;
  ++asked.messages_by_kind[kind];
  ++asked.messages;
  asked.bytes += bytes;
}
inline void count_message(ProcessId to, MessageKind kind, std::uint64_t bytes) REQUIRES(application) {
  count_message_of_kind(to, static_cast<std::size_t>(kind), bytes);
}
inline void count_message(ProcessId to, jiajia::MessageKind kind, Bytes bytes) REQUIRES(application) {
  count_message_of_kind(to, static_cast<std::size_t>(kind), static_cast<std::uint64_t>(bytes.count));
}

/// Counts a diff of this process's changes that the service thread sends.
inline void count_late_diff(ProcessId home, std::uint64_t bytes) REQUIRES(handling) {
  ++served.diffs;
  served.diff_bytes += bytes;
  if (is_on_own_node(home)) return;
  ++served.messages_by_kind[static_cast<std::size_t>(MessageKind::diff)];
  ++served.messages;
  served.bytes += bytes;
}

/// Counts an answer if `to` is on another node.
inline void count_served(ProcessId to, std::uint64_t bytes) REQUIRES(handling) {
  if (is_on_own_node(to)) return;
  ++served.served;
  served.served_bytes += bytes;
}
inline void count_served_of_kind(ProcessId to, std::size_t kind, std::uint64_t bytes) REQUIRES(handling) {
  if (is_on_own_node(to)) return;
  ++served.messages_by_kind[kind];
  count_served(to, bytes);
}
inline void count_served(ProcessId to, MessageKind kind, std::uint64_t bytes) REQUIRES(handling) {
  count_served_of_kind(to, static_cast<std::size_t>(kind), bytes);
}
inline void count_served(ProcessId to, jiajia::MessageKind kind, Bytes bytes) REQUIRES(handling) {
  count_served_of_kind(to, static_cast<std::size_t>(kind), static_cast<std::uint64_t>(bytes.count));
}

}  // namespace sdsm::dsm
