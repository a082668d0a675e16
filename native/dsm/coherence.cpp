#include "native/dsm/coherence.hpp"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <atomic>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <vector>

#include "native/dsm/asking.hpp"
#include "native/dsm/clock.hpp"
#include "native/dsm/counting.hpp"
#include "native/dsm/diff.hpp"
#include "native/dsm/emulation.hpp"
#include "native/dsm/flags.hpp"
#include "native/dsm/opened_pages.hpp"
#include "native/dsm/page_log.hpp"
#include "native/dsm/regions.hpp"
#include "native/dsm/stacks.hpp"
#include "native/dsm/trap_time.hpp"
#include "native/program/ending.hpp"
#include "native/program/shared_memory.hpp"
#include "native/program/signals.hpp"

namespace sdsm::dsm {
namespace {

std::byte* view_of(std::uintptr_t address) {
  return find_range(address)->view_of(address);
}
std::byte* twin_of(std::uintptr_t address) {
  return find_range(address)->twin_of(address);
}

bool is_arriving(std::uintptr_t address) REQUIRES(node().mutex) {
  return std::find(node().arriving.begin(), node().arriving.end(), address) != node().arriving.end();
}

void make_twin(const Place& place) {
  std::memcpy(twin_of(place.address), view_of(place.address), page_bytes);
}

void drop_copies() REQUIRES(application, node().mutex);

constinit std::atomic<std::uint64_t> shut_by_touches = 0;

/// How often a home's pages had been changed when this node last dropped its copies.
std::uint64_t& changes_seen_of(ProcessId home) REQUIRES(node().mutex) {
  return node().seen_changes[index_of(self.layout.node_of(home))];
}

/// Whether copies may be older than what was stored before the home's last change.
bool are_news(ProcessId home, std::uint64_t changes) REQUIRES(node().mutex) {
  std::uint64_t& seen = changes_seen_of(home);
  if (changes <= seen) return false;
  seen = changes;
  return node().fetched > 0;
}

/// Brings the page as it is at home. Returns the answer, which says how often the home's pages had been changed.
Head request_page(const Place& place, std::byte* page) REQUIRES(application) {
  const Head question{.kind = WireKind::page_request, .address = place.address};
  const Head reply = ask_soon(place.home, question, nullptr, page, page_bytes);
  count_message(place.home, MessageKind::page_request, control_payload.count);
  return reply;
}

bool brings_news(const Place& place, const Head& reply) REQUIRES(node().mutex) {
  // What was changed before the barrier is no news: all copies were fetched behind it.
  std::uint64_t& seen = changes_seen_of(place.home);
  seen = std::max(seen, reply.address);
  return is_in_flag_mode() && are_news(place.home, reply.value);
}

/// Renews the copies that were changed here, and drops the others. Their changes stay here: sent home, they would be
/// news to other nodes, whose changes would be news to this one. Returns whether the copies are as new as each other.
bool renew_copies() REQUIRES(application, node().mutex) {
  alignas(page_bytes) static constinit std::byte arrived[page_bytes];
  node().pages.drop_untwinned();
  node().fetched = 0;
  shut_copies();
  bool are_as_new = true;
  for (const Place& place : node().twinned) {
    if (place.owner != Owner::remote || place.address == 0) continue;
    const Head reply = request_page(place, arrived);
    renew(arrived, view_of(place.address), twin_of(place.address));
    if (brings_news(place, reply)) are_as_new = false;
    ++node().fetched;
  }
  return are_as_new;
}

/// After news: no copy is older than they are.
void heed_news() REQUIRES(application, node().mutex) {
  ++shut_by_touches;
  constexpr int most_rounds = 4;  // others may change pages faster than this process renews them
  if (self.layout.threads_per_node == 1) {
    for (int round = 0; round < most_rounds; ++round) {
      if (renew_copies()) return;
    }
  }
  drop_copies();
}

/// Brings the page from its home. Meanwhile companions on the node do other things, but wait for this page.
void fetch(const Place& place, const FaultRule& rule) REQUIRES(application, node().mutex) {
  node().arriving.push_back(place.address);
  node().mutex.unlock();
  const Head reply = request_page(place, view_of(place.address));
  if (rule.makes_twin) make_twin(place);
  node().mutex.lock();
  std::erase(node().arriving, place.address);
  pthread_cond_broadcast(&node().arrival);
  if (brings_news(place, reply)) {
    heed_news();
  } else {
    ++node().fetched;
  }
}

/// Does what the rule of the fault says; the pages' access() has made the transition.
void resolve(const Place& place, const FaultRule& rule) REQUIRES(application, node().mutex) {
  if (rule.makes_twin) node().twinned.push_back(place);
  if (rule.fetches_page) return fetch(place, rule);
  if (rule.makes_twin) make_twin(place);
  if (rule.sends_request && rule.owner == Owner::remote) {
    tell(place.home, {.kind = WireKind::write_request, .address = place.address});
    count_message(place.home, MessageKind::write_request, control_payload.count);
  }
}

/// Opens a home page when nothing that others have changed is newer than a copy. Nobody changes it meanwhile.
template <typename Open>
void open_changed_page(ProcessId home, Open open) REQUIRES(application, node().mutex) {
  for (;;) {
    std::uint64_t changes = 0;
    {
      const Held nothing_changes(changing);
      changes = node().changes;
      if (changes <= changes_seen_of(home)) return open();
    }
    if (are_news(home, changes)) heed_news();
  }
}

void take_fault(const Place& place, Access access, std::uint64_t begun) REQUIRES(application) {
  const NodeGuard guard;
  NodePages& pages = node().pages;
  std::optional<FaultKind> kind;
  // Again if a companion took a lock, and with it dropped the page, while it was on its way.
  while (traps(access, pages.process_permission(self.process, place.id, place.owner))) {
    if (is_arriving(place.address)) {
      node().mutex.wait_for(node().arrival);
      continue;
    }
    kind = pages.access(self.process, place.id, place.home, place.owner, access);
    log_in_turn({.value = place.id.index, .object = index_of(place.id.region), .fault = *kind});
    resolve(place, rule_of(*kind));
    ++asked.faults[static_cast<std::size_t>(*kind)];
  }
  // Without a fault, the protocol allows it anyway: a home page that this process has not looked at yet, or that
  // another node has changed, or a page that was shut for lack of mappings.
  const auto open = [&]() REQUIRES(application, node().mutex) {
    open_page(place, pages.process_permission(self.process, place.id, place.owner));
  };
  if (place.owner == Owner::home && is_in_flag_mode()) {
    open_changed_page(place.home, open);
  } else {
    open();
  }
  if (kind) asked.fault_ns[static_cast<std::size_t>(*kind)] += now_ns() - begun;
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
  end_run({"the program touched address 0x", digits,
           ", where this process has no memory that may be used so. Files that another thread opened, and what it "
           "mapped by mmap or loaded by dlopen, are not shared (docs/running.md, \"What is not shared\")",
           elsewhere});
}

/// The same in the handler, which signals from outside may call in any thread.
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
    if (!is_handled_by_program(signal) && info->si_code > 0 && info->si_code != SI_KERNEL)
      end_at_foreign_address(*info);
    return pass_fault_to_program(signal, info, context);
  }
  application.check();
  const program::BlockedSignals blocked;
  // Asking others where the page is at home is part of the fault, not of computing.
  const std::uint64_t looked_up = now_ns() - trapped;
  ++asked.traps;
  const auto* machine = static_cast<const ucontext_t*>(context);
  constexpr greg_t write_bit = 2;  // of the page fault's error code
  const bool is_write = (machine->uc_mcontext.gregs[REG_ERR] & write_bit) != 0;
  const Access access = is_write ? Access::write : Access::read;
  // Nobody else sees when this process comes to a page of its own node, and so many sleeps would distort the emulation.
  if (place.owner == Owner::remote) reach_touch(index_of(place.id.region), place.id.index, access);
  const std::uint64_t begun = now_ns();
  take_fault(place, access, begun - trap_time_ns());
  send_long_page_log();
  resume_work(begun - looked_up);
  errno = saved_errno;
}

