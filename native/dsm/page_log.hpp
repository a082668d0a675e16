/// What this process does with pages, event by event, for the launcher: page figures and the order of a node's events
/// are made of it. Nothing happens in a run whose launcher wants none.
#pragma once

#include <cstdint>
#include <vector>

#include "native/dsm/cluster.hpp"
#include "native/dsm/node.hpp"

namespace sdsm::dsm {

/// Set before the program begins.
inline bool is_logging = false;
/// Not sent yet.
inline std::vector<PageEvent> page_events;

/// Logs an event that has a place in the order of the node's. Precondition: this process holds the node.
inline void log_in_turn(PageEvent event) {
  if (!is_logging) return;
  event.turn = node().next_turn++;
  page_events.push_back(event);
}
/// Any other event.
inline void log(const PageEvent& event) {
  if (is_logging) page_events.push_back(event);
}

/// Sends what was logged, if that is much. Not while the node is held, as the launcher may keep this process waiting.
void send_long_page_log();
void send_page_log();

/// Process 0: a region is made.
void log_region(const RegionOrigin& origin);

}  // namespace sdsm::dsm
