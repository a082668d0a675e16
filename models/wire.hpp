/// How long a message takes on an idle network. A measured cost is this plus processor time (docs/simulation.md).
#pragma once

#include <span>

#include "models/units.hpp"

namespace sdsm {

/// Ethernet: a message travels in frames of at most 1460 bytes of payload (inferred for SCASH). Overhead and minimum
/// count preamble (8), MAC header and check sum (18), gap between frames (12) and 40 bytes of headers above (IEEE
/// 802.3; the 40 bytes are assumed, as for TCP/IP). So a page of 4096 bytes occupies a 100 Mbit/s wire for 346 us.
struct Framing {
  Bytes payload{1460};
  Bytes overhead{78};
  Bytes minimum{84};
};

/// One direction of one cable.
struct LinkSpec {
  Bandwidth bandwidth;
  Time latency{};
};

/// The behaviour of a switch on a message of several frames.
enum class WireModel : std::uint8_t {
  store_and_forward,  ///< a switch passes a frame on when it has all of it (network `queue`)
  flow,               ///< the message flows through all links at once (network `simgrid`)
};

constexpr std::int64_t frames_of(const Framing& framing, Bytes payload) {
  const std::int64_t full = (payload.count + framing.payload.count - 1) / framing.payload.count;
  return full > 0 ? full : 1;
}

/// Bytes that a message occupies on a wire, all its frames together.
constexpr Bytes wire_bytes(const Framing& framing, Bytes payload) {
  const Bytes bytes = payload + frames_of(framing, payload) * framing.overhead;
  return bytes < framing.minimum ? framing.minimum : bytes;
}

/// Bytes of a message's first frame on a wire: what a switch must have before it can send on.
constexpr Bytes first_frame_bytes(const Framing& framing, Bytes payload) {
  return wire_bytes(framing, payload < framing.payload ? payload : framing.payload);
}

/// Time from the first bit leaving to the last bit arriving, over idle links.
///   store_and_forward: a link begins when the first frame has come over the link before it. It ends W/b later, or one
///   frame after the link before it, whichever is later. With n equal links: W/b + (n - 1) F/b + sum of latencies.
///   flow: W / slowest b + sum of latencies.
/// W: wire_bytes, F: first_frame_bytes.
Time idle_time(WireModel model, std::span<const LinkSpec> route, const Framing& framing, Bytes payload);

}  // namespace sdsm
