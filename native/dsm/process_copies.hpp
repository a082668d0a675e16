/// JIAJIA on this process's pages: faults and the ends of intervals. models/jiajia/ decides; this file moves bytes and
/// sets protections. A process has copies of its own, whatever node it is on, and no flag mode.
#pragma once

#include <cstdint>
#include <vector>

#include "models/jiajia/process_pages.hpp"
#include "native/dsm/memory.hpp"
#include "native/dsm/node.hpp"

namespace sdsm::dsm {

/// Before the application thread begins.
void start_copies() REQUIRES(starting) NO_THREAD_SAFETY_ANALYSIS;

/// Returns the fault's kind; none where the page was only to be opened again.
std::optional<jiajia::FaultKind> take_copy_fault(const Place& place, Access access) REQUIRES(application)
    EXCLUDES(node().mutex);
/// Whether the process may read its copy of the page.
bool may_read_copy(PageId page) REQUIRES(application);

/// The interval ends: what it changed goes home, and is noted. The next one begins.
void change_interval(Sync sync) REQUIRES(application) EXCLUDES(node().mutex);
/// What these pages of a block hold goes home now, and counts at the interval's end: the block goes.
void send_copies_home(const AddressRange& pages) REQUIRES(application, node().mutex);
/// Copies have become invalid: shuts them. Precondition: change_interval().
void shut_invalid_copies() REQUIRES(application) EXCLUDES(node().mutex);

/// A barrier has told of these pages of others and of this process's own.
/// Before change_interval(): what this process has changed since it asked goes to where they are at home now.
void follow_moves(const std::vector<jiajia::BarrierNotice>& moves) REQUIRES(application) EXCLUDES(node().mutex);
/// Behind the notices: this process's part in the moves, and which of its own pages stay writable.
void move_homes(const std::vector<jiajia::BarrierNotice>& moves) REQUIRES(application) EXCLUDES(node().mutex);

/// Held while a change is stored in a page of this process's own, or in its twin.
inline constinit program::Mutex own_twins;
/// At home: the twin of a page that this process itself has twinned. Null if it has not.
std::byte* own_twin_of(std::uintptr_t page) REQUIRES(own_twins);

/// What models/jiajia/ knows of this process's pages.
jiajia::ProcessPages& own_copies() REQUIRES(application);

}  // namespace sdsm::dsm
