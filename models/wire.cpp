#include "models/wire.hpp"

#include <algorithm>

namespace sdsm {

Time idle_time(WireModel model, std::span<const LinkSpec> route, const Framing& framing, Bytes payload) {
  const Bytes whole = wire_bytes(framing, payload);
  const Bytes frame = first_frame_bytes(framing, payload);
  Time arrived{};
  if (model == WireModel::flow) {
    Time slowest{};
    for (const LinkSpec& link : route) {
      arrived += link.latency;
      slowest = std::max(slowest, link.bandwidth.time_of(whole));
    }
    return arrived + slowest;
  }
  Time head{};  // when the first frame is at the link
  for (const LinkSpec& link : route) {
    const Time frame_time = link.bandwidth.time_of(frame);
    arrived = std::max(head + link.bandwidth.time_of(whole), arrived + frame_time) + link.latency;
    head += frame_time + link.latency;
  }
  return arrived;
}

}  // namespace sdsm
