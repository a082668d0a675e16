#pragma once

namespace sdsm::tracer {

/// Finds the program's flushes and puts traps in their place. gcc compiles `#pragma omp flush` (and
/// __sync_synchronize) to `lock or $0, (%rsp)` in the program's own code, without a call. A thread that waits for
/// another by reading a flag and flushing would never let that other one run.
void patch_flushes();

}  // namespace sdsm::tracer
