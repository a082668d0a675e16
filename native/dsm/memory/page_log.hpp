/// Logs this process's events for the launcher, which turns them into page figures and the order of a node's events.
/// Does nothing if the launcher wants neither.
#pragma once

#include <vector>

#include "native/dsm/memory/node.hpp"
#include "native/dsm/wire/control.hpp"
#include "native/guest/memory/shared_memory.hpp"

namespace sdsm::dsm {

/// Events that were not sent yet.
inline constinit std::vector<PageEvent> page_events GUARDED_BY(application);

/// Logs an event with its place in the order of the node's events.
inline void log_in_turn(PageEvent event) REQUIRES(application, node().mutex) {
  if (!self.wants_page_log) return;
  event.turn = node().next_turn++;
  page_events.push_back(event);
}
/// Logs any other event.
inline void log(const PageEvent& event) REQUIRES(application) {
  if (self.wants_page_log) page_events.push_back(event);
}

/// Sends the log if it is long. Not to be called with the node's lock, as the launcher may keep this process waiting.
void send_long_page_log() REQUIRES(application);
void send_page_log() REQUIRES(application);

/// Process 0: logs that a region is made.
void log_region(const RegionOrigin& origin) REQUIRES(program::heap::books_lock);

}  // namespace sdsm::dsm
