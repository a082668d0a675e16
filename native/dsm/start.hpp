/// How the run-time gets into the program and out of it.
#pragma once

#include <cstdint>

namespace sdsm::dsm {

/// Where the stack begins on which this process runs the program.
std::uintptr_t own_stack_end();

/// This process has no more work: its result goes to the launcher, and it ends. For all but the initial process.
[[noreturn]] void end_worker();

/// What this process has printed goes out, so that the lines of regions come in the order of the regions.
void flush_output();

}  // namespace sdsm::dsm
