/// Threads that wait for a flag in a loop of the program's own, by plain loads, without a call or a flush that says so.
/// A loop is learnt once, from the thread that the watchdog finds in it. From then on an instruction of it is a trap: a
/// thread that comes to it twice without having changed anything lets others go on at once.
#pragma once

#include <ucontext.h>

#include <csignal>
#include <cstdint>

#include "native/tracer/threads.hpp"

namespace sdsm::tracer {

/// Follows the interrupted thread, which may be in such a loop, for some instructions: for more of them the greater
/// `patience` is. First pass only, and from a handler on the signal stack.
void look_for_wait_loop(VirtualThread& self, ucontext_t& machine, unsigned patience) REQUIRES(turn);

/// Later passes: what the first one learnt, or unlearnt, at this place of its schedule. `address`: in the program's
/// file.
void set_wait_loop(std::uintptr_t address, bool is_learnt) REQUIRES(turn);

}  // namespace sdsm::tracer
