/// The run-time's start, before the program's constructors and main, and its end.
#include "native/tracer/record/start.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "native/guest/code/call_patch.hpp"
#include "native/guest/code/locked_instructions.hpp"
#include "native/guest/kernel/processes.hpp"
#include "native/guest/kernel/system_calls.hpp"
#include "native/guest/memory/heap.hpp"
#include "native/guest/memory/static_arrays.hpp"
#include "native/guest/openmp/thread.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/own_calls.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/unseen.hpp"
#include "native/guest/threads/locales.hpp"
#include "native/tracer/execution/pages.hpp"
#include "native/tracer/execution/program_clock.hpp"
#include "native/tracer/execution/schedule_log.hpp"
#include "native/tracer/execution/stacks.hpp"
#include "native/tracer/execution/team.hpp"
#include "native/tracer/execution/touch.hpp"
#include "native/tracer/execution/watchdog.hpp"
#include "native/tracer/execution/words.hpp"
#include "native/tracer/record/ending.hpp"
#include "native/tracer/record/options.hpp"
#include "native/tracer/record/recorder.hpp"

namespace sdsm::tracer {
using namespace program;
namespace {

using Main = int (*)(int, char**, char**);
using StartMain = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

/// The program's life.
struct Program {
  bool is_prepared = false;
  bool is_started = false;  ///< and not finished
  Main main = nullptr;
  int argc = 0;
  char** argv = nullptr;
  char** environment = nullptr;
  int status = 0;
};
constinit Program program GUARDED_BY(turn);

constexpr Event end_event{EventKind::end, 0, 0, 0};

/// Whether the thread's last event has yet to come about. One that asks for something may be runnable, as it has to
/// check again in some passes and not in others.
bool awaits_more(const VirtualThread& thread) REQUIRES(turn) {
  if (thread.is_in_interval) return false;
  const EventKind last = thread.last_event;
  const bool asks = last == EventKind::acquire || last == EventKind::wait || last == EventKind::spin;
  return is_waiting(thread.status) || (asks && thread.status != ThreadStatus::idle);
}

/// The last event of a thread that does not run when the program ends.
void end_other(std::uint32_t number) REQUIRES(turn) {
  if (number >= thread_count()) {
    const IntervalRecord record{.thread = number, .event = end_event};
    recorder::put(RecordKind::interval, &record, sizeof record);
    return;
  }
  VirtualThread& thread = thread_of(number);
  // In a team whose end nobody comes to. All its members have begun: the fork waits for them in a simulation, too.
  if (number > 0 && has_yet_to_begin(thread)) {
    begin_part(thread);
    record_event(thread, end_event, 0);
    return;
  }
  if (awaits_more(thread) || (number > 0 && has_done_its_part(thread))) {
    const CutRecord record{number};
    recorder::put(RecordKind::cut, &record, sizeof record);
    return;
  }
  // Amid an interval, also where it waits in between; or between two intervals.
  const std::uint64_t compute_ns = thread.is_in_interval ? thread.stopwatch.elapsed_ns() : 0;
  send_touches(thread);
  // At a barrier of the C library others wait for it in a simulation, too.
  const bool has_met = thread.meeting.is_over();
  record_event(thread, has_met ? thread.meeting.event : end_event, compute_ns);
  close_pages(thread, Closing::at_synchronisation);
  if (has_met) record_event(thread, end_event, 0);
}

/// What still runs (destructors of libraries, a forked child) is no part of the trace or of the schedule.
void go_on_untraced() REQUIRES(turn) {
  leave_clock_to_itself();
  recorder::disconnect();
  options.mode = Mode::record;
  options.schedule = -1;
}

void name_globals_of(const ObjectImage& object) REQUIRES(turn, starting) {
  const AddressRange variables = object.variables;
  if (variables.begin >= variables.end) return;
  add_range(variables.begin, variables.end);
  for (const RegionInfo& region : regions_of_variables(object)) add_region(region, region.pages * page_bytes);
}

/// What holds values before main begins, process 0 has touched first.
void tell_filled_regions() REQUIRES(turn) {
  for (std::uint32_t number = 1; number < region_count(); ++number) {
    const RegionInfo& region = region_info(number);
    if (!is_placed_by_option(region)) continue;
    if (!holds_values(reinterpret_cast<const void*>(region.begin), region.pages)) continue;
    const RegionSizeRecord record{number - 1, 1, region.pages};
    recorder::put(RecordKind::region_size, &record, sizeof record);
  }
}

void tell_unseen() REQUIRES(turn) {
  for (unsigned number = 0; number < unseen_call_count; ++number) {
    const UnseenCalls unseen = unseen_calls(static_cast<UnseenCall>(number));
    if (unseen.calls == 0) continue;
    UnseenRecord record;
    std::strncpy(record.call, unseen.call, sizeof record.call - 1);
    record.calls = unseen.calls;
    record.bytes = unseen.bytes;
    recorder::put(RecordKind::unseen, &record, sizeof record);
  }
}

/// Before the program's constructors: from here on its allocations are traced memory. A constructor of a library may
/// call into this one before: the first use prepares.
void prepare() {
  starting.take();
  turn.take();
  if (program.is_prepared) return;
  program.is_prepared = true;
  read_options();
  if (options.words != nullptr) choose_watched(options.words);
  if (options.stream >= 0) recorder::connect(options.stream);
  schedule_log::open();
  open_readings();
  find_program_image();
  const Hello hello{stream_version, options.threads};
  recorder::put(RecordKind::hello, &hello, sizeof hello);
  recorder::flush();
  heap::start();
  name_globals_of(program_image.program);
  for (const ObjectImage& library : program_image.libraries) name_globals_of(library);
  reserve_stacks(options.thread_limit);
  // The first function registered is the last to run: behind the program's own, and behind its destructors. Not
  // atexit(), whose functions run before those of libraries that are unloaded later.
  on_exit(
      [](int, void*) {
        enter();
        finish();
      },
      nullptr);
}

/// Called by the thread that is to run the program. `memory`: where its block lies, with thread-local variables.
void run_program(const AddressRange& memory) REQUIRES(turn, starting) {
  calibrate_clocks();
  start_threads(memory);
  give_signal_stack();
  take_faults();
  gomp::start_initial_thread();
  take_over_locked_instructions();
  patch_calls();
  schedule_log::set_wait_loops();
  // Before the memory is protected: the C library notes in one of the program's variables (__libc_single_threaded,
  // where it was copied there) that there are threads now.
  start_watchdog();
  if (is_tracked()) {
    tell_filled_regions();
    start_tracking();
    open_stack(running_thread().stack);
  }
  start_watching();
  program.is_started = true;
  VirtualThread& self = running_thread();
  begin_interval(self);
  call_main_on({self.stack.begin, self.stack.end},
               {program.main, program.argc, program.argv, program.environment, [](int status) {
                  turn.check();
                  program.status = status;
                  std::exit(status);
                }});
}

/// What the process's first thread leaves to the one that it makes.
struct Initial {
  AddressRange memory;
  GrowingArray<AddressRange> constructed;  ///< its thread-local variables, which the constructors may have set
};

void* run_initial_thread(void* argument) {
  starting.take();
  turn.take();
  const auto& initial = *static_cast<const Initial*>(argument);
  take_over_thread_locals(initial.constructed);
  run_program(initial.memory);
  return nullptr;
}

/// Where the dynamic linker has put the thread-local variables of the process's first thread, no run has them: there
/// they lie at the end of the stack that a thread is made with.
[[noreturn]] void run_in_new_thread() REQUIRES(turn, starting) {
  Initial initial{make_thread_memory(0), own_thread_locals()};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, reinterpret_cast<void*>(initial.memory.begin),
                        initial.memory.end - initial.memory.begin);
  pthread_t thread{};
  turn.hand_over();
  const int error = real_pthread_create(&thread, &attributes, run_initial_thread, &initial);
  if (error != 0) {
    end_run({"no thread can be created: error ", Decimal(static_cast<std::uint64_t>(error)),
             ". Is `ulimit -u` or `ulimit -v` too low?"});
  }
  // The program's signals are for the program's threads.
  const std::uint64_t all = ~std::uint64_t{0};
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, nullptr, sizeof all);
  for (;;) syscall(SYS_pause);
}

