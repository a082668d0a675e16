#include "native/dsm/atomics.hpp"

#include "native/dsm/asking.hpp"
#include "native/dsm/clock.hpp"
#include "native/dsm/coherence.hpp"
#include "native/dsm/counting.hpp"
#include "native/dsm/emulation.hpp"
#include "native/dsm/lock_names.hpp"
#include "native/dsm/opened_pages.hpp"
#include "native/dsm/synchronisation.hpp"
#include "native/program/ending.hpp"
#include "native/program/locked_instructions.hpp"

namespace sdsm::dsm {
namespace {

constinit bool flag_mode GUARDED_BY(application) = false;

/// Processes of one node have the memory in common, whose operations the processor orders.
program::AtomicOutcome operate_at_home(const Place& place, std::uintptr_t address,
                                       const program::AtomicOperation& operation) REQUIRES(application) {
  const std::uint64_t begun = now_ns();
  program::AtomicOutcome outcome;
  if (place.owner == Owner::remote) {
    ask(place.home, {.kind = WireKind::atomic, .bytes = sizeof operation, .address = address}, &operation, &outcome);
  } else {
    outcome = program::operate(operation, find_range(address)->view_of(address));
  }
  asked.atomic_ns += now_ns() - begun;
  return outcome;
}

/// Another place of the program may have the same page: its faults are those of any other access.
program::AtomicOutcome operate_in_lock(std::uintptr_t address, const program::AtomicOperation& operation)
    REQUIRES(application) {
  acquire_lock(atomic_lock);
  const auto outcome = program::operate(operation, reinterpret_cast<void*>(address));
  release_lock(atomic_lock);
  return outcome;
}

program::AtomicOutcome operate_on_page(const Place& place, std::uintptr_t address, const program::AtomicOperation& operation)
    REQUIRES(application) {
  flag_mode = true;
  ++asked.atomics;
  switch (self.atomics) {
    case Atomics::lock: return operate_in_lock(address, operation);
    case Atomics::relaxed: return operate_at_home(place, address, operation);
    default: break;
  }
  flush(Sync::acquire);
  const program::AtomicOutcome outcome = operate_at_home(place, address, operation);
  drop(Sync::acquire);
  return outcome;
}

}  // namespace

bool is_in_flag_mode() {
  application.check();
  return flag_mode;
}

}  // namespace sdsm::dsm

namespace sdsm::program {

using namespace dsm;

bool operate_on_shared(std::uintptr_t address, const AtomicOperation& operation, AtomicOutcome& outcome) {
  if (!are_pages_protected() || find_range(address) == nullptr) return false;
  application.check();
  const BlockedSignals blocked;
  const std::uint64_t begun = now_ns();
  Place place;
  if (!find_place(address, place)) return false;
  if (address % page_bytes + operation.bytes > page_bytes) {
    end_run({"an atomic operation at address 0x", Hexadecimal(address),
             " reaches over the end of a page, and each page may be at home elsewhere. Align the variable to its size"});
  }
  outcome = operate_on_page(place, address, operation);
  resume_work(begun);
  return true;
}

void fence_shared() {
  if (!are_pages_protected()) return;
  application.check();
  const BlockedSignals blocked;
  const std::uint64_t begun = now_ns();
  ++asked.atomics;
  if (self.atomics != Atomics::relaxed) synchronise_memory();
  resume_work(begun);
}

}  // namespace sdsm::program
