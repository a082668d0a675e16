/// Which pages this process may touch now. Its application thread opens and shuts them while it holds the node; its
/// service thread shuts them for a companion that holds it.
#pragma once

#include <cstdint>
#include <vector>

#include "models/scash/page_state.hpp"
#include "native/dsm/memory.hpp"
#include "native/dsm/node.hpp"

namespace sdsm::dsm {

/// To be called before the processes meet, when nobody else uses the room, so without the node's lock: the node's first
/// process may not have made that yet. Once they have met, the initial process may hold it while it waits for an answer
/// of this one, which serves only after its start.
void make_room_for_opened_pages() REQUIRES(starting) NO_THREAD_SAFETY_ANALYSIS;
/// Protects the shared memory. A process's own stack and thread-local variables stay as they are: its use of them costs
/// nothing and is never counted.
void protect_pages(const AddressRange& stack, const AddressRange& variables) REQUIRES(starting);
/// Whether protect_pages() has been called.
bool are_pages_protected();

/// Ends the run, as no page's protection can be changed any more.
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
/// At a barrier that copies outlive: shuts those that the process has lost, and leaves the others readable.
void shut_lost_copies() REQUIRES(application, node().mutex);

/// Under JIAJIA. The next access to each of these opens it anew: its home moves.
void close_pages(const std::vector<Place>& places) REQUIRES(node().mutex);
/// The process may write these pages of its own from now on, without a trap.
void open_own_pages(const std::vector<Place>& places) REQUIRES(node().mutex);

/// For flag mode. Shuts a page whose right to be used has ended.
void shut_page(std::uintptr_t page) REQUIRES(node().mutex);
/// Whether the process may write the page, or could before shut_all_pages().
bool may_be_written(std::uintptr_t page) REQUIRES(node().mutex);
bool is_open(std::uintptr_t page) REQUIRES(node().mutex);
/// From now on is_still_open() says whether the page, which is open, has been open ever since. One page at a time.
void watch_page(std::uintptr_t page) REQUIRES(node().mutex);
bool is_still_open(std::uintptr_t page);
/// The next access to each page asks for the right to it.
void shut_all_pages() REQUIRES(node().mutex);
/// Open for good: the process's own stack and thread-local variables.
bool is_own_memory(std::uintptr_t page);

/// The pages lose their region: forgets changes to them; the next access looks the region up again.
void forget_pages(std::uintptr_t begin, std::uint64_t pages) EXCLUDES(node().mutex);
/// Regions have changed: shuts the heap and the globals, so that the next access to each page looks its region up
/// again.
void look_anew() EXCLUDES(node().mutex);

}  // namespace sdsm::dsm
