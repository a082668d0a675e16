/// Turns of threads that take pages from each other, in single-writer mode up to a barrier
/// (models/single_writer/page_turns.hpp).
#pragma once

#include <cstdint>

#include "native/dsm/memory/node.hpp"
#include "native/dsm/wire/wire.hpp"

namespace sdsm::dsm {

/// Notes that another node gets a page of this process's, or the right to write it.
void note_lost_page(std::uintptr_t page) REQUIRES(node().mutex);
/// Waits for the thread's turn, if it needs one, before it asks for the page.
void take_turn_for(std::uintptr_t page) REQUIRES(application) EXCLUDES(node().mutex);
/// Ends the thread's turn before it meets others.
void end_turn() REQUIRES(application);
/// Process 0, which keeps the list: answers.
void serve_turns(ProcessId from, const Head& head) REQUIRES(handling);

}  // namespace sdsm::dsm
