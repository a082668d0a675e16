#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "models/scash/directives.hpp"
#include "native/dsm/books/heap_books.hpp"
#include "native/dsm/files/open_files.hpp"
#include "native/dsm/files/standard_output.hpp"
#include "native/dsm/memory/library_heap.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/region_books.hpp"
#include "native/dsm/memory/stacks.hpp"
#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/memory/torn_words.hpp"
#include "native/dsm/openmp/barrier_requests.hpp"
#include "native/dsm/openmp/library_objects.hpp"
#include "native/dsm/openmp/measured_region.hpp"
#include "native/dsm/openmp/steps.hpp"
#include "native/dsm/openmp/team.hpp"
#include "native/dsm/process/connections.hpp"
#include "native/dsm/process/ending.hpp"
#include "native/dsm/process/inherited.hpp"
#include "native/dsm/process/launcher.hpp"
#include "native/dsm/process/processors.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/requests/answering.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/requests/request_handlers.hpp"
#include "native/dsm/start/exit_functions.hpp"
#include "native/dsm/start/service.hpp"
#include "native/dsm/timing/emulation.hpp"
#include "native/dsm/timing/trap_time.hpp"
#include "native/dsm/traps/faults.hpp"
#include "native/dsm/traps/waits.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/guest/code/call_patch.hpp"
#include "native/guest/code/locked_instructions.hpp"
#include "native/guest/kernel/processes.hpp"
#include "native/guest/kernel/system_calls.hpp"
#include "native/guest/memory/heap.hpp"
#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/memory/stacks.hpp"
#include "native/guest/memory/static_arrays.hpp"
#include "native/guest/openmp/thread.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/own_calls.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/signals.hpp"
#include "native/guest/threads/locales.hpp"

namespace sdsm::dsm {
namespace {

using Main = int (*)(int, char**, char**);
using StartMain = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

struct ProgramCall {
  Main main = nullptr;
  int argc = 0;
  char** argv = nullptr;
  char** environment = nullptr;
};
constinit ProgramCall call_at_start GUARDED_BY(starting);
constexpr const ProgramCall& program_call = call_at_start;

/// The application thread has started, as far as it does without shared memory; it may begin.
constinit std::atomic<std::uint32_t> has_started = 0;
constinit std::atomic<std::uint32_t> may_begin = 0;

/// Addresses that have to be the same in all processes: of the program and all libraries, of stacks and of the heap.
std::uint64_t fingerprint() {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::uint64_t number) { hash = (hash ^ number) * 0x100000001b3; };
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* mix) {
        (*static_cast<const decltype(add)*>(mix))(object->dlpi_addr);
        return 0;
      },
      const_cast<void*>(static_cast<const void*>(&add)));
  const std::uint32_t last = processes() - 1;
  for (const AddressRange& range :
       {program_image.program.variables, stack_of(0), stack_of(last), control_of(last), heap::whole()}) {
    add(range.begin);
    add(range.end);
  }
  return hash;
}

/// Waits until all other processes have been dismissed. They come for more work, however late; but one that the program
/// left in the middle of a region may never come.
void dismiss_others(bool is_in_region, std::uint64_t ended_ns, Dismissal dismissal) EXCLUDES(handling) {
  {
    const Held nothing_is_handled(handling);
    dismiss_all(ended_ns, dismissal);
  }
  constexpr int patience_ms = 2000;
  for (int waited = 0; !is_in_region || waited < patience_ms; ++waited) {
    {
      const Held nothing_is_handled(handling);
      if (are_all_dismissed()) return;
    }
    usleep(1000);
  }
}

/// The program is through. Nothing happens the second time.
void finish() {
  if (!is_running || !is_initial()) return;
  application.check();
  // A handler that touched a page now would ask processes that are about to end.
  program::HeldSignals::hold_for_good();
  is_running = false;
  is_ending = true;
  // In the middle of a region some may still work, and miss those that are dismissed.
  const bool is_in_region = is_in_parallel_region();
  if (is_in_region) send_to_launcher(FrameKind::leaving);
  end_work(EventKind::end);
  const std::uint64_t ended_ns = now_ns();
  const Result own = result(ended_ns);
  dismiss_others(is_in_region, ended_ns, Dismissal::at_once);
  {
    const Held nothing_is_handled(handling);
    let_others_leave();
  }
  send_result(own);
}

/// exit() by a thread that is not the initial one. Registered first, it runs last.
void finish_member(int status, void* /*unused*/) {
  if (!is_running || is_initial()) return;
  application.check();
  if (is_exiting) end_exit_functions(status);
  need_own_stack();
  flush_output();
  std::fflush(nullptr);
  end_from_member(ExitKind::normal, status);
}

constexpr std::uint64_t shortest_slice_ns = 100'000;
/// Longer than the service thread's, and shorter than what others have: 1.4 ms on two processors, 2.8 ms from eight on.
constexpr std::uint64_t longer_slice_ns = 1'000'000;

