#include "native/dsm/protocol/scash/write_notices.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "models/scash/courses.hpp"
#include "native/dsm/requests/answering.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

/// The master's last answer.
struct ReceivedNotices {
  std::uint32_t epoch = 0;
  std::vector<NoticeRun> notices;
};
ReceivedNotices received GUARDED_BY(application);

std::vector<NoticeRun> own_notices() REQUIRES(application) EXCLUDES(node().mutex) {
  std::vector<std::pair<PageId, NodeId>> notices;
  {
    const NodeGuard guard;
    notices = node().notices.take();
  }
  const auto key = [](const auto& notice) {
    return std::tuple(index_of(notice.second), index_of(notice.first.region), notice.first.index);
  };
  std::sort(notices.begin(), notices.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<NoticeRun> runs;
  for (const auto& [page, writer] : notices) {
    if (!runs.empty() && runs.back().region == index_of(page.region) && runs.back().writer == index_of(writer)) {
      NoticeRun& last = runs.back();
      if (page.index < last.first + last.pages) continue;
      if (page.index == last.first + last.pages && ++last.pages > 0) continue;
    }
    runs.push_back({page.index, 1, index_of(page.region), index_of(writer)});
  }
  return runs;
}

std::uint32_t wire_bytes_of(std::size_t notices) {
  return static_cast<std::uint32_t>(notices * sizeof(NoticeRun));
}

/// The barrier's master.
struct MasterOfNotices {
  std::vector<NoticeRun> gathered;  ///< of the epoch
  std::vector<NoticeRun> ended;     ///< of the one before
  std::uint32_t epochs = 0;         ///< that have ended
  bool has_flushed = false;         ///< all members' changes are home when the last one has come
  bool ends_epoch = false;          ///< and their notices are here
};
MasterOfNotices master GUARDED_BY(handling);

/// As many of the ended epoch's notices from number `first` on as go into a message.
std::uint32_t bytes_from(std::size_t first) REQUIRES(handling) {
  return wire_bytes_of(std::min(most_notices, master.ended.size() - first));
}

/// Pages of this process's recent operations, so that many on one page give one notice.
struct Operated {
  static constexpr std::size_t most = 1024;
  PageId pages[most];
  bool is_noted[most] = {};
  std::uint32_t epoch = 0;
};
constinit Operated operated GUARDED_BY(application);

}  // namespace

void note_operation(const Place& place) {
  if (self.invalidation != Invalidation::changed) return;
  const NodeGuard guard;
  if (operated.epoch != node().notices.epoch()) {
    std::fill(std::begin(operated.is_noted), std::end(operated.is_noted), false);
    operated.epoch = node().notices.epoch();
  }
  const std::size_t slot = place.id.index % Operated::most;
  if (operated.is_noted[slot] && operated.pages[slot] == place.id) return;
  operated.is_noted[slot] = true;
  operated.pages[slot] = place.id;
  node().notices.add(place.id, self.layout.node_of(place.home));
}

Head exchange_notices(Head arrival) {
  const std::vector<NoticeRun> own = own_notices();
  std::size_t sent = 0;
  for (; own.size() - sent > most_notices; sent += most_notices) {
    tell(barrier_master, {.kind = WireKind::write_notices, .bytes = wire_bytes_of(most_notices)}, own.data() + sent);
  }
  arrival.value = notices_are_here;
  arrival.bytes = wire_bytes_of(own.size() - sent);
  received.notices.resize(most_notices);
  const Head release = ask(barrier_master, arrival, own.data() + sent, received.notices.data());
  if (release.kind != WireKind::barrier_release) return release;
  received.epoch = static_cast<std::uint32_t>(release.address);
  received.notices.resize(std::max<std::size_t>(release.value, most_notices));
  for (std::size_t have = release.bytes / sizeof(NoticeRun); have < release.value;) {
    const Head more =
        ask(barrier_master, {.kind = WireKind::more_notices, .value = have}, nullptr, received.notices.data() + have);
    have += more.bytes / sizeof(NoticeRun);
  }
  received.notices.resize(release.value);
  return release;
}

bool end_epoch(bool has_unnoticed) {
  WriteNotices& notices = node().notices;
  if (notices.epoch() > received.epoch) return false;
  notices.skip_to(received.epoch);
  for (const NoticeRun& run : received.notices) {
    for (std::uint64_t i = 0; i < run.pages; ++i) {
      notices.add({RegionId{run.region}, run.first + i}, NodeId{run.writer});
    }
  }
  node().pages.end_interval(has_unnoticed);
  notices.publish();
  return true;
}

void gather_notices(const Head& head, const std::byte* notices) {
  const std::size_t before = master.gathered.size();
  master.gathered.resize(before + head.bytes / sizeof(NoticeRun));
  for (std::size_t i = before; i < master.gathered.size(); ++i)
    std::memcpy(&master.gathered[i], notices + (i - before) * sizeof(NoticeRun), sizeof(NoticeRun));
}

void note_arrival_with(const Head& head, const std::byte* notices) {
  gather_notices(head, notices);
  master.has_flushed |= head.value != 0;
  master.ends_epoch |= head.value == notices_are_here;
}

void tell_more_notices(ProcessId from, const Head& head) {
  if (head.value >= master.ended.size()) {
    program::end_run({"process ", program::Decimal(index_of(from)), " asks for notices that nobody sent"});
  }
  answer(from, {.kind = WireKind::done, .bytes = bytes_from(head.value)}, master.ended.data() + head.value);
}

bool take_changes_home() {
  return std::exchange(master.has_flushed, false);
}

void release_with_notices(std::uint32_t size, Head release) {
  if (std::exchange(master.ends_epoch, false)) {
    master.ended = std::exchange(master.gathered, {});
    release.bytes = bytes_from(0);
    release.address = master.epochs++;
    release.value = master.ended.size();
  }
  for (std::uint32_t i = 0; i < size; ++i)
    count_served(ProcessId{i}, MessageKind::barrier_release, control_payload.count);
  for (std::uint32_t i = size; i-- > 0;) answer(ProcessId{i}, release, master.ended.data());
}

}  // namespace sdsm::dsm
