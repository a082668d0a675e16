#include "native/dsm/start.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "models/openmp.hpp"
#include "native/dsm/cluster.hpp"
#include "native/dsm/coherence.hpp"
#include "native/dsm/emulation.hpp"
#include "native/dsm/managers.hpp"
#include "native/dsm/memory.hpp"
#include "native/dsm/node.hpp"
#include "native/dsm/page_log.hpp"
#include "native/dsm/regions.hpp"
#include "native/dsm/standard_output.hpp"
#include "native/dsm/synchronisation.hpp"
#include "native/dsm/team.hpp"
#include "native/gomp/entry.hpp"
#include "native/gomp/thread.hpp"
#include "native/program/call_patch.hpp"
#include "native/program/ending.hpp"
#include "native/program/heap.hpp"
#include "native/program/program_image.hpp"
#include "native/program/real_pthread.hpp"
#include "native/program/shared_memory.hpp"
#include "native/program/signals.hpp"
#include "native/program/stacks.hpp"

namespace sdsm::dsm {
namespace {

using Main = int (*)(int, char**, char**);
using StartMain = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

// The same addresses in all processes, far from what the kernel chooses.
constexpr std::uintptr_t administrative_address = 0x1f0000000000;
constexpr std::uintptr_t stacks_address = 0x300000000000;
constexpr std::uintptr_t control_address = 0x310000000000;
/// Of each process: the thread block and thread-local variables, and the stack that the run-time's own code uses.
constexpr std::uint64_t control_bytes = 1 << 20;

struct ProgramCall {
  Main main = nullptr;
  int argc = 0;
  char** argv = nullptr;
  char** environment = nullptr;
};
ProgramCall program_call;

std::uint64_t initial_bytes = 0;
std::uint64_t others_bytes = 0;
std::atomic<std::uint32_t> may_begin = 0;
bool is_begun = false;

struct Stack {
  std::uintptr_t begin;
  std::uintptr_t end;
};

/// A page that belongs to no region lies below each stack.
Stack stack_of(std::uint32_t process) {
  std::uintptr_t begin = stacks_address + page_bytes;
  std::uint64_t bytes = initial_bytes;
  if (process > 0) {
    begin += initial_bytes + page_bytes + (process - 1) * (others_bytes + page_bytes);
    bytes = others_bytes;
  }
  return {begin, begin + bytes};
}

std::uintptr_t control_of(std::uint32_t process) {
  return control_address + process * control_bytes;
}

void need(const Range* range, const char* what) {
  if (range == nullptr) end_run({"there is no address space for ", what, ". Is `ulimit -v` set?"});
}

void name_region(std::uint32_t id, std::uintptr_t begin, std::uintptr_t end, trace::RegionKind kind,
                 std::uint32_t owner = 0) {
  RegionInfo region;
  region.begin = begin;
  region.pages = (end - begin) / page_bytes;
  region.kind = kind;
  region.placement = Placement::initial;
  region.owner = owner;
  name_fixed_region(id, region);
}

void add_stacks() {
  initial_bytes = initial_stack_bytes();
  others_bytes = other_stack_bytes();
  need(add_range(stacks_address, stack_of(processes() - 1).end + page_bytes - stacks_address), "the threads' stacks");
  need(add_range(control_address, processes() * control_bytes), "the threads' own variables");
  for (std::uint32_t i = 0; i < processes(); ++i) {
    const auto kind = i == 0 ? trace::RegionKind::initial_stack : trace::RegionKind::thread_stack;
    name_region(stack_region(i), stack_of(i).begin, stack_of(i).end, kind, i);
    name_region(control_region(i), control_of(i), control_of(i) + control_bytes, trace::RegionKind::thread_stack, i);
  }
}

/// Addresses that have to be the same in all processes: of the program, of the C library, of the run-time.
std::uint64_t fingerprint() {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::uint64_t number) { hash = (hash ^ number) * 0x100000001b3; };
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* mix) {
        (*static_cast<const decltype(add)*>(mix))(object->dlpi_addr);
        return 0;
      },
      const_cast<void*>(static_cast<const void*>(&add)));
  add(program_image.variables.begin);
  add(program_image.variables.end);
  return hash;
}

