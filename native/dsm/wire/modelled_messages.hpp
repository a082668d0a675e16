/// Which of this run-time's messages a protocol's model knows, and their lengths in the model.
#pragma once

#include <array>
#include <bit>
#include <optional>

#include "models/jiajia/messages.hpp"
#include "native/dsm/wire/identity.hpp"
#include "native/dsm/wire/wire.hpp"

namespace sdsm::dsm {

struct ModelOfMessages {
  /// As the protocol numbers its messages; none if it has no such message.
  std::optional<std::size_t> (*kind_of)(WireKind kind);
  bool (*is_modelled)(const Head& head);
  /// By the model's sizes, of a message that has not left yet; 0 if the model knows no such message.
  Bytes (*payload)(const Head& head);
};

constexpr Bytes scash_payload(const Head& head) {
  if (head.kind == WireKind::page_reply) return {head.bytes};
  // In single-writer mode it has copies' hashes beside, for which the model has no room.
  if (head.kind == WireKind::page_request) return control_payload + (head.value == 0 ? Bytes{head.bytes} : Bytes{0});
  if (head.kind == WireKind::flag_post || head.kind == WireKind::flag_wait) return control_payload;
  if (head.kind == WireKind::diff) return {std::bit_cast<DiffPiece>(head.value).bytes};
  return head.kind <= WireKind::lock_release ? control_payload : Bytes{0};
}

inline constexpr ModelOfMessages scash_messages{
    [](WireKind kind) -> std::optional<std::size_t> {
      if (kind == WireKind::flag_post) kind = WireKind::lock_release;
      if (kind == WireKind::flag_wait) kind = WireKind::lock_request;
      return kind <= WireKind::lock_release ? std::optional(static_cast<std::size_t>(kind)) : std::nullopt;
    },
    [](const Head& head) { return scash_payload(head).count > 0; }, scash_payload};
inline constexpr ModelOfMessages home_open_messages = scash_messages;
inline constexpr ModelOfMessages hardware_messages = scash_messages;  ///< has none

constexpr std::optional<jiajia::MessageKind> jiajia_message(WireKind kind) {
  using jiajia::MessageKind;
  switch (kind) {
    case WireKind::page_request: return MessageKind::GETP;
    case WireKind::page_reply: return MessageKind::GETPGRANT;
    case WireKind::diff: return MessageKind::DIFF;
    case WireKind::diff_grant: return MessageKind::DIFFGRANT;
    case WireKind::lock_request:
    case WireKind::flag_wait: return MessageKind::ACQ;
    case WireKind::lock_grant: return MessageKind::ACQGRANT;
    case WireKind::lock_release:
    case WireKind::flag_post: return MessageKind::REL;
    case WireKind::barrier_arrive: return MessageKind::BARR;
    case WireKind::barrier_release: return MessageKind::BARRGRANT;
    default: return std::nullopt;
  }
}

constexpr Bytes jiajia_payload(const Head& head) {
  const auto bytes = [](std::uint64_t count) { return Bytes{static_cast<std::int64_t>(count)}; };
  switch (head.kind) {
    case WireKind::page_request: return jiajia::header + jiajia::page_request_data + bytes(head.bytes);
    case WireKind::page_reply: return jiajia::header + jiajia::page_reply_data + bytes(head.bytes);
    case WireKind::diff: return jiajia::header + bytes(head.value);
    case WireKind::diff_grant: return jiajia::header;
    default: return jiajia_message(head.kind) ? bytes(head.ticket) : Bytes{0};
  }
}
inline constexpr ModelOfMessages jiajia_messages{
    [](WireKind kind) -> std::optional<std::size_t> {
      const auto message = jiajia_message(kind);
      return message ? std::optional(static_cast<std::size_t>(*message)) : std::nullopt;
    },
    [](const Head& head) { return jiajia_message(head.kind).has_value(); }, jiajia_payload};

inline const ModelOfMessages& messages_of(ProtocolKind kind) {
#define SDSM_MESSAGES_OF(name, why_not_run, meaning) &name##_messages,
  static constexpr std::array models{SDSM_PROTOCOLS(SDSM_MESSAGES_OF)};
#undef SDSM_MESSAGES_OF
  return *models[static_cast<std::size_t>(kind)];
}

/// Whether messages of this kind travel through the model's network.
inline bool is_modelled(const Head& head) {
  return messages_of(self.protocol).is_modelled(head);
}
inline Bytes modelled_payload(const Head& head) {
  return messages_of(self.protocol).payload(head);
}

/// Head::ticket of a message with so many notices before it leaves: its length in the model.
inline std::uint64_t modelled_notices(jiajia::MessageKind kind, std::uint64_t notices, bool of_others = false) {
  Bytes payload{0};
  for (const jiajia::Message& message : jiajia::with_notices(kind, notices, of_others)) {
    payload = payload + jiajia::header + message.data;
  }
  return static_cast<std::uint64_t>(payload.count);
}

}  // namespace sdsm::dsm
