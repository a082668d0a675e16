/// Threads and processes that the program starts by itself.
#include <spawn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "native/gomp/entry.hpp"
#include "native/program/ending.hpp"
#include "native/program/mapped_memory.hpp"
#include "native/program/next_function.hpp"
#include "native/program/processes.hpp"
#include "native/program/shared_memory.hpp"

namespace sdsm::program {

int real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) {
  static constinit NextFunction<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> real{"pthread_create"};
  return real(thread, attributes, function, argument);
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

namespace {

/// The kernel reads strings that may lie in protected pages.
void touch_text(const char* text) {
  if (text != nullptr) touch_for_kernel(text, std::strlen(text) + 1, KernelUse::reads);
}

void touch_texts(char* const* texts) {
  if (texts == nullptr) return;
  std::size_t count = 0;
  for (; texts[count] != nullptr; ++count) touch_text(texts[count]);
  touch_for_kernel(texts, (count + 1) * sizeof *texts, KernelUse::reads);
}

void touch_start(const char* path, char* const* arguments, char* const* environment) {
  touch_text(path);
  touch_texts(arguments);
  touch_texts(environment);
}

using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                  char* const*);

}  // namespace
}  // namespace sdsm::program

using namespace sdsm::program;

SDSM_ENTRY int pthread_create(pthread_t* /*thread*/, const pthread_attr_t* /*attributes*/, void* (*)(void*)/*function*/,
                              void* /*argument*/) noexcept {
  end_run(
      {"the program calls pthread_create: threads that OpenMP does not know cannot be followed. Use OpenMP alone."});
}

/// The child gets a copy of everything and runs on alone; the parent goes on as before.
SDSM_ENTRY pid_t fork() noexcept {
  static constinit NextFunction<pid_t()> real{"fork"};
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

/// As fork(): a child that shares memory would run on protected pages.
SDSM_ENTRY pid_t vfork() noexcept {
  return fork();
}

SDSM_ENTRY int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  static constinit NextFunction<int(const char*, char* const*, char* const*)> real{"execve"};
  touch_start(path, arguments, environment);
  return real(path, arguments, environment);
}
SDSM_ENTRY int execv(const char* path, char* const* arguments) noexcept {
  return execve(path, arguments, environ);
}
SDSM_ENTRY int execvp(const char* file, char* const* arguments) noexcept {
  static constinit NextFunction<int(const char*, char* const*)> real{"execvp"};
  touch_start(file, arguments, nullptr);
  return real(file, arguments);
}

#define SDSM_SPAWN(name)                                                                                       \
  SDSM_ENTRY int name(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,               \
                      const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) { \
    static constinit NextFunction<Spawn> real{#name};                                                          \
    touch_start(path, arguments, environment);                                                                 \
    return real(child, path, actions, attributes, arguments, environment);                                     \
  }
SDSM_SPAWN(posix_spawn)
SDSM_SPAWN(posix_spawnp)

SDSM_ENTRY int system(const char* command) {
  static constinit NextFunction<int(const char*)> real{"system"};
  touch_start(command, nullptr, environ);
  return real(command);
}

SDSM_ENTRY FILE* popen(const char* command, const char* type) {
  static constinit NextFunction<FILE*(const char*, const char*)> real{"popen"};
  touch_start(command, nullptr, environ);
  return real(command, type);
}
