#include "tests/sim/frame_reference.hpp"

#include <algorithm>
#include <memory>

namespace sdsm::test {

FrameNetwork::FrameNetwork(std::uint32_t nodes, LinkSpec cable, Framing framing)
    : cable_(cable), framing_(framing), up_(nodes), down_(nodes) {}

void FrameNetwork::at(Time date, std::function<void()> action) {
  events_.push({date, next_number_++, std::move(action)});
}

/// When a frame that is at a port now is at the cable's other end.
Time FrameNetwork::pass(Time& free_at, Bytes frame) {
  free_at = std::max(free_at, now_) + cable_.bandwidth.time_of(frame);
  return free_at + cable_.latency;
}

void FrameNetwork::send(std::uint32_t from, std::uint32_t to, Bytes payload, std::function<void()> arrived) {
  const auto done = std::make_shared<std::function<void()>>(std::move(arrived));
  do {
    const Bytes in_frame = std::min(payload, framing_.payload);
    payload = payload - in_frame;
    const Bytes frame = std::max(in_frame + framing_.overhead, framing_.minimum);
    const bool last = payload.count == 0;
    at(pass(up_[from], frame), [this, to, frame, last, done] {
      const Time there = pass(down_[to], frame);
      if (last) at(there, [done] { (*done)(); });
    });
  } while (payload.count > 0);
}

void FrameNetwork::run() {
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.date;
    event.action();
  }
}

}  // namespace sdsm::test
