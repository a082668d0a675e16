/// Standard output of programs in C, C++ and Fortran, whose libraries each collect it in memory of their own process.
#pragma once

#include "native/dsm/threads.hpp"

namespace sdsm::dsm {

/// Before the program runs.
void find_fortran() REQUIRES(starting);
/// In a process that runs no constructors of the program: C++'s standard streams can be used, once they are shared. To
/// be called before.
void make_standard_streams() REQUIRES(starting);

/// What this process has printed goes out, so that the lines of regions come in the order of the regions.
void flush_output() REQUIRES(application);

}  // namespace sdsm::dsm
