/// The interface between the libgomp-compatible front end and the engine beneath it. The front end (this folder) turns
/// GOMP_* and omp_* calls into these functions; an engine runs threads, keeps their memory and lets them wait for each
/// other. Each shared library has one engine (the tracer's virtual threads, or the native DSM's processes), which
/// defines every function of sdsm::engine: the linker joins the two halves
/// (docs/decisions/006-libgomp-by-its-symbols.md).
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/program/events.hpp"
#include "native/guest/openmp/construct.hpp"
#include "native/guest/openmp/gangs.hpp"
#include "native/guest/openmp/settings.hpp"
#include "native/guest/runtime/engine.hpp"

namespace sdsm::gomp {

/// Arguments of a team's start. Trivially copyable: an engine may send them to other processes.
struct TeamStart {
  void (*body)(void*) = nullptr;
  void* data = nullptr;
  std::uint32_t size = 1;
  std::uint64_t region = 0;           ///< number of the parallel region, from 0
  std::uint64_t first_construct = 0;  ///< number that the region's first work-sharing construct gets
  LoopBounds loop;                    ///< of a combined `parallel for` or `parallel sections`
  bool has_loop = false;
  std::uintptr_t* reductions = nullptr;  ///< of reductions with the task modifier, see reductions.cpp
  std::uint32_t level = 1;               ///< of the region: 1, or more inside regions of one thread
  ControlVariables variables;            ///< the members'
  bool shows_affinity = false;           ///< each member prints it
};

/// Runs the region's body as thread `number` of the team. Engines call it on the stack that the program shall use.
void run_member(const TeamStart& start, std::uint32_t number);

/// The ordered regions of a loop run in ascending order of the chunks that hold them.
struct OrderedLoop {
  std::uint64_t construct = 0;
  std::uint64_t first_iteration = 0;  ///< of the caller's chunk
};

/// Counts the iterations of one part of a doacross loop, or how often a thread's flag for a detached task was used.
struct Flag {
  std::uint64_t construct = 0;
  std::uint64_t part = 0;   ///< or the thread
  std::uint64_t parts = 0;  ///< of the loop; 0: the flag is an event's, and lasts
};
/// First number of events' flags, beyond the numbers of constructs.
inline constexpr std::uint64_t first_event_construct = std::uint64_t{1} << 31;

}  // namespace sdsm::gomp

namespace sdsm::engine {

/// Size of a team if the program does not say.
std::uint32_t default_threads();
/// Most threads that a team can have.
std::uint32_t thread_limit();

/// Starts a team, runs member 0 on the calling thread, and returns when all members have left the region. Called by the
/// initial thread, outside of any team or in a team of one.
/// Events: fork, team_begin, join.
void run_team(const gomp::TeamStart& start);

/// Waits for all members of the caller's team. Event: barrier.
void barrier(std::uint32_t team_size);

/// Waits for the other members of the gang, which is smaller than the team. Event: barrier, of a sub-team.
void gang_barrier(const gomp::Gang& gang);
/// Notes that the caller has divided gang.outer, or its team, and becomes a member of `gang`.
void note_division(const gomp::Gang& gang);
/// Notes that the caller has passed its last barrier of the gang, which has other members.
void leave_gang(const gomp::Gang& gang);

/// Records an event that makes nobody wait: single, loop_end, task, loop_begin.
void note(const Event& event);

// Work-sharing constructs of the caller's team. All its members meet them in the same order, and their numbers ascend.

/// True for the one thread that executes the `single`. Event: single.
bool take_single(std::uint64_t number);

/// The thread that executed the `single` hands `data` on to the others (copyprivate). Both wait for the whole team.
/// Event: copyprivate.
void give_copied(std::uint64_t number, const void* data, std::uint32_t team_size);
const void* take_copied(std::uint64_t number, std::uint32_t team_size);

/// The caller's next iterations of a dynamic or guided loop, or next section; none when all are taken. Event: chunk.
gomp::Chunk take_chunk(std::uint64_t number, const gomp::LoopBounds& loop, std::uint32_t team_size);

/// The construct's rarely used shared state, zeroed for the first thread. It is the caller's until close_construct.
gomp::ConstructState& open_construct(std::uint64_t number);
void close_construct(std::uint64_t number);
/// Notes that the calling thread will not open `number` again. The state is freed after `team_size` such calls.
void leave_construct(std::uint64_t number, std::uint32_t team_size);

/// A lock is known by its class and an address: of the program's lock object, or of a critical section's symbol. The
/// two nameless ones (critical, atomic) have a null address.
void acquire(LockClass lock_class, const void* lock);
bool try_acquire(LockClass lock_class, const void* lock);
/// Tries to take the nested lock. Returns how often the caller holds it afterwards; 0 if another thread holds it.
int try_acquire_nested(const void* lock);
void release(LockClass lock_class, const void* lock);
/// Numbers and resets a lock object that is initialised outside of parallel regions. Others get one at their first use.
void create_lock(LockClass lock_class, const void* lock);
/// Resets a lock object, if it has a number, that is destroyed, or initialised in a parallel region. Numbers would
/// depend there on the order of threads, which would wait for each.
void reset_lock(LockClass lock_class, const void* lock);

/// Waits until the turn of the caller's chunk has come. Events: acquire and release of class ordered.
void enter_ordered(const gomp::OrderedLoop& loop);
void leave_ordered(const gomp::OrderedLoop& loop);
/// Called when the caller's chunk is done, with or without ordered regions in it. Waits for its turn, and passes the
/// turn on to the chunk that begins at `next_iteration`.
void pass_ordered(const gomp::OrderedLoop& loop, std::uint64_t next_iteration);

/// Counts a flag up to `value`, which is a release of memory. Event: post.
void post_flag(const gomp::Flag& flag, std::uint64_t value);
/// Waits until others have counted the flag up to `value`, which is an acquire. Event: wait.
void wait_for_flag(const gomp::Flag& flag, std::uint64_t value);

/// The thread's clock in seconds, and the event `clock`.
double wtime();

/// Ends the run: the program wants a team of so many threads, and may not get a smaller one.
[[noreturn]] void refuse_team(std::uint32_t threads);

}  // namespace sdsm::engine
