/// The heap's books at process 0. A block that one process freed must not go to another before both have synchronised:
/// the first one's changes may be under way, and the second may hold an older copy. So inside a parallel region a freed
/// block waits for the next barrier; until then only the process that freed it gets it again.
#pragma once

#include "models/ids.hpp"
#include "native/guest/memory/heap.hpp"

namespace sdsm::dsm {

void* allocate_for(ProcessId process, const program::heap::Request& request);
void free_for(ProcessId process, void* block);
/// Whether the program is in a parallel region: a block that is freed there keeps its pages until the next barrier.
bool is_in_parallel_region();

/// All processes have synchronised: anybody may get what was freed before.
void end_waiting_of_blocks();

/// Makes freed blocks wait from here on. (Outside of parallel regions only the initial process runs.)
void begin_parallel_region();
void end_parallel_region();

}  // namespace sdsm::dsm
