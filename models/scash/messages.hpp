/// The messages that processes of different nodes exchange, and their payloads. Within a node none are sent.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/ids.hpp"
#include "models/units.hpp"

namespace sdsm {

enum class MessageKind : std::uint8_t {
  page_request,     ///< RUMR, WUMR: asks the home for a page
  write_request,    ///< WROL, WROR, RROR, RRWR: to the home; nobody waits for an answer
  diff,             ///< a piece of a diff, to the home
  barrier_arrive,   ///< to process 0, three per barrier
  barrier_release,  ///< from process 0, three per barrier
  lock_request,     ///< to the lock's manager
  lock_grant,       ///< from the manager
  lock_release,     ///< to the manager
  atomic_request,   ///< an atomic operation, to the page's home
  atomic_reply,     ///< its outcome, from the home
};
inline constexpr std::size_t message_kinds = 10;
/// Results always have the kinds before this one, and the others only where such messages were sent.
inline constexpr std::size_t usual_message_kinds = static_cast<std::size_t>(MessageKind::atomic_request);

constexpr std::string_view name_of(MessageKind kind) {
  constexpr std::array<std::string_view, message_kinds> names{
      "page_request", "write_request", "diff",         "barrier_arrive", "barrier_release",
      "lock_request", "lock_grant",    "lock_release", "atomic_request", "atomic_reply"};
  return name_in(names, kind);
}

/// Payload of all messages but page replies and diffs: kind, sender, page or lock, number. Assumed, not from a source.
inline constexpr Bytes control_payload{32};
inline constexpr Bytes page_payload{4096};
/// A control message with the operation or its outcome (two values of 16 bytes, flags and the kind), as sdsm run sends
/// it.
inline constexpr Bytes atomic_payload{72};
/// Payload of an Ethernet frame (inferred): a longer diff goes in pieces, each paid for.
inline constexpr Bytes max_payload{1460};

}  // namespace sdsm
