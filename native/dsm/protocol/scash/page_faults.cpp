/// How a fault gets its page: from its home, from single-writer mode, or by opening it again.
#include <sched.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "native/dsm/books/regions.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/page_log.hpp"
#include "native/dsm/memory/region_books.hpp"
#include "native/dsm/memory/single_writer_mode.hpp"
#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/protocol/scash/copies.hpp"
#include "native/dsm/protocol/single_writer/downgrades.hpp"
#include "native/dsm/protocol/single_writer/page_turns.hpp"
#include "native/dsm/protocol/single_writer/stack_news.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/timing/trap_time.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/dsm/wire/emulated_network.hpp"

namespace sdsm::dsm {
namespace {

auto find_arriving(std::uintptr_t address) REQUIRES(node().mutex) {
  return std::find_if(node().arriving.begin(), node().arriving.end(),
                      [&](const Arriving& page) { return page.address == address; });
}
/// A page that its process has open for good changes unseen. So its copies go when something is seen that may be newer.
bool is_open_at_home(const Place& place) {
  return sdsm::is_open_at_home(region(index_of(place.id.region)).kind);
}

bool is_copy_of_stack(const Place& place) {
  return place.owner == Owner::remote && is_open_at_home(place);
}

/// The wish of a request in single-writer mode; else nothing.
std::uint64_t wish_of(const Place& place, Access access) {
  if (!is_in_single_writer_mode()) return 0;
  return PageWish::of(place.id, right_for(access)).number;
}

/// Asks the home of `places` for pages, or for the right to them: `ask_home` returns whether the first one was changed.
/// Meanwhile local peers do other things, but wait for these pages. `kept`, which `ask_home` may fill:
/// copies of stacks that stay in any case.
template <typename Ask>
void ask_for(std::span<const Place> places, bool has_copy, const std::vector<std::uintptr_t>& kept, Ask ask_home)
    REQUIRES(application, node().mutex) {
  const bool is_granted = is_in_single_writer_mode();
  for (const Place& place : places) {
    node().arriving.push_back({place.address, has_copy, is_granted && is_copy_of_stack(place)});
  }
  node().mutex.unlock();
  const bool is_changed = ask_home();
  node().mutex.lock();
  // Local peers, too, may see by the page what others have stored elsewhere.
  if (is_granted && is_changed) drop_stack_copies(kept);
  for (const Place& place : places) node().arriving.erase(find_arriving(place.address));
  pthread_cond_broadcast(&node().arrival);
  if (is_granted) confirm_grant(places.front().home);
}

/// Adds the following pages of which the node has no copy; its tables have them from now on.
Fetched with_prefetched(const Place& place) REQUIRES(application, node().mutex) {
  if (is_in_single_writer_mode()) return {{place}};
  return with_following(place, [](PageId id, std::uintptr_t address) REQUIRES(application, node().mutex) {
    return !is_arriving(address) && node().pages.prefetch(self.process, id);
  });
}

/// Opens what has come beside a page, if the node still has it. A thread has to notice its touch of a page that an
/// atomic operation has changed, so such a page is fetched again then.
void open_prefetched(const Fetched& fetched, std::uint64_t changed) REQUIRES(application, node().mutex) {
  for (std::size_t i = 1; i < fetched.count; ++i) {
    const Place& place = fetched.places[i];
    if ((changed >> i & 1) != 0) {
      downgrade_copy(place.id, false);
    } else if (!is_in_single_writer_mode() &&
               node().pages.process_permission(self.process, place.id, place.owner) == Permission::read_only) {
      open_page(place, Permission::read_only);
    }
  }
}

/// To local peers whose operations on these pages are on their way back. The home had done so many when they left.
void note_shown(const Fetched& fetched, std::uint64_t operations) REQUIRES(application, node().mutex) {
  for (Operating& operating : node().operating) {
    Place changed;
    if (!find_place(operating.address, changed)) continue;
    for (std::size_t i = 0; i < fetched.count; ++i) {
      if (changed.address != fetched.places[i].address) continue;
      operating.shown = std::max(operating.shown, operations);
    }
  }
}

/// The node's copies of further pages of the stack that `place` is of. Larger pages may have parts of other regions.
std::vector<HeldCopy> copies_beside(const Place& place) REQUIRES(application, node().mutex) {
  std::vector<HeldCopy> held;
  if (!is_in_single_writer_mode() || !is_copy_of_stack(place) || shared_page_bytes() > page_bytes) return held;
  for (const Place& copy : node().copies.of_stacks) {
    if (copy.home != place.home || copy.address == place.address || held.size() == HeldCopy::most) continue;
    const bool is_twinned = find_twinned(copy.address) != nullptr;
    held.push_back({copy.address, HeldCopy::hash_of(is_twinned ? twin_of(copy.address) : view_of(copy.address))});
  }
  return held;
}

void fetch(const Place& place, const FaultRule& rule, bool makes_no_progress) REQUIRES(application, node().mutex) {
  const std::uint64_t wish = wish_of(place, rule.access);
  const Fetched fetched = with_prefetched(place);
  Head reply;
  // A process that drops copies of stacks meanwhile drops this one, too: it may have left its home already.
  if (is_open_at_home(place)) node().copies.of_stacks.push_back(place);
  const std::vector<HeldCopy> held = copies_beside(place);
  std::vector<std::uintptr_t> kept{place.address};
  if (keeps_older_stack_copies(is_copy_of_stack(place), makes_no_progress)) {
    for (const Place& copy : node().copies.of_stacks) kept.push_back(copy.address);
  }
  ask_for(std::span(fetched.places.data(), fetched.count), false, kept, [&]() REQUIRES(application) {
    reply = ask_for_pages(fetched, wish, held);
    if (rule.makes_twin) make_twin(place);
    for (std::size_t i = 0; i < held.size(); ++i) {
      if ((reply.value >> (1 + i) & 1) != 0) kept.push_back(held[i].address);
    }
    return (reply.value & 1) != 0;
  });
  const std::uint64_t changed = reply.value;
  note_shown(fetched, reply.address);
  open_prefetched(fetched, changed);
  node().copies.count += fetched.count;
  // In single-writer mode nobody meets others any more.
  if ((changed & 1) != 0 && !is_in_single_writer_mode()) node().copies.operated.push_back(place);
}

/// Asks for the right to write a page of which the node has a copy, in single-writer mode. The copy may be gone then.
void upgrade(const Place& place) REQUIRES(application, node().mutex) {
  const Head question{
      .kind = WireKind::write_request, .address = place.address, .value = wish_of(place, Access::write)};
  ask_for(std::span(&place, 1), true, {}, [&]() REQUIRES(application) {
    ask(place.home, question);
    return false;  // nor has it been since the copy came
  });
  if (node().pages.node_permission(place.id, place.owner) == Permission::read_write) make_twin(place);
}

/// Does what the rule of the fault says; the pages' access() has made the transition. `makes_no_progress`: the
/// instruction, which needs several pages.
void resolve(const Place& place, const FaultRule& rule, bool makes_no_progress) REQUIRES(application, node().mutex) {
  if (rule.makes_twin) node().twinned.push_back(place);
  if (rule.fetches_page) return fetch(place, rule, makes_no_progress);
  const bool sends = rule.sends_request && rule.owner == Owner::remote;
  if (sends) count_message(place.home, MessageKind::write_request, control_payload.count);
  if (sends && rule.makes_twin && is_in_single_writer_mode()) return upgrade(place);
  if (rule.makes_twin) make_twin(place);
  if (sends) tell(place.home, {.kind = WireKind::write_request, .address = place.address});
}

/// The next touch of memory traps.
void stop_at_next_touch() REQUIRES(application, node().mutex) {
  if (met.meet(is_single_writer_mode_due())) shut_all_pages();
}

Meeting meeting_at(const Place& place, bool is_changed_by_operation) REQUIRES(application, node().mutex) {
  if (!is_single_writer_mode_due()) return Meeting::none;
  const auto& operated = node().copies.operated;
  const bool is_copy =
      std::any_of(operated.begin(), operated.end(), [&](const Place& copy) { return copy.address == place.address; });
  if (!is_copy && !is_changed_by_operation) return Meeting::none;
  return sdsm::meeting_at(is_open_at_home(place), node().copies.count, is_copy, self.layout.threads_per_node);
}

/// Asks the home for the right to a page of the own node. In single-writer mode it keeps that until it opens the page.
OwnPage ask_for_own_page(const Place& place, Access access) REQUIRES(application, node().mutex) {
  const Head question{.kind = WireKind::home_request,
                      .address = place.address,
                      .value = PageWish::of(place.id, right_for(access)).number};
  node().mutex.unlock();
  const OwnPage granted = OwnPage::of(ask(place.home, question).value);
  node().mutex.lock();
  if (granted.is_changed && is_in_single_writer_mode()) drop_stack_copies();
  confirm_grant(place.home);
  return granted;
}

/// The last faults of the thread in single-writer mode.
struct Faulted {
  At at;
  std::uintptr_t pages[4]{};
  std::uint32_t next = 0;
  std::uint32_t times = 0;
  std::uint64_t processor_ns = 0;
};
constinit Faulted last_faults GUARDED_BY(application);

/// Whether the instruction makes no progress between faults. At least one trap lies between them: 1 to 8 us by machine,
/// and now and then twice its median.
bool comes_again(const At& at, std::uintptr_t page, std::uint64_t now_ns) REQUIRES(application) {
  const std::uint64_t no_progress_ns = 5'000 + 2 * trap_time_ns();
  const Faulted& last = last_faults;
  return last.at == at && now_ns - last.processor_ns < no_progress_ns &&
         std::find(std::begin(last.pages), std::end(last.pages), page) != std::end(last.pages);
}

/// Whether the same instruction has faulted on another page meanwhile: then it needs several at once. One that faults
/// on its page again has lost it to others.
bool needs_several(const At& at, std::uintptr_t page, std::uint64_t now_ns) REQUIRES(application) {
  constexpr std::size_t pages = std::size(Faulted{}.pages);
  return comes_again(at, page, now_ns) && last_faults.pages[(last_faults.next + pages - 1) % pages] != page;
}

/// An instruction that makes no progress between faults needs several pages at once, or its thread did not run: what it
/// has fetched is kept for a while, longer each time.
void keep_pages_for_instruction(const At& at, std::uintptr_t page) REQUIRES(application, node().mutex) {
  Faulted& last = last_faults;
  const std::uint64_t now = processor_time_ns();
  const bool is_again = comes_again(at, page, now);
  if (last.at != at) last = {.at = at};
  last.times = is_again ? std::min(last.times + 1, 12U) : 0;
  last.pages[last.next++ % std::size(last.pages)] = page;
  last.processor_ns = now;
  constexpr std::uint64_t shortest_ns = 20'000;
  const std::uint64_t until = last.times == 0 ? 0 : now_ns() + (shortest_ns << last.times);
  keep_pages_until(until);
  if (until != 0) node().kept_stacks = {self.process, until};
}

/// A local peer has lost its copies of stacks to this thread before it could use them: now they are its for a while.
bool are_stacks_kept_by_local_peer() REQUIRES(application, node().mutex) {
  return node().kept_stacks.by != self.process && now_ns() < node().kept_stacks.until_ns;
}

/// Programs read their home pages in sequence. So this process's own among the next 64 pages are opened for reading
/// with it, as after a barrier: a trap takes longer. In single-writer mode others may have them.
void open_resting_behind(const Place& place) REQUIRES(application, node().mutex) {
  constexpr std::uint64_t most = 64;
  const RegionInfo& info = region(index_of(place.id.region));
  const bool is_placed = info.placement != Placement::first_touch;
  const bool is_alone = self.layout.threads_per_node == 1 && !node().shares_pages && !is_in_single_writer_mode();
  if (!is_placed || !is_alone || self.home_pages != HomePages::read_only || shared_page_bytes() > page_bytes) return;
  const Range& range = *find_range(place.address);
  const auto opens = [&](std::uintptr_t page, const PageId& id) REQUIRES(application, node().mutex) {
    return home_of_page(range, page, info, id) == self.process && rests(page) &&
           node().pages.process_permission(self.process, id, Owner::home) == Permission::read_only;
  };
  std::uintptr_t page = place.address + page_bytes;
  std::uint64_t run = 0;
  for (std::uint64_t i = 1; i <= most; ++i, page += page_bytes) {
    if (page >= range.end || region_number(range, page) != index_of(place.id.region)) break;
    if (opens(page, {place.id.region, place.id.index + i})) {
      ++run;
    } else {
      open_at_rest(page - run * page_bytes, run);
      run = 0;
    }
  }
  open_at_rest(page - run * page_bytes, run);
}

bool has_to_send_stacks_first(const Place& place, Access access, bool makes_no_progress)
    REQUIRES(application, node().mutex) {
  if (!sends_other_stacks_first(single_writer_mode_here(), access, is_copy_of_stack(place), makes_no_progress))
    return false;
  const auto is_other_stack = [&](const Place& twinned) {
    return twinned.address != 0 && twinned.address != place.address && is_copy_of_stack(twinned);
  };
  return std::any_of(node().twinned.begin(), node().twinned.end(), is_other_stack);
}

bool has_to_wait_for_stack(const Place& place) REQUIRES(application, node().mutex) {
  if (!is_asked_for_alone(single_writer_mode_here(), is_copy_of_stack(place))) return false;
  return std::any_of(node().arriving.begin(), node().arriving.end(),
                     [](const Arriving& one) { return one.is_of_stack; });
}

}  // namespace

bool is_arriving(std::uintptr_t address) {
  return find_arriving(address) != node().arriving.end();
}

std::optional<FaultKind> find_right(const Place& place, Access access, const At& at) {
  if (met.go_on()) change_single_writer_mode(SingleWriterEvent::touch_after_meeting);
  take_turn_for(place.address);
  await_room_on_wire(place.home);
  const NodeGuard guard;
  NodePages& pages = node().pages;
  std::optional<FaultKind> kind;
  OwnPage granted{Right::write, false};
  bool is_allowed = false;
  const bool makes_no_progress = is_in_single_writer_mode() && needs_several(at, place.address, processor_time_ns());
  if (take_stack_news()) drop_stack_copies();
  for (;;) {
    // What the home answers has to be newer than what this thread stored.
    if (!is_allowed) await_late_diffs();
    if (!is_allowed &&
        (is_arriving(place.address) || is_being_downgraded(place.address) || has_to_wait_for_stack(place))) {
      node().mutex.wait_for(node().arrival);
      continue;
    }
    // Again if a local peer took a lock, and dropped the page with it, on its way; or somebody else got it.
    if (traps(access, pages.process_permission(self.process, place.id, place.owner))) {
      // A local peer may have asked for another stack meanwhile.
      const bool has_to_wait_again = is_allowed && is_copy_of_stack(place);
      const bool sends_first = !has_to_wait_again && has_to_send_stacks_first(place, access, makes_no_progress);
      if (sends_first && are_stacks_kept_by_local_peer()) {
        node().mutex.unlock();
        sched_yield();
        node().mutex.lock();
        continue;
      }
      if (sends_first) drop_stack_copies();
      if (has_to_wait_again || sends_first) {
        is_allowed = false;
        continue;
      }
      // A copy that was asked for before single-writer mode goes when the last process of the node enters it.
      is_allowed = place.owner == Owner::remote && is_in_single_writer_mode();
      kind = pages.access(self.process, place.id, place.home, place.owner, access);
      log_in_turn({.value = place.id.index, .object = index_of(place.id.region), .fault = *kind});
      resolve(place, rule_of(*kind), makes_no_progress);
      ++asked.faults[static_cast<std::size_t>(*kind)];
      // Late changes may have been awaited meanwhile: its home may have asked a local peer for it back already.
      if (is_being_downgraded(place.address)) is_allowed = false;
    } else if (!is_allowed && place.owner != Owner::remote && node().shares_pages) {
      granted = ask_for_own_page(place, access);
      is_allowed = true;
    } else {
      const Meeting meeting = meeting_at(place, granted.is_changed);
      if (meeting == Meeting::meets_others) stop_at_next_touch();
      if (meeting != Meeting::drops_copies) break;
      drop_copies();
      is_allowed = false;  // others may have asked for it meanwhile
    }
  }
  // Without a fault the protocol allows the access anyway: to a home page that this process has not opened yet, or that
  // another node has changed, or to a page that was shut for lack of mappings.
  const Permission allowed = granted.right == Right::write ? Permission::read_write : Permission::read_only;
  open_page(place, std::min(allowed, pages.process_permission(self.process, place.id, place.owner)));
  met.open();
  if (place.owner == Owner::remote && is_open_at_home(place)) note_open_stack();
  if (!kind && access == Access::read && place.owner == Owner::home) open_resting_behind(place);
  if (is_in_single_writer_mode()) {
    keep_pages_for_instruction(at, place.address);
    watch_page(place.address);
  }
  return kind;
}

void meet_others() {
  const NodeGuard guard;
  stop_at_next_touch();
}

}  // namespace sdsm::dsm
