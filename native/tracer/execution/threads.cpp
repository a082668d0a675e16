#include "native/tracer/execution/threads.hpp"

#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "native/guest/kernel/processes.hpp"
#include "native/guest/kernel/system_calls.hpp"
#include "native/guest/memory/stacks.hpp"
#include "native/guest/runtime/callers.hpp"
#include "native/tracer/execution/pages.hpp"
#include "native/tracer/execution/schedule_log.hpp"
#include "native/tracer/execution/stacks.hpp"
#include "native/tracer/execution/team.hpp"
#include "native/tracer/execution/touch.hpp"
#include "native/tracer/execution/words.hpp"
#include "native/tracer/record/ending.hpp"
#include "native/tracer/record/objects.hpp"
#include "native/tracer/record/options.hpp"
#include "native/tracer/record/recorder.hpp"

namespace sdsm::tracer {
using namespace program;

constinit Watched watched;

namespace {

struct Threads {
  VirtualThread* all = nullptr;
  std::uint32_t count = 0;  ///< that exist
  /// The last thread that did anything but poll a flag, and where in its events.
  WokenRecord last_active;
};
constinit Threads threads GUARDED_BY(turn);

long as_argument(const void* pointer) {
  return reinterpret_cast<long>(pointer);
}

#if defined(__has_attribute) && __has_attribute(no_stack_protector)
#define SDSM_WITHOUT_THREAD_LOCALS __attribute__((no_stack_protector))
#else
#define SDSM_WITHOUT_THREAD_LOCALS
#endif

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

/// Opens or shuts what other threads reach of a thread's block and variables.
void set_locals(VirtualThread& thread, bool are_shut) REQUIRES(turn) {
  if (thread.locals.begin == thread.locals.end || thread.are_locals_shut == are_shut) return;
  protect(thread.locals.begin, thread.locals.end, are_shut ? PROT_NONE : PROT_READ | PROT_WRITE);
  thread.are_locals_shut = are_shut;
}

/// Shuts the variables of all threads that have run, except the one that runs.
void shut_other_locals() REQUIRES(turn) {
  for (VirtualThread& thread : all_threads()) {
    if (&thread != &running_thread() && thread.kernel_id != 0) set_locals(thread, true);
  }
}

/// As let_run() and wait_for_turn(). Meanwhile the thread's own `locals` are shut. Those of the C library are among
/// them (errno), and those of the tracer: so all calls are the kernel's, and no signal may come.
SDSM_WITHOUT_THREAD_LOCALS void wait_without(const program::AddressRange& locals, VirtualThread& self,
                                             VirtualThread& next) {
  const std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t before = 0;
  call_kernel(SYS_rt_sigprocmask, {{SIG_BLOCK, as_argument(&all), as_argument(&before), sizeof all}});
  const long error = call_kernel(
      SYS_mprotect, {{static_cast<long>(locals.begin), static_cast<long>(locals.end - locals.begin), PROT_NONE}});
  if (error != 0) end_without_mappings();
  next.may_run.store(1, std::memory_order_release);
  call_kernel(SYS_futex, {{as_argument(&next.may_run), FUTEX_WAKE_PRIVATE, 1}});
  while (self.may_run.load(std::memory_order_acquire) == 0) {
    call_kernel(SYS_futex, {{as_argument(&self.may_run), FUTEX_WAIT_PRIVATE, 0}});
  }
  self.may_run.store(0, std::memory_order_relaxed);
  call_kernel(SYS_rt_sigprocmask, {{SIG_SETMASK, as_argument(&before), 0, sizeof before}});
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
    set_locals(next, false);
  }
  const program::AddressRange locals = is_tracked() ? self.locals : program::AddressRange{};
  self.are_locals_shut = locals.begin < locals.end;
  const program::ShutSignals shut;
  turn.hand_over();
  watched.running.store(&next, std::memory_order_release);
  if (locals.begin < locals.end) {
    wait_without(locals, self, next);
    turn.take();
  } else {
    let_run(next);
    wait_for_turn(self);
  }
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
  shut_watched();
  send_words(self);
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
  return is_waiting(thread.status) ? thread.times_out_at_ns : never;
}

/// The thread that can go on first.
VirtualThread* first_to_go_on(const VirtualThread* other_than) REQUIRES(turn) {
  VirtualThread* best = nullptr;
  std::uint64_t best_ns = never;
  for (VirtualThread& thread : all_threads()) {
    const std::uint64_t at_ns = goes_on_at(thread);
    if (at_ns >= best_ns || &thread == other_than) continue;
    best = &thread;
    best_ns = at_ns;
  }
  return best;
}

/// A thread that is chosen while it waits for a limited time has waited in vain.
void time_out(VirtualThread& chosen) REQUIRES(turn) {
  if (chosen.status == ThreadStatus::runnable) return;
  const std::uint64_t since = chosen.times_out_at_ns;
  chosen.has_timed_out = true;
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

ScheduleEntry take_pick(ScheduleEntry::Kind kind, const VirtualThread& self) REQUIRES(turn) {
  const ScheduleEntry entry = schedule_log::take(kind, self.number);
  if (entry.chosen >= threads.count || !can_go_on(threads.all[entry.chosen])) end_diverged(self.number);
  time_out(threads.all[entry.chosen]);
  return entry;
}

VirtualThread& repeat_pick(ScheduleEntry::Kind kind, const VirtualThread& self) REQUIRES(turn) {
  return threads.all[take_pick(kind, self).chosen];
}

/// The first pass interrupted this thread on its way to where it is now: the others have their turn first.
void follow_preemptions(VirtualThread& self) REQUIRES(turn) {
  while (schedule_log::is_preempted_next(self.number, self.intervals)) {
    switch_to(repeat_pick(ScheduleEntry::Kind::preempt, self));
  }
}

/// The interval's compute time so far is lent to the clock until the interval ends, so that a spinning thread falls
/// behind those for which it waits.
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

/// The kernel notes in a thread's block, whenever it lets the thread go on, on which processor, even if it is shut.
void leave_restartable_sequences() {
  const auto* const offset = static_cast<const std::ptrdiff_t*>(dlsym(RTLD_DEFAULT, "__rseq_offset"));
  if (offset == nullptr) return;  // before glibc 2.35
  char* const area = static_cast<char*>(__builtin_thread_pointer()) + *offset;
  constexpr int unregister = 1;
  constexpr std::uint32_t signature = 0x53053053;  // glibc's, on x86
  // The size of the area that it has given the kernel is unknown: 32, and more where the kernel knows more.
  for (std::size_t bytes = 20; bytes <= 512; bytes += 4) {
    if (syscall(SYS_rseq, area, bytes, unregister, signature) == 0) return;
  }
  int processor = 0;  // a negative one: nothing is registered
  std::memcpy(&processor, area + sizeof processor, sizeof processor);
  if (processor >= 0) {
    end_run(
        {"the C library has told the kernel of restartable sequences in a way that the tracer does not know. Set "
         "GLIBC_TUNABLES=glibc.pthread.rseq=0."});
  }
}

void run_in_teams(void* argument) {
  turn.check();
  work_in_teams(*static_cast<VirtualThread*>(argument));
}

void* run_posix_thread(void* argument) {
  auto& self = *static_cast<VirtualThread*>(argument);
  wait_for_turn(self);
  self.kernel_id = static_cast<pid_t>(syscall(SYS_gettid));
  give_signal_stack();
  self.control_stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - control_margin;
  program::HeldSignals::take_over(self.signals);  // until its first interval begins
  if (!has_thread_locals()) work_in_teams(self);
  leave_restartable_sequences();
  if (is_tracked()) give_zeros_back(self.locals);
  // Its first frames may lie on a page of its variables, which are shut while it waits.
  const std::uintptr_t below_variables = self.control_stack;
  self.control_stack -= control_margin;
  sdsm_call_on_stack(below_variables, run_in_teams, &self);
  __builtin_unreachable();
}

}  // namespace

void enter() {
  // Constructors of libraries may call before the tracer has begun.
  if (!turn.is_taken() && watched.running.load(std::memory_order_relaxed) == nullptr) turn.take();
  if (!turn.is_taken()) {
    end_run(
        {"a thread that OpenMP did not start, but a library, allocates memory or uses OpenMP: it cannot be followed. "
         "Let OpenMP start all threads."});
  }
  turn.check();
}

VirtualThread& running_thread() {
  enter();
  return *watched.running.load(std::memory_order_relaxed);
}

void start_threads(const program::AddressRange& memory) {
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
  initial.kernel_id = static_cast<pid_t>(syscall(SYS_gettid));
  initial.exists = true;
  initial.control_stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - control_margin;
  watched.running.store(&initial, std::memory_order_release);
  name_stack(0);
  if (!has_thread_locals()) return;
  leave_restartable_sequences();
  initial.locals = name_thread_locals(0, memory, reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()));
  if (is_tracked()) give_zeros_back(initial.locals);
}

