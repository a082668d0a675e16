/// Which pages this process may touch now. Its application thread opens and shuts them while it holds the node's lock;
/// its service thread shuts them for a local peer that holds it.
#pragma once

#include <cstdint>
#include <vector>

#include "models/scash/page_state.hpp"
#include "native/dsm/memory/memory.hpp"
#include "native/dsm/memory/node.hpp"

namespace sdsm::dsm {

/// To be called before the processes meet, and without the node's lock: nobody else uses the room then, and the node's
/// first process may not have made the lock yet. Later the initial process may hold the lock while it waits for an
/// answer of this process, which answers only after its start.
void make_room_for_opened_pages() REQUIRES(starting) NO_THREAD_SAFETY_ANALYSIS;
/// Protects the shared memory except this process's own stack and thread-local variables, which it uses uncounted.
void protect_pages(const AddressRange& stack, const AddressRange& variables) REQUIRES(starting);
/// Whether protect_pages() has been called.
bool are_pages_protected();

/// Ends the run: the kernel has no mapping left with which to protect a page.
[[noreturn]] void end_without_mappings();

void open_page(const Place& place, Permission permission) REQUIRES(node().mutex);

/// Whether the page was not opened since it last got its resting protection, or was shut.
bool rests(std::uintptr_t page) REQUIRES(node().mutex);
/// Gives home pages that rest, and were not opened, the protection that they have after a barrier. They stay shut if
/// the kernel has no mappings for that.
void open_at_rest(std::uintptr_t begin, std::uint64_t pages) REQUIRES(node().mutex);

/// Give the node's own pages, and its copies of others, their resting protection, as the protocol's tables say.
void rest_own_pages() REQUIRES(node().mutex);
void shut_copies() REQUIRES(node().mutex);
/// Shuts the copies that the process may not read any more, and leaves the others readable, but not writable.
using MayRead = bool (*)(PageId page);
void shut_lost_copies(MayRead may_read) REQUIRES(application, node().mutex);

/// Closes pages whose homes move, under JIAJIA: the next access to each opens it anew.
void close_pages(const std::vector<Place>& places) REQUIRES(node().mutex);
/// Lets the process write these pages of its own from now on without a trap.
void open_own_pages(const std::vector<Place>& places) REQUIRES(node().mutex);

/// Shuts a page to which the process has lost its right, in single-writer mode.
void shut_page(std::uintptr_t page) REQUIRES(node().mutex);
/// Whether the process may write the page, or could before shut_all_pages().
bool may_be_written(std::uintptr_t page) REQUIRES(node().mutex);
bool is_open(std::uintptr_t page) REQUIRES(node().mutex);
/// Watches the page, which is open now: is_still_open() says whether it has stayed open. One page at a time.
void watch_page(std::uintptr_t page) REQUIRES(node().mutex);
bool is_still_open(std::uintptr_t page);
/// Shuts all pages: the next access to each asks for the right to it.
void shut_all_pages() REQUIRES(node().mutex);
/// Shuts all stacks and thread-local variables but the process's own, without the node's lock. The notes of them stay.
void shut_stacks_of_others();
/// Whether the page is of the process's own stack or thread-local variables, which are open for good.
bool is_own_memory(std::uintptr_t page);

/// Forgets changes to pages that lose their region. The next access looks the region up again.
void forget_pages(std::uintptr_t begin, std::uint64_t pages) EXCLUDES(node().mutex);
/// Shuts the heap and the globals when regions have changed: the next access to each page looks its region up again.
void shut_for_new_generation() EXCLUDES(node().mutex);

}  // namespace sdsm::dsm
