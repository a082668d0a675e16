/// How the run-time gets into the program and out of it.
#pragma once

#include <cstdint>

#include "native/dsm/wire.hpp"

namespace sdsm::dsm {

/// Where the stack begins on which this process runs the program.
std::uintptr_t own_stack_end();

/// Whether that is the page that is left free below it.
bool is_below_stack(std::uintptr_t address);

/// This process has no more work: its result goes to the launcher, and it ends. For all but the initial process.
[[noreturn]] void end_worker();

/// Process 0's application thread ends the program, on behalf of another thread.
[[noreturn]] void end_initial(ExitKind kind, int status);

/// Process 0: if its application thread does not come to end_initial() soon, as it waits for something that the thread
/// that ended the program had, the program ends without its exit functions. Any thread.
void end_without_initial_thread(int status);

}  // namespace sdsm::dsm
