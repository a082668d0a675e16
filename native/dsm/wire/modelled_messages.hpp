/// Which of this run-time's messages the protocol's model knows, and their lengths in the model.
#pragma once

#include "models/jiajia/messages.hpp"
#include "native/dsm/wire/identity.hpp"
#include "native/dsm/wire/wire.hpp"

namespace sdsm::dsm {

/// Whether messages of this kind travel through the model's network.
inline bool is_modelled(const Head& head) {
  return plays_jiajia() ? jiajia_message(head.kind).has_value() : payload_of(head).count > 0;
}

/// The payload, by the model's sizes, of a message that has not left yet; 0 if the model knows no such message.
inline Bytes modelled_payload(const Head& head) {
  if (!plays_jiajia()) return payload_of(head);
  const auto bytes = [](std::uint64_t count) { return Bytes{static_cast<std::int64_t>(count)}; };
  switch (head.kind) {
    case WireKind::page_request: return jiajia::header + jiajia::page_request_data + bytes(head.bytes);
    case WireKind::page_reply: return jiajia::header + jiajia::page_reply_data + bytes(head.bytes);
    case WireKind::diff: return jiajia::header + bytes(head.value);
    case WireKind::diff_grant: return jiajia::header;
    default: return is_modelled(head) ? bytes(head.ticket) : Bytes{0};
  }
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