int run_main(int argc, char** argv, char** environment) {
  starting.take();
  turn.take();
  program.argc = argc;
  program.argv = argv;
  program.environment = environment;
  if (has_thread_locals()) run_in_new_thread();
  run_program({});
  return program.status;
}

/// The dynamic linker calls it before the constructors of all libraries (-z initfirst), even the C library's, which
/// would show that one the environment.
__attribute__((constructor)) void before_constructors(int /*argc*/, char** /*argv*/, char** environment) {
  environ = environment;
  bind_own_calls();
  prepare();
}

}  // namespace

void finish() {
  if (!program.is_started) return;
  program.is_started = false;
  VirtualThread& self = running_thread();
  synchronise(self, end_event);
  const std::uint32_t threads = thread_count() > options.threads ? thread_count() : options.threads;
  for (std::uint32_t i = 0; i < threads; ++i) {
    if (i != self.number) end_other(i);
  }
  stop_tracking();
  stop_watching();
  for (std::uint32_t region = 1; region < region_count(); ++region) {
    if (region_info(region).kind != RegionKind::small_heap) continue;
    const RegionSizeRecord record{region - 1, 0, region_info(region).pages};
    recorder::put(RecordKind::region_size, &record, sizeof record);
  }
  tell_unseen();
  const FinishedRecord finished{self.number, watched.is_in_team ? 1U : 0U};
  recorder::put(RecordKind::finished, &finished, sizeof finished);
  recorder::flush();
  schedule_log::flush();
  go_on_untraced();
}

void become_untraced_child() {
  program.is_started = false;
  options.thread_limit = 1;  // the other virtual threads stayed with the parent
  gomp::this_thread().variables.thread_limit = 1;
  stop_tracking();
  stop_watching();
  ::close(options.stream);
  go_on_untraced();
}

}  // namespace sdsm::tracer

using namespace sdsm::tracer;

SDSM_ENTRY int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                                 void* stack_end) {
  const auto real = reinterpret_cast<StartMain>(dlsym(RTLD_NEXT, "__libc_start_main"));
  prepare();
  starting.take();
  pass_library_constructors();
  sdsm::pthreads::make_standard_facets();
  sdsm::program::keep_standard_buffers_private();
  turn.take();
  program.main = main;
  return real(run_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/// _exit and _Exit: without the C library's cleaning up, so the records have to go out first.
SDSM_ENTRY void _exit(int status) {
  enter();
  finish();
  for (;;) syscall(SYS_exit_group, status);
}
SDSM_ENTRY void _Exit(int status) noexcept {
  _exit(status);
}
SDSM_ENTRY void quick_exit(int status) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<void(int)> real{"quick_exit"};
  enter();
  finish();
  real(status);
  __builtin_unreachable();
}
