#include "native/dsm/protocol/scash/coherence.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <optional>
#include <vector>

#include "native/dsm/files/open_files.hpp"
#include "native/dsm/memory/library_heap.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/page_log.hpp"
#include "native/dsm/memory/region_books.hpp"
#include "native/dsm/memory/stacks.hpp"
#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/protocol/jiajia/process_copies.hpp"
#include "native/dsm/protocol/scash/write_notices.hpp"
#include "native/dsm/protocol/single_writer/downgrades.hpp"
#include "native/dsm/protocol/single_writer/flags.hpp"
#include "native/dsm/protocol/single_writer/page_turns.hpp"
#include "native/dsm/protocol/single_writer/rights_requests.hpp"
#include "native/dsm/protocol/single_writer/stack_news.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/timing/emulation.hpp"
#include "native/dsm/timing/timeline_log.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/dsm/wire/diff_pieces.hpp"
#include "native/dsm/wire/emulated_network.hpp"
#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/signals.hpp"

namespace sdsm::dsm {
namespace {

auto find_arriving(std::uintptr_t address) REQUIRES(node().mutex) {
  return std::find_if(node().arriving.begin(), node().arriving.end(),
                      [&](const Arriving& page) { return page.address == address; });
}
bool is_arriving(std::uintptr_t address) REQUIRES(node().mutex) {
  return find_arriving(address) != node().arriving.end();
}

constinit MetOthers met GUARDED_BY(application);

/// The wish of a request in single-writer mode; else nothing.
std::uint64_t wish_of(const Place& place, Access access) {
  if (!is_in_single_writer_mode()) return 0;
  return PageWish::of(place.id, right_for(access)).number;
}

void drop_copies() REQUIRES(application, node().mutex);
void drop_stack_copies(std::span<const std::uintptr_t> kept = {}) REQUIRES(application, node().mutex);
bool is_copy_of_stack(const Place& place);

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

/// A page that its process has open for good changes unseen. So its copies go when something is seen that may be newer.
bool is_open_at_home(const Place& place) {
  return is_open_at_home(region(index_of(place.id.region)).kind);
}

/// Adds the following pages of which the node has no copy; its tables have them from now on.
Fetched with_prefetched(const Place& place) REQUIRES(application, node().mutex) {
  if (is_in_single_writer_mode()) return {{place}};
  return with_following(place, [](PageId id, std::uintptr_t address) REQUIRES(application, node().mutex) {
    return !is_arriving(address) && node().pages.prefetch(self.process, id);
  });
}

void count_request(ProcessId home, std::uint64_t further) REQUIRES(application) {
  if (plays_jiajia()) {
    return count_message(home, jiajia::MessageKind::GETP,
                         jiajia::header + jiajia::page_request_data + bytes_of_names(further));
  }
  count_message(home, MessageKind::page_request,
                static_cast<std::uint64_t>((control_payload + bytes_of_names(further)).count));
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

/// A thread's place. A loop comes to an instruction again, but mostly with other registers.
struct At {
  std::uintptr_t instruction = 0;
  std::uint64_t registers = 0;  ///< a hash of the general ones

  bool operator==(const At&) const = default;
};
At at_fault(const ucontext_t& machine) {
  At at{static_cast<std::uintptr_t>(machine.uc_mcontext.gregs[REG_RIP]), 0};
  for (int i = REG_R8; i <= REG_RSP; ++i)
    at.registers = hash_with(at.registers, static_cast<std::uint64_t>(machine.uc_mcontext.gregs[i]));
  return at;
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

/// Returns the fault's kind; none where the page was only to be opened again.
std::optional<FaultKind> take_fault(const Place& place, Access access, const At& at) REQUIRES(application) {
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

/// The address is outside of shared memory: what it names elsewhere may not exist in this process.
[[noreturn]] void end_at_foreign_address(const siginfo_t& info) {
  constexpr std::uintptr_t null_page = 4096;
  constexpr const char* elsewhere = ". If it does so without sdsm run too, look for the reason in the program";
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  const program::Hexadecimal digits(address);
  if (address < null_page) end_run({"the program used a null pointer (address 0x", digits, ")", elsewhere});
  if (is_below_stack(address)) {
    end_run({"the thread's stack is full (address 0x", digits,
             "). Give the initial thread more by ulimit -s, the others by OMP_STACKSIZE (64M, say)", elsewhere});
  }
  const int opener = process_of_stream(address);
  if (opener >= 0) {
    end_run(
        {"the program uses a stream (FILE*, or of C++) that process ",
         program::Decimal(static_cast<std::uint64_t>(opener)),
         " opened, and that this process does not have. Only processes of one host share streams, on descriptors 0 to "
         "199, and only if pidfd_getfd is allowed. Use the stream in the thread that opened it, or give the run one "
         "host (docs/running.md, \"What is not shared\")"});
  }
  const int owner = process_of_library_heap(address);
  if (owner >= 0 && owner != static_cast<int>(index_of(self.process))) {
    constexpr const char* remedy =
        ". What popen, opendir, newlocale, iconv_open, sbrk and the like return is for the thread that called them: "
        "let each thread call them for itself (docs/running.md, \"What is not shared\")";
    end_run({"the program touched address 0x", digits,
             ", in memory that the C library, or the program by sbrk, got in process ",
             program::Decimal(static_cast<std::uint64_t>(owner)), remedy});
  }
  end_run({"the program touched address 0x", digits,
           ", where this process has no memory that may be used so. What another thread mapped by mmap or "
           "loaded by dlopen is not shared (docs/running.md, \"What is not shared\")",
           elsewhere});
}

/// find_place() in the handler, which signals from outside may call in any thread.
bool find_faulting_place(std::uintptr_t address, Place& place) {
  if (!are_pages_protected() || find_range(address) == nullptr) return false;
  application.check();
  return find_place(address, place);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const std::uint64_t trapped = now_ns();
  Place place;
  if (!find_faulting_place(reinterpret_cast<std::uintptr_t>(info->si_addr), place)) {
    if (finds_stream(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
      errno = saved_errno;
      return;
    }
    if (!is_handled_by_program(signal) && info->si_code > 0 && info->si_code != SI_KERNEL)
      end_at_foreign_address(*info);
    return pass_fault_to_program(signal, info, context);
  }
  application.check();
  const program::BlockedSignals blocked;
  ++asked.traps;
  const auto* machine = static_cast<const ucontext_t*>(context);
  constexpr greg_t write_bit = 2;  // of the page fault's error code
  const bool is_write = (machine->uc_mcontext.gregs[REG_ERR] & write_bit) != 0;
  const Access access = is_write ? Access::write : Access::read;
  // Nobody else sees when this process comes to a page of its own node, and so many sleeps would distort the emulation.
  const std::uint64_t looked_up = now_ns();
  if (place.owner == Owner::remote) reach_touch(index_of(place.id.region), place.id.index, access);
  // Asking others where the page is at home is part of the fault; computing until the touch is not.
  const std::uint64_t entered = trapped + (now_ns() - looked_up);
  const Begun begun = begun_with_trap(entered);
  const auto instruction = static_cast<std::uintptr_t>(machine->uc_mcontext.gregs[REG_RIP]);
  std::optional<std::size_t> kind;
  if (plays_jiajia()) {
    if (const auto taken = take_copy_fault(place, access)) kind = static_cast<std::size_t>(*taken);
  } else {
    if (const auto taken = take_fault(place, access, at_fault(*machine))) kind = static_cast<std::size_t>(*taken);
  }
  if (!is_write && is_in_single_writer_mode())
    come_to_load(instruction, reinterpret_cast<std::uintptr_t>(info->si_addr));
  send_long_page_log();
  send_long_timeline_log();
  resume_work(entered);
  if (kind) {
    spend_on_fault(*kind, place.id, begun);
  } else {
    spend(Spent::protect, begun);
  }
  stop_if_asked();
  errno = saved_errno;
}

void count_diff(const Place& place, std::uint32_t bytes) REQUIRES(application) {
  constexpr auto most = static_cast<std::uint32_t>(max_payload.count);
  for (std::uint32_t sent = place.owner == Owner::local ? bytes : 0; sent < bytes; sent += most) {
    count_message(place.home, MessageKind::diff, std::min(most, bytes - sent));
  }
  ++asked.diffs;
  asked.diff_bytes += bytes;
  if (place.owner != Owner::local) {
    log({.value = place.id.index,
         .object = index_of(place.id.region),
         .bytes = static_cast<std::uint16_t>(bytes),
         .kind = PageEvent::Kind::diff});
  }
}

/// Local peers may not change the pages of which this process's acquire is about to drop the node's copies. Their
/// service threads shut them, while their application threads cannot: this process holds the node.
void shut_local_peers() REQUIRES(application) {
  const std::uint32_t first = index_of(own_node()) * self.layout.threads_per_node;
  for (std::uint32_t i = first; i < first + self.layout.threads_per_node; ++i) {
    if (ProcessId{i} != self.process) ask(ProcessId{i}, {.kind = WireKind::shut_copies});
  }
}

/// The diffs that a flush sends.
class Diffs {
 public:
  void find(Sync sync) REQUIRES(application, node().mutex) {
    forget();
    for_each_due(sync, [&](const Place& place, const EncodedDiff& diff) { keep(place, diff); });
  }

  void find_in(const AddressRange& pages) REQUIRES(application, node().mutex) {
    forget();
    for (const Place& place : node().twinned) {
      if (place.owner != Owner::remote || !pages.holds(place.address)) continue;
      if (const EncodedDiff diff = encode(place); diff.change) keep(place, diff);
    }
  }

  void send() const REQUIRES(application) {
    for (const Encoded& diff : diffs_) {
      send_diff(diff.place, buffer_.data() + diff.begin, twin_words_of(diff), diff.encoded);
      count_diff(diff.place, diff.encoded.bytes);
    }
  }

  /// find() and send() where the node has no other thread that could store meanwhile. It keeps no diff: memory for all
  /// of them takes the kernel longer, when it is first used, than making them takes.
  void send_each(Sync sync) REQUIRES(application, node().mutex) {
    for_each_due(sync, [&](const Place& place, const EncodedDiff& diff) REQUIRES(application) {
      send_diff(place, encoded_.diff, encoded_.twin_words, diff);
      count_diff(place, diff.bytes);
    });
  }

  /// In the protocol these go with the next flush.
  void send_early() REQUIRES(application) {
    for (const Encoded& diff : diffs_) {
      send_diff(diff.place, buffer_.data() + diff.begin, twin_words_of(diff), diff.encoded);
      early_.emplace_back(diff.place, diff.encoded.bytes);
    }
  }

  void count_early() REQUIRES(application) {
    for (const auto& [place, bytes] : early_) count_diff(place, bytes);
    early_.clear();
  }

 private:
  struct Encoded {
    Place place;
    std::size_t begin;
    EncodedDiff encoded;
  };

  void forget() {
    buffer_.clear();
    diffs_.clear();
  }

  template <typename Use>
  void for_each_due(Sync sync, Use use) REQUIRES(application, node().mutex) {
    NodePages& pages = node().pages;
    auto place = node().twinned.begin();
    for (const Twinned& due : pages.due(self.process, sync)) {
      while (place->id != due.page) ++place;
      if (place->address == 0 || is_arriving(place->address)) continue;
      if (const EncodedDiff diff = encode(*place); diff.change) use(*place, diff);
    }
    // Twins without changes are gone already; this forgets what was noted of the others.
    pages.flush(self.process, sync);
  }

  EncodedDiff encode(const Place& place) REQUIRES(node().mutex) {
    const EncodedDiff diff =
        encode_diff(place.address, view_of(place.address), twin_of(place.address), encoded_, place.parts);
    const auto words = static_cast<std::uint16_t>(shared_page_bytes() / static_cast<std::size_t>(diff_word.count));
    node().pages.changed(place.id, place.owner, diff.change, words);
    return diff;
  }

  void keep(const Place& place, const EncodedDiff& diff) {
    diffs_.push_back({place, buffer_.size(), diff});
    buffer_.insert(buffer_.end(), encoded_.diff, encoded_.diff + diff.bytes);
    buffer_.insert(buffer_.end(), encoded_.twin_words, encoded_.twin_words + diff.twin_bytes());
  }

  const std::byte* twin_words_of(const Encoded& diff) const { return buffer_.data() + diff.begin + diff.encoded.bytes; }

  DiffBuffer encoded_;
  std::vector<std::byte> buffer_;
  std::vector<Encoded> diffs_;
  std::vector<std::pair<Place, std::uint32_t>> early_;
};
Diffs diffs GUARDED_BY(application);

/// The caller holds the node, so no local peer goes on while changes are still on their way. Precondition: late ones
/// are at home. What a service thread sent on another connection must not come after what changed since.
void flush_held(Sync sync, bool are_local_peers_shut = false) REQUIRES(application, node().mutex) {
  if (self.layout.threads_per_node == 1) {
    diffs.count_early();
    diffs.send_each(sync);
    return;
  }
  {
    std::optional<StopTheWorld> nobody_stores;
    const bool is_open_stack = !are_local_peers_shut && !node().copies.of_stacks.empty();
    if (stops_the_world(single_writer_mode_here(), is_open_stack, false)) nobody_stores.emplace();
    diffs.find(sync);
  }
  diffs.count_early();
  diffs.send();
}

/// Drops the node's copies in mid-interval, behind what was changed in them.
void drop_copies() REQUIRES(application, node().mutex) {
  await_late_diffs();
  if (self.layout.threads_per_node > 1) shut_local_peers();
  flush_held(Sync::acquire, true);
  drop_all_copies();
  shut_copies();
}

/// Drops the copies of others' stacks, behind what was changed in them, but for those at `kept`.
void drop_stack_copies(std::span<const std::uintptr_t> kept) {
  await_late_diffs();
  // What stays may have left its home before the latest news came.
  if (kept.empty()) note_stack_drop();
  auto& of_stacks = node().copies.of_stacks;
  const auto stays = [&](const Place& place) {
    return std::find(kept.begin(), kept.end(), place.address) != kept.end();
  };
  if (std::all_of(of_stacks.begin(), of_stacks.end(), stays)) return;
  if (self.layout.threads_per_node > 1) shut_local_peers();
  flush_held(Sync::acquire, true);
  std::erase_if(of_stacks, [&](const Place& place) REQUIRES(node().mutex) {
    if (stays(place)) return false;
    downgrade_copy(place.id, false);
    return true;
  });
  shut_copies();
}

/// The copies that a synchronisation between barriers concerns.
Concerned concerned_copies() REQUIRES(application, node().mutex) {
  return node().copies.concerned(common_single_writer_mode());
}

/// Applies a team's barrier to the node's pages. False if a local peer has done so, or will.
bool begin_interval_of_node() REQUIRES(application, node().mutex) {
  if (has_notices()) return end_epoch();
  if (index_of(self.process) % self.layout.threads_per_node != 0) return false;
  node().pages.end_interval(single_writer_mode_here());
  return true;
}

void log_flush(Sync sync, const Grant* granted) REQUIRES(application, node().mutex) {
  using Kind = PageEvent::Kind;
  if (granted != nullptr) {
    log_in_turn({.value = granted->number, .object = index_of(granted->lock), .kind = Kind::take});
  } else {
    log_in_turn({.kind = sync == Sync::release ? Kind::give : Kind::ask});
  }
}

}  // namespace

void make_twin(const Place& place) {
  for_each_piece_of(place.address, place.parts, [](std::uintptr_t begin, std::size_t bytes) {
    std::memcpy(twin_of(begin), view_of(begin), bytes);
  });
}

Head ask_for_pages(const Fetched& fetched, std::uint64_t wish, std::span<const HeldCopy> held) {
  const Place& first = fetched.places.front();
  std::array<std::uint32_t, most_prefetch> names;
  for (std::size_t i = 1; i < fetched.count; ++i)
    names[i - 1] = static_cast<std::uint32_t>(fetched.places[i].id.index - first.id.index);
  const auto bytes = static_cast<std::uint32_t>((fetched.count - 1) * sizeof names[0] + held.size_bytes());
  const Head question{.kind = WireKind::page_request, .bytes = bytes, .address = first.address, .value = wish};
  count_request(first.home, fetched.count - 1);
  asked.prefetched += fetched.count - 1;
  const std::size_t each = shared_page_bytes();
  if (fetched.count == 1 && first.parts == all_parts())
    return ask_soon(first.home, question, held.data(), view_of(first.address), each);
  static std::byte* const pages = reserve_array<std::byte>((1 + most_prefetch) * each);
  const Head reply = ask_soon(first.home, question, names.data(), pages, fetched.count * each);
  for (std::size_t i = 0; i < fetched.count; ++i)
    take_content(fetched.places[i].address, fetched.places[i].parts, pages + i * each);
  return reply;
}

bool find_place(std::uintptr_t address, Place& place) REQUIRES(application) {
  const Range* range = find_range(address);
  if (range == nullptr) return false;
  std::uint32_t id = no_region;
  const RegionInfo* region = region_at(*range, page_down(address), id);
  if (region == nullptr) return false;
  const WholePage page = page_at(*range, page_down(address), id);
  place.address = page.address;
  place.parts = page.parts;
  place.id = {RegionId{id}, page_index(*region, address)};
  place.home = home_of_page(*range, place.address, *region, place.id);
  place.owner = owner_of(self.layout, self.process, place.home);
  return true;
}

void send_diff(const Place& place, const std::byte* diff, const std::byte* twin_words, const EncodedDiff& encoded) {
  // The home of a local page is the same memory.
  if (place.owner == Owner::local) return;
  const auto send = [&](const Head& head, const std::byte* payload)
                        REQUIRES(application) { ask(place.home, head, payload); };
  for_each_piece(diff, twin_words, encoded, send);
}

void drop_all_copies() {
  node().pages.drop(Sync::acquire);
  node().copies.drop();
  std::erase_if(node().twinned, [](const Place& place) { return place.owner == Owner::remote; });
}

void start_coherence(const AddressRange& stack, const AddressRange& variables) {
  // Locks hand notices on where one process is alone, too.
  if (plays_jiajia()) start_copies();
  if (!takes_faults(self.layout)) return;
  take_signal(SIGSEGV, on_fault);
  protect_pages(stack, variables);
}

void flush(Sync sync, const Grant* granted) {
  if (!are_pages_protected()) return;
  if (plays_jiajia()) return change_interval(sync);
  const Begun begun = begin();
  end_turn();
  if (self.layout.threads_per_node > 1 && sends_while_others_go_on(sync, common_single_writer_mode())) {
    {
      const NodeGuard guard;
      await_late_diffs();
      diffs.find(sync);
    }
    diffs.count_early();
    diffs.send();
  } else if (sync == Sync::barrier || (sync == Sync::gang && !are_all_in_single_writer_mode())) {
    // A local peer may have stored it, and may announce it to others by a plain store: it must not find its change sent
    // by this thread, and yet not at home.
    const NodeGuard guard;
    await_late_diffs();
    flush_held(sync);
  } else {
    const NodeGuard guard;
    await_late_diffs();
    log_flush(sync, granted);
    if (concerned_copies() != Concerned::none) flush_held(flushed_as(sync, single_writer_mode_here()));
  }
  spend(Spent::diff, begun);
}

void flush_pages(std::uintptr_t begin, std::uint64_t pages) {
  if (!are_pages_protected()) return;
  const NodeGuard guard;
  if (plays_jiajia()) return send_copies_home({begin, begin + pages * page_bytes});
  diffs.find_in({begin, begin + pages * page_bytes});
  diffs.send_early();
}

void drop(Sync sync) {
  if (!are_pages_protected() || plays_jiajia()) return;
  const Begun begun = begin();
  const SyncRule rule = rule_of(sync);
  const NodeGuard guard;
  NodePages& pages = node().pages;
  if (rule.rest_home_pages) {
    // All of the node's threads that are in the team are here, and one speaks for them.
    if (begin_interval_of_node()) {
      note_stack_drop();
      node().copies.barrier(has_notices());
      node().twinned.clear();
    }
    met.barrier();
    pages.take_dirty_home_pages(self.process);
  } else if (rule.drop_copies) {
    if (sync == Sync::acquire) log_in_turn({.kind = PageEvent::Kind::drop});
    if (concerned_copies() == Concerned::all_copies) {
      drop_copies();
    } else {
      drop_stack_copies();
    }
    spend(Spent::protect, begun);
    return;
  }
  if (rule.rest_home_pages && has_notices()) {
    shut_lost_copies();
  } else if (rule.drop_copies) {
    shut_copies();
  }
  if (rule.rest_home_pages) {
    rest_own_pages();
    const Held nothing_is_handled(handling);
    forget_rights();
  }
  spend(Spent::protect, begun);
}

void downgrade_copy(PageId page, bool keeps_reading) {
  const auto twin = node().pages.downgrade(page, keeps_reading);
  if (twin) node().twinned.erase(node().twinned.begin() + static_cast<std::ptrdiff_t>(*twin));
}

void send_stacks_home() {
  if (!is_in_single_writer_mode()) return;
  const NodeGuard guard;
  await_late_diffs();
  if (!node().copies.of_stacks.empty()) flush_held(Sync::release);
}

bool refetch_stacks() {
  const NodeGuard guard;
  const bool has_copies = !node().copies.of_stacks.empty();
  drop_stack_copies();
  return has_copies;
}

void meet_others() {
  const NodeGuard guard;
  stop_at_next_touch();
}

void join_single_writer_mode(std::atomic<SingleWriterMode>& single_writer_mode, SingleWriterMode wanted) {
  const NodeGuard guard;
  const SingleWriterMode before = single_writer_mode;
  single_writer_mode = std::max(before, wanted);
  if (before != SingleWriterMode::off) return;
  {
    const Held nothing_is_handled(handling);
    shut_for_single_writer_mode();
  }
  if (++node().in_single_writer_mode == self.layout.threads_per_node) {
    flush_held(Sync::acquire);
    drop_all_copies();
  }
  pthread_cond_broadcast(&node().arrival);
}

void move_home(std::uintptr_t begin, std::uint64_t count, Zeros zero_pages) {
  static constexpr std::byte zeros[page_bytes] = {};
  for (std::uintptr_t at = begin; at < begin + count * page_bytes; at += page_bytes) {
    const std::byte* view = view_of(at);
    if (zero_pages == Zeros::are_there && std::memcmp(view, zeros, page_bytes) == 0) continue;
    Place place;
    if (!find_place(at, place) || place.owner != Owner::remote) continue;
    ask(place.home, {.kind = WireKind::put_page, .bytes = page_bytes, .address = at}, view);
  }
}

}  // namespace sdsm::dsm

namespace sdsm::program {

using namespace dsm;

/// Pages shut when the protocol says so.
void shut_after_use() {}
std::uint64_t times_shut_by_touches() {
  return 0;
}

void touch_for_kernel(const void* buffer, std::uint64_t bytes, KernelUse use) {
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer);
  const Range* const range = find_range(begin);
  if (range == nullptr || !application.is_taken()) return;
  application.check();
  // A buffer may be said to be larger than it is: what is behind it belongs to nobody, or at least stays as it is.
  const std::uintptr_t end = bytes < range->end - begin ? begin + bytes : range->end;
  Place place;
  for (std::uintptr_t at = begin; at < end && find_place(at, place); at = page_down(at) + page_bytes) {
    auto* const byte = reinterpret_cast<volatile unsigned char*>(at);
    static_cast<void>(*byte);
    if (use == KernelUse::writes) __atomic_fetch_or(byte, 0, __ATOMIC_RELAXED);
  }
}

}  // namespace sdsm::program
