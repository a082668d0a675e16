#include "models/atomics.hpp"

#include <algorithm>
#include <cstring>

#include "native/dsm/books/lock_names.hpp"
#include "native/dsm/books/regions.hpp"
#include "native/dsm/memory/node.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/openmp/synchronisation.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/timing/emulation.hpp"
#include "native/dsm/timing/timeline_log.hpp"
#include "native/dsm/traps/blind_waits.hpp"
#include "native/dsm/traps/waits.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/code/locked_instructions.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/message.hpp"
#include "native/guest/runtime/signals.hpp"

namespace sdsm::dsm {
namespace {

/// Address of the compare_exchange that was the thread's last atomic operation, if it failed. Trying again by the same
/// instruction is the same work, as in a trace.
constinit std::uintptr_t failed_exchange GUARDED_BY(application) = 0;
constinit std::uintptr_t failed_at GUARDED_BY(application) = 0;  ///< its instruction

/// Another place of the program may have the same page: its faults are those of any other access.
program::AtomicOutcome operate_in_lock(std::uintptr_t address, const program::AtomicOperation& operation)
    REQUIRES(application) {
  acquire_lock(atomic_lock);
  // As the program's instruction it is one access, which writes.
  __atomic_fetch_or(reinterpret_cast<unsigned char*>(address), 0, __ATOMIC_RELAXED);
  const auto outcome = program::operate(operation, reinterpret_cast<void*>(address));
  release_lock(atomic_lock);
  return outcome;
}

program::AtomicOutcome operate_on_page(const Place& place, std::uintptr_t address,
                                       const program::AtomicOperation& operation) REQUIRES(application) {
  ++asked.atomics;
  if (traits().operates_in_lock || self.atomics == Atomics::lock) return operate_in_lock(address, operation);
  return the_protocol().operate(place, address, operation);
}

}  // namespace

}  // namespace sdsm::dsm

namespace sdsm::program {

using namespace dsm;

bool take_trap(const siginfo_t& info, ucontext_t& machine) {
  const std::uintptr_t address = static_cast<std::uintptr_t>(machine.uc_mcontext.gregs[REG_RIP]) - 1;
  if (!application.is_taken()) return false;  // a preloaded tool's code in the service thread
  application.check();
  if (are_pages_protected()) {
    const BlockedSignals blocked;
    if (info.si_code == TRAP_TRACE) return take_followed_step(machine);
    if (take_rest_trap(machine)) {
      stop_if_asked();
      return true;
    }
  }
  if (!take_waiting_trap(address)) return false;
  machine.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(address);
  if (!are_pages_protected()) return true;
  const BlockedSignals blocked;
  the_protocol().come_to_wait();
  expect_load(address);
  stop_if_asked();
  return true;
}

void note_library(const char* path, std::size_t /*bytes_of_variables*/) {
  if (!is_initial()) return;  // once is enough
  gomp::message({"note: ", path, " comes by dlopen: each process has its own variables of it. If threads share them, ",
                 "link it to the program"});
}

bool operate_on_shared(std::uintptr_t code, std::uintptr_t address, const AtomicOperation& operation,
                       AtomicOutcome& outcome) {
  if (!are_pages_protected() || find_range(address) == nullptr) return false;
  application.check();
  const BlockedSignals blocked;
  Place place;
  if (!find_place(address, place)) return false;
  const bool tries_again = operation.compares() && failed_exchange == address && failed_at == code;
  const std::uint64_t trapped = now_ns();
  if (!tries_again) end_work(EventKind::atomic);
  // The operation's instruction is a trap, which belongs to the operation as a fault's belongs to the fault.
  const Begun begun = begun_with_trap(now_ns());
  if (slot_of(address + operation.bytes - 1) != slot_of(address)) {
    end_run(
        {"an atomic operation at address 0x", Hexadecimal(address),
         " reaches over the end of a page, and each page may be at home elsewhere. Align the variable to its size"});
  }
  outcome = operate_on_page(place, address, operation);
  failed_exchange = operation.compares() && !outcome.is_equal() ? address : 0;
  failed_at = code;
  if (tries_again) {
    resume_work(trapped);
  } else {
    begin_work();
  }
  spend(Spent::lock, begun);
  stop_if_asked();
  return true;
}

void fence_shared(std::uintptr_t /*code*/) {
  // A preloaded tool's, amid the run-time's own work: that is ordered as it is.
  if (!are_pages_protected() || !application.is_taken() || HeldSignals::are_held()) return;
  application.check();
  const BlockedSignals blocked;
  end_work(EventKind::fence);
  ++asked.atomics;
  if (traits().flush_lock) {
    synchronise_memory();
  } else {
    the_protocol().fence();
  }
  begin_work();
  stop_if_asked();
}

}  // namespace sdsm::program
