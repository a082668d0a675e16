/// Sleeping and yielding threads, which wait for another thread. In a program with atomic operations such a thread may
/// poll with plain loads. So it gets new copies afterwards, and others see its stores.
#include <sched.h>
#include <threads.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

#include "native/dsm/memory/single_writer_mode.hpp"
#include "native/dsm/openmp/synchronisation.hpp"
#include "native/dsm/process/ending.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/traps/waits.hpp"
#include "native/guest/kernel/c11_sleep.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/program_image.hpp"

using namespace sdsm::dsm;
using sdsm::program::NextFunction;

namespace {

/// While it lives, the program sleeps.
class Sleep {
 public:
  explicit Sleep(std::uintptr_t caller) {
    waits_ = is_running && application.is_taken() && sdsm::program::program_image.is_program(caller);
    if (waits_) check();
  }
  ~Sleep() {
    if (!waits_) return;
    check();
    note_pause();
  }
  Sleep(const Sleep&) = delete;
  Sleep& operator=(const Sleep&) = delete;

 private:
  static void check() {
    application.check();
    if (!is_in_single_writer_mode()) return;
    the_protocol().give_way();
    synchronise_memory();
  }

  bool waits_ = false;
};

/// As nanosleep().
int sleep_for(std::uintptr_t caller, const timespec* wanted, timespec* left) {
  SDSM_NEXT_FUNCTION NextFunction<int(const timespec*, timespec*)> real{"nanosleep"};
  const timespec time = *wanted;  // the kernel cannot reach protected pages
  timespec rest{};
  const Sleep sleep(caller);
  const int result = real(&time, &rest);
  if (left != nullptr && result != 0) *left = rest;
  return result;
}

}  // namespace

SDSM_ENTRY_AS(int, nanosleep, (const timespec* wanted, timespec* left), sleep_for(SDSM_CALLER, wanted, left))
SDSM_ENTRY int thrd_sleep(const timespec* wanted, timespec* left) {
  return sdsm::program::as_c11_sleep([&, caller = SDSM_CALLER] { return sleep_for(caller, wanted, left); });
}
SDSM_ENTRY int usleep(useconds_t microseconds) {
  SDSM_NEXT_FUNCTION NextFunction<int(useconds_t)> real{"usleep"};
  const Sleep sleep(SDSM_CALLER);
  return real.for_caller(SDSM_CALLER)(microseconds);
}
SDSM_ENTRY int sched_yield() noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int()> real{"sched_yield"};
  const Sleep sleep(SDSM_CALLER);
  return real();
}
SDSM_ENTRY void thrd_yield() {
  SDSM_NEXT_FUNCTION NextFunction<int()> real{"sched_yield"};
  const Sleep sleep(SDSM_CALLER);
  static_cast<void>(real());
}
