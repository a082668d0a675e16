#include "native/dsm/process_copies.hpp"

#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "native/dsm/asking.hpp"
#include "native/dsm/coherence.hpp"
#include "native/dsm/counting.hpp"
#include "native/dsm/diff.hpp"
#include "native/dsm/opened_pages.hpp"
#include "native/dsm/region_books.hpp"
#include "native/dsm/timeline_log.hpp"
#include "native/program/ending.hpp"

namespace sdsm::dsm {
namespace {

using jiajia::Message;
using jiajia::State;

constinit std::optional<jiajia::ProcessPages> copies GUARDED_BY(application);

Permission permission_of(State state) {
  switch (state) {
    case State::unmapped:
    case State::invalid: return Permission::unmapped;
    case State::read_only: return Permission::read_only;
    case State::read_write: break;
  }
  return Permission::read_write;
}

std::byte* view_of(std::uintptr_t address) {
  return find_range(address)->view_of(address);
}
std::byte* twin_of(std::uintptr_t address) {
  return find_range(address)->twin_of(address);
}

/// Does what the rule of the fault says; the pages' access() has made the transition.
void resolve(const Place& place, const jiajia::FaultRule& rule) REQUIRES(application, node().mutex) {
  if (rule.makes_twin) node().twinned.push_back(place);
  if (rule.fetches_page) {
    count_message(place.home, Message::GETP, jiajia::header + jiajia::page_request_data);
    // Process 0's service thread may want to forget pages of a block meanwhile.
    node().mutex.unlock();
    ask_soon(place.home, {.kind = WireKind::page_request, .address = place.address}, nullptr, view_of(place.address),
             page_bytes);
    node().mutex.lock();
  }
  if (rule.makes_twin) std::memcpy(twin_of(place.address), view_of(place.address), page_bytes);
}

/// A change on its way home.
struct Changed {
  Place place;
  std::size_t begin;
  EncodedDiff encoded;
};

/// Of several pages, encoded.
class Changes {
 public:
  /// Those of the twinned pages that `is_wanted`, whose twins are renewed.
  template <typename Wanted>
  void find(Wanted is_wanted) REQUIRES(application, node().mutex) {
    bytes_.clear();
    changes_.clear();
    for (const Place& place : node().twinned) {
      if (place.address == 0 || !is_wanted(place)) continue;
      const EncodedDiff diff = encode_diff(place.address, view_of(place.address), twin_of(place.address), buffer_);
      if (!diff.change) continue;
      own_copies().changed(place.id, diff.change);
      changes_.push_back({place, bytes_.size(), diff});
      bytes_.insert(bytes_.end(), buffer_.diff, buffer_.diff + diff.bytes);
      bytes_.insert(bytes_.end(), buffer_.twin_words, buffer_.twin_words + diff.twin_bytes());
    }
  }

  /// Returns when all are at home. `answers`: by home, that it counts.
  void send(std::map<ProcessId, std::uint16_t> answers = {}) const REQUIRES(application) {
    for (const Changed& change : changes_) {
      const std::uint16_t counted = std::exchange(answers[change.place.home], std::uint16_t{0});
      send_diff(change.place, bytes_.data() + change.begin, change.encoded, counted);
    }
  }

 private:
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
  }
  std::map<ProcessId, std::uint16_t> answers;
  for (const auto& [home, own] : messages) {
    for (const Bytes data : own.data) count_message(home, Message::DIFF, jiajia::header + data);
    answers[home] = static_cast<std::uint16_t>(own.data.size());
  }
  return answers;
}

}  // namespace

jiajia::ProcessPages& own_copies() {
  return *copies;
}

void start_copies() {
  copies.emplace(self.process, self.jiajia);
  for (std::uint32_t process = 0; process < processes(); ++process) {
    copies->add_untold(RegionId{stack_region(process)});
    copies->add_untold(RegionId{control_region(process)});
  }
}

void take_copy_fault(const Place& place, Access access, std::uint64_t begun) {
  const NodeGuard guard;
  jiajia::ProcessPages& pages = own_copies();
  std::optional<jiajia::FaultKind> kind;
  if (traps(access, permission_of(pages.state(place.id, place.home)))) {
    kind = pages.access(place.id, place.home, access);
    resolve(place, jiajia::rule_of(*kind));
    ++asked.faults[static_cast<std::size_t>(*kind)];
  }
  // Without a fault, the protocol allows it anyway: nobody has touched the page since everything was shut.
  open_page(place, permission_of(pages.state(place.id, place.home)));
  if (kind) asked.fault_ns[static_cast<std::size_t>(*kind)] += now_ns() - begun;
}

bool may_read_copy(PageId page) {
  const ProcessId somebody_else{index_of(self.process) + 1};
  return permission_of(own_copies().state(page, somebody_else)) != Permission::unmapped;
}

void change_interval(Sync sync) {
  if (!are_pages_protected()) return;
  const std::uint64_t begun = now_ns();
  {
    const NodeGuard guard;
    changes.find([](const Place&) { return true; });
  }
  changes.send(count_diffs(own_copies().end_interval(sync)));
  const std::uint64_t sent = now_ns();
  spend(&Tally::diff_ns, timelines::State::diff, begun, sent);
  const bool has_twins = own_copies().twinned_pages() > 0;
  const std::uint64_t rested = own_copies().begin_interval(sync);
  if (has_twins || rested > 0) {
    const NodeGuard guard;
    node().twinned.clear();
    shut_lost_copies();
    rest_own_pages();
  }
  spend(&Tally::protect_ns, timelines::State::protect, sent);
}

void send_copies_home(const AddressRange& pages) {
  changes.find([&](const Place& place) { return pages.holds(place.address); });
  changes.send();
}

void shut_invalid_copies() {
  if (!are_pages_protected()) return;
  const std::uint64_t begun = now_ns();
  {
    const NodeGuard guard;
    shut_lost_copies();
  }
  spend(&Tally::protect_ns, timelines::State::protect, begun);
}

}  // namespace sdsm::dsm
