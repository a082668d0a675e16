/// Virtual threads: each OpenMP thread is a POSIX thread, so that it has thread-local storage (threadprivate variables,
/// errno) of its own, and exactly one of them runs at any time.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "native/gomp/engine.hpp"
#include "native/program/raw_memory.hpp"
#include "native/program/signals.hpp"
#include "native/tracer/stopwatch.hpp"

namespace sdsm::tracer {
using namespace program;

enum class ThreadStatus : std::uint8_t {
  idle,  ///< in no team
  runnable,
  at_barrier,
  at_join,
  at_lock,
  at_ordered,
};

constexpr bool is_waiting(ThreadStatus status) {
  return status != ThreadStatus::idle && status != ThreadStatus::runnable;
}

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

struct VirtualThread {
  std::uint32_t number = 0;
  ThreadStatus status = ThreadStatus::idle;
  std::uint64_t clock_ns = 0;       ///< the virtual clock: compute time, and waiting for others
  const void* waits_for = nullptr;  ///< lock or loop
  Stopwatch stopwatch;
  std::uint64_t intervals = 0;
  std::uint32_t flushes_in_a_row = 0;
  bool is_split = false;        ///< its pages were closed in between, since it last synchronised
  GrowingArray<Touch> touches;  ///< of the interval that it is in

  Stack stack;                       ///< that the program's code uses
  std::uintptr_t control_stack = 0;  ///< where it may wait while its stack is protected
  pthread_t posix_thread{};
  program::SignalState signals;  ///< that it begins with
  std::atomic<int> may_run = 0;  ///< a futex
  bool exists = false;
};

extern VirtualThread* running;

/// True while the tracer's own code runs: no other virtual thread may run then.
extern volatile bool is_inside;

/// While it lives, no other virtual thread runs: for changes that it must not see half done.
class Uninterrupted {
 public:
  Uninterrupted() : was_inside_(is_inside) { is_inside = true; }
  ~Uninterrupted() { is_inside = was_inside_; }
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

 private:
  program::HeldSignals held_;
  bool was_inside_;
};

/// Sets up all threads; the caller becomes thread 0.
void start_threads();
VirtualThread& thread_of(std::uint32_t number);
/// Number of threads that exist.
std::uint32_t thread_count();

/// Gives `thread` a POSIX thread if it has none yet.
void create_thread(VirtualThread& thread);

/// A scheduling point: the runnable thread with the smallest clock goes on (in later passes: the one that went on in
/// the first). Returns when the caller is chosen again.
void schedule();

/// A scheduling point within the caller's interval, after which the caller's clock is `nanoseconds` later (sleep).
void yield(VirtualThread& self, std::uint64_t nanoseconds);

/// The same, until somebody makes the caller runnable again.
void wait_in_between(VirtualThread& self, ThreadStatus status, const void* waits_for);

/// Lets another runnable thread go on, if there is one, because the caller spins or has run for too long.
void preempt(VirtualThread& self);

/// Ends the caller's interval with an event; begin_interval() starts the next one. In between the thread's clock stands
/// still and others may run.
void end_interval(VirtualThread& self, const trace::Event& event);
void begin_interval(VirtualThread& self);

/// Number of switches from one thread to another.
std::uint64_t switch_count();

/// Records an event that closes an empty interval, for a thread that does not run.
void record_event(VirtualThread& thread, const trace::Event& event, std::uint64_t compute_ns);

}  // namespace sdsm::tracer
