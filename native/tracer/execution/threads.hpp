/// Virtual threads: each OpenMP thread is a POSIX thread, so that it has thread-local storage (threadprivate variables,
/// errno) of its own, and exactly one of them runs at any time. That one has the turn and owns all of the tracer's
/// state; it hands both on to the next.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "native/guest/code/machine_code.hpp"
#include "native/guest/openmp/engine.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/raw_memory.hpp"
#include "native/guest/runtime/signals.hpp"
#include "native/guest/runtime/thread_safety.hpp"
#include "native/tracer/record/stopwatch.hpp"
#include "native/tracer/record/turn.hpp"

namespace sdsm::tracer {
using namespace program;

enum class ThreadStatus : std::uint8_t {
  idle,  ///< in no team
  runnable,
  at_barrier,
  at_join,
  at_lock,
  at_ordered,
  at_object,  ///< of the C library, other than a mutex
  at_flag,
};

constexpr bool is_waiting(ThreadStatus status) {
  return status != ThreadStatus::idle && status != ThreadStatus::runnable;
}

inline constexpr std::uint64_t never = ~std::uint64_t{0};

/// A page's first touch in an interval.
struct Touch {
  std::uint32_t region = 0;
  std::uint32_t page = 0;
  std::uint64_t at_ns = 0;         ///< the interval's stopwatch
  std::uintptr_t instruction = 0;  ///< that touched it
  bool is_write = false;
};

struct Stack {
  std::uintptr_t begin = 0;  ///< above the guard page
  std::uintptr_t end = 0;

  bool holds(std::uintptr_t address) const { return address - begin < end - begin; }
};

/// The instruction of a waiting loop that the thread last came by (wait_loops.hpp).
struct FlagWait {
  std::uintptr_t place = 0;
  std::uint64_t interval = 0;  ///< that it was in
  std::uint64_t state = 0;     ///< of registers and stack
  program::Poll poll{};        ///< how the place polls, if it does
  std::uint64_t value = 0;     ///< that it saw
  unsigned times = 0;          ///< that it saw this value, in a row
  std::uint64_t own_ns = 0;    ///< the interval's compute time then
  unsigned rounds = 0;         ///< times that others have gone on since
  unsigned ignored = 0;        ///< times that the first pass did not wait here
};

/// Why and how far the thread is single-stepped.
struct Steps {
  enum class Purpose : std::uint8_t { none, seeks_loop, passes_place };
  Purpose purpose{};
  std::uint64_t interval = 0;
  std::uint64_t own_ns = 0;  ///< the interval's compute time so far
  std::uintptr_t begin = 0;
  unsigned most = 0;         ///< instructions that are single-stepped
  std::uint64_t state = 0;   ///< at `begin`
  std::uintptr_t stack = 0;  ///< there
  unsigned count = 0;
  unsigned turns = 0;    ///< back to `begin`, in the same state
  unsigned others = 0;   ///< back to `begin`, in other states
  unsigned pauses = 0;   ///< of all, those that are `pause`
  unsigned outside = 0;  ///< single-stepped instructions of libraries, which count apart
};

/// Lets others go on in the midst of an interval now and then, in case the thread waits for what they do.
struct BlindWait {
  std::uint64_t interval = 0;
  std::uint64_t not_before_ns = 0;  ///< the interval's compute time when others go on next
  unsigned patience = 1;            ///< as find_wait_loop() has it
};

/// The program's readings of the clock.
struct Readings {
  std::uint64_t count = 0;     ///< that are events
  std::uint64_t last_ns = 0;   ///< what the last one gave
  std::uint64_t ahead_ns = 0;  ///< how far it was ahead of the virtual clock (modulo 2^64)
  std::uint64_t slept_ns = 0;  ///< total time that the thread has slept or waited until a date
  ClockRow row;
  std::uint64_t row_began_ns = 0;
  std::uint64_t row_began_clock_ns = 0;
  double pace = 1;                      ///< of the clock at the row's end, relative to the virtual clock
  std::uint64_t computed_ns = 0;        ///< by the interval, up to the last reading
  std::uint64_t computed_since_ns = 0;  ///< of that, since the reading before
};

/// The thread's wait at a barrier of the C library. It is over as soon as others have gone on from there.
struct Meeting {
  const std::uint64_t* over = nullptr;  ///< meetings at that barrier that are over; null: it is at none
  std::uint64_t before = 0;             ///< as many as there were when it came
  Event event{};                        ///< with which it goes on

