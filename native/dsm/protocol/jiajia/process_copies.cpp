#include "native/dsm/protocol/jiajia/process_copies.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "native/dsm/books/regions.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/page_log.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/timing/timeline_log.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/dsm/wire/diff.hpp"
#include "native/dsm/wire/diff_pieces.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

constinit std::optional<jiajia::ProcessPages> copies GUARDED_BY(application);

Permission permission_of(jiajia::State state) {
  switch (state) {
    case jiajia::State::unmapped:
    case jiajia::State::invalid: return Permission::unmapped;
    case jiajia::State::read_only: return Permission::read_only;
    case jiajia::State::read_write: break;
  }
  return Permission::read_write;
}

void fetch(const Place& place) REQUIRES(application, node().mutex) {
  const Fetched fetched =
      with_following(place, [](PageId id, std::uintptr_t) REQUIRES(application) { return own_copies().prefetch(id); });
  // Process 0's service thread may want to forget pages of a block meanwhile.
  node().mutex.unlock();
  ask_for_pages(fetched, 0);
  node().mutex.lock();
  for (std::size_t i = 1; i < fetched.count; ++i) {
    const Place& other = fetched.places[i];
    const bool is_there = region_number(*find_range(other.address), other.address) == index_of(other.id.region);
    if (is_there) open_page(other, Permission::read_only);
  }
}

/// Does what the rule of the fault says; the pages' access() has made the transition.
void resolve(const Place& place, const jiajia::FaultRule& rule) REQUIRES(application, node().mutex) {
  if (rule.makes_twin) node().twinned.push_back(place);
  if (rule.fetches_page) fetch(place);
  if (rule.makes_twin) make_twin(place);
}

/// Pages of this process's own with twins, by address.
std::vector<std::uintptr_t> twinned_at_home GUARDED_BY(own_twins);

/// What a signal's handler stores while its thread waits at a barrier may be in a page that moves there: its new home
/// has to get it, and nothing else. So what others change here meanwhile goes to the twin, too (page_requests.cpp).
void twin_own_page(const Place& place) REQUIRES(application, node().mutex) {
  node().twinned.push_back(place);
  const Held nobody_stores(own_twins);
  twinned_at_home.push_back(place.address);
  make_twin(place);
}

void forget_own_twins() {
  const Held nobody_stores(own_twins);
  twinned_at_home.clear();
}

/// A change on its way home.
struct Changed {
  Place place;
  std::size_t begin;
  EncodedDiff encoded;
};

/// The encoded changes of several pages.
class Changes {
 public:
  /// Finds the changes of the twinned pages that are `is_wanted`, and renews their twins.
  template <typename Wanted>
  void find(Wanted is_wanted) REQUIRES(application, node().mutex) {
    bytes_.clear();
    changes_.clear();
    const Held nobody_stores(own_twins);
    const auto words = static_cast<std::uint16_t>(shared_page_bytes() / static_cast<std::size_t>(diff_word.count));
    for (const Place& place : node().twinned) {
      if (place.address == 0 || !is_wanted(place)) continue;
      const EncodedDiff diff =
          encode_diff(place.address, view_of(place.address), twin_of(place.address), buffer_, place.parts);
      if (!diff.change) continue;
      own_copies().changed(place.id, diff.change, words);
      changes_.push_back({place, bytes_.size(), diff});
      bytes_.insert(bytes_.end(), buffer_.diff, buffer_.diff + diff.bytes);
      bytes_.insert(bytes_.end(), buffer_.twin_words, buffer_.twin_words + diff.twin_bytes());
    }
  }

  /// Returns when all are at home: messages to all homes are on their way at once, a few to each. `answers`: by home.
  void send(std::map<ProcessId, std::uint16_t> answers = {}) REQUIRES(application) {
    const program::HeldSignals held;
    std::vector<ProcessId> homes;
    std::map<ProcessId, std::size_t> underway;
    for (const Changed& change : changes_) {
      const ProcessId home = change.place.home;
      if (home != self.process && std::find(homes.begin(), homes.end(), home) == homes.end()) homes.push_back(home);
    }
    for (const ProcessId home : homes) {
      std::uint16_t& left = answers[home];
      OutgoingDiffs next{home, underway[home]};
      for (const Changed& change : changes_) {
        if (change.place.home == home) add_to(next, change, left);
      }
      next.leave(left);
    }
    for (const auto& [home, unanswered] : underway) {
      for (std::size_t i = 0; i < unanswered; ++i) await_answer(home);
    }
    // What went early (send_copies_home()), the home counts now.
    for (const auto& [home, left] : answers) {
      if (left > 0 && home != self.process) ask(home, {.kind = WireKind::diff, .address = left});
    }
  }

