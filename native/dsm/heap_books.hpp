/// The heap's books at process 0, with what sharing memory by software adds to them. A block that one process has freed
/// must not be given to another before both have synchronised: the first one's changes may still be on their way, and
/// the second one may hold an older copy. So inside a parallel region a freed block waits for the next barrier; until
/// then only the process that freed it gets it again.
#pragma once

#include "models/ids.hpp"
#include "native/program/heap.hpp"

namespace sdsm::dsm {

void* allocate_for(ProcessId process, const program::heap::Request& request);
void free_for(ProcessId process, void* block);

/// All processes have synchronised: what was freed before is anybody's.
void end_waiting_of_blocks();

/// Outside of parallel regions only the initial process runs, and nothing has to wait.
void begin_parallel_region();
void end_parallel_region();

}  // namespace sdsm::dsm
