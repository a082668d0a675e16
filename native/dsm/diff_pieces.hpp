/// A diff travels in pieces of what a message holds, one after another.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "native/dsm/diff.hpp"
#include "native/dsm/wire.hpp"
#include "native/program/thread_safety.hpp"

namespace sdsm::dsm {

/// Calls `send` with the head and the payload of each. A piece takes its share of the twin's words, and the first one
/// says how many `answers` the home counts.
template <typename Send>
void for_each_piece(const std::byte* diff, const std::byte* twin_words, const EncodedDiff& encoded, Send send,
                    std::uint16_t answers = 0) NO_THREAD_SAFETY_ANALYSIS {
  constexpr auto most = static_cast<std::uint32_t>(max_payload.count);
  const std::uint32_t bytes = encoded.bytes;
  const auto twin_share = [&](std::uint32_t sent) {
    return static_cast<std::uint32_t>(std::uint64_t{encoded.twin_bytes()} * sent / bytes);
  };
  for (std::uint32_t sent = 0; sent < bytes;) {
    const std::uint32_t piece = std::min(most, bytes - sent);
    const std::uint32_t twin_begin = twin_share(sent);
    const std::uint32_t twin_piece = twin_share(sent + piece) - twin_begin;
    std::byte payload[2 * most + 1];
    std::memcpy(payload, diff + sent, piece);
    std::memcpy(payload + piece, twin_words + twin_begin, twin_piece);
    const DiffPiece sizes{bytes, encoded.twin_bytes(), static_cast<std::uint16_t>(piece)};
    send(Head{.kind = WireKind::diff,
              .bytes = piece + twin_piece,
              .address = std::uint64_t{std::exchange(answers, std::uint16_t{0})} << 32 | sent,
              .value = std::bit_cast<std::uint64_t>(sizes)},
         payload);
    sent += piece;
  }
}

}  // namespace sdsm::dsm
