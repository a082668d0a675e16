#pragma once

namespace sdsm::tracer {

/// Replaces the program's flushes by traps. gcc compiles `#pragma omp flush` (and __sync_synchronize) to `lock or $0,
/// (%rsp)` in the program's own code, without a call: a thread that reads a flag and flushes until another sets it
/// would never let the other run.
void patch_flushes();

}  // namespace sdsm::tracer
