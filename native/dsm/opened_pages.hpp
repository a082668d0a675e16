/// Which pages this process may touch now. Its application thread opens and shuts them while it holds the node; its
/// service thread shuts them for a companion that holds it.
#pragma once

#include <cstdint>

#include "models/scash/page_state.hpp"
#include "native/dsm/memory.hpp"
#include "native/dsm/node.hpp"

namespace sdsm::dsm {

/// Protects the shared memory. A process's own stack and thread-local variables stay as they are: its use of them costs
/// nothing and is never counted.
void protect_pages(const AddressRange& stack, const AddressRange& variables) REQUIRES(starting);
/// Whether protect_pages() has been called.
bool are_pages_protected();

/// Ends the run, as no page's protection can be changed any more.
[[noreturn]] void end_without_mappings();

/// The caller holds `changing` for a home page in flag mode.
void open_page(const Place& place, Permission permission) REQUIRES(node().mutex);

/// Gives all pages their resting protection, as the protocol's tables say.
void rest_pages() REQUIRES(node().mutex);
/// The same for copies of other nodes' pages only.
void shut_copies() REQUIRES(node().mutex);

/// In flag mode, before a home page is changed for another node: shuts it, so that this process traps before it sees
/// the change. Does nothing on nodes of several processes, each of which has the page open, or in the process's stack.
void shut_before_change(std::uintptr_t page) REQUIRES(changing);

/// The pages lose their region: forgets changes to them; the next access looks the region up again.
void forget_pages(std::uintptr_t begin, std::uint64_t pages) EXCLUDES(node().mutex);
/// Regions have changed: shuts the heap and the globals, so that the next access to each page looks its region up
/// again.
void look_anew() EXCLUDES(node().mutex);

}  // namespace sdsm::dsm
