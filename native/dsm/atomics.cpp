#include "native/dsm/atomics.hpp"

#include <bit>
#include <cstring>

#include "native/dsm/asking.hpp"
#include "native/dsm/clock.hpp"
#include "native/dsm/coherence.hpp"
#include "native/dsm/counting.hpp"
#include "native/dsm/emulation.hpp"
#include "native/dsm/flags.hpp"
#include "native/dsm/lock_names.hpp"
#include "native/dsm/opened_pages.hpp"
#include "native/dsm/synchronisation.hpp"
#include "native/gomp/entry.hpp"
#include "native/program/ending.hpp"
#include "native/program/locked_instructions.hpp"
#include "native/program/next_function.hpp"

namespace sdsm::dsm {
namespace {

/// The operation, and how often the home's pages had been changed then.
struct Done {
  program::AtomicOutcome outcome;
  std::uint64_t changes = 0;
};

/// Processes of one node share the memory, so the processor orders their operations.
Done operate_at_home(const Place& place, std::uintptr_t address, const program::AtomicOperation& operation)
    REQUIRES(application) {
  Done done;
  if (place.owner == Owner::remote) {
    const std::uint64_t begun = now_ns();
    const Head question{.kind = WireKind::atomic, .bytes = sizeof operation, .address = address};
    done.changes = ask_soon(place.home, question, &operation, &done.outcome, sizeof done.outcome).value;
    asked.lock_ns += now_ns() - begun;
  } else {
    const Held nothing_else_changes(changing);
    done.changes = ++node().changes;
    done.outcome = program::operate(operation, find_range(address)->view_of(address));
  }
  return done;
}

/// Another place of the program may have the same page: its faults are those of any other access.
program::AtomicOutcome operate_in_lock(std::uintptr_t address, const program::AtomicOperation& operation)
    REQUIRES(application) {
  acquire_lock(atomic_lock);
  const auto outcome = program::operate(operation, reinterpret_cast<void*>(address));
  release_lock(atomic_lock);
  return outcome;
}

program::AtomicOutcome operate_on_page(const Place& place, std::uintptr_t address,
                                       const program::AtomicOperation& operation) REQUIRES(application) {
  ++asked.atomics;
  switch (self.atomics) {
    case Atomics::lock: return operate_in_lock(address, operation);
    case Atomics::relaxed: return operate_at_home(place, address, operation).outcome;
    default: break;
  }
  enter_flag_mode();
  flush(Sync::acquire);
  const Done done = operate_at_home(place, address, operation);
  drop(Sync::acquire);
  note_changes(place.home, done.changes);
  return done.outcome;
}

}  // namespace

}  // namespace sdsm::dsm

namespace sdsm::program {

using namespace dsm;

bool take_trap(const siginfo_t& /*info*/, ucontext_t& /*machine*/) {
  return false;
}

bool operate_on_shared(std::uintptr_t address, const AtomicOperation& operation, AtomicOutcome& outcome) {
  if (!are_pages_protected() || find_range(address) == nullptr) return false;
  application.check();
  const BlockedSignals blocked;
  const std::uint64_t begun = now_ns();
  Place place;
  if (!find_place(address, place)) return false;
  if (address % page_bytes + operation.bytes > page_bytes) {
    end_run(
        {"an atomic operation at address 0x", Hexadecimal(address),
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
  if (self.atomics != Atomics::relaxed) {
    enter_flag_mode();
    synchronise_memory();
  }
  resume_work(begun);
}

}  // namespace sdsm::program

using namespace sdsm;
using namespace sdsm::dsm;

namespace {

/// libatomic handles objects too large for one instruction under locks of its own, which each process has for itself. A
/// lock of all processes replaces them.
class WholeObject {
 public:
  WholeObject(const void* object, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    const bool has_instruction = std::has_single_bit(bytes) && bytes <= 16 && address % bytes == 0;
    is_shared_ = !has_instruction && are_pages_protected() && find_range(address) != nullptr;
    if (!is_shared_) return;
    application.check();
    acquire_lock(atomic_lock);
  }
  ~WholeObject() {
    if (!is_shared_) return;
    application.check();
    release_lock(atomic_lock);
  }
  WholeObject(const WholeObject&) = delete;
  WholeObject& operator=(const WholeObject&) = delete;

  bool is_shared() const { return is_shared_; }

 private:
  bool is_shared_ = false;
};

}  // namespace

// libatomic's functions of these names, which the compiler has as its own.
SDSM_ENTRY void load_object(std::size_t bytes, const void* from, void* to, int order) asm("__atomic_load");
SDSM_ENTRY void store_object(std::size_t bytes, void* to, const void* from, int order) asm("__atomic_store");
SDSM_ENTRY void exchange_object(std::size_t bytes, void* object, const void* wanted, void* before,
                                int order) asm("__atomic_exchange");
SDSM_ENTRY bool compare_exchange_object(std::size_t bytes, void* object, void* expected, const void* wanted, int order,
                                        int order_if_different) asm("__atomic_compare_exchange");

void load_object(std::size_t bytes, const void* from, void* to, int order) {
  static constinit NextFunction<decltype(load_object)> real{"__atomic_load"};
  const WholeObject object(from, bytes);
  if (!object.is_shared()) return real(bytes, from, to, order);
  std::memcpy(to, from, bytes);
}
void store_object(std::size_t bytes, void* to, const void* from, int order) {
  static constinit NextFunction<decltype(store_object)> real{"__atomic_store"};
  const WholeObject object(to, bytes);
  if (!object.is_shared()) return real(bytes, to, from, order);
  std::memcpy(to, from, bytes);
}
void exchange_object(std::size_t bytes, void* at, const void* wanted, void* before, int order) {
  static constinit NextFunction<decltype(exchange_object)> real{"__atomic_exchange"};
  const WholeObject object(at, bytes);
  if (!object.is_shared()) return real(bytes, at, wanted, before, order);
  std::memcpy(before, at, bytes);
  std::memcpy(at, wanted, bytes);
}
bool compare_exchange_object(std::size_t bytes, void* at, void* expected, const void* wanted, int order,
                             int order_if_different) {
  static constinit NextFunction<decltype(compare_exchange_object)> real{"__atomic_compare_exchange"};
  const WholeObject object(at, bytes);
  if (!object.is_shared()) return real(bytes, at, expected, wanted, order, order_if_different);
  const bool is_equal = std::memcmp(at, expected, bytes) == 0;
  if (is_equal) {
    std::memcpy(at, wanted, bytes);
  } else {
    std::memcpy(expected, at, bytes);
  }
  return is_equal;
}
