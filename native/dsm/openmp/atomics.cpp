#include "models/atomics.hpp"

#include <algorithm>
#include <cstring>

#include "native/dsm/books/lock_names.hpp"
#include "native/dsm/books/regions.hpp"
#include "native/dsm/files/open_files.hpp"
#include "native/dsm/memory/node.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/openmp/synchronisation.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/protocol/scash/write_notices.hpp"
#include "native/dsm/protocol/single_writer/blind_waits.hpp"
#include "native/dsm/protocol/single_writer/copies.hpp"
#include "native/dsm/protocol/single_writer/downgrades.hpp"
#include "native/dsm/protocol/single_writer/flags.hpp"
#include "native/dsm/protocol/single_writer/rights_requests.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/timing/emulation.hpp"
#include "native/dsm/timing/timeline_log.hpp"
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

/// Processes of one node share the memory, whose operations the processor orders. In single-writer mode no other node
/// may have the page meanwhile; before, the home's threads learn of the operation when they touch the page again.
/// `number`: the operation's among those that the home has done for others.
program::AtomicOutcome operate_at_home(const Place& place, std::uintptr_t address,
                                       const program::AtomicOperation& operation, std::uint64_t& number)
    REQUIRES(application) {
  void* const memory = find_range(address)->view_of(address);
  const bool is_single_writer = are_all_in_single_writer_mode();
  if (place.owner != Owner::remote && self.layout.nodes == 1) return program::operate(operation, memory);
  const bool is_on_stack = is_open_at_home(region(index_of(place.id.region)).kind);
  const bool keeps_copy = place.owner == Owner::remote &&
                          keeps_copy_at_operation(is_single_writer, self.layout.threads_per_node, is_on_stack);
  if (keeps_copy) {
    const NodeGuard no_other_node_gets_the_page;
    if (operates_in_copy(keeps_copy, node().pages.node_permission(place.id, Owner::remote)))
      return program::operate(operation, memory);
  }
  if (place.owner == Owner::home) {
    const Held nothing_else_is_handled(handling);
    if (may_operate_now(place.address, is_single_writer)) return program::operate(operation, memory);
  }
  const Begun begun = begin();
  count_message(place.home, MessageKind::atomic_request, atomic_payload.count);
  program::AtomicOutcome outcome;
  const OperationAt asked_for{operation, address - place.address};
  const Head question{.kind = WireKind::atomic,
                      .bytes = sizeof asked_for,
                      .address = place.address,
                      .value = is_single_writer ? PageWish::of(place.id, Right::write).number : 0};
  if (place.owner == Owner::home) {
    ask(place.home, question, &asked_for, &outcome);
  } else {
    number = ask_soon(place.home, question, &asked_for, &outcome, sizeof outcome).address;
    if (keeps_copy) {
      const NodeGuard guard;
      if (node().pages.node_permission(place.id, Owner::remote) != Permission::unmapped)
        std::memcpy(memory, &outcome.now, operation.bytes);
    }
  }
  spend(Spent::lock, begun);
  return outcome;
}

/// Whether the thread, or a local peer, has changed the variable by a plain store that is still to go home.
bool has_own_change(const Place& place, std::uintptr_t address, std::size_t bytes) REQUIRES(application) {
  if (place.owner != Owner::remote) return false;
  const Range& range = *find_range(address);
  const NodeGuard guard;
  return find_twinned(address) != nullptr && std::memcmp(range.view_of(address), range.twin_of(address), bytes) != 0;
}

void note_sent(std::uintptr_t address) REQUIRES(application) {
  const NodeGuard guard;
  node().operating.push_back({self.process, address, 0});
}

/// A thread then sees nothing older in a variable than it found or stored there, whatever copies it kept. A store of a
/// local peer that is still to go home stays. So does a later operation in the copy, whose answer to a local peer has
/// overtaken this one's.
void show_in_copy(const Place& place, std::uintptr_t address, std::size_t bytes, const program::AtomicValue& now,
                  std::uint64_t number) REQUIRES(application) {
  const Range& range = *find_range(address);
  const NodeGuard guard;
  // A page that a local peer fetches may have left its home before.
  const auto is_here = [&](const Arriving& arriving) { return arriving.address == place.address; };
  while (std::any_of(node().arriving.begin(), node().arriving.end(), is_here)) node().mutex.wait_for(node().arrival);
  auto& operating = node().operating;
  const auto own = std::find_if(operating.begin(), operating.end(),
                                [](const Operating& one) { return one.process == self.process; });
  const bool is_later_shown = own->shown >= number;
  operating.erase(own);
  if (is_later_shown) return;
  for (Operating& other : operating) {
    if (other.address == address) other.shown = std::max(other.shown, number);
  }
  std::byte* const copy = range.view_of(address);
  std::byte* const twin = find_twinned(address) != nullptr ? range.twin_of(address) : nullptr;
  if (twin != nullptr && std::memcmp(copy, twin, bytes) != 0) return;
  std::memcpy(copy, &now, bytes);
  if (twin != nullptr) std::memcpy(twin, &now, bytes);
}

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

void begin_fence() REQUIRES(application) {
  if (begins_before_operation(self.layout.threads_per_node))
    change_single_writer_mode(SingleWriterEvent::touch_after_meeting);
  give_way();
  hand_on_streams();
  the_protocol().flush(Sync::acquire);
}
void end_fence() REQUIRES(application) {
  the_protocol().begin_interval(Sync::acquire);
  take_over_files();
  meet_others();
}

program::AtomicOutcome operate_without_order(const Place& place, std::uintptr_t address,
                                             const program::AtomicOperation& operation) REQUIRES(application) {
  if (has_own_change(place, address, operation.bytes)) {
    give_way();
    the_protocol().flush(Sync::acquire);
  }
  note_operation(place);
  const bool has_copy = place.owner == Owner::remote;
  std::uint64_t number = 0;
  if (has_copy) note_sent(address);
  const program::AtomicOutcome outcome = operate_at_home(place, address, operation, number);
  if (has_copy) show_in_copy(place, address, operation.bytes, outcome.now, number);
  return outcome;
}

program::AtomicOutcome operate_on_page(const Place& place, std::uintptr_t address,
                                       const program::AtomicOperation& operation) REQUIRES(application) {
  ++asked.atomics;
  if (traits().operates_in_lock) return operate_in_lock(address, operation);
  switch (self.atomics) {
    case Atomics::lock: return operate_in_lock(address, operation);
    case Atomics::relaxed: return operate_without_order(place, address, operation);
    default: break;
  }
  begin_fence();
  note_operation(place);
  std::uint64_t number = 0;
  const program::AtomicOutcome outcome = operate_at_home(place, address, operation, number);
  end_fence();
  return outcome;
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
  come_to_wait();
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

void fence_shared() {
  // A preloaded tool's, amid the run-time's own work: that is ordered as it is.
  if (!are_pages_protected() || !application.is_taken() || HeldSignals::are_held()) return;
  application.check();
  const BlockedSignals blocked;
  end_work(EventKind::fence);
  ++asked.atomics;
  if (traits().flush_lock) {
    synchronise_memory();
  } else {
    begin_fence();
    end_fence();
  }
  begin_work();
  stop_if_asked();
}

}  // namespace sdsm::program