  bool is_over() const { return over != nullptr && *over != before; }
};

struct VirtualThread {
  // Fixed before the thread runs.
  std::uint32_t number = 0;
  Stack stack;  ///< that the program's code uses
  pthread_t posix_thread{};
  pid_t kernel_id = 0;
  program::SignalState signals;  ///< that it begins with

  std::atomic<int> may_run = 0;  ///< a futex: the turn is handed on through it

  ThreadStatus status GUARDED_BY(turn) = ThreadStatus::idle;
  std::uint64_t clock_ns GUARDED_BY(turn) = 0;  ///< the virtual clock: compute time, and waiting for others
  Readings readings GUARDED_BY(turn);
  const void* waits_for GUARDED_BY(turn) = nullptr;        ///< lock, object or loop
  std::uint32_t sub_team GUARDED_BY(turn) = 0;             ///< at whose barrier it waits; 0: the team's
  std::uint64_t times_out_at_ns GUARDED_BY(turn) = never;  ///< by its clock, while it waits
  bool has_timed_out GUARDED_BY(turn) = false;
  const void* enlisted_at GUARDED_BY(turn) = nullptr;  ///< object whose wake() it awaits
  std::uint64_t enlisted_as GUARDED_BY(turn) = 0;      ///< numbered in the order in which threads enlist
  std::uint64_t woken_by GUARDED_BY(turn) = 0;         ///< number of the object's wake() that woke it
  Meeting meeting GUARDED_BY(turn);
  Stopwatch stopwatch GUARDED_BY(turn);
  std::uint64_t intervals GUARDED_BY(turn) = 0;
  std::uint32_t private_locks GUARDED_BY(turn) = 0;       ///< that it holds (native/guest/threads/engine.hpp)
  std::uint32_t unchanged_in_a_row GUARDED_BY(turn) = 0;  ///< fences, and atomic operations that changed nothing
  std::uintptr_t failed_exchange GUARDED_BY(turn) = 0;    ///< address of a compare_exchange that was the last event
  std::uintptr_t failed_at GUARDED_BY(turn) = 0;          ///< its instruction
  FlagWait flag_wait GUARDED_BY(turn);
  Steps steps GUARDED_BY(turn);
  BlindWait blind_wait GUARDED_BY(turn);
  EventKind last_event GUARDED_BY(turn){};
  /// Instruction of the next event, where no call leads to it; else 0.
  std::uintptr_t call_site GUARDED_BY(turn) = 0;
  /// Function of the team's body, and the run-time's frame from which it was called; 0 outside of teams.
  std::uintptr_t team_body GUARDED_BY(turn) = 0;
  std::uintptr_t team_frame GUARDED_BY(turn) = 0;
  bool is_in_interval GUARDED_BY(turn) = false;
  bool has_begun GUARDED_BY(turn) = false;            ///< its part in the current team
  bool spins GUARDED_BY(turn) = false;                ///< it has only polled a flag since its last event
  bool is_split GUARDED_BY(turn) = false;             ///< its pages were closed in between, since it last synchronised
  GrowingArray<Touch> touches GUARDED_BY(turn);       ///< of the interval that it is in
  std::uintptr_t control_stack GUARDED_BY(turn) = 0;  ///< where it may wait while its stack is protected
  /// The thread's thread-local variables and its thread control block. Empty if the program has no thread-local
  /// variables.
  program::AddressRange locals GUARDED_BY(turn);
  bool are_locals_shut GUARDED_BY(turn) = false;
  bool exists GUARDED_BY(turn) = false;
};

/// State that signal handlers and the watchdog read at any time. Only the thread that has the turn writes it.
struct Watched {
  std::atomic<VirtualThread*> running = nullptr;  ///< the thread that has the turn; null before there are threads
  std::atomic<bool> is_inside = true;             ///< the tracer's own code runs, which no other thread may interrupt
  std::atomic<bool> is_in_team = false;
  std::atomic<std::uint64_t> switches = 0;  ///< times that one thread followed another
};
extern Watched watched;

/// To be called where the program's code enters the tracer: the caller must be the thread that has the turn. Any other
/// (one that neither OpenMP nor pthread_create has made) ends the run.
void enter() ASSERT_CAPABILITY(turn);
/// enter(), and returns the thread. Only after start_threads().
VirtualThread& running_thread() ASSERT_CAPABILITY(turn);

/// Sets whether the tracer's own code runs, and returns the value before.
inline bool set_inside(bool is_inside) {
  const bool was_inside = watched.is_inside.load(std::memory_order_relaxed);
  watched.is_inside.store(is_inside, std::memory_order_release);
  return was_inside;
}

/// While such an object lives, no other virtual thread runs: for changes that others must not see half done.
class Uninterrupted {
 public:
  Uninterrupted() : was_inside_(set_inside(true)) {}
  ~Uninterrupted() { set_inside(was_inside_); }

