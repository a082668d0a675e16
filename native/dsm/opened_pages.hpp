/// Which pages this process may touch now. Its application thread opens and shuts them while it holds the node; its
/// service thread shuts them for a companion that holds it.
#pragma once

#include <cstdint>
#include <vector>

#include "models/scash/page_state.hpp"
#include "native/dsm/memory.hpp"
#include "native/dsm/node.hpp"

namespace sdsm::dsm {

/// Call it before the processes meet, and without the node's lock. Nobody else uses the room then, and the lock may not
/// be there: the node's first process makes it. Later the initial process may hold the lock while it waits for an
/// answer of this process, which answers only after its start.
void make_room_for_opened_pages() REQUIRES(starting) NO_THREAD_SAFETY_ANALYSIS;
/// Protects the shared memory except this process's own stack and thread-local variables, whose use is free and never
/// counted.
void protect_pages(const AddressRange& stack, const AddressRange& variables) REQUIRES(starting);
/// Whether protect_pages() has been called.
bool are_pages_protected();

/// Ends the run: the kernel has no mapping left with which to protect a page.
[[noreturn]] void end_without_mappings();

void open_page(const Place& place, Permission permission) REQUIRES(node().mutex);

/// Whether the page has not been opened since it was last given its resting protection, or shut.
bool rests(std::uintptr_t page) REQUIRES(node().mutex);
/// Gives home pages that rest, and have not been looked at, the protection that they have after a barrier. They stay
/// shut if the kernel has no mappings for that.
void open_at_rest(std::uintptr_t begin, std::uint64_t pages) REQUIRES(node().mutex);

/// Give the node's own pages, and copies of other nodes', their resting protection, as the protocol's tables say.
void rest_own_pages() REQUIRES(node().mutex);
void shut_copies() REQUIRES(node().mutex);
/// At a barrier under Invalidation::changed: shuts the copies that the process has lost, leaves the others readable.
void shut_lost_copies() REQUIRES(application, node().mutex);

/// Under JIAJIA. The next access to each of these opens it anew: its home moves.
void close_pages(const std::vector<Place>& places) REQUIRES(node().mutex);
/// The process may write these pages of its own from now on, without a trap.
void open_own_pages(const std::vector<Place>& places) REQUIRES(node().mutex);

/// In flag mode: the process has lost its right to the page.
void shut_page(std::uintptr_t page) REQUIRES(node().mutex);
/// Whether the process may write the page, or could before shut_all_pages().
bool may_be_written(std::uintptr_t page) REQUIRES(node().mutex);
bool is_open(std::uintptr_t page) REQUIRES(node().mutex);
/// is_still_open() then says whether the page, which is open now, has stayed open. It watches one page at a time.
void watch_page(std::uintptr_t page) REQUIRES(node().mutex);
bool is_still_open(std::uintptr_t page);
/// The next access to each page asks for the right to it.
void shut_all_pages() REQUIRES(node().mutex);
/// Without the node's lock: all stacks and thread-local variables but the process's own. The notes of them stay.
void shut_stacks_of_others();
/// Open for good: the process's own stack and thread-local variables.
bool is_own_memory(std::uintptr_t page);

/// The pages lose their region: forgets changes to them; the next access looks the region up again.
void forget_pages(std::uintptr_t begin, std::uint64_t pages) EXCLUDES(node().mutex);
/// Regions have changed: shuts the heap and the globals, so that the next access to each page looks its region up
/// again.
void shut_for_new_generation() EXCLUDES(node().mutex);

}  // namespace sdsm::dsm
