/// In flag mode that ends at the next barrier, threads that take pages from each other again and again take turns
/// (models/page_turns.hpp).
#pragma once

#include <cstdint>

#include "native/dsm/node.hpp"
#include "native/dsm/wire.hpp"

namespace sdsm::dsm {

/// Another node gets a page, or the right to write it, that this process had.
void note_lost_page(std::uintptr_t page) REQUIRES(node().mutex);
/// Before the thread asks for the page: returns when the turn is its, if it needs one.
void take_turn_for(std::uintptr_t page) REQUIRES(application) EXCLUDES(node().mutex);
/// Before the thread meets others.
void end_turn() REQUIRES(application);
/// Process 0 keeps the list.
void serve_turns(ProcessId from, const Head& head) REQUIRES(handling);

}  // namespace sdsm::dsm
