/// Parallel regions: GOMP_parallel*, GOMP_teams_reg, and the first and last steps of a team's members.
#include "native/guest/openmp/affinity.hpp"
#include "native/guest/openmp/gangs.hpp"
#include "native/guest/openmp/loop.hpp"
#include "native/guest/openmp/reductions.hpp"
#include "native/guest/openmp/thread.hpp"
#include "native/guest/openmp/unfinished.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/entry.hpp"

namespace sdsm::gomp {
namespace {

struct ParallelRegion {
  void (*body)(void*) = nullptr;
  void* data = nullptr;
  unsigned requested_threads = 0;        ///< 0: as many as nthreads-var says
  const LoopBounds* loop = nullptr;      ///< of a combined construct
  std::uintptr_t* reductions = nullptr;  ///< registered already
};

/// Only one active level is supported. Regions of one thread do not count as active.
bool is_serialised(const ThreadState& thread) {
  return thread.shared_size > 1 || thread.works_alone || !has_begun();
}

/// A region inside an active region, or in a constructor: the caller runs it alone.
void run_serialised(void (*body)(void*), void* data, const LoopBounds* loop) {
  ThreadState& thread = this_thread();
  ThreadState outer = thread;
  thread.number = 0;
  thread.team_size = 1;
  thread.serialised = true;
  ++thread.level;
  thread.gang = nullptr;
  thread.in_gang_loop = false;
  thread.in_task = false;
  begin_construct(thread);
  if (loop) enter_combined_loop(thread, *loop);
  thread.tasks_before = tasks_so_far();
  body(data);
  finish_tasks(thread.tasks_before);
  end_region_outside_of_gangs(thread);
  // Locks, tasks and clocks inside went on in the engine; everything of the front end is as before.
  thread = outer;
}

/// Size of the team of a region that `thread` starts: as requested, up to the engine's limit; 1 inside another.
std::uint32_t team_size_for(const ThreadState& thread, unsigned requested) {
  if (is_serialised(thread)) return 1;
  const ControlVariables& variables = thread.variables;
  std::uint32_t size = requested > 0 ? requested : variables.threads;
  if (size > variables.thread_limit) size = variables.thread_limit;
  if (size <= engine::thread_limit()) return size;
  if (!variables.dynamic) engine::refuse_team(size);
  return engine::thread_limit();
}

}  // namespace

void run_member(const TeamStart& start, std::uint32_t number) {
  ThreadState& thread = this_thread();
  ThreadState outer = thread;
  thread.number = number;
  thread.team_size = start.size;
  thread.level = start.level;
  thread.active_level = start.size > 1 ? 1 : 0;
  thread.serialised = false;
  thread.shared_level = start.level;
  thread.shared_number = number;
  thread.shared_size = start.size;
  thread.region = start.region;
  thread.next_construct = start.first_construct;
  thread.in_task = false;
  thread.in_final_task = false;
  thread.gang = nullptr;
  thread.in_gang_loop = false;
  thread.variables = start.variables;
  if (start.shows_affinity) show_affinity();
  ReductionScope reductions(thread, start.reductions);
  if (start.has_loop) {
    begin_construct(thread);
    enter_combined_loop(thread, start.loop);
  }
  thread.tasks_before = tasks_so_far();
  start.body(start.data);
  finish_tasks(thread.tasks_before);
  end_region_outside_of_gangs(thread);
  reductions.end();
  // What is numbered over the whole run goes on.
  outer.next_construct = thread.next_construct;
  outer.next_region = thread.next_region;
  thread = outer;
}

namespace {

/// Of the initial thread's teams; those of one thread do not count.
constinit std::uint32_t last_team_size = 1;

/// Returns the size of the region's team.
std::uint32_t run_parallel(const ParallelRegion& region) {
  ThreadState& thread = this_thread();
  if (is_serialised(thread)) {
    ReductionScope reductions(thread, region.reductions);
    run_serialised(region.body, region.data, region.loop);
    reductions.end();
    return 1;
  }
  TeamStart start;
  start.body = region.body;
  start.data = region.data;
  start.size = team_size_for(thread, region.requested_threads);
  start.region = thread.next_region++;
  start.level = thread.level + 1;
  start.first_construct = thread.next_construct;
  start.reductions = region.reductions;
  if (region.loop) {
    start.loop = *region.loop;
    start.has_loop = true;
  }
  start.variables = thread.variables;
  // As libgomp has it: for a team of another size than the one before.
  start.shows_affinity = shows_affinity() && start.size > 1 && start.size != std::exchange(last_team_size, start.size);
  engine::run_team(start);
  return start.size;
}

}  // namespace
}  // namespace sdsm::gomp

