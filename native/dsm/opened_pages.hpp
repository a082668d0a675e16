/// Which pages this process may touch now. Its application thread opens and shuts them while it holds the node; its
/// service thread shuts them for a companion that holds it.
#pragma once

#include <cstdint>

#include "models/page_state.hpp"
#include "native/dsm/memory.hpp"
#include "native/dsm/node.hpp"

namespace sdsm::dsm {

/// Protects the shared memory. A process's own stack and thread-local variables stay as they are: its use of them costs
/// nothing and is never counted.
void protect_pages(const AddressRange& stack, const AddressRange& variables) REQUIRES(starting);
/// Whether protect_pages() has been called.
bool are_pages_protected();

void open_page(const Place& place, Permission permission) REQUIRES(node().mutex);

/// Shuts all pages to their resting protection, or only the copies of other nodes' pages, as the protocol's tables say.
void rest_pages() REQUIRES(node().mutex);
void shut_copies() REQUIRES(node().mutex);

/// The pages lose their region: forgets changes to them; the next access looks the region up again.
void forget_pages(std::uintptr_t begin, std::uint64_t pages) EXCLUDES(node().mutex);
/// Regions have changed: the next access to each page of the heap and of the globals looks its region up again.
void look_anew() EXCLUDES(node().mutex);

}  // namespace sdsm::dsm
