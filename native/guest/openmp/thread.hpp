/// The front end's view of the calling thread: its place in its team and in its work-sharing construct.
#pragma once

#include <cstdint>

#include "native/guest/openmp/construct.hpp"
#include "native/guest/openmp/engine.hpp"
#include "native/guest/openmp/settings.hpp"

namespace sdsm::gomp {

struct Gang;
struct Taskgroup;

inline constexpr unsigned most_doacross_loops = 12;

/// The loops of `ordered(n)`, and the last flag that the thread waited for.
struct Doacross {
  unsigned loops = 0;
  std::uint64_t inner_iterations[most_doacross_loops] = {};  ///< of the loops inside of each, multiplied
  std::uint64_t awaited_part = 0;
  std::uint64_t awaited = 0;  ///< 0: none
};

/// The work-sharing construct that the thread is in.
struct CurrentConstruct {
  std::uint64_t number = 0;
  LoopBounds loop;
  std::uint64_t turn = 0;  ///< chunks of a static schedule that the thread has had
  Chunk chunk;             ///< the last one handed to the thread
  bool is_ordered = false;
  bool has_turn_to_pass = false;  ///< the current chunk is an ordered loop's
  Doacross doacross;
};

struct ThreadState {
  std::uint32_t number = 0;  ///< in its team
  std::uint32_t team_size = 1;
  std::uint32_t level = 0;          ///< enclosing parallel regions
  std::uint32_t active_level = 0;   ///< those of more than one thread
  bool serialised = true;           ///< outside of any region, or inside a nested one: a team of one, without events
  std::uint32_t shared_level = 0;   ///< of the innermost region that is not serialised
  std::uint32_t shared_number = 0;  ///< the thread's number there
  std::uint32_t shared_size = 1;
  bool works_alone = false;  ///< its regions are teams of one
  bool in_final_task = false;
  bool in_task = false;
  std::uint64_t tasks_before = 0;  ///< unfinished tasks before the region began
  std::uint64_t region = 0;        ///< number of the innermost region that is not serialised
  std::uint64_t next_construct = 0;
  std::uint64_t next_region = 0;  ///< the initial thread's, which alone starts teams
  CurrentConstruct construct;
  ConstructState own_construct{};          ///< of a serialised team
  std::uint64_t own_iterations_taken = 0;  ///< by this thread, of the construct's chunks that are not static
  Taskgroup* taskgroup = nullptr;
  std::uint32_t teams = 1;  ///< of the league, inside `teams`
  std::uint32_t team = 0;
  bool in_gang_loop = false;  ///< of sdsm_for_begin
  Gang* gang = nullptr;       ///< the thread's; null: its team
  ControlVariables variables;
};

/// The calling thread's state, in thread-local storage.
ThreadState& this_thread();

/// Gives the initial thread its control variables. To be called before any other function.
void start_initial_thread();

/// Whether the initial thread was started. Constructors run before that: the program's in process 0, those of libraries
/// in each process. In constructors regions have one thread, and locks make nobody wait.
bool has_begun();

/// Shared state of the current construct: the team's, or the thread's own in a serialised team.
class OpenConstruct {
 public:
  explicit OpenConstruct(ThreadState& thread);
  ~OpenConstruct();
  OpenConstruct& operator=(OpenConstruct&&) = delete;
  ConstructState* operator->() const { return state_; }
  ConstructState& operator*() const { return *state_; }

 private:
  ThreadState& thread_;
  ConstructState* state_;
};

/// Enters the team's next work-sharing construct.
void begin_construct(ThreadState& thread);
/// Leaves the current construct.
void leave_construct(ThreadState& thread);

/// Event and barrier of a team; a serialised team has none.
void note(const ThreadState& thread, EventKind kind, std::uint64_t object, std::uint64_t value, std::uint8_t detail);
void team_barrier(const ThreadState& thread);

}  // namespace sdsm::gomp
