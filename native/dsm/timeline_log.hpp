/// Logs when this process did what, for the launcher, which makes a timeline of it. Does nothing if the launcher wants
/// none. The application thread and whoever handles a request have a log each.
#pragma once

#include <cstdint>

#include "commands/timelines/states.hpp"
#include "models/scash/page_state.hpp"
#include "native/dsm/clock.hpp"
#include "native/dsm/control.hpp"
#include "native/dsm/counting.hpp"
#include "native/dsm/identity.hpp"
#include "native/dsm/wire.hpp"

namespace sdsm::dsm {

void keep(const TimedEvent& event) REQUIRES(application);
void keep_handled(const TimedEvent& event) REQUIRES(handling);

/// The application thread has spent its time from `begun` to `ended`: adds it to the item of its account.
inline void spend(std::uint64_t Tally::*item, timelines::State state, std::uint64_t begun,
                  std::uint64_t ended = now_ns()) REQUIRES(application) {
  asked.*item += ended - begun;
  if (self.wants_timeline) keep({begun, ended, 0, 0, static_cast<std::uint16_t>(state), TimedEvent::Kind::state});
}
/// The same of a fault.
inline void spend_on_fault(FaultKind kind, PageId page, std::uint64_t begun) REQUIRES(application) {
  const std::uint64_t now = now_ns();
  asked.fault_ns[static_cast<std::size_t>(kind)] += now - begun;
  if (!self.wants_timeline) return;
  const auto state = static_cast<std::uint16_t>(1 + static_cast<std::size_t>(kind));
  keep({begun, now, page.index, index_of(page.region), state, TimedEvent::Kind::fault});
}
/// The application thread sends a message, or has got its answer.
inline void log_message(TimedEvent::Kind kind, ProcessId other, const Head& head) REQUIRES(application) {
  if (!self.wants_timeline || is_on_own_node(other) || payload_of(head).count == 0) return;
  keep({now_ns(), 0, static_cast<std::uint64_t>(payload_of(head).count), index_of(other),
        static_cast<std::uint16_t>(head.kind), kind});
}
/// A message was here at `came`, and is handled since `begun`.
inline void log_handled(ProcessId from, const Head& head, std::uint64_t came, std::uint64_t begun) REQUIRES(handling) {
  if (!self.wants_timeline || is_on_own_node(from) || payload_of(head).count == 0) return;
  const auto what = static_cast<std::uint16_t>(head.kind);
  keep_handled({came, 0, 0, index_of(from), what, TimedEvent::Kind::is_asked});
  keep_handled({begun, now_ns(), came, index_of(from), what, TimedEvent::Kind::serves});
}
inline void log_answer(ProcessId to, const Head& head) REQUIRES(handling) {
  if (!self.wants_timeline || is_on_own_node(to) || payload_of(head).count == 0) return;
  keep_handled({now_ns(), 0, static_cast<std::uint64_t>(payload_of(head).count), index_of(to),
                static_cast<std::uint16_t>(head.kind), TimedEvent::Kind::answers});
}

/// Send a log if it is long. Not to be called while the node is held, or while a request is handled.
void send_long_timeline_log() REQUIRES(application);
void send_long_handled_log() REQUIRES(service) EXCLUDES(handling);
/// Sends both.
void send_timeline_log() REQUIRES(application) EXCLUDES(handling);

}  // namespace sdsm::dsm
