/// Functions that run at the program's exit: handlers of atexit, and destructors of objects that live until then. The C
/// library keeps those that a process has registered.
#include "native/dsm/start/exit_functions.hpp"

#include <utility>

#include "native/dsm/memory/stacks.hpp"
#include "native/dsm/process/ending.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/timing/emulation.hpp"
#include "native/dsm/wire/identity.hpp"
#include "native/guest/memory/stacks.hpp"
#include "native/guest/openmp/thread.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/signals.hpp"

using namespace sdsm;
using namespace sdsm::dsm;
using program::NextFunction;

/// The handle with which objects of this library are registered.
extern "C" [[gnu::visibility("hidden")]] void* __dso_handle;
/// Itanium C++ ABI, 3.3.6.3: runs what is registered, the last one first; of all libraries, if `library` is null.
extern "C" void __cxa_finalize(void* library);

namespace {

constinit bool has_reported GUARDED_BY(application) = false;

}  // namespace

/// atexit, too, comes here. The service thread works until the process is gone, so no object of the run-time may end
/// before: their destructors are not registered.
SDSM_ENTRY int __cxa_atexit(void (*destructor)(void*), void* object, void* library) {
  SDSM_NEXT_FUNCTION NextFunction<int(void (*)(void*), void*, void*)> real{"__cxa_atexit"};
  if (library == &__dso_handle) return 0;
  if (is_running && !is_initial() && application.is_taken()) {
    application.check();
    if (!std::exchange(has_reported, true)) tell(ProcessId{0}, {.kind = WireKind::exit_functions});
  }
  return real(destructor, object, library);
}

SDSM_ENTRY void exit(int status) {
  SDSM_NEXT_FUNCTION NextFunction<void(int)> real{"exit"};
  if (is_running && is_initial() && application.is_taken()) {
    application.check();
    status = have_others_exit().value_or(status);
  }
  real(status);
  __builtin_unreachable();
}

namespace sdsm::dsm {

void leave_no_teams() {
  gomp::this_thread().works_alone = true;
}

/// Not by exit(), which would destroy the thread's own objects, too: OpenMP's threads do not end with the program.
void run_exit_functions() {
  is_exiting = true;
  leave_no_teams();
  end_schedule();
  program::HeldSignals::let_go();
  const auto run = [](void* /*unused*/) { __cxa_finalize(nullptr); };
  const program::AddressRange stack = stack_of(index_of(self.process));
  // On the run-time's own stack, which is small, after the last region; else somewhere in the program.
  if (stack.holds(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)))) return run(nullptr);
  program::sdsm_call_on_stack(stack.end, run, nullptr);
}

}  // namespace sdsm::dsm
