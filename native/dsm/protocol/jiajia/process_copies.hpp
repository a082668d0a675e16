/// JIAJIA on this process's pages: faults and the ends of intervals. models/jiajia/ decides; this file moves bytes and
/// sets protections. A process has copies of its own, whatever node it is on, and no single-writer mode.
#pragma once

#include <cstdint>
#include <vector>

#include "models/jiajia/process_pages.hpp"
#include "native/dsm/memory/memory.hpp"
#include "native/dsm/memory/node.hpp"

namespace sdsm::dsm {

/// To be called before the application thread begins.
void start_copies() REQUIRES(starting) NO_THREAD_SAFETY_ANALYSIS;

/// Serves a fault. Returns its kind; none where the page was only to be opened again.
std::optional<jiajia::FaultKind> take_copy_fault(const Place& place, Access access) REQUIRES(application)
    EXCLUDES(node().mutex);

/// Ends the interval, and begins the next: what the process changed goes home, and is noted.
void change_interval(Sync sync) REQUIRES(application) EXCLUDES(node().mutex);
/// Sends home what these pages of a freed block hold. It counts at the interval's end.
void send_copies_home(const AddressRange& pages) REQUIRES(application, node().mutex);
/// Shuts copies that have become invalid. Precondition: change_interval().
void shut_invalid_copies() REQUIRES(application) EXCLUDES(node().mutex);

/// A barrier's notices move these pages of others and of this process's own. To be called before change_interval():
/// sends what this process has changed since it asked to the pages' new homes.
void follow_moves(const std::vector<jiajia::BarrierNotice>& moves) REQUIRES(application) EXCLUDES(node().mutex);
/// To be called after the notices: does its part of the moves, and decides which own pages stay writable.
void move_homes(const std::vector<jiajia::BarrierNotice>& moves) REQUIRES(application) EXCLUDES(node().mutex);

/// Held while a change is stored in a page of this process's own, or in its twin.
inline constinit program::Mutex own_twins;
/// The twin of a home page that this process itself has twinned; null if it has not.
std::byte* own_twin_of(std::uintptr_t page) REQUIRES(own_twins);

/// The states of this process's pages in models/jiajia/.
jiajia::ProcessPages& own_copies() REQUIRES(application);

}  // namespace sdsm::dsm