void open_all_locals() {
  for (VirtualThread& thread : all_threads()) set_locals(thread, false);
}

VirtualThread& thread_of(std::uint32_t number) {
  return threads.all[number];
}
std::uint32_t thread_count() {
  return threads.count;
}
std::span<VirtualThread> all_threads() {
  return {threads.all, threads.count};
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
  const program::AddressRange memory = make_thread_memory(thread.number);
  pthread_attr_setstack(&attributes, reinterpret_cast<void*>(memory.begin), memory.end - memory.begin);
  // It begins with what this thread holds.
  thread.signals = program::HeldSignals::held_now();
  thread.signals.depth = 1;
  // The C library links its threads' blocks with one another.
  open_all_locals();
  const int error = [&] {
    const program::ShutSignals shut;  // which it inherits, too, until its turn comes
    return real_pthread_create(&thread.posix_thread, &attributes, run_posix_thread, &thread);
  }();
  if (is_tracked()) shut_other_locals();
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    end_run({"thread ", Decimal(thread.number), " cannot be created: error ",
             Decimal(static_cast<std::uint64_t>(error)),
             is_address_space_limited() ? ". Is `ulimit -v` too low?" : ". Is `ulimit -u` too low?"});
  }
  if (has_thread_locals()) thread.locals = name_thread_locals(thread.number, memory, thread.posix_thread);
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
  const bool keeps_turn = self.private_locks > 0 || self.clock_ns <= goes_on_at(*next) + slack_ns;
  if (self.status == ThreadStatus::runnable && keeps_turn) next = &self;
  time_out(*next);
  schedule_log::append(pick_entry(ScheduleEntry::Kind::pick, self, *next));
  switch_to(*next);
}

