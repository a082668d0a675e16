/// Once-only initialisation: pthread_once, C11's call_once, and the initialisation of static objects in functions (the
/// guards of the C++ ABI).
#include <pthread.h>
#include <threads.h>

#include <cstdint>

#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/threads/engine.hpp"
#include "native/guest/threads/seen_done.hpp"

using namespace sdsm;
using program::NextFunction;

namespace {

/// A function under way that is to be called once.
struct UnderWay {
  pthread_once_t* control;
  UnderWay* outer;
};
constinit thread_local UnderWay* under_way = nullptr;

/// The state's bit as the C library has it. A number above it tells one call from the next: a program may set the
/// object back, and a thread that saw the earlier call done has not acquired what the later one wrote.
constexpr pthread_once_t done = 2;
pthread_once_t newly_done() {
  return done | static_cast<pthread_once_t>((__builtin_ia32_rdtsc() >> 6 & 0x0fffffff)
                                            << 2);  // differs after 64 cycles, for 7 s
}

}  // namespace

/// Calls `function`. An exception that leaves it gives the object back on its way (the C++ library's std::call_once
/// throws through here). The unwinder is the program's, so no landing pad calls one: the work is the personality's own.
extern "C" __attribute__((visibility("hidden"))) void sdsm_call_once_function(void (*function)());
asm(R"(
  .text
  .type sdsm_call_once_function, @function
sdsm_call_once_function:
  .cfi_startproc
  .cfi_personality 0x1b, sdsm_leave_once_function
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  call *%rdi
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size sdsm_call_once_function, . - sdsm_call_once_function
)");

/// Itanium C++ ABI: exception handling, 1.6.
extern "C" __attribute__((visibility("hidden"), used)) int sdsm_leave_once_function(int /*version*/, int actions,
                                                                                    std::uint64_t /*thrower*/,
                                                                                    void* /*exception*/,
                                                                                    void* /*context*/) {
  constexpr int cleanup_phase = 2;
  constexpr int continue_unwind = 8;
  if ((actions & cleanup_phase) != 0) {
    engine::give(under_way->control, engine::mutex_demand);
    under_way = under_way->outer;
  }
  return continue_unwind;
}

namespace {

int call_once_shared(pthread_once_t* control, void (*function)()) {
  if ((*control & done) != 0 && program::seen_done.holds(control, *control)) return 0;
  engine::take(control, engine::mutex_demand);
  if ((*control & done) == 0) {
    UnderWay own{control, under_way};
    under_way = &own;
    sdsm_call_once_function(function);
    under_way = own.outer;
    *control = newly_done();
  }
  const pthread_once_t state = *control;
  engine::give(control, engine::mutex_demand);
  program::seen_done.add(control, state);
  return 0;
}

/// The guard's first byte, which the program's code reads, stays zero in shared memory: a thread that found it set
/// would use the object without having acquired it. The bytes behind it are the library's.
constexpr unsigned done_byte = 4;
constexpr int is_done = 1;

}  // namespace

SDSM_ENTRY int pthread_once(pthread_once_t* control, void (*function)()) {
  SDSM_NEXT_FUNCTION NextFunction<int(pthread_once_t*, void (*)())> real{"pthread_once"};
  if (engine::has_object(control)) return call_once_shared(control, function);
  engine::took_private();
  const int answer = real(control, function);
  engine::gave_private();
  return answer;
}
SDSM_ENTRY void call_once(once_flag* flag, void (*function)()) {
  pthread_once(reinterpret_cast<pthread_once_t*>(flag), function);
}

/// Returns 1 if the caller is to initialise the object.
SDSM_ENTRY int __cxa_guard_acquire(volatile char* guard) {
  SDSM_NEXT_FUNCTION NextFunction<int(volatile char*)> real{"__cxa_guard_acquire"};
  if (!engine::has_object(guard)) {
    // Else the run-time's own C++ library, in a program of C.
    const int is_callers = real.exists() ? real(guard) : guard[0] == 0 ? 1 : 0;
    if (is_callers == 1) engine::took_private();
    return is_callers;
  }
  if (guard[0] != 0 || program::seen_done.holds(guard, is_done)) return 0;
  engine::take(guard, engine::mutex_demand);
  if (guard[done_byte] == 0) return 1;
  engine::give(guard, engine::mutex_demand);
  program::seen_done.add(guard, is_done);
  return 0;
}
SDSM_ENTRY void __cxa_guard_release(volatile char* guard) {
  SDSM_NEXT_FUNCTION NextFunction<void(volatile char*)> real{"__cxa_guard_release"};
  if (!engine::has_object(guard)) {
    if (real.exists()) {
      real(guard);
    } else {
      guard[0] = 1;
    }
    engine::gave_private();
    return;
  }
  guard[done_byte] = 1;
  engine::give(guard, engine::mutex_demand);
  program::seen_done.add(guard, is_done);
}
SDSM_ENTRY void __cxa_guard_abort(volatile char* guard) {
  SDSM_NEXT_FUNCTION NextFunction<void(volatile char*)> real{"__cxa_guard_abort"};
  if (engine::has_object(guard)) return engine::give(guard, engine::mutex_demand);
  if (real.exists()) real(guard);
  engine::gave_private();
}