/// Threads here mostly wait, and have little to do when what they wait for comes: they ask to be let in at once among
/// those that compute. Since Linux 6.12 the shorter a thread's slices, the sooner it gets one; before, this does
/// nothing. A policy that the user chose (chrt) stays.
void ask_for_slices(std::uint64_t slice_ns) {
  if (sched_getscheduler(0) != SCHED_OTHER) return;
  struct {
    std::uint32_t size = sizeof(*this);
    std::uint32_t policy = SCHED_OTHER;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t slice_ns = 0;
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
  } attributes;
  attributes.nice = getpriority(PRIO_PROCESS, 0);
  attributes.slice_ns = slice_ns;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

constinit bool is_prepared GUARDED_BY(starting) = false;
/// Regions of the variables of the program and its libraries, by number.
constinit GrowingArray<std::uint32_t> variable_regions GUARDED_BY(starting);

/// The program's own globals have a fixed number.
void number_variables_of(const ObjectImage& object) REQUIRES(starting) {
  for (const RegionInfo& region : regions_of_variables(object)) {
    const bool is_fixed = &object == &program_image.program && region.kind == RegionKind::globals;
    if (is_fixed) set_fixed_region(globals_region, region);
    variable_regions.push_back(is_fixed ? globals_region : number_region(region, {}));
  }
}

/// Before the constructors of the program and of its libraries: from here on its allocations are shared memory. Of the
/// libraries' constructors, only process 0 runs those.
void prepare() REQUIRES(starting) {
  if (is_prepared) return;
  is_prepared = true;
  self_at_start.begun_ns = now_ns();
  const std::optional<Welcome> welcome = meet_launcher();
  choose_protocol(self.protocol);
  keep_library_heap_apart(index_of(self.process));
  share_files(welcome ? welcome->files : -1);
  if (self.is_bound) bind_to_processor(static_cast<std::uint32_t>(welcome->processor));
  measure_trap_time();
  if (welcome) {
    start_emulation(welcome->emulation);
    listen_for_others(*welcome);
  }
  ask_for_slices(shortest_slice_ns);
  unsetenv(control_variable);
  leave_preload();
  find_program_image();
  look_up_functions();
  make_node();
  start_region_books();
  const std::size_t administrative_bytes = administrative_pages * shared_page_bytes();
  need_range(administrative_address, administrative_bytes, "administrative pages");
  set_fixed_region(
      administrative_region,
      {{RegionKind::globals, Placement::initial, 0, administrative_bytes / page_bytes}, administrative_address});
  name_region(administrative_region);
  make_stacks(welcome ? welcome->stack_limit : own_stack_limit());
  heap::start();
  if (is_initial()) {
    number_variables_of(program_image.program);
    for (const ObjectImage& library : program_image.libraries) number_variables_of(library);
  } else {
    drop_library_constructors();
  }
  // The first function registered is the last to run: behind the program's own, and behind its destructors.
  if (is_initial()) {
    // Not atexit(), which exit_functions.cpp would leave out.
    on_exit([](int, void*) { finish(); }, nullptr);
    at_quick_exit(finish);
  } else {
    on_exit(finish_member, nullptr);
  }
}

/// A service thread takes the processor at once from one that computes only if its own slices are the shorter ones.
/// Else a request waits until the application there has to wait itself, and a fetch takes two to three times as long.
/// Application threads that share processors keep short slices, too: they wait for each other.
void let_service_go_first() {
  if (has_processors(1) && !is_emulating()) ask_for_slices(longer_slice_ns);
}

/// Where a process has one processor, a request may come while the application computes there. Linux lets the service
/// thread wait until the next tick then, some milliseconds, if it has just served another: real-time threads it does
/// not. Where the user may have none, nothing changes.
void serve_before_others() {
  if (!self.is_bound || is_emulating() || sched_getscheduler(0) != SCHED_OTHER) return;
  const sched_param least{sched_get_priority_min(SCHED_FIFO)};
  sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &least);
}

void* run_application(void* constructed) {
  let_service_go_first();
  if (is_initial()) take_over_thread_locals(*static_cast<const GrowingArray<AddressRange>*>(constructed));
  give_signal_stack();
  gomp::start_initial_thread();
  has_started.store(1);
  has_started.notify_one();
  may_begin.wait(0);
  application.take();
  is_running = true;
  ProcessState::begin();
  notice_waits();
  if (takes_faults(self.layout)) allow_stops();
  if (!is_initial()) work_in_teams();
  send_early_numbers();
  begin_alone();
  begin_work();
  call_main_on(stack_of(0), {program_call.main, program_call.argc, program_call.argv, program_call.environment,
                             [](int status) { std::exit(status); }});
}

/// The thread that runs the program. Its thread block and thread-local variables are in shared memory, where the other
/// processes find them: the C library puts them at the end of the stack that it is given.
void start_application_thread() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  const AddressRange stack = control_of(index_of(self.process));
  pthread_attr_setstack(&attributes, reinterpret_cast<void*>(stack.begin), stack.end - stack.begin);
  static GrowingArray<AddressRange> constructed;  // it is read after this function has returned
  constructed = own_thread_locals();
  pthread_t thread;
  const int error = real_pthread_create(&thread, &attributes, run_application, &constructed);
  if (error != 0) {
    end_run({"no thread can be created: ", std::strerror(error),
             ". Is the number of processes limited (ulimit -u, or a container's limit of pids)? Run fewer threads, or "
             "raise it"});
  }
}

