/// State that the C library keeps for a process: threads of one process would share it, but each process has its own.
/// Warns once in a process of what comes out differently without an error.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "native/dsm/ending.hpp"
#include "native/dsm/identity.hpp"
#include "native/gomp/engine.hpp"
#include "native/gomp/entry.hpp"
#include "native/gomp/message.hpp"
#include "native/program/next_function.hpp"
#include "native/program/program_image.hpp"

using namespace sdsm::dsm;
using sdsm::program::NextFunction;

namespace {

constexpr const char* details = " (docs/running.md, \"What is not shared\")";

/// True once in a process other than the initial thread's, for the program's calls.
bool is_news(std::atomic<bool>& was_reported, std::uintptr_t caller) {
  return !is_initial() && is_running && sdsm::program::program_image.is_program(caller) && !was_reported.exchange(true);
}

/// A thread that has set a seed has its own numbers. rand and random share one, drand48 and the like another.
constinit std::atomic<bool> has_seed = false;
constinit std::atomic<bool> has_seed48 = false;

void note_random_numbers(const char* function, const std::atomic<bool>& is_seeded, std::uintptr_t caller) {
  static constinit std::atomic<bool> was_reported = false;
  if (is_seeded.load(std::memory_order_relaxed) || !is_news(was_reported, caller)) return;
  sdsm::gomp::message({"note: ", function,
                       " gives each thread the same numbers, and does not know the seed that the initial thread set. "
                       "Set one in each thread, or use rand_r and the like",
                       details});
}

void note_environment(const char* function, std::uintptr_t caller) {
  static constinit std::atomic<bool> was_reported = false;
  if (!is_news(was_reported, caller)) return;
  sdsm::gomp::message({"note: what a thread sets by ", function, " holds for itself alone", details});
}

}  // namespace

namespace sdsm::engine {

void note_unopened_unit(const char* file) {
  static constinit std::atomic<bool> was_reported = false;
  if (is_initial() || !is_running || std::strncmp(file, "fort.", 5) != 0 || was_reported.exchange(true)) return;
  gomp::message({"note: Fortran opens the file ", file,
                 " for a unit that is not open in the thread that reads or writes it: another thread's OPEN does not "
                 "hold for it. Let one thread do it, or each open the unit for itself",
                 details});
}

}  // namespace sdsm::engine

#define NUMBERS(result, name, seeded)                      \
  SDSM_ENTRY result name() noexcept {                      \
    SDSM_NEXT_FUNCTION NextFunction<result()> real{#name}; \
    note_random_numbers(#name, seeded, SDSM_CALLER);       \
    return real();                                         \
  }
NUMBERS(int, rand, has_seed)
NUMBERS(long, random, has_seed)
NUMBERS(double, drand48, has_seed48)
NUMBERS(long, lrand48, has_seed48)
NUMBERS(long, mrand48, has_seed48)
#undef NUMBERS

SDSM_ENTRY void srand(unsigned seed) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<void(unsigned)> real{"srand"};
  has_seed.store(true, std::memory_order_relaxed);
  real(seed);
}
SDSM_ENTRY void srandom(unsigned seed) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<void(unsigned)> real{"srandom"};
  has_seed.store(true, std::memory_order_relaxed);
  real(seed);
}
SDSM_ENTRY void srand48(long seed) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<void(long)> real{"srand48"};
  has_seed48.store(true, std::memory_order_relaxed);
  real(seed);
}

SDSM_ENTRY int setenv(const char* name, const char* value, int replace) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int(const char*, const char*, int)> real{"setenv"};
  note_environment("setenv", SDSM_CALLER);
  return real(name, value, replace);
}
SDSM_ENTRY int unsetenv(const char* name) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int(const char*)> real{"unsetenv"};
  note_environment("unsetenv", SDSM_CALLER);
  return real(name);
}
SDSM_ENTRY int putenv(char* setting) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int(char*)> real{"putenv"};
  note_environment("putenv", SDSM_CALLER);
  return real(setting);
}
