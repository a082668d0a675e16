/// SCASH on this process's pages: what a fault (page_faults.cpp) and a flush (flushes.cpp) are made of.
/// native/dsm/protocol/single_writer/ puts them together.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <span>

#include "models/scash/page_state.hpp"
#include "native/dsm/memory/node.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/protocol/scash/scash.hpp"

namespace sdsm::dsm {

/// Whether a page is on its way to the node.
bool is_arriving(std::uintptr_t address) REQUIRES(node().mutex);
void end_arrival(std::uintptr_t address) REQUIRES(node().mutex);
/// Asks the home of `pages` for them, or for the right to them, by `ask_home`. Meanwhile local peers do other things,
/// but wait for these pages until `note` has returned.
template <typename Ask, typename Note>
void ask_for(std::span<const Place> pages, bool has_copy, bool is_of_stack, Ask ask_home, Note note)
    REQUIRES(application, node().mutex) {
  for (const Place& place : pages) node().arriving.push_back({place.address, has_copy, is_of_stack});
  node().mutex.unlock();
  ask_home();
  node().mutex.lock();
  note();
  for (const Place& place : pages) end_arrival(place.address);
  pthread_cond_broadcast(&node().arrival);
}
/// Adds the following pages of which the node has no copy; its tables have them from now on.
Fetched with_prefetched(const Place& place) REQUIRES(application, node().mutex);
/// Opens what has come beside a page, if the node still has it.
void open_prefetched(const Place& place) REQUIRES(application, node().mutex);
/// To local peers whose operations on these pages are on their way back. The home had done so many when they left.
void note_shown(const Fetched& fetched, std::uint64_t operations) REQUIRES(application, node().mutex);
/// Programs read their home pages in sequence. So this process's own among the next 64 pages are opened for reading
/// with it, as after a barrier: a trap takes longer. Precondition: nobody else may use them.
void open_resting_behind(const Place& place) REQUIRES(application, node().mutex);

/// Notes the changes that the rule of `sync` sends home, and sends them, with or without the node's tables.
void find_changes(Sync sync) REQUIRES(application, node().mutex);
void send_found_changes() REQUIRES(application);
/// Both. The caller holds the node, so no local peer goes on while changes are still on their way. Precondition: late
/// ones are at home. What a service thread sent on another connection must not come after what changed since.
void send_changes(Sync sync, bool stops_others) REQUIRES(application, node().mutex);
/// Flushes some pages; the diffs count at the next flush.
void flush_early(const AddressRange& pages) REQUIRES(application, node().mutex);

/// Applies a team's barrier to the node's pages. False if a local peer has done so, or will. `has_unnoticed`: changes
/// came home without write notices.
bool end_interval_of_node(bool has_unnoticed) REQUIRES(application, node().mutex);
/// Shuts what the barrier has dropped.
void shut_dropped_copies() REQUIRES(application, node().mutex);
/// The node's tables forget all copies. Precondition: all of its processes have shut them, and sent what they changed.
void drop_all_copies() REQUIRES(node().mutex);
/// Drops one copy, or the right to write it.
void downgrade_copy(PageId page, bool keeps_reading) REQUIRES(node().mutex);

}  // namespace sdsm::dsm