 private:
  /// To one home, without answers. More would be kept in this process's memory, as sockets hold some 200 KB; so many
  /// keep a gigabit network busy (640 KB, 5 ms), and an emulated cable has room for those of 127 processes.
  static constexpr std::size_t most_underway = 16;

  /// To one home, while it is made.
  struct OutgoingDiffs {
    ProcessId home;
    std::size_t& underway;  ///< messages to it without answers
    jiajia::DiffMessages model = {};
    std::size_t left = 0;  ///< messages of the model's
    std::vector<std::byte> payload = {};

    /// The last one leaves. The home counts its answer, if there are `answers` to count.
    void leave(std::uint16_t& answers) REQUIRES(application) {
      const std::uint64_t counted = answers > 0 ? 1 : 0;
      answers = static_cast<std::uint16_t>(answers - counted);
      const Bytes data = model.data[left++];
      if (underway == most_underway) {
        await_answer(home);
        --underway;
      }
      tell(home,
           {.kind = WireKind::diff,
            .bytes = static_cast<std::uint32_t>(payload.size()),
            .address = counted,
            .value = static_cast<std::uint64_t>(data.count)},
           payload.data());
      payload.clear();
      ++underway;
    }
  };

  /// As the model divides diffs among messages. It has a longer head for each page.
  void add_to(OutgoingDiffs& next, const Changed& change, std::uint16_t& answers) const REQUIRES(application) {
    const EncodedDiff& encoded = change.encoded;
    const std::byte* const diff = bytes_.data() + change.begin;
    constexpr Bytes further_head = jiajia::page_head - diff_header;
    std::uint32_t head = static_cast<std::uint32_t>(further_head.count), sent = 0;
    next.model.add(Bytes{encoded.bytes} + further_head, [&](Bytes part) {
      application.check();
      if (next.model.data.size() > next.left + 1) next.leave(answers);
      const std::uint32_t piece = static_cast<std::uint32_t>(part.count) - std::exchange(head, 0U);
      const std::uint32_t twin_begin = twin_share(encoded, sent);
      const PartOfDiff sizes{encoded.bytes, encoded.twin_bytes(), piece,
                             twin_share(encoded, sent + piece) - twin_begin};
      const auto put = [&](const void* from, std::size_t bytes) {
        const auto* const begin = static_cast<const std::byte*>(from);
        next.payload.insert(next.payload.end(), begin, begin + bytes);
      };
      put(&sizes, sizeof sizes);
      put(diff + sent, piece);
      put(diff + encoded.bytes + twin_begin, sizes.twin_piece);
      sent += piece;
    });
  }

  DiffBuffer buffer_;
  std::vector<std::byte> bytes_;
  std::vector<Changed> changes_;
};
Changes changes GUARDED_BY(application);

/// As the model has them: pages go together, as many as a message holds. Returns how many answers each home owes.
std::map<ProcessId, std::uint16_t> count_diffs(const std::vector<jiajia::Diff>& diffs) REQUIRES(application) {
  std::map<ProcessId, jiajia::DiffMessages> messages;
  for (const jiajia::Diff& diff : diffs) {
    const Bytes data = jiajia::diff_data(diff.change);
    messages[diff.home].add(data);
    ++asked.diffs;
    asked.diff_bytes += static_cast<std::uint64_t>(data.count);
    if (!is_on_own_node(diff.home)) {
      log({.value = diff.page.index,
           .object = index_of(diff.page.region),
           .bytes = static_cast<std::uint16_t>(data.count),
           .kind = PageEvent::Kind::diff});
    }
  }
  std::map<ProcessId, std::uint16_t> answers;
  for (const auto& [home, own] : messages) {
    for (const Bytes data : own.data) count_message(home, jiajia::MessageKind::DIFF, jiajia::header + data);
    answers[home] = static_cast<std::uint16_t>(own.data.size());
  }
  return answers;
}

/// The page as this process knows it; none if it does not know its region, or another one lies there now. It stays so
/// while the caller holds the node: process 0's service thread retires blocks, and then waits to forget their pages.
std::optional<Place> known_place(PageId page) REQUIRES(node().mutex) {
  const RegionInfo& info = region(index_of(page.region));
  if (info.pages == 0) return std::nullopt;
  const WholePage whole = page_of(info, page);
  if (whole.parts == 0 || region_number(*find_range(whole.address), whole.address) != index_of(page.region)) {
    return std::nullopt;
  }
  return Place{page, whole.address, self.process, Owner::home, whole.parts};
}

