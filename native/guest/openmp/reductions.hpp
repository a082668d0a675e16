/// Taskgroups, and reductions that tasks take part in (task_reduction, and reduction with the task modifier).
///
/// The compiler passes a chain of descriptors, arrays of words:
///   [0] number of variables   [1] bytes per thread        [2] alignment; after registration the memory's address
///   [3] allocator             [4] next descriptor         [5] the run-time's own
///   [6] end of the memory     [7 + 3i] variable i's original address, [8 + 3i] its offset in a thread's part
/// (gcc/omp-low.c, lower_omp_task_reductions, and libgomp/task.c.)
#pragma once

#include "native/guest/openmp/thread.hpp"

namespace sdsm::gomp {

struct Taskgroup {
  Taskgroup* outer = nullptr;
  std::uintptr_t* reductions = nullptr;  ///< chain of descriptors, those of outer taskgroups at its end
  std::uint64_t tasks_before = 0;        ///< unfinished ones, see unfinished.hpp
};

void begin_taskgroup(ThreadState& thread);
void end_taskgroup(ThreadState& thread);

/// Allocates zeroed memory for `threads` threads, and puts `outer`'s chain behind this one.
void register_reductions(std::uintptr_t* descriptors, std::uintptr_t* outer, std::uint32_t threads);
/// Lets `descriptors` use the memory of `first`, which another thread registered for the same construct.
void adopt_reductions(std::uintptr_t* descriptors, const std::uintptr_t* first, std::uintptr_t* outer);
void free_reductions(std::uintptr_t* descriptors);

/// During a parallel region with the task modifier: a taskgroup that knows the region's reductions.
class ReductionScope {
 public:
  ReductionScope(ThreadState& thread, std::uintptr_t* descriptors);
  void end();

 private:
  ThreadState& thread_;
  bool is_open_ = false;
};

}  // namespace sdsm::gomp
