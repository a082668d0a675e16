/// Which of this run-time's messages the protocol's model knows, and their lengths in the model.
#pragma once

#include <cstddef>
#include <optional>

#include "models/protocol/kinds.hpp"
#include "models/units.hpp"
#include "native/dsm/wire/threads.hpp"
#include "native/dsm/wire/wire.hpp"

namespace sdsm::dsm {

/// Of a message that results do not count by its kind.
inline constexpr std::size_t unnumbered = most_message_kinds;

struct ModelOfMessages {
  /// As the protocol numbers its messages, or `unnumbered`; none if it has no such message, which then takes no time on
  /// an emulated network.
  std::optional<std::size_t> (*kind_of)(WireKind kind);
  /// Payload by the model's sizes, of a message that has not left yet.
  Bytes (*payload)(const Head& head);
};
/// The run's protocol's.
inline constinit const ModelOfMessages* model_at_start GUARDED_BY(starting) = nullptr;

inline std::optional<std::size_t> modelled_kind(const Head& head) NO_THREAD_SAFETY_ANALYSIS {
  return model_at_start->kind_of(head.kind);
}
/// 0 if the model knows no such message.
inline Bytes modelled_payload(const Head& head) NO_THREAD_SAFETY_ANALYSIS {
  return modelled_kind(head) ? model_at_start->payload(head) : Bytes{0};
}

}  // namespace sdsm::dsm
