/// How a fault gets its page: from its home, with the right to use it, or by opening it again. The order of the steps
/// is models/single_writer/touch.hpp's.
#include <sched.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "models/single_writer/touch.hpp"
#include "native/dsm/books/regions.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/page_log.hpp"
#include "native/dsm/memory/single_writer_mode.hpp"
#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/protocol/scash/copies.hpp"
#include "native/dsm/protocol/single_writer/copies.hpp"
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

/// A page that its process has open for good changes unseen. So its copies go when something is seen that may be newer.
bool is_open_at_home(const Place& place) {
  return sdsm::is_open_at_home(region(index_of(place.id.region)).kind);
}

bool is_copy_of_stack(const Place& place) {
  return place.owner == Owner::remote && is_open_at_home(place);
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
  const bool is_granted = is_in_single_writer_mode();
  const std::uint64_t wish = is_granted ? PageWish::of(place.id, right_for(rule.access)).number : 0;
  const Fetched fetched = is_granted ? Fetched{{place}} : with_prefetched(place);
  // A process that drops copies of stacks meanwhile drops this one, too: it may have left its home already.
  if (is_open_at_home(place)) node().copies.of_stacks.push_back(place);
  const std::vector<HeldCopy> held = copies_beside(place);
  std::vector<std::uintptr_t> kept{place.address};
  if (keeps_older_stack_copies(is_copy_of_stack(place), makes_no_progress)) {
    for (const Place& copy : node().copies.of_stacks) kept.push_back(copy.address);
  }
  Head reply;
  const auto is_changed = [&](std::size_t page) { return (reply.value >> page & 1) != 0; };
  const auto ask_home = [&]() REQUIRES(application) {
    reply = ask_for_pages(fetched, wish, held);
    if (rule.makes_twin) make_twin(place);
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (is_changed(1 + i)) kept.push_back(held[i].address);
    }
  };
  ask_for({fetched.places.data(), fetched.count}, false, is_granted && is_copy_of_stack(place), ask_home,
          [&]() REQUIRES(application, node().mutex) {
            // Local peers, too, may see by the page what others have stored elsewhere.
            if (is_granted && is_changed(0)) drop_stack_copies(kept);
          });
  if (is_granted) confirm_grant(place.home);
  note_shown(fetched, reply.address);
  for (std::size_t i = 1; i < fetched.count; ++i) {
    // A thread has to notice its touch of a page that an atomic operation has changed, so it is fetched again then.
    if (is_changed(i)) {
      downgrade_copy(fetched.places[i].id, false);
    } else if (!is_in_single_writer_mode()) {
      open_prefetched(fetched.places[i]);
    }
  }
  node().copies.count += fetched.count;
  // In single-writer mode nobody meets others any more.
  if (is_changed(0) && !is_in_single_writer_mode()) node().copies.operated.push_back(place);
}

/// Asks for the right to write a page of which the node has a copy, in single-writer mode. The copy may be gone then.
/// If not, it has not been changed since it came.
void upgrade(const Place& place) REQUIRES(application, node().mutex) {
  const Head question{
      .kind = WireKind::write_request, .address = place.address, .value = PageWish::of(place.id, Right::write).number};
  ask_for(
      {&place, 1}, true, is_copy_of_stack(place), [&]() REQUIRES(application) { ask(place.home, question); }, [] {});
  confirm_grant(place.home);
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
  const std::uint64_t until = keep_pages_for(last.times == 0 ? 0 : shortest_ns << last.times);
  if (until != 0) node().kept_stacks = {self.process, until};
}

/// A local peer has lost its copies of stacks to this thread before it could use them: now they are its for a while.
bool are_stacks_kept_by_local_peer() REQUIRES(application, node().mutex) {
  return node().kept_stacks.by != self.process && now_ns() < node().kept_stacks.until_ns;
}

/// The page of a fault, for next_step(). Its thread has the node.
class Touched {
 public:
  Touched(const Place& place, Access access, bool makes_no_progress)
      : place_(place), access_(access), makes_no_progress_(makes_no_progress) {}

  bool is_granted() const { return is_granted_; }
  /// What the home answers has to be newer than what this thread stored, so first it waits for that.
  bool is_busy() const NO_THREAD_SAFETY_ANALYSIS {
    await_late_diffs();
    return is_arriving(place_.address) || is_being_downgraded(place_.address) || has_to_wait_for_stack();
  }
  bool traps() const NO_THREAD_SAFETY_ANALYSIS { return sdsm::traps(access_, permission()); }
  bool is_copy_of_stack() const { return dsm::is_copy_of_stack(place_); }
  bool has_to_send_other_stacks() const NO_THREAD_SAFETY_ANALYSIS {
    if (!sends_other_stacks_first(single_writer_mode_here(), access_, is_copy_of_stack(), makes_no_progress_))
      return false;
    const auto is_other_stack = [&](const Place& twinned) {
      return twinned.address != 0 && twinned.address != place_.address && dsm::is_copy_of_stack(twinned);
    };
    return std::any_of(node().twinned.begin(), node().twinned.end(), is_other_stack);
  }
  bool has_to_ask_home() const { return place_.owner != Owner::remote && node().shares_pages; }
  Meeting meeting() const NO_THREAD_SAFETY_ANALYSIS {
    if (!is_single_writer_mode_due()) return Meeting::none;
    const auto& operated = node().copies.operated;
    const bool is_copy = std::any_of(operated.begin(), operated.end(),
                                     [&](const Place& copy) { return copy.address == place_.address; });
    if (!is_copy && !own_.is_changed) return Meeting::none;
    return meeting_at(is_open_at_home(place_), node().copies.count, is_copy, self.layout.threads_per_node);
  }

