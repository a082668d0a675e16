/// Logs when this process did what, for the launcher, which makes a timeline of it. Does nothing if the launcher wants
/// none. The application thread and the thread that handles a request have a log each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "models/account.hpp"
#include "native/dsm/timing/trap_time.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/control.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/dsm/wire/identity.hpp"
#include "native/dsm/wire/modelled_messages.hpp"
#include "native/dsm/wire/wire.hpp"

namespace sdsm::dsm {

void keep(const TimedEvent& event) REQUIRES(application);
void keep_handled(const TimedEvent& event) REQUIRES(handling);

/// Sum over all terms of the application thread's account.
inline constinit std::uint64_t charged_ns GUARDED_BY(application) = 0;

/// One entry of an account: from when to when, with what others were charged with meanwhile.
struct Charge {
  Spent term;
  std::uint64_t begun_ns;
  std::uint64_t ended_ns;
};
/// The last charges, from `next` on in the order in which they ended.
struct LastCharges {
  std::array<Charge, 16> ring;
  std::size_t next;

  std::uint64_t ended_ns() const { return ring[(next + ring.size() - 1) % ring.size()].ended_ns; }
};
inline constinit LastCharges last_charges GUARDED_BY(application){};

/// When something began that is to be charged, and what had been charged until then.
struct Begun {
  std::uint64_t ns;
  std::uint64_t charged_ns;
};
inline Begun begun_at(std::uint64_t ns) REQUIRES(application) {
  return {ns, charged_ns};
}
inline Begun begin() REQUIRES(application) {
  return begun_at(now_ns());
}
/// When a trap began whose handler begins at `ns`: earlier by a trap's time, but not before the last charge ended. A
/// single trap may take less than the median.
inline Begun begun_with_trap(std::uint64_t ns) REQUIRES(application) {
  return begun_at(std::max(ns - trap_time_ns(), last_charges.ended_ns()));
}

/// Charges the application thread's time from `begun` to `ended` to the term. What other terms were charged with
/// meanwhile stays theirs, so that no time is counted twice.
inline void spend(Spent term, const Begun& begun, std::uint64_t ended = now_ns()) REQUIRES(application) {
  const std::uint64_t passed = ended - begun.ns, of_others = charged_ns - begun.charged_ns;
  const std::uint64_t own = passed > of_others ? passed - of_others : 0;
  asked.spent(term) += own;
  charged_ns += own;
  last_charges.ring[last_charges.next] = {term, begun.ns, ended};
  last_charges.next = (last_charges.next + 1) % last_charges.ring.size();
  if (!self.wants_timeline || is_fault(term)) return;
  keep({begun.ns, ended, 0, 0, static_cast<std::uint16_t>(term), TimedEvent::Kind::state});
}
/// Charges the time of a fault. `kind`: as the protocol numbers them.
inline void spend_on_fault(std::size_t kind, PageId page, const Begun& begun) REQUIRES(application) {
  const std::uint64_t now = now_ns();
  const Spent term = spent_on(kind);
  spend(term, begun, now);
  if (!self.wants_timeline) return;
  keep({begun.ns, now, page.index, index_of(page.region), static_cast<std::uint16_t>(term), TimedEvent::Kind::fault});
}
/// The kind of message that a timeline is to have; none if it is to have none.
inline std::optional<std::uint16_t> logged_kind(ProcessId other, const Head& head) {
  if (!self.wants_timeline || is_on_own_node(other)) return std::nullopt;
  const auto kind = modelled_kind(head);
  return kind ? std::optional(static_cast<std::uint16_t>(*kind)) : std::nullopt;
}
/// The application thread sends a message, or has got its answer.
inline void log_message(TimedEvent::Kind kind, ProcessId other, const Head& head) REQUIRES(application) {
  const auto what = logged_kind(other, head);
  if (!what) return;
  keep({now_ns(), 0, static_cast<std::uint64_t>(modelled_payload(head).count), index_of(other), *what, kind});
}
/// Logs a message that was here at `came`, and is handled since `begun`.
inline void log_handled(ProcessId from, const Head& head, std::uint64_t came, std::uint64_t begun) REQUIRES(handling) {
  const auto what = logged_kind(from, head);
  if (!what) return;
  keep_handled({came, 0, 0, index_of(from), *what, TimedEvent::Kind::is_asked});
  keep_handled({begun, now_ns(), came, index_of(from), *what, TimedEvent::Kind::serves});
}
inline void log_answer(ProcessId to, const Head& head) REQUIRES(handling) {
  const auto what = logged_kind(to, head);
  if (!what) return;
  keep_handled({now_ns(), 0, static_cast<std::uint64_t>(modelled_payload(head).count), index_of(to), *what,
                TimedEvent::Kind::answers});
}

/// Send a log if it is long. Not to be called with the node's lock, or while a request is handled.
void send_long_timeline_log() REQUIRES(application);
void send_long_handled_log() REQUIRES(service) EXCLUDES(handling);
/// Sends both, and how long this process took part.
void send_timeline_log(std::uint64_t lasted_ns) REQUIRES(application) EXCLUDES(handling);

}  // namespace sdsm::dsm