 private:
  program::HeldSignals held_;
  bool was_inside_;
};

/// Sets up all threads; the caller becomes thread 0. `memory`: where its thread-local variables and thread control
/// block lie; empty if the program has no thread-local variables.
void start_threads(const program::AddressRange& memory) REQUIRES(turn, starting);
/// Opens all threads' variables, for the end of tracking. They are shut again when their thread next hands the turn on.
void open_all_locals() REQUIRES(turn);
VirtualThread& thread_of(std::uint32_t number) REQUIRES(turn);
/// The number of threads that exist.
std::uint32_t thread_count() REQUIRES(turn);
std::span<VirtualThread> all_threads() REQUIRES(turn);

/// Gives `thread` a POSIX thread if it has none yet.
void create_thread(VirtualThread& thread) REQUIRES(turn);

/// Makes the caller no longer runnable: it waits, or its part in the team is done.
void stop(VirtualThread& self, ThreadStatus status, const void* waits_for = nullptr) REQUIRES(turn);
/// Makes a thread runnable again; its clock is then at least `clock_ns`.
void wake(VirtualThread& thread, std::uint64_t clock_ns) REQUIRES(turn);

/// A scheduling point: the runnable thread with the smallest clock goes on (in later passes: the one that went on in
/// the first). Returns when the caller is chosen again. A caller that can go on keeps the turn while it holds a lock
/// that is the process's own, or its clock is ahead of the next thread's by at most `slack_ns`.
void schedule(std::uint64_t slack_ns = 0) REQUIRES(turn);

/// A scheduling point within the caller's interval, after which the caller's clock is `nanoseconds` later (sleep).
void yield(VirtualThread& self, std::uint64_t nanoseconds) REQUIRES(turn);

/// Waits within the caller's interval until somebody wakes the caller (true), or until its turn comes with its clock
/// past `times_out_at_ns` (false).
bool wait_in_between(VirtualThread& self, ThreadStatus status, const void* waits_for,
                     std::uint64_t times_out_at_ns = never) REQUIRES(turn);
/// Whether the thread's turn will come whatever others do.
bool can_go_on(const VirtualThread& thread) REQUIRES(turn);

/// Whether there is another thread whose turn will come.
bool others_can_go_on(const VirtualThread& self) REQUIRES(turn);

/// Lets another thread go on, because the caller waits for a flag. The more `rounds` the caller has waited, the later
/// its turn comes again. In round 0 the wait is recorded. False if the first pass did not wait here.
/// Precondition: others_can_go_on(self).
bool wait_for_flag(VirtualThread& self, unsigned rounds) REQUIRES(turn);

/// Lets another runnable thread go on, if there is one, because the caller spins or has run for too long.
void preempt(VirtualThread& self) REQUIRES(turn);

/// Ends the caller's interval with an event; begin_interval() starts the next one. In between the thread's clock stops
/// and others may run.
void end_interval(VirtualThread& self, const Event& event) REQUIRES(turn);
void begin_interval(VirtualThread& self) REQUIRES(turn);
/// end_interval() in two steps: in between, resume_interval() may go on instead, as if nothing had been.
void pause_interval(VirtualThread& self) REQUIRES(turn);
void end_paused_interval(VirtualThread& self, const Event& event) REQUIRES(turn);
void resume_interval(VirtualThread& self) REQUIRES(turn);

/// Records an event that closes an empty interval, for a thread that does not run. `call_site`: the instruction.
void record_event(VirtualThread& thread, const Event& event, std::uint64_t compute_ns, std::uintptr_t call_site = 0)
    REQUIRES(turn);

}  // namespace sdsm::tracer
