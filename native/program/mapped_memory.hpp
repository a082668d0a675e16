/// Memory that the program gets from the kernel itself. Anonymous mappings are blocks of the shared heap, and begin
/// with zeros as the kernel's do; what cannot be one stays private, and is counted (unseen.hpp).
#pragma once

namespace sdsm::program {

/// Whether the program has mapped memory, now of the heap, that it would share with children of fork(), too.
bool memory_is_for_children();

}  // namespace sdsm::program