  void forget_grant() { is_granted_ = false; }

  void take_fault() REQUIRES(application, node().mutex) {
    // A copy that was asked for before single-writer mode goes when the last process of the node enters it.
    is_granted_ = place_.owner == Owner::remote && is_in_single_writer_mode();
    kind_ = node().pages.access(self.process, place_.id, place_.home, place_.owner, access_);
    log_in_turn({.value = place_.id.index, .object = index_of(place_.id.region), .fault = *kind_});
    resolve(place_, rule_of(*kind_), makes_no_progress_);
    ++asked.faults[static_cast<std::size_t>(*kind_)];
    // Late changes may have been awaited meanwhile: its home may have asked a local peer for it back already.
    if (is_being_downgraded(place_.address)) is_granted_ = false;
  }
  void ask_home() REQUIRES(application, node().mutex) {
    own_ = ask_for_own_page(place_, access_);
    is_granted_ = true;
  }

  const std::optional<FaultKind>& kind() const { return kind_; }
  /// Without a fault the protocol allows the access anyway: to a home page that this process has not opened yet, or
  /// that another node has changed, or to a page that was shut for lack of mappings.
  void open() const REQUIRES(application, node().mutex) {
    const Permission allowed = own_.right == Right::write ? Permission::read_write : Permission::read_only;
    open_page(place_, std::min(allowed, permission()));
  }

 private:
  Permission permission() const REQUIRES(application, node().mutex) {
    return node().pages.process_permission(self.process, place_.id, place_.owner);
  }
  bool has_to_wait_for_stack() const REQUIRES(node().mutex) {
    if (!is_asked_for_alone(single_writer_mode_here(), is_copy_of_stack())) return false;
    return std::any_of(node().arriving.begin(), node().arriving.end(),
                       [](const Arriving& one) { return one.is_of_stack; });
  }

  const Place& place_;
  Access access_;
  bool makes_no_progress_;
  bool is_granted_ = false;
  OwnPage own_{Right::write, false};
  std::optional<FaultKind> kind_;
};

void make_usable(Touched& page) REQUIRES(application, node().mutex) {
  for (;;) {
    switch (next_step(page)) {
      case TouchStep::wait: node().mutex.wait_for(node().arrival); break;
      case TouchStep::forget_grant: page.forget_grant(); break;
      case TouchStep::send_other_stacks:
        if (are_stacks_kept_by_local_peer()) {
          node().mutex.unlock();
          sched_yield();
          node().mutex.lock();
        } else {
          drop_stack_copies();
          page.forget_grant();
        }
        break;
      case TouchStep::fault: page.take_fault(); break;
      case TouchStep::ask_home: page.ask_home(); break;
      case TouchStep::drop_copies:
        drop_copies();
        page.forget_grant();  // others may have asked for it meanwhile
        break;
      case TouchStep::stop_at_next_touch: return stop_at_next_touch();
      case TouchStep::use_page: return;
    }
  }
}

}  // namespace

std::optional<FaultKind> find_right(const Place& place, Access access, const At& at) {
  if (met.go_on()) change_single_writer_mode(SingleWriterEvent::touch_after_meeting);
  take_turn_for(place.address);
  await_room_on_wire(place.home);
  const NodeGuard guard;
  const bool makes_no_progress = is_in_single_writer_mode() && needs_several(at, place.address, processor_time_ns());
  if (take_stack_news()) drop_stack_copies();
  Touched page(place, access, makes_no_progress);
  make_usable(page);
  page.open();
  met.open();
  if (is_copy_of_stack(place)) note_open_stack();
  const bool is_alone = self.layout.threads_per_node == 1 && !node().shares_pages && !is_in_single_writer_mode();
  if (is_alone && !page.kind().has_value() && access == Access::read && place.owner == Owner::home)
    open_resting_behind(place);
  if (is_in_single_writer_mode()) {
    keep_pages_for_instruction(at, place.address);
    watch_page(place.address);
  }
  return page.kind();
}

void meet_others() {
  const NodeGuard guard;
  stop_at_next_touch();
}

}  // namespace sdsm::dsm
