/// Standard output of programs in C, C++ and Fortran. Each language's library buffers it in the process's own memory.
#pragma once

#include "native/dsm/wire/threads.hpp"

namespace sdsm::dsm {

/// Makes C++'s standard streams usable in a process that runs no constructors of the program. To be called before the
/// program's variables are shared.
void make_standard_streams() REQUIRES(starting);

/// Writes out what this process has printed, so that the lines of regions come in the order of the regions.
void flush_output() REQUIRES(application);

}  // namespace sdsm::dsm
