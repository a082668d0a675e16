/// Handles page touches, and protects the running thread's pages again.
#pragma once

#include "native/tracer/execution/pages.hpp"
#include "native/tracer/execution/threads.hpp"
#include "native/tracer/record/stream.hpp"

namespace sdsm::tracer {

/// Puts the fault handler in place, which also reports full stacks.
void take_faults();
/// Begins to track: every page of every range is protected.
void start_tracking() REQUIRES(turn);
/// Ends it: everything is readable and writable.
void stop_tracking() REQUIRES(turn);

/// callers_in_program(), without touching what it reads: the running thread has the pages that it had. A handler of
/// SIGSEGV has to admit another.
std::size_t look_up_callers(std::uintptr_t* found, std::size_t most) REQUIRES(turn);

/// The program's instruction that did something: `instruction`, or the one that called the library that it is in.
std::uintptr_t site_in_program(std::uintptr_t instruction) REQUIRES(turn);

/// Sends what the running thread has changed in its pages, and protects them: when the thread synchronises, or before
/// another thread runs.
void close_pages(VirtualThread& thread, Closing closing) REQUIRES(turn);

/// Ends the interval with an event at which the thread synchronises.
void synchronise(VirtualThread& self, const Event& event) REQUIRES(turn);

/// Sends the touches of the interval that ends.
void send_touches(VirtualThread& thread) REQUIRES(turn);

}  // namespace sdsm::tracer