using namespace sdsm;
using gomp::LoopBounds;

SDSM_ENTRY void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned /*flags*/) {
  gomp::run_parallel({.body = body, .data = data, .requested_threads = threads});
}

SDSM_ENTRY unsigned GOMP_parallel_reductions(void (*body)(void*), void* data, unsigned threads, unsigned /*flags*/) {
  const gomp::ThreadState& thread = gomp::this_thread();
  const std::uint32_t size = gomp::team_size_for(thread, threads);
  auto* reductions = *static_cast<std::uintptr_t**>(data);
  gomp::register_reductions(reductions, nullptr, size);
  return gomp::run_parallel({.body = body, .data = data, .requested_threads = size, .reductions = reductions});
}

#define SDSM_PARALLEL_LOOP(name, kind)                                                                               \
  SDSM_ENTRY void GOMP_parallel_loop_##name(void (*body)(void*), void* data, unsigned threads, long start, long end, \
                                            long step, long chunk, unsigned /*flags*/) {                             \
    const LoopBounds loop = gomp::signed_loop(start, end, step, kind, chunk);                                        \
    gomp::run_parallel({.body = body, .data = data, .requested_threads = threads, .loop = &loop});                   \
  }
SDSM_PARALLEL_LOOP(static, Schedule::static_)
SDSM_PARALLEL_LOOP(dynamic, Schedule::dynamic)
SDSM_PARALLEL_LOOP(guided, Schedule::guided)
SDSM_PARALLEL_LOOP(nonmonotonic_dynamic, Schedule::dynamic)
SDSM_PARALLEL_LOOP(nonmonotonic_guided, Schedule::guided)

#define SDSM_PARALLEL_RUNTIME_LOOP(name)                                                                             \
  SDSM_ENTRY void GOMP_parallel_loop_##name(void (*body)(void*), void* data, unsigned threads, long start, long end, \
                                            long step, unsigned /*flags*/) {                                         \
    const LoopBounds loop = gomp::runtime_loop(gomp::this_thread(), start, end, step);                               \
    gomp::run_parallel({.body = body, .data = data, .requested_threads = threads, .loop = &loop});                   \
  }
SDSM_PARALLEL_RUNTIME_LOOP(runtime)
SDSM_PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime)
SDSM_PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime)

SDSM_ENTRY void GOMP_parallel_sections(void (*body)(void*), void* data, unsigned threads, unsigned count,
                                       unsigned /*flags*/) {
  const LoopBounds loop = gomp::sections_loop(count);
  gomp::run_parallel({.body = body, .data = data, .requested_threads = threads, .loop = &loop});
}

SDSM_ENTRY_AS(bool, GOMP_cancel, (int /*which*/, bool /*do_cancel*/), false)
SDSM_ENTRY_AS(bool, GOMP_cancellation_point, (int /*which*/), false)

/// `teams` on the host: the teams of the league run one after the other. Where the program gives no number: one.
SDSM_ENTRY void GOMP_teams_reg(void (*body)(void*), void* data, unsigned teams, unsigned thread_limit,
                               unsigned /*flags*/) {
  gomp::ThreadState& thread = gomp::this_thread();
  const gomp::ControlVariables variables = thread.variables;
  if (thread_limit > 0 && thread_limit < variables.thread_limit) thread.variables.thread_limit = thread_limit;
  thread.teams = teams > 0 ? teams : 1;
  for (thread.team = 0; thread.team < thread.teams; ++thread.team) body(data);
  thread.teams = 1;
  thread.team = 0;
  thread.variables = variables;
}

void sdsm::engine::refuse_team(std::uint32_t threads) {
  const program::Decimal wanted(threads), most(thread_limit());
  program::end_run({"a parallel region asks for ", wanted, " threads, and the run has ", most, ". Give it as many (-n ",
                    wanted, "), or let teams be smaller: set OMP_THREAD_LIMIT=", most, ", or call omp_set_dynamic(1)"});
}
