/// Atomic operations and fences of this process's thread (models/atomics.hpp).
#include "native/dsm/protocol/single_writer/operations.hpp"

#include <algorithm>
#include <cstring>

#include "native/dsm/books/regions.hpp"
#include "native/dsm/files/open_files.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/protocol/scash/write_notices.hpp"
#include "native/dsm/protocol/single_writer/copies.hpp"
#include "native/dsm/protocol/single_writer/downgrades.hpp"
#include "native/dsm/protocol/single_writer/rights_requests.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/timing/timeline_log.hpp"
#include "native/dsm/wire/counting.hpp"

namespace sdsm::dsm {
namespace {

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

}  // namespace

program::AtomicOutcome operate(const Place& place, std::uintptr_t address, const program::AtomicOperation& operation) {
  if (self.atomics == Atomics::relaxed) return operate_without_order(place, address, operation);
  begin_fence();
  note_operation(place);
  std::uint64_t number = 0;
  const program::AtomicOutcome outcome = operate_at_home(place, address, operation, number);
  end_fence();
  return outcome;
}

void fence() {
  begin_fence();
  end_fence();
}

}  // namespace sdsm::dsm
