#include "native/tracer/threads.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "native/program/processes.hpp"
#include "native/program/signals.hpp"
#include "native/program/stacks.hpp"
#include "native/tracer/deadlock.hpp"
#include "native/tracer/ending.hpp"
#include "native/tracer/options.hpp"
#include "native/tracer/pages.hpp"
#include "native/tracer/recorder.hpp"
#include "native/tracer/schedule_log.hpp"
#include "native/tracer/stacks.hpp"
#include "native/tracer/team.hpp"
#include "native/tracer/touch.hpp"

namespace sdsm::tracer {
using namespace program;

constinit Watched watched;

namespace {

struct Threads {
  VirtualThread* all = nullptr;
  std::uint32_t count = 0;  ///< that exist
  /// The last that did anything but look at a flag, and where in its events.
  WokenRecord last_active;
};
constinit Threads threads GUARDED_BY(turn);

/// Room on a control stack for the frames that are on it when the program's code is called.
constexpr std::uintptr_t control_margin = 4096;

void wait_for_turn(VirtualThread& self) ASSERT_CAPABILITY(turn) {
  while (self.may_run.load(std::memory_order_acquire) == 0) {
    syscall(SYS_futex, &self.may_run, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
  }
  self.may_run.store(0, std::memory_order_relaxed);
  turn.take();
}

void let_run(VirtualThread& next) {
  next.may_run.store(1, std::memory_order_release);
  syscall(SYS_futex, &next.may_run, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

struct HandOver {
  VirtualThread* from;
  VirtualThread* to;
};

void hand_over(void* argument) REQUIRES(turn) {
  auto& [from, to] = *static_cast<HandOver*>(argument);
  // The argument lies on a stack that is about to be protected.
  VirtualThread& self = *from;
  VirtualThread& next = *to;
  if (is_tracked()) {
    shut_stack(self.stack);
    open_stack(next.stack);
  }
  const program::ShutSignals shut;
  turn.give_up();
  watched.running.store(&next, std::memory_order_release);
  let_run(next);
  wait_for_turn(self);
}

void switch_to(VirtualThread& next) REQUIRES(turn) {
  VirtualThread& self = running_thread();
  if (&next == &self) return;
  const int saved_errno = errno;
  watched.switches.fetch_add(1, std::memory_order_relaxed);
  if (!self.spins) {
    threads.last_active.by = self.number;
    threads.last_active.events = self.intervals + (self.is_in_interval ? 1 : 0);
  }
  close_pages(self, Closing::in_between);
  HandOver argument{&self, &next};
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (is_tracked() && self.stack.holds(here)) {
    sdsm_call_on_stack(self.control_stack, hand_over, &argument);
  } else {
    hand_over(&argument);
  }
  errno = saved_errno;
}

/// When a thread can go on, by its clock; never(): when another wakes it.
std::uint64_t goes_on_at(const VirtualThread& thread) REQUIRES(turn) {
  if (thread.status == ThreadStatus::runnable) return thread.clock_ns;
  return is_waiting(thread.status) ? thread.gives_up_at_ns : never;
}

/// The thread that can go on first.
VirtualThread* first_to_go_on(const VirtualThread* other_than) REQUIRES(turn) {
  VirtualThread* best = nullptr;
  std::uint64_t best_ns = never;
  for (std::uint32_t i = 0; i < threads.count; ++i) {
    VirtualThread& thread = threads.all[i];
    const std::uint64_t at_ns = goes_on_at(thread);
    if (at_ns >= best_ns || &thread == other_than) continue;
    best = &thread;
    best_ns = at_ns;
  }
  return best;
}

/// Whoever is chosen while it waits for a limited time has waited in vain.
void let_give_up(VirtualThread& chosen) REQUIRES(turn) {
  if (chosen.status == ThreadStatus::runnable) return;
  const std::uint64_t since = chosen.gives_up_at_ns;
  chosen.has_given_up = true;
  wake(chosen, since);
}

ScheduleEntry pick_entry(ScheduleEntry::Kind kind, const VirtualThread& self, const VirtualThread& chosen)
    REQUIRES(turn) {
  ScheduleEntry entry;
  entry.kind = kind;
  entry.self = static_cast<std::uint16_t>(self.number);
  entry.chosen = static_cast<std::uint16_t>(chosen.number);
  if (kind == ScheduleEntry::Kind::preempt) entry.value = self.intervals;
  return entry;
}

VirtualThread& repeat_pick(ScheduleEntry::Kind kind, const VirtualThread& self) REQUIRES(turn) {
  const ScheduleEntry entry = schedule_log::take(kind, self.number);
  if (entry.chosen >= threads.count || !can_go_on(threads.all[entry.chosen])) end_diverged(self.number);
  let_give_up(threads.all[entry.chosen]);
  return threads.all[entry.chosen];
}

/// The first pass interrupted this thread on its way to where it is now: the others have their turn first.
void follow_preemptions(VirtualThread& self) REQUIRES(turn) {
  while (schedule_log::is_preempted_next(self.number, self.intervals)) {
    switch_to(repeat_pick(ScheduleEntry::Kind::preempt, self));
  }
}

/// The interval's compute time so far is lent to the clock until the interval ends, so that whoever spins here falls
/// behind those whom it waits for.
void schedule_in_between(VirtualThread& self, std::uint64_t more_ns) REQUIRES(turn) {
  self.stopwatch.pause();
  const std::uint64_t so_far = self.stopwatch.elapsed_ns();
  self.clock_ns += so_far + more_ns;
  schedule();
  self.clock_ns -= so_far;
  self.stopwatch.resume();
}

[[noreturn]] void end_confused(const char* how, const VirtualThread& thread) {
  end_run({"an error of sdsm's: thread ", Decimal(thread.number), " ", how});
}

void* run_posix_thread(void* argument) {
  auto& self = *static_cast<VirtualThread*>(argument);
  wait_for_turn(self);
  give_signal_stack();
  self.control_stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - control_margin;
  program::HeldSignals::take_over(self.signals);  // until its first interval begins
  work_in_teams(self);
}

}  // namespace

void enter() {
  // Constructors of libraries may call before the tracer has begun.
  if (!turn.is_taken() && watched.running.load(std::memory_order_relaxed) == nullptr) turn.take();
  if (!turn.is_taken()) {
    end_run(
        {"a thread that OpenMP did not start (but thrd_create, a timer or a library) allocates memory, or uses OpenMP: "
         "it "
         "cannot be followed. Let OpenMP start all threads."});
  }
  turn.check();
}

VirtualThread& running_thread() {
  enter();
  return *watched.running.load(std::memory_order_relaxed);
}

void start_threads() {
  threads.all = reserve_array<VirtualThread>(options.thread_limit);
  for (std::uint32_t i = 0; i < options.thread_limit; ++i) {
    new (&threads.all[i]) VirtualThread();
    threads.all[i].number = i;
    threads.all[i].stack = stack_of(i);
  }
  threads.count = 1;
  VirtualThread& initial = threads.all[0];
  initial.status = ThreadStatus::runnable;
  initial.posix_thread = pthread_self();
  initial.exists = true;
  initial.control_stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - control_margin;
  watched.running.store(&initial, std::memory_order_release);
}

VirtualThread& thread_of(std::uint32_t number) {
  return threads.all[number];
}
std::uint32_t thread_count() {
  return threads.count;
}

namespace {

bool is_address_space_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

void create_thread(VirtualThread& thread) {
  if (thread.exists) return;
  thread.exists = true;
  if (thread.number >= threads.count) threads.count = thread.number + 1;
  name_stack(thread.number);
  if (is_tracked()) shut_stack(thread.stack);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  // The program's code does not run on it: signal frames and the tracer's own frames do.
  constexpr std::size_t control_stack_bytes = 128 * 1024;
  const std::size_t bytes = region_up(control_stack_bytes + thread_local_bytes());
  // The thread's id lies there, which must be the same in each pass: std::barrier chooses places by it.
  constexpr std::uintptr_t control_stacks_address = 0x1d0000000000;
  void* const place = reinterpret_cast<void*>(control_stacks_address + thread.number * (bytes + region_alignment));
  if (mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
           0) == place) {
    pthread_attr_setstack(&attributes, place, bytes);
  } else {
    pthread_attr_setstacksize(&attributes, bytes);
  }
  // It begins with what this thread holds.
  thread.signals = program::HeldSignals::held_now();
  thread.signals.depth = 1;
  const int error = [&] {
    const program::ShutSignals shut;  // which it inherits, too, until its turn comes
    return real_pthread_create(&thread.posix_thread, &attributes, run_posix_thread, &thread);
  }();
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    end_run({"thread ", Decimal(thread.number), " cannot be created: error ",
             Decimal(static_cast<std::uint64_t>(error)),
             is_address_space_limited() ? ". Is `ulimit -v` too low?" : ". Is `ulimit -u` too low?"});
  }
}

void stop(VirtualThread& self, ThreadStatus status, const void* waits_for) {
  if (self.status != ThreadStatus::runnable) end_confused("stops, and has stopped", self);
  self.status = status;
  self.waits_for = waits_for;
}

void wake(VirtualThread& thread, std::uint64_t clock_ns) {
  if (thread.status == ThreadStatus::runnable) end_confused("goes on, and has gone on", thread);
  thread.status = ThreadStatus::runnable;
  if (thread.clock_ns < clock_ns) thread.clock_ns = clock_ns;
}

void schedule(std::uint64_t slack_ns) {
  VirtualThread& self = running_thread();
  if (is_replay()) {
    follow_preemptions(self);
    if (self.status != ThreadStatus::runnable && first_to_go_on(nullptr) == nullptr) end_deadlocked();
    switch_to(repeat_pick(ScheduleEntry::Kind::pick, self));
    return;
  }
  VirtualThread* next = first_to_go_on(nullptr);
  if (next == nullptr) end_deadlocked();
  if (self.status == ThreadStatus::runnable && self.clock_ns <= goes_on_at(*next) + slack_ns) next = &self;
  let_give_up(*next);
  schedule_log::append(pick_entry(ScheduleEntry::Kind::pick, self, *next));
  switch_to(*next);
}

void yield(VirtualThread& self, std::uint64_t nanoseconds) {
  const Uninterrupted guard;
  schedule_in_between(self, nanoseconds + 1);
}

bool wait_in_between(VirtualThread& self, ThreadStatus status, const void* waits_for, std::uint64_t gives_up_at_ns) {
  const Uninterrupted guard;
  stop(self, status, waits_for);
  self.gives_up_at_ns = gives_up_at_ns;
  self.has_given_up = false;
  schedule_in_between(self, 0);
  self.gives_up_at_ns = never;
  return !self.has_given_up;
}

bool can_go_on(const VirtualThread& thread) {
  return goes_on_at(thread) != never;
}

bool others_can_go_on(const VirtualThread& self) {
  return first_to_go_on(&self) != nullptr;
}

bool wait_for_flag(VirtualThread& self, unsigned rounds) {
  const bool was_inside = set_inside(true);
  if (is_replay()) {
    follow_preemptions(self);
    if (!schedule_log::is_next(ScheduleEntry::Kind::wait, self.number)) {
      set_inside(was_inside);
      return false;
    }
  }
  VirtualThread& next = is_replay() ? repeat_pick(ScheduleEntry::Kind::wait, self) : *first_to_go_on(&self);
  if (!is_replay()) {
    let_give_up(next);
    schedule_log::append(pick_entry(ScheduleEntry::Kind::wait, self, next));
  }
  if (rounds == 0) {
    end_interval(self, {trace::EventKind::spin, 0, 0, 0});
    close_pages(self, Closing::at_synchronisation);
  }
  constexpr unsigned most_doublings = 20;  // 1 ms
  const std::uint64_t behind =
      next.clock_ns + (std::uint64_t{1} << (rounds < most_doublings ? rounds : most_doublings));
  if (self.clock_ns < behind) self.clock_ns = behind;
  switch_to(next);
  self.spins = true;
  if (!is_replay()) {
    WokenRecord record = threads.last_active;
    record.thread = self.number;
    recorder::put(RecordKind::woken, &record, sizeof record);
  }
  if (rounds == 0) begin_interval(self);
  set_inside(was_inside);
  return true;
}

void preempt(VirtualThread& self) {
  if (is_replay()) {
    if (!schedule_log::is_preempted_next(self.number, self.intervals)) return;
    switch_to(repeat_pick(ScheduleEntry::Kind::preempt, self));
    return;
  }
  VirtualThread* next = first_to_go_on(&self);
  if (next == nullptr) return;
  let_give_up(*next);
  // Behind the other, or it would be chosen again at that one's next scheduling point.
  if (self.clock_ns <= next->clock_ns) self.clock_ns = next->clock_ns + 1;
  schedule_log::append(pick_entry(ScheduleEntry::Kind::preempt, self, *next));
  switch_to(*next);
}

void pause_interval(VirtualThread& self) {
  program::HeldSignals::hold();
  set_inside(true);
  self.stopwatch.pause();
  if (is_replay()) follow_preemptions(self);
}

void resume_interval(VirtualThread& self) {
  self.stopwatch.resume();
  set_inside(false);
  program::HeldSignals::release();
}

void end_interval(VirtualThread& self, const trace::Event& event) {
  pause_interval(self);
  end_paused_interval(self, event);
}

void end_paused_interval(VirtualThread& self, const trace::Event& event) {
  self.is_in_interval = self.spins = false;
  const std::uint64_t compute_ns = self.stopwatch.elapsed_ns();
  self.clock_ns += compute_ns;
  send_touches(self);
  record_event(self, event, compute_ns);
  if (event.kind != trace::EventKind::clock) self.readings.row.length = 0;
  const bool may_spin = event.kind == trace::EventKind::fence || event.kind == trace::EventKind::atomic;
  if (!may_spin) self.unchanged_in_a_row = 0;
  self.failed_exchange = 0;
}

void begin_interval(VirtualThread& self) {
  self.is_in_interval = true;
  self.stopwatch.reset();
  self.readings.computed_ns = 0;
  resume_interval(self);
}

void record_event(VirtualThread& thread, const trace::Event& event, std::uint64_t compute_ns) {
  IntervalRecord record;
  record.thread = thread.number;
  record.kind = static_cast<std::uint8_t>(event.kind);
  record.detail = event.detail;
  record.team = event.team;
  record.object = event.object;
  record.value = event.value;
  record.compute_ns = compute_ns;
  recorder::put(RecordKind::interval, &record, sizeof record);
  ++thread.intervals;
}

}  // namespace sdsm::tracer
