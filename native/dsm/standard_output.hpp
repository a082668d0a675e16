/// Standard output of programs in C, C++ and Fortran, whose libraries each collect it in memory of their own process.
#pragma once

namespace sdsm::dsm {

/// In a process that runs no constructors of the program: C++'s standard streams can be used, once they are shared. To
/// be called before.
void make_standard_streams();

/// What this process has printed goes out, so that the lines of regions come in the order of the regions.
void flush_output();

}  // namespace sdsm::dsm
