#include "native/dsm/timeline_log.hpp"

#include <utility>
#include <vector>

#include "native/dsm/launcher.hpp"
#include "native/program/signals.hpp"

namespace sdsm::dsm {
namespace {

constexpr std::size_t long_log = 8192;

constinit std::vector<TimedEvent> own GUARDED_BY(application);
constinit std::vector<TimedEvent> handled GUARDED_BY(handling);

void send(const std::vector<TimedEvent>& events) {
  constexpr std::size_t most = most_frame_bytes / sizeof(TimedEvent);
  for (std::size_t sent = 0; sent < events.size();) {
    const std::size_t count = std::min(most, events.size() - sent);
    send_to_launcher(FrameKind::timed_events, events.data() + sent, count * sizeof(TimedEvent));
    sent += count;
  }
}

std::vector<TimedEvent> take_handled() EXCLUDES(handling) {
  const Held nothing_is_handled(handling);
  return std::exchange(handled, {});
}

}  // namespace

void keep(const TimedEvent& event) {
  // The program's handlers may touch shared memory.
  const program::HeldSignals held;
  own.push_back(event);
}

void keep_handled(const TimedEvent& event) {
  handled.push_back(event);
}

void send_long_timeline_log() {
  if (own.size() < long_log) return;
  const program::HeldSignals held;
  send(own);
  own.clear();
}

void send_long_handled_log() {
  if (!self.wants_timeline) return;
  {
    const Held nothing_is_handled(handling);
    if (handled.size() < long_log) return;
  }
  send(take_handled());
}

void send_timeline_log(std::uint64_t lasted_ns) {
  keep({self.begun_ns, self.begun_ns + lasted_ns, 0, 0, 0, TimedEvent::Kind::life});
  send(own);
  own.clear();
  send(take_handled());
}

}  // namespace sdsm::dsm