/// The initial thread is on its way out.
std::atomic<bool> is_ending = false;

/// The program is through. Nothing happens the second time.
void finish() {
  if (!is_begun || !is_initial()) return;
  // A handler that touched a page now would ask processes that are about to end.
  program::HeldSignals::hold_for_good();
  is_begun = false;
  is_ending = true;
  // In the middle of a region some may still work, and miss those that are dismissed.
  if (gomp::this_thread().shared_size > 1) leave_others();
  end_work(trace::EventKind::end);
  const Result own = result();
  while_nothing_is_handled(dismiss_all, 0);
  // The others come for more work soon, but for one that the program left in the middle of a region.
  constexpr int patience_ms = 2000;
  for (int waited = 0; dismissed_processes() + 1 < processes() && waited < patience_ms; ++waited) usleep(1000);
  if (dismissed_processes() + 1 < processes()) leave_others();
  send_result(own);
}

/// exit() by a thread that is not the initial one. Registered first, it runs last.
void finish_member(int status, void* /*unused*/) {
  if (!is_begun || is_initial()) return;
  flush_output();
  std::fflush(nullptr);
  end_from_member(ExitKind::normal, status);
}

/// Programs that this one starts have no business with the run. The launcher puts the run-time first and keeps whatever
/// the user had there behind a colon.
void leave_environment() {
  unsetenv(control_variable);
  const char* preload = std::getenv("LD_PRELOAD");
  if (preload == nullptr) return;
  if (const char* others = std::strchr(preload, ':')) {
    setenv("LD_PRELOAD", others + 1, 1);
  } else {
    unsetenv("LD_PRELOAD");
  }
}

/// Threads here mostly wait, and have little to do when what they wait for comes: they ask to be let in at once among
/// those that compute. Since Linux 6.12 the shorter a thread's slices, the sooner it gets one; before, this does
/// nothing.
void ask_for_short_slices() {
  constexpr std::uint64_t shortest_ns = 100'000;
  struct {
    std::uint32_t size = sizeof(*this);
    std::uint32_t policy = SCHED_OTHER;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = shortest_ns;
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
  } attributes;
  attributes.nice = getpriority(PRIO_PROCESS, 0);
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/// Before the program's constructors: from here on its allocations are shared memory.
void prepare() {
  program::starting.take();
  begun_ns = now_ns();
  meet_launcher();
  ask_for_short_slices();
  leave_environment();
  find_program_image();
  make_node();
  need(add_range(administrative_address, administrative_pages * page_bytes), "administrative pages");
  place_administrative_pages(administrative_address);
  name_region(administrative_region, administrative_address, administrative_address + administrative_pages * page_bytes,
              trace::RegionKind::globals);
  add_stacks();
  heap::start();
  // The first function registered is the last to run: behind the program's own, and behind its destructors.
  if (is_initial()) {
    // Not atexit(), which the library would not get past no_destruction.cpp.
    on_exit([](int, void*) { finish(); }, nullptr);
    at_quick_exit(finish);
  } else {
    on_exit(finish_member, nullptr);
  }
}

void call_main(void* /*unused*/) {
  begin_work();
  std::exit(program_call.main(program_call.argc, program_call.argv, program_call.environment));
}

void give_signal_stack() {
  constexpr std::size_t bytes = 128 * 1024;
  stack_t stack{};
  stack.ss_sp = reserve(bytes);
  stack.ss_size = bytes;
  // The raw call: the function is interposed.
  syscall(SYS_sigaltstack, &stack, nullptr);
}

void* run_application(void* /*unused*/) {
  give_signal_stack();
  gomp::start_initial_thread();
  may_begin.wait(0);
  is_begun = true;
  if (!is_initial()) work_in_teams();
  sdsm_call_on_stack(stack_of(0).end, call_main, nullptr);
  return nullptr;
}

/// The thread that runs the program. Its thread block and thread-local variables are in shared memory, where the other
/// processes find them: the C library puts them at the end of the stack that it is given.
void start_application_thread() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, reinterpret_cast<void*>(control_of(index_of(self.process))), control_bytes);
  pthread_t thread;
  const int error = real_pthread_create(&thread, &attributes, run_application, nullptr);
  if (error != 0) {
    end_run({"no thread can be created: ", std::strerror(error),
             ". Is the number of processes limited (ulimit -u, or a container's limit of pids)? Run fewer threads, or "
             "raise it"});
  }
}

