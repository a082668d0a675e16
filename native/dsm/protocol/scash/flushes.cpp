/// How what this process changed goes home, and how copies die.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "models/scash/messages.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/page_log.hpp"
#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/protocol/scash/copies.hpp"
#include "native/dsm/protocol/scash/write_notices.hpp"
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

bool may_read_node_copy(PageId page) REQUIRES(application, node().mutex) {
  return node().pages.process_permission(self.process, page, Owner::remote) != Permission::unmapped;
}

}  // namespace

void find_changes(Sync sync) {
  diffs.find(sync);
}
void send_found_changes() {
  diffs.count_early();
  diffs.send();
}

void send_changes(Sync sync, bool stops_others) {
  if (self.layout.threads_per_node == 1) {
    diffs.count_early();
    diffs.send_each(sync);
    return;
  }
  {
    std::optional<StopTheWorld> nobody_stores;
    if (stops_others) nobody_stores.emplace();
    diffs.find(sync);
  }
  send_found_changes();
}

void flush_early(const AddressRange& pages) {
  diffs.find_in(pages);
  diffs.send_early();
}

bool end_interval_of_node(bool has_unnoticed) {
  if (has_notices()) return end_epoch(has_unnoticed);
  if (index_of(self.process) % self.layout.threads_per_node != 0) return false;
  node().pages.end_interval(has_unnoticed);
  return true;
}

void shut_dropped_copies() {
  if (has_notices()) {
    shut_lost_copies(may_read_node_copy);
  } else {
    shut_copies();
  }
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

}  // namespace sdsm::dsm
