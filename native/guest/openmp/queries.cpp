/// The OpenMP library's queries and settings, in C and in Fortran.
///
/// The Fortran names of gfortran end in an underscore and take addresses; those with _8_ take 8-byte integers
/// (-fdefault-integer-8).
#include <cstddef>
#include <cstdint>
#include <limits>

#include "native/guest/openmp/thread.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/message.hpp"

using namespace sdsm;
using gomp::RunSchedule;
using gomp::this_thread;

namespace {

using Fortran4 = std::int32_t;
using Fortran8 = std::int64_t;

constexpr int largest_int = std::numeric_limits<int>::max();

int to_int(std::uint64_t value) {
  return value > largest_int ? largest_int : static_cast<int>(value);
}

int saturated(Fortran8 value) {
  if (value > largest_int) return largest_int;
  return value < -largest_int ? -largest_int : static_cast<int>(value);
}

/// In a constructor, what the initial thread will have: OMP_NUM_THREADS, which the commands set.
std::uint32_t threads_or(std::uint32_t (*begun)()) {
  return gomp::has_begun() ? begun() : gomp::initial_control_variables(1).threads;
}

}  // namespace

/// A query without arguments, in both languages.
#define SDSM_QUERY(type, name, expression)  \
  SDSM_ENTRY_AS(type, name, (), expression) \
  SDSM_ENTRY_AS(type, name##_, (), expression)

/// The Fortran names of a routine with one integer argument.
#define SDSM_OF_INTEGER(type, name)                                         \
  SDSM_ENTRY_AS(type, name##_, (const Fortran4* argument), name(*argument)) \
  SDSM_ENTRY_AS(type, name##_8_, (const Fortran8* argument), name(saturated(*argument)))

SDSM_QUERY(int, omp_get_thread_num, to_int(this_thread().number))
SDSM_QUERY(int, omp_get_num_threads, to_int(this_thread().team_size))
SDSM_QUERY(int, omp_get_max_threads, to_int(threads_or([] { return this_thread().variables.threads; })))
SDSM_QUERY(int, omp_get_thread_limit, to_int(threads_or([] {
             const std::uint32_t own = this_thread().variables.thread_limit;
             return own < engine::thread_limit() ? own : engine::thread_limit();
           })))
SDSM_QUERY(int, omp_get_num_procs, to_int(threads_or(engine::default_threads)))
SDSM_QUERY(int, omp_in_parallel, this_thread().active_level > 0 ? 1 : 0)
SDSM_QUERY(int, omp_get_level, to_int(this_thread().level))
SDSM_QUERY(int, omp_get_active_level, to_int(this_thread().active_level))
SDSM_QUERY(int, omp_get_dynamic, this_thread().variables.dynamic ? 1 : 0)
SDSM_QUERY(int, omp_get_nested, this_thread().variables.max_active_levels > 1 ? 1 : 0)
SDSM_QUERY(int, omp_get_max_active_levels, to_int(this_thread().variables.max_active_levels))
SDSM_QUERY(int, omp_get_supported_active_levels, to_int(gomp::supported_active_levels))
SDSM_QUERY(int, omp_in_final, this_thread().in_final_task ? 1 : 0)
SDSM_QUERY(int, omp_in_explicit_task, this_thread().in_task ? 1 : 0)
SDSM_QUERY(int, omp_get_cancellation, 0)
SDSM_QUERY(int, omp_get_max_task_priority, to_int(this_thread().variables.max_task_priority))
SDSM_QUERY(double, omp_get_wtime, engine::wtime())
SDSM_QUERY(double, omp_get_wtick, 1e-9)

// Places: none; threads are not bound.
SDSM_QUERY(int, omp_get_proc_bind, 0)
SDSM_QUERY(int, omp_get_num_places, 0)
SDSM_QUERY(int, omp_get_place_num, -1)
SDSM_QUERY(int, omp_get_partition_num_places, 0)
SDSM_ENTRY_AS(int, omp_get_place_num_procs, (int /*place*/), 0)
SDSM_OF_INTEGER(int, omp_get_place_num_procs)
SDSM_ENTRY void omp_get_place_proc_ids(int /*place*/, int* /*ids*/) {}
SDSM_ENTRY void omp_get_place_proc_ids_(const Fortran4* /*place*/, Fortran4* /*ids*/) {}
SDSM_ENTRY void omp_get_place_proc_ids_8_(const Fortran8* /*place*/, Fortran8* /*ids*/) {}
SDSM_ENTRY void omp_get_partition_place_nums(int* /*places*/) {}
SDSM_ENTRY void omp_get_partition_place_nums_(Fortran4* /*places*/) {}
SDSM_ENTRY void omp_get_partition_place_nums_8_(Fortran8* /*places*/) {}

// Teams of the host's `teams` construct, see GOMP_teams_reg.
SDSM_QUERY(int, omp_get_num_teams, to_int(this_thread().teams))
SDSM_QUERY(int, omp_get_team_num, to_int(this_thread().team))
SDSM_QUERY(int, omp_get_max_teams, 0)
SDSM_QUERY(int, omp_get_teams_thread_limit, 0)
SDSM_ENTRY void omp_set_num_teams(int /*teams*/) {}
SDSM_OF_INTEGER(void, omp_set_num_teams)
SDSM_ENTRY void omp_set_teams_thread_limit(int /*threads*/) {}
SDSM_OF_INTEGER(void, omp_set_teams_thread_limit)

// Devices: the host alone.
SDSM_QUERY(int, omp_get_num_devices, 0)
SDSM_QUERY(int, omp_get_initial_device, 0)
SDSM_QUERY(int, omp_get_device_num, 0)
SDSM_QUERY(int, omp_get_default_device, 0)
SDSM_QUERY(int, omp_is_initial_device, 1)
SDSM_ENTRY void omp_set_default_device(int /*device*/) {}
SDSM_OF_INTEGER(void, omp_set_default_device)
SDSM_ENTRY_AS(int, omp_pause_resource, (int /*kind*/, int /*device*/), -1)
SDSM_ENTRY_AS(int, omp_pause_resource_, (const Fortran4* /*kind*/, const Fortran4* /*device*/), -1)
SDSM_ENTRY_AS(int, omp_pause_resource_all, (int /*kind*/), -1)
SDSM_ENTRY_AS(int, omp_pause_resource_all_, (const Fortran4* /*kind*/), -1)
SDSM_ENTRY void omp_set_num_threads(int threads) {
  if (threads > 0) this_thread().variables.threads = static_cast<std::uint32_t>(threads);
}
SDSM_OF_INTEGER(void, omp_set_num_threads)

SDSM_ENTRY void omp_set_dynamic(int dynamic) {
  this_thread().variables.dynamic = dynamic != 0;
}
SDSM_OF_INTEGER(void, omp_set_dynamic)

SDSM_ENTRY void omp_set_nested(int nested) {
  auto& levels = this_thread().variables.max_active_levels;
  if (nested == 0) {
    levels = 1;
  } else if (levels <= 1) {
    levels = largest_int;
  }
}
SDSM_OF_INTEGER(void, omp_set_nested)

SDSM_ENTRY void omp_set_max_active_levels(int levels) {
  if (levels >= 0) this_thread().variables.max_active_levels = static_cast<std::uint32_t>(levels);
}
SDSM_OF_INTEGER(void, omp_set_max_active_levels)

/// -1 where there is no such level. All teams but that of the active level have one thread.
SDSM_ENTRY int omp_get_ancestor_thread_num(int level) {
  const auto& thread = this_thread();
  if (level < 0 || static_cast<std::uint32_t>(level) > thread.level) return -1;
  return static_cast<std::uint32_t>(level) == thread.shared_level ? to_int(thread.shared_number) : 0;
}
SDSM_OF_INTEGER(int, omp_get_ancestor_thread_num)

SDSM_ENTRY int omp_get_team_size(int level) {
  const auto& thread = this_thread();
  if (level < 0 || static_cast<std::uint32_t>(level) > thread.level) return -1;
  return static_cast<std::uint32_t>(level) == thread.shared_level ? to_int(thread.shared_size) : 1;
}
SDSM_OF_INTEGER(int, omp_get_team_size)

SDSM_ENTRY void omp_set_schedule(std::uint32_t kind, int chunk) {
  auto& variables = this_thread().variables;
  const std::uint32_t schedule = kind & ~gomp::monotonic_modifier;
  if (schedule < 1 || schedule > 4) return;
  variables.schedule = static_cast<RunSchedule>(schedule);
  variables.monotonic = (kind & gomp::monotonic_modifier) != 0;
  const bool needs_chunk = variables.schedule == RunSchedule::dynamic || variables.schedule == RunSchedule::guided;
  variables.chunk = chunk > 0 ? static_cast<std::uint64_t>(chunk) : (needs_chunk ? 1 : 0);
  if (variables.schedule == RunSchedule::automatic) variables.chunk = 0;
}
SDSM_ENTRY_AS(void, omp_set_schedule_, (const std::uint32_t* kind, const Fortran4* chunk),
              omp_set_schedule(*kind, *chunk))
SDSM_ENTRY_AS(void, omp_set_schedule_8_, (const std::uint32_t* kind, const Fortran8* chunk),
              omp_set_schedule(*kind, saturated(*chunk)))

SDSM_ENTRY void omp_get_schedule(std::uint32_t* kind, int* chunk) {
  const auto& variables = this_thread().variables;
  *kind = static_cast<std::uint32_t>(variables.schedule) | (variables.monotonic ? gomp::monotonic_modifier : 0);
  *chunk = to_int(variables.chunk);
}
SDSM_ENTRY_AS(void, omp_get_schedule_, (std::uint32_t * kind, Fortran4* chunk), omp_get_schedule(kind, chunk))
SDSM_ENTRY void omp_get_schedule_8_(std::uint32_t* kind, Fortran8* chunk) {
  int small = 0;
  omp_get_schedule(kind, &small);
  *chunk = small;
}

SDSM_ENTRY_AS(void, omp_display_env, (int /*verbose*/),
              gomp::message({"omp_display_env: the run-time is sdsm's, with OpenMP 5.0's constructs"}))
SDSM_OF_INTEGER(void, omp_display_env)