void yield(VirtualThread& self, std::uint64_t nanoseconds) {
  const Uninterrupted guard;
  schedule_in_between(self, nanoseconds + 1);
}

bool wait_in_between(VirtualThread& self, ThreadStatus status, const void* waits_for, std::uint64_t times_out_at_ns) {
  const Uninterrupted guard;
  stop(self, status, waits_for);
  self.times_out_at_ns = times_out_at_ns;
  self.has_timed_out = false;
  schedule_in_between(self, 0);
  self.times_out_at_ns = never;
  return !self.has_timed_out;
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
  ScheduleEntry entry;
  if (is_replay()) {
    entry = take_pick(ScheduleEntry::Kind::wait, self);
    rounds = static_cast<unsigned>(entry.value);
  } else {
    VirtualThread& first = *first_to_go_on(&self);
    time_out(first);
    entry = pick_entry(ScheduleEntry::Kind::wait, self, first);
    entry.value = rounds;
    schedule_log::append(entry);
  }
  VirtualThread& next = threads.all[entry.chosen];
  if (rounds == 0) {
    self.call_site = self.flag_wait.place;
    synchronise(self, {EventKind::spin, 0, 0, 0});
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
  time_out(*next);
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

void end_interval(VirtualThread& self, const Event& event) {
  pause_interval(self);
  end_paused_interval(self, event);
}

namespace {

/// Returns the instruction that called for the event, or 0, and sends which file has it. A fork's callers are sent,
/// too. The thread that begins or ends its part in a team has no call of its own.
std::uint64_t tell_call_site(VirtualThread& self, EventKind kind) REQUIRES(turn) {
  const std::uintptr_t known = std::exchange(self.call_site, 0);
  if (kind == EventKind::join || kind == EventKind::end) return 0;
  if (kind == EventKind::fork) {
    // The compiler gives the call the line of a statement before it, but the body's function the directive's.
    std::uintptr_t callers[most_callers]{known};
    const std::size_t count = 1 + look_up_callers(callers + 1, most_callers - 1);
    for (std::size_t i = 1; i < count; ++i) --callers[i];  // a call is the last byte before where it returns to
    tell_objects_of(callers, count);
    const TouchesHead head{self.number, static_cast<std::uint32_t>(count)};
    recorder::put(RecordKind::callers, &head, sizeof head, callers, count * sizeof callers[0]);
    return 0;
  }
  const std::uintptr_t end = self.team_frame != 0 ? self.team_frame : ~std::uintptr_t{0};
  const std::uintptr_t returns_to = known != 0 ? 0 : caller_of_runtime(end);
  // A body that ends with the call has left its frame.
  const bool has_left = known == 0 && returns_to == 0 && self.team_body != 0;
  const std::uint64_t site =
      has_left ? self.team_body : site_in_program(known != 0 || returns_to == 0 ? known : returns_to - 1);
  if (site != 0) tell_objects_of(&site, 1);
  return site;
}

}  // namespace

void end_paused_interval(VirtualThread& self, const Event& event) {
  self.is_in_interval = self.spins = false;
  const std::uint64_t compute_ns = self.stopwatch.elapsed_ns();
  self.clock_ns += compute_ns;
  send_touches(self);
  send_words(self);
  record_event(self, event, compute_ns, is_tracked() ? tell_call_site(self, event.kind) : 0);
  if (event.kind != EventKind::clock) self.readings.row.length = 0;
  const bool may_spin = event.kind == EventKind::fence || event.kind == EventKind::atomic;
  if (!may_spin) self.unchanged_in_a_row = 0;
  self.failed_exchange = 0;
}

void begin_interval(VirtualThread& self) {
  self.is_in_interval = true;
  self.stopwatch.reset();
  self.readings.computed_ns = 0;
  resume_interval(self);
}

void record_event(VirtualThread& thread, const Event& event, std::uint64_t compute_ns, std::uintptr_t call_site) {
  const IntervalRecord record{thread.number, event, compute_ns, call_site};
  recorder::put(RecordKind::interval, &record, sizeof record);
  thread.last_event = event.kind;
  ++thread.intervals;
}

}  // namespace sdsm::tracer
