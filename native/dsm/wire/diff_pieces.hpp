/// Splits a diff into pieces that fit into messages, which travel one after another.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "native/dsm/wire/diff.hpp"
#include "native/dsm/wire/wire.hpp"
#include "native/guest/runtime/thread_safety.hpp"

namespace sdsm::dsm {

/// Bytes of the twin's words that travel with the first `sent` bytes of a diff: each piece takes its share of them.
inline std::uint32_t twin_share(const EncodedDiff& encoded, std::uint32_t sent) {
  return static_cast<std::uint32_t>(std::uint64_t{encoded.twin_bytes()} * sent / encoded.bytes);
}

/// Calls `send` with the head and the payload of each piece.
template <typename Send>
void for_each_piece(const std::byte* diff, const std::byte* twin_words, const EncodedDiff& encoded,
                    Send send) NO_THREAD_SAFETY_ANALYSIS {
  constexpr auto most = static_cast<std::uint32_t>(max_payload.count);
  const std::uint32_t bytes = encoded.bytes;
  for (std::uint32_t sent = 0; sent < bytes;) {
    const std::uint32_t piece = std::min(most, bytes - sent);
    const std::uint32_t twin_begin = twin_share(encoded, sent);
    const std::uint32_t twin_piece = twin_share(encoded, sent + piece) - twin_begin;
    std::byte payload[2 * most + 1];
    std::memcpy(payload, diff + sent, piece);
    std::memcpy(payload + piece, twin_words + twin_begin, twin_piece);
    const DiffPiece sizes{bytes, encoded.twin_bytes(), static_cast<std::uint16_t>(piece)};
    send(Head{.kind = WireKind::diff,
              .bytes = piece + twin_piece,
              .address = sent,
              .value = std::bit_cast<std::uint64_t>(sizes)},
         payload);
    sent += piece;
  }
}

}  // namespace sdsm::dsm