/// Sends a diff in pieces of what a message holds, one after another: flushes of one process are serial. Each piece
/// takes its share of the twin's words, which follow the diff in memory.
void send_diff(const Place& place, const std::byte* diff, const EncodedDiff& encoded) REQUIRES(application) {
  constexpr auto most = static_cast<std::uint32_t>(max_payload.count);
  const std::uint32_t bytes = encoded.bytes;
  const std::byte* const twin_words = diff + bytes;
  const auto twin_share = [&](std::uint32_t sent) { return encoded.twin_bytes() * sent / bytes; };
  // The home of a local page is the same memory.
  for (std::uint32_t sent = place.owner == Owner::local ? bytes : 0; sent < bytes;) {
    const std::uint32_t piece = std::min(most, bytes - sent);
    const std::uint32_t twin_begin = twin_share(sent);
    const std::uint32_t twin_piece = twin_share(sent + piece) - twin_begin;
    std::byte payload[2 * most + 1];
    std::memcpy(payload, diff + sent, piece);
    std::memcpy(payload + piece, twin_words + twin_begin, twin_piece);
    const DiffPiece sizes{static_cast<std::uint16_t>(bytes), static_cast<std::uint16_t>(encoded.twin_bytes()),
                          static_cast<std::uint16_t>(piece)};
    ask(place.home,
        {.kind = WireKind::diff,
         .bytes = static_cast<std::uint16_t>(piece + twin_piece),
         .address = sent,
         .value = std::bit_cast<std::uint64_t>(sizes)},
        payload);
    sent += piece;
  }
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

/// Companions may not change the pages of which this process's acquire is about to drop the node's copies. Their
/// service threads shut them, while their application threads cannot: this process holds the node.
void shut_companions() REQUIRES(application) {
  const std::uint32_t first = index_of(own_node()) * self.layout.threads_per_node;
  for (std::uint32_t i = first; i < first + self.layout.threads_per_node; ++i) {
    if (ProcessId{i} != self.process) ask(ProcessId{i}, {.kind = WireKind::shut_copies});
  }
}

/// The diffs that a flush sends, encoded.
class Diffs {
 public:
  void find(Sync sync) REQUIRES(application, node().mutex) {
    buffer_.clear();
    diffs_.clear();
    NodePages& pages = node().pages;
    auto place = node().twinned.begin();
    for (const Twinned& due : pages.due(self.process, sync)) {
      while (place->id != due.page) ++place;
      if (place->address != 0 && !is_arriving(place->address)) encode(*place);
    }
    // Those without changes are gone already; this one forgets what was noted of the others.
    pages.flush(self.process, sync);
  }

  void find_in(const AddressRange& pages) REQUIRES(application, node().mutex) {
    buffer_.clear();
    diffs_.clear();
    for (const Place& place : node().twinned) {
      if (place.owner == Owner::remote && pages.holds(place.address)) encode(place);
    }
  }

  void send() const REQUIRES(application) {
    for (const Encoded& diff : diffs_) {
      send_diff(diff.place, buffer_.data() + diff.begin, diff.encoded);
      count_diff(diff.place, diff.encoded.bytes);
    }
  }

  /// In the protocol these go with the next flush.
  void send_early() REQUIRES(application) {
    for (const Encoded& diff : diffs_) {
      send_diff(diff.place, buffer_.data() + diff.begin, diff.encoded);
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

  void encode(const Place& place) REQUIRES(node().mutex) {
    const EncodedDiff diff = encode_diff(place.address, view_of(place.address), twin_of(place.address), encoded_);
    if (!diff.change) return;
    node().pages.changed(place.id, place.owner, diff.change);
    diffs_.push_back({place, buffer_.size(), diff});
    buffer_.insert(buffer_.end(), encoded_.diff, encoded_.diff + diff.bytes);
    buffer_.insert(buffer_.end(), encoded_.twin_words, encoded_.twin_words + diff.twin_bytes());
  }

  DiffBuffer encoded_;
  std::vector<std::byte> buffer_;
  std::vector<Encoded> diffs_;
  std::vector<std::pair<Place, std::uint32_t>> early_;
};
Diffs diffs GUARDED_BY(application);

/// The caller holds the node, so no companion goes on while changes are still on their way.
void flush_held(Sync sync) REQUIRES(application, node().mutex) {
  diffs.find(sync);
  diffs.count_early();
  diffs.send();
}

/// Drops the node's copies in mid-interval, after it has sent their changes home.
void drop_copies() {
  if (self.layout.threads_per_node > 1) shut_companions();
  flush_held(Sync::acquire);
  node().pages.drop(Sync::acquire);
  node().fetched = 0;
  std::erase_if(node().twinned, [](const Place& place) { return place.owner == Owner::remote; });
  shut_copies();
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

bool find_place(std::uintptr_t address, Place& place) REQUIRES(application) {
  const Range* range = find_range(address);
  if (range == nullptr) return false;
  place.address = page_down(address);
  std::uint32_t id = no_region;
  const RegionInfo* region = region_at(*range, place.address, id);
  if (region == nullptr) return false;
  place.id = {RegionId{id}, (place.address - region->begin) / page_bytes};
  place.home = home_of_page(*range, place.address, *region, place.id);
  place.owner = owner_of(self.layout, self.process, place.home);
  return true;
}

void start_coherence(const AddressRange& stack, const AddressRange& variables) {
  if (!takes_faults(self.layout)) return;
  take_signal(SIGSEGV, on_fault);
  protect_pages(stack, variables);
}

void flush(Sync sync, const Grant* granted) {
  if (!are_pages_protected()) return;
  const std::uint64_t begun = now_ns();
  if (sync == Sync::barrier) {
    // Companions send their own at the same time.
    {
      const NodeGuard guard;
      diffs.find(sync);
    }
    diffs.count_early();
    diffs.send();
  } else {
    const NodeGuard guard;
    log_flush(sync, granted);
    flush_held(sync);
  }
  asked.diff_ns += now_ns() - begun;
}

void flush_pages(std::uintptr_t begin, std::uint64_t pages) {
  if (!are_pages_protected()) return;
  const NodeGuard guard;
  diffs.find_in({begin, begin + pages * page_bytes});
  diffs.send_early();
}

void drop(Sync sync) {
  if (!are_pages_protected()) return;
  const std::uint64_t begun = now_ns();
  const SyncRule rule = rule_of(sync);
  const NodeGuard guard;
  NodePages& pages = node().pages;
  if (rule.rest_home_pages) {
    // All of the node's threads that are in the team are here; the first one speaks for them.
    if (index_of(self.process) % self.layout.threads_per_node == 0) {
      pages.drop(sync);
      node().fetched = 0;
      node().twinned.clear();
      node().changes_before_barrier = changes_seen_of(self.process) = node().changes;
    }
    pages.take_dirty_home_pages(self.process);
  } else if (rule.drop_copies) {
    log_in_turn({.kind = PageEvent::Kind::drop});
    drop_copies();
    asked.protect_ns += now_ns() - begun;
    return;
  }
  if (rule.drop_copies) shut_copies();
  if (rule.rest_home_pages) rest_pages();
  asked.protect_ns += now_ns() - begun;
}

void note_changes(ProcessId home, std::uint64_t changes) {
  const NodeGuard guard;
  std::uint64_t& seen = changes_seen_of(home);
  seen = std::max(seen, changes);
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

std::uint64_t times_shut_by_touches() {
  return shut_by_touches;
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