/// Whether the process may read its copy of the page.
bool may_read_copy(PageId page) REQUIRES(application) {
  const ProcessId somebody_else{index_of(self.process) + 1};
  return permission_of(own_copies().state(page, somebody_else)) != Permission::unmapped;
}

}  // namespace

jiajia::ProcessPages& own_copies() {
  return *copies;
}

std::byte* own_twin_of(std::uintptr_t page) {
  const bool is_twinned = std::find(twinned_at_home.begin(), twinned_at_home.end(), page) != twinned_at_home.end();
  return is_twinned ? twin_of(page) : nullptr;
}

void start_copies() {
  copies.emplace(self.process, self.jiajia);
  for (const RegionId region : unnoticed_regions()) copies->add_unnoticed(region);
}

std::optional<jiajia::FaultKind> take_copy_fault(const Place& place, Access access) {
  const NodeGuard guard;
  jiajia::ProcessPages& pages = own_copies();
  std::optional<jiajia::FaultKind> kind;
  if (traps(access, permission_of(pages.state(place.id, place.home)))) {
    kind = pages.access(place.id, place.home, access);
    resolve(place, jiajia::rule_of(*kind));
    if (kind == jiajia::FaultKind::WROH && self.jiajia.home_migration && is_at_barrier()) twin_own_page(place);
    ++asked.faults[static_cast<std::size_t>(*kind)];
    log_in_turn({.value = place.id.index, .object = index_of(place.id.region), .fault = static_cast<FaultKind>(*kind)});
  }
  // Without a fault, the protocol allows it anyway: nobody has touched the page since everything was shut.
  open_page(place, permission_of(pages.state(place.id, place.home)));
  return kind;
}

void change_interval(Sync sync) {
  if (!are_pages_protected()) return;
  const Begun begun = begin();
  {
    const NodeGuard guard;
    changes.find([](const Place&) { return true; });
  }
  changes.send(count_diffs(own_copies().end_interval(sync)));
  spend(Spent::diff, begun);
  const Begun sent = begin();
  const bool has_twins = own_copies().twinned_pages() > 0;
  // Which own pages stay writable over a barrier is known behind it (move_homes()).
  const bool detects = sync == Sync::barrier && self.jiajia.adaptive_write_detection;
  const std::uint64_t rested = own_copies().begin_interval(detects ? Sync::acquire : sync);
  if (has_twins || rested > 0) {
    const NodeGuard guard;
    node().twinned.clear();
    forget_own_twins();
    shut_lost_copies(may_read_copy);
    rest_own_pages();
  }
  spend(Spent::protect, sent);
}

void follow_moves(const std::vector<jiajia::BarrierNotice>& moves) {
  if (moves.empty()) return;
  for (const jiajia::BarrierNotice& move : moves) note_move(move.notice.page, move.next);
  const NodeGuard guard;
  for (Place& place : node().twinned) {
    place.home = home_after_moves(place.id, place.home);
    place.owner = owner_of(self.layout, self.process, place.home);
  }
}

void move_homes(const std::vector<jiajia::BarrierNotice>& moves) {
  std::vector<Place> closed, opened;
  const NodeGuard guard;
  for (const jiajia::BarrierNotice& move : moves) {
    if (move.home != self.process && move.next != self.process) continue;
    if (const auto place = known_place(move.notice.page)) closed.push_back(*place);
  }
  if (self.jiajia.adaptive_write_detection) {
    own_copies().begin_interval(Sync::barrier);
    for (const PageId page : own_copies().written_at_home()) {
      const auto place = known_place(page);
      // A block that has gone may come again, as another region.
      if (place && !region(index_of(page.region)).is_retired) opened.push_back(*place);
    }
  }
  if (!are_pages_protected()) return;
  close_pages(closed);
  open_own_pages(opened);
}

void send_copies_home(const AddressRange& pages) {
  changes.find([&](const Place& place) { return pages.holds(place.address); });
  changes.send();
}

void shut_invalid_copies() {
  if (!are_pages_protected()) return;
  const Begun begun = begin();
  {
    const NodeGuard guard;
    shut_lost_copies(may_read_copy);
  }
  spend(Spent::protect, begun);
}

}  // namespace sdsm::dsm
