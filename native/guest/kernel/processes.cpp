/// Threads, processes and contexts that the program starts by itself.
#include <threads.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "native/guest/kernel/mapped_memory.hpp"
#include "native/guest/kernel/processes.hpp"
#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"

namespace sdsm::program {

int real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) {
  SDSM_NEXT_FUNCTION NextFunction<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> real{
      "pthread_create"};
  return real.for_run_time()(thread, attributes, function, argument);
}

void leave_preload() {
  const char* preload = std::getenv("LD_PRELOAD");
  const char* others = preload != nullptr ? std::strchr(preload, ':') : nullptr;
  if (others != nullptr) {
    setenv("LD_PRELOAD", others + 1, 1);
  } else {
    unsetenv("LD_PRELOAD");
  }
}

}  // namespace sdsm::program

using namespace sdsm::program;

namespace {

[[noreturn]] void refuse_thread(const char* call) {
  end_run({"the program calls ", call, ": threads that OpenMP does not know cannot be followed. Use OpenMP alone."});
}

}  // namespace

SDSM_ENTRY int pthread_create(pthread_t* /*thread*/, const pthread_attr_t* /*attributes*/, void* (*)(void*)/*function*/,
                              void* /*argument*/) noexcept {
  refuse_thread("pthread_create");
}

SDSM_ENTRY int thrd_create(thrd_t* /*thread*/, thrd_start_t /*function*/, void* /*argument*/) {
  refuse_thread("thrd_create");
}

SDSM_ENTRY int timer_create(clockid_t clock, sigevent* event, timer_t* timer) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int(clockid_t, sigevent*, timer_t*)> real{"timer_create"};
  if (event != nullptr && event->sigev_notify == SIGEV_THREAD) refuse_thread("timer_create with SIGEV_THREAD");
  return real(clock, event, timer);
}

/// The child gets a copy of everything and runs on alone; the parent goes on as before.
SDSM_ENTRY pid_t fork() noexcept {
  SDSM_NEXT_FUNCTION NextFunction<pid_t()> real{"fork"};
  allow_fork();
  if (memory_is_for_children()) {
    end_run(
        {"the program calls fork and has memory from mmap with MAP_SHARED, which a child would share: such memory "
         "cannot be followed. Use MAP_PRIVATE if only threads share it."});
  }
  const pid_t child = real();
  if (child == 0) become_lone_child();
  return child;
}

SDSM_ENTRY pid_t _Fork() noexcept {
  return fork();
}

/// As fork(): a child that shares memory would run on protected pages.
SDSM_ENTRY pid_t vfork() noexcept {
  return fork();
}
