/// The pages that this process may touch now, and their protection. Its application thread opens and shuts them while
/// it holds the node; its service thread shuts them for a companion that does.
#pragma once

#include <cstdint>
#include <vector>

#include "models/page_state.hpp"
#include "native/dsm/memory.hpp"
#include "native/dsm/node.hpp"

namespace sdsm::dsm {

/// Protects the shared memory. A process's own stack and thread-local variables stay as they are: its use of them costs
/// nothing and is never counted.
void protect_pages(const AddressRange& stack, const AddressRange& variables) REQUIRES(starting);
/// Whether that has been done.
bool are_pages_protected();

void open_page(const Place& place, Permission permission) REQUIRES(node().mutex);

/// All pages rest, or the copies of other nodes' pages lose their access, as the protocol's tables say.
void rest_pages() REQUIRES(node().mutex);
void shut_copies() REQUIRES(node().mutex);

/// The pages are no longer what they were: changes to them are forgotten, and the next access looks anew.
void forget_pages(std::uintptr_t begin, std::uint64_t pages) EXCLUDES(node().mutex);
/// Every page of the heap and of the globals is looked at anew at its next access (regions have changed).
void look_anew() EXCLUDES(node().mutex);

}  // namespace sdsm::dsm
