/// OpenMP's internal control variables, and the environment variables that set them.
#pragma once

#include <cstdint>

namespace sdsm::gomp {

/// Schedules with the numbers of omp.h's omp_sched_t.
enum class RunSchedule : std::uint32_t { static_ = 1, dynamic = 2, guided = 3, automatic = 4 };

inline constexpr std::uint32_t monotonic_modifier = 0x80000000U;
inline constexpr std::uint32_t supported_active_levels = 1;  ///< nested regions are serialised

inline constexpr std::uint32_t no_thread_limit = 0xffffffff;

/// Each task has its own copy; the members of a team get the forking thread's.
struct ControlVariables {
  std::uint32_t threads = 1;                     ///< nthreads-var
  std::uint32_t thread_limit = no_thread_limit;  ///< thread-limit-var
  bool dynamic = false;                 ///< dyn-var: a team may be smaller than asked for, where the engine has no more
  std::uint32_t max_active_levels = 1;  ///< max-active-levels-var: the same; see supported_active_levels
  std::uint32_t max_task_priority = 0;  ///< max-task-priority-var. Tasks run in place, so it has no effect
  RunSchedule schedule = RunSchedule::dynamic;
  bool monotonic = false;
  std::uint32_t allocator = 0;            ///< def-allocator-var's handle; 0: none was set. It has no effect
  std::uint64_t chunk = 1;                ///< 0: none given
  const char* affinity_format = nullptr;  ///< affinity-format-var, in shared memory; null: the environment's
  bool shows_affinity = false;            ///< display-affinity-var
};

/// The variables at the start of the program: OMP_NUM_THREADS (else `default_threads`), OMP_THREAD_LIMIT,
/// OMP_SCHEDULE, OMP_DYNAMIC, OMP_DISPLAY_AFFINITY, OMP_NESTED, OMP_MAX_ACTIVE_LEVELS and OMP_MAX_TASK_PRIORITY.
/// Reports a malformed one on stderr and ignores it, as libgomp does.
ControlVariables initial_control_variables(std::uint32_t default_threads);

/// Reads "kind[,chunk]" after an optional "monotonic:" or "nonmonotonic:", in any case, with blanks around each part.
/// Returns false and leaves `variables` if `text` is no such schedule.
bool parse_schedule(const char* text, ControlVariables& variables);

/// Reads the first number of an OMP_NUM_THREADS list ("8", "4,2"). Returns 0 if there is none.
std::uint32_t parse_threads(const char* text);

}  // namespace sdsm::gomp
