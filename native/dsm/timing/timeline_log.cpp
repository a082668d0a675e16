#include "native/dsm/timing/timeline_log.hpp"

#include <utility>
#include <vector>

#include "native/dsm/process/launcher.hpp"
#include "native/guest/runtime/signals.hpp"

namespace sdsm::dsm {
namespace {

constinit std::vector<TimedEvent> charged GUARDED_BY(application);
constinit std::vector<TimedEvent> handled GUARDED_BY(handling);

std::vector<TimedEvent> take_handled() EXCLUDES(handling) {
  const Held nothing_is_handled(handling);
  return std::exchange(handled, {});
}

}  // namespace

void keep(const TimedEvent& event) {
  // The program's handlers may touch shared memory.
  const program::HeldSignals held;
  charged.push_back(event);
}

void keep_handled(const TimedEvent& event) {
  handled.push_back(event);
}

void send_long_timeline_log() {
  if (charged.size() < long_log) return;
  const program::HeldSignals held;
  send_records(FrameKind::timed_events, charged);
  charged.clear();
}

void send_long_handled_log() {
  if (!self.wants_timeline) return;
  {
    const Held nothing_is_handled(handling);
    if (handled.size() < long_log) return;
  }
  send_records(FrameKind::timed_events, take_handled());
}

void send_timeline_log(std::uint64_t lasted_ns) {
  keep({self.begun_ns, self.begun_ns + lasted_ns, 0, 0, 0, TimedEvent::Kind::life});
  send_records(FrameKind::timed_events, charged);
  charged.clear();
  send_records(FrameKind::timed_events, take_handled());
}

}  // namespace sdsm::dsm
