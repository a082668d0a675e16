/// Finds threads that wait for a flag in a loop of the program's own, by plain loads, without a call or a flush that
/// says so. A loop is learnt once, from the thread that the watchdog finds in it. From then on an instruction of it is
/// a trap: a thread that comes to it twice without having changed anything lets others go on at once.
///
/// A loop may count its iterations, or call functions: no two are alike then. A thread that loads the same variable
/// again and again lets others go on in case that it waits. If they change the variable, that load is learnt as a poll:
/// from then on a thread that comes to it twice for the same variable, with little in between, waits.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "native/tracer/execution/threads.hpp"

namespace sdsm::tracer {

/// Single-steps the interrupted thread, which may be in such a loop, for some instructions: for more of them the
/// greater `patience` is. First pass only, and from a handler on the signal stack.
void find_wait_loop(VirtualThread& self, ucontext_t& machine, unsigned patience) REQUIRES(turn);

/// Sets what the first pass learnt, or unlearnt, at this place of its schedule. `address`: in the program's file;
/// `how`: as ScheduleEntry has it.
void set_wait_loop(std::uintptr_t address, std::uint16_t how) REQUIRES(turn);

}  // namespace sdsm::tracer
