/// How what this process changed goes home, and how copies die.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "models/scash/messages.hpp"
#include "native/dsm/books/regions.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/page_log.hpp"
#include "native/dsm/memory/region_books.hpp"
#include "native/dsm/memory/single_writer_mode.hpp"
#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/protocol/scash/copies.hpp"
#include "native/dsm/protocol/scash/write_notices.hpp"
#include "native/dsm/protocol/single_writer/downgrades.hpp"
#include "native/dsm/protocol/single_writer/page_turns.hpp"
#include "native/dsm/protocol/single_writer/rights_requests.hpp"
#include "native/dsm/protocol/single_writer/stack_news.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/timing/timeline_log.hpp"
#include "native/dsm/wire/counting.hpp"

namespace sdsm::dsm {
namespace {

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

bool may_read_node_copy(PageId page) REQUIRES(application, node().mutex) {
  return node().pages.process_permission(self.process, page, Owner::remote) != Permission::unmapped;
}

}  // namespace

void drop_copies() {
  await_late_diffs();
  if (self.layout.threads_per_node > 1) shut_local_peers();
  flush_held(Sync::acquire, true);
  drop_all_copies();
  shut_copies();
}

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

void flush(Sync sync, const Grant* granted) {
  if (!are_pages_protected()) return;
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

void flush_early(const AddressRange& pages) {
  diffs.find_in(pages);
  diffs.send_early();
}

void drop(Sync sync) {
  if (!are_pages_protected()) return;
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
    shut_lost_copies(may_read_node_copy);
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

void drop_all_copies() {
  node().pages.drop(Sync::acquire);
  node().copies.drop();
  std::erase_if(node().twinned, [](const Place& place) { return place.owner == Owner::remote; });
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

void join_single_writer_mode(SingleWriterMode wanted) {
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

}  // namespace sdsm::dsm