/// Sends what the program's constructors wrote to its homes.
void move_heap_home() REQUIRES(application) {
  for (const RegionInfo& region : place_regions()) {
    const std::uintptr_t end = region.begin + region.pages * page_bytes;
    for (std::uintptr_t at = region.begin; at < end;) {
      const AddressRange part = touched_part(at, end);
      move_home(part.begin, (part.end - part.begin) / page_bytes, Zeros::are_there);
      at = part.end;
    }
  }
}

void share_variables_of(const ObjectImage& object) REQUIRES(starting) {
  const AddressRange variables = object.variables;
  if (variables.begin >= variables.end) return;
  need_range(variables.begin, variables.end - variables.begin, "the program's variables",
             is_initial() ? object.file_end : nothing_kept);
}

/// Process 0 knows the regions, and the others ask it.
void share_variables() REQUIRES(starting) {
  share_variables_of(program_image.program);
  for (const ObjectImage& library : program_image.libraries) share_variables_of(library);
  for (const std::uint32_t region : variable_regions) name_region(region);
}

/// Leaves signals from outside to the program's thread, whose handlers may use its memory.
void leave_signals_to_application() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&signals, own);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &signals, nullptr, 8);
  program::HeldSignals::hold_for_good();
}

/// Nothing of the C library that might use a variable of the program's is called after share_variables().
[[noreturn]] void become_service_thread() {
  starting.take();
  application.take();
  patch_calls();
  if (takes_faults(self.layout)) {
    find_short_stores();
    take_over_locked_instructions();
    if (self.layout.nodes > 1) watch_waiting_code();
  }
  start_application_thread();
  leave_signals_to_application();
  if (takes_faults(self.layout)) make_room_for_opened_pages();
  Connections others = meet_others(fingerprint());
  ask_over(std::move(others.asking));
  answer_over(others.answering);
  // Its start reads the environment, whose address may be a variable of the program's.
  has_started.wait(0);
  share_variables();
  if (is_initial()) move_heap_home();
  const std::uint32_t own = index_of(self.process);
  start_faults(stack_of(own), control_of(own));
  service.take();
  may_begin.store(1);
  may_begin.notify_one();
  serve_before_others();
  serve(std::move(others.answering));
}

int run_main(int argc, char** argv, char** environment) {
  starting.take();
  call_at_start.argc = argc;
  call_at_start.argv = argv;
  call_at_start.environment = environment;
  become_service_thread();
}

/// The dynamic linker calls it before the constructors of all libraries (-z initfirst), even the C library's, which
/// would show that one the environment.
__attribute__((constructor)) void before_constructors(int /*argc*/, char** /*argv*/, char** environment) {
  environ = environment;
  bind_own_calls();
  starting.take();
  prepare();
  application.take();
}

}  // namespace
}  // namespace sdsm::dsm

using namespace sdsm::dsm;

std::optional<int> sdsm::dsm::have_others_exit() {
  if (is_in_parallel_region()) return {};
  {
    const Held nothing_is_handled(handling);
    if (!others_have_exit_functions()) return {};
  }
  flush_output();
  synchronise_memory();
  end_alone();
  dismiss_others(false, now_ns(), Dismissal::after_exit_functions);
  synchronise_memory();
  leave_no_teams();
  const Held nothing_is_handled(handling);
  return status_of_exit_functions();
}

/// Only the initial process runs the program's constructors and main; the others wait for work.
SDSM_ENTRY int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                                 void* stack_end) {
  const auto real = reinterpret_cast<StartMain>(dlsym(RTLD_NEXT, "__libc_start_main"));
  starting.take();
  call_at_start.main = main;
  prepare();
  pass_library_constructors();
  sdsm::pthreads::make_standard_facets();
  sdsm::program::keep_standard_buffers_private();
  if (!is_initial()) {
    make_standard_streams();
    become_service_thread();
  }
  application.take();
  return real(run_main, argc, argv, init, fini, rtld_fini, stack_end);
}

namespace {
[[noreturn]] void end_member(ExitKind kind, int status) {
  application.check();
  if (is_exiting) end_exit_functions(status);
  end_from_member(kind, status);
}
}  // namespace

/// _exit and _Exit: without the C library's cleaning up.
SDSM_ENTRY void _exit(int status) {
  if (is_running && !is_initial()) end_member(ExitKind::immediate, status);
  finish();
  leave(status);
}
SDSM_ENTRY void _Exit(int status) noexcept {
  _exit(status);
}
/// Functions of at_quick_exit are in the initial process.
SDSM_ENTRY void quick_exit(int status) noexcept {
  if (is_running && !is_initial()) end_member(ExitKind::quick, status);
  static const auto real = reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "quick_exit"));
  real(status);
  leave(status);
}