/// What the program's constructors wrote goes to where it is at home.
void move_heap_home() {
  for (const RegionInfo& region : made_regions()) move_home(region.begin, region.pages, Zeros::are_there);
}

void share_variables() {
  const AddressRange variables = program_image.variables;
  if (variables.begin >= variables.end) return;
  need(add_range(variables.begin, variables.end - variables.begin, is_initial()), "the program's variables");
  // The others ask: some of the variables may be placed elsewhere.
  if (!is_initial()) return;
  name_region(globals_region, variables.begin, variables.end, trace::RegionKind::globals);
}

/// Signals that tell of something outside are the program's thread's, whose handlers may use its memory.
void leave_signals_to_application() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&signals, own);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &signals, nullptr, 8);
  static const program::BlockedSignals for_good;
}

/// Nothing of the C library that might use a variable of the program's is called after share_variables().
[[noreturn]] void become_service_thread() {
  patch_calls();
  start_application_thread();
  leave_signals_to_application();
  meet_others(fingerprint());
  share_variables();
  if (is_initial()) move_heap_home();
  const std::uint32_t own = index_of(self.process);
  start_coherence({stack_of(own).begin, stack_of(own).end}, {control_of(own), control_of(own + 1)});
  may_begin.store(1);
  may_begin.notify_one();
  serve();
}

int run_main(int argc, char** argv, char** environment) {
  program_call.argc = argc;
  program_call.argv = argv;
  program_call.environment = environment;
  become_service_thread();
}

/// Says in which order a constructor of a library may call into this one: the first use prepares.
void prepare_once() {
  static bool is_prepared = false;
  if (is_prepared) return;
  is_prepared = true;
  prepare();
}

[[noreturn]] void leave(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

}  // namespace

std::uintptr_t own_stack_end() {
  return stack_of(index_of(self.process)).end;
}

bool is_below_stack(std::uintptr_t address) {
  return page_down(address) + page_bytes == stack_of(index_of(self.process)).begin;
}

void end_worker() {
  flush_output();
  std::fflush(nullptr);
  send_result(result());
  leave(0);
}

void end_initial(ExitKind kind, int status) {
  is_ending = true;
  program::HeldSignals::let_go();  // the program's exit functions run as ever
  switch (kind) {
    case ExitKind::normal: std::exit(status);
    case ExitKind::quick: quick_exit(status);
    case ExitKind::immediate: break;
  }
  _exit(status);
}

void end_without_initial_thread(int status) {
  static int wanted_status = 0;
  wanted_status = status;
  pthread_t thread;
  real_pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        constexpr unsigned patience_us = 2'000'000;
        usleep(patience_us);
        if (is_ending) return nullptr;
        flush_output();
        leave_others();
        is_logging = false;  // that thread may be writing the log
        send_result(result());
        leave(wanted_status);
      },
      nullptr);
}

}  // namespace sdsm::dsm

using namespace sdsm::dsm;

/// Only the initial process runs the program's constructors and main; the others wait for work.
SDSM_ENTRY int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                                 void* stack_end) {
  const auto real = reinterpret_cast<StartMain>(dlsym(RTLD_NEXT, "__libc_start_main"));
  prepare_once();
  program_call.main = main;
  if (!is_initial()) {
    make_standard_streams();
    become_service_thread();
  }
  return real(run_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/// _exit and _Exit: without the C library's cleaning up.
SDSM_ENTRY void _exit(int status) {
  if (is_begun && !is_initial()) end_from_member(ExitKind::immediate, status);
  finish();
  leave(status);
}
SDSM_ENTRY void _Exit(int status) noexcept {
  _exit(status);
}
/// What at_quick_exit registered is in the initial process.
SDSM_ENTRY void quick_exit(int status) noexcept {
  if (is_begun && !is_initial()) end_from_member(ExitKind::quick, status);
  static const auto real = reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "quick_exit"));
  real(status);
  leave(status);
}
