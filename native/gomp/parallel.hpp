#pragma once

#include "native/gomp/thread.hpp"

namespace sdsm::gomp {

struct ParallelRegion {
  void (*body)(void*) = nullptr;
  void* data = nullptr;
  unsigned requested_threads = 0;        ///< 0: as many as nthreads-var says
  const LoopBounds* loop = nullptr;      ///< of a combined construct
  std::uintptr_t* reductions = nullptr;  ///< registered already
};

/// Size of the team of a region that `thread` starts: as requested, at most the engine's limit, and 1 inside another
/// region.
std::uint32_t team_size_for(const ThreadState& thread, unsigned requested);

/// Runs the region and returns the size of its team.
std::uint32_t run_parallel(const ParallelRegion& region);

}  // namespace sdsm::gomp
