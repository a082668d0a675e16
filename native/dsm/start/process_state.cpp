/// State that the C library keeps for a process: threads of one process would share it, but each process has its own.
/// Warns once in a process of what comes out differently without an error.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "native/dsm/process/ending.hpp"
#include "native/dsm/wire/identity.hpp"
#include "native/guest/openmp/engine.hpp"
#include "native/guest/runtime/message.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/program_image.hpp"

using namespace sdsm::dsm;

namespace {

constexpr const char* details = " (docs/contract.md, \"What is not shared\")";

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

SDSM_ENTRY_BEFORE(int, rand, () noexcept, (), note_random_numbers("rand", has_seed, SDSM_CALLER))
SDSM_ENTRY_BEFORE(long, random, () noexcept, (), note_random_numbers("random", has_seed, SDSM_CALLER))
SDSM_ENTRY_BEFORE(double, drand48, () noexcept, (), note_random_numbers("drand48", has_seed48, SDSM_CALLER))
SDSM_ENTRY_BEFORE(long, lrand48, () noexcept, (), note_random_numbers("lrand48", has_seed48, SDSM_CALLER))
SDSM_ENTRY_BEFORE(long, mrand48, () noexcept, (), note_random_numbers("mrand48", has_seed48, SDSM_CALLER))

SDSM_ENTRY_BEFORE(void, srand, (unsigned seed) noexcept, (seed), has_seed.store(true, std::memory_order_relaxed))
SDSM_ENTRY_BEFORE(void, srandom, (unsigned seed) noexcept, (seed), has_seed.store(true, std::memory_order_relaxed))
SDSM_ENTRY_BEFORE(void, srand48, (long seed) noexcept, (seed), has_seed48.store(true, std::memory_order_relaxed))

SDSM_ENTRY_BEFORE(int, setenv, (const char* name, const char* value, int replace) noexcept, (name, value, replace),
                  note_environment("setenv", SDSM_CALLER))
SDSM_ENTRY_BEFORE(int, unsetenv, (const char* name) noexcept, (name), note_environment("unsetenv", SDSM_CALLER))
SDSM_ENTRY_BEFORE(int, putenv, (char* setting) noexcept, (setting), note_environment("putenv", SDSM_CALLER))
