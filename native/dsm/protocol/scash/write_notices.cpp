#include "native/dsm/protocol/scash/write_notices.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "models/scash/courses.hpp"
#include "native/dsm/protocol/scash/coherence.hpp"
#include "native/dsm/protocol/single_writer/downgrades.hpp"
#include "native/dsm/requests/asking.hpp"

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

bool end_epoch() {
  WriteNotices& notices = node().notices;
  if (notices.epoch() > received.epoch) return false;
  notices.skip_to(received.epoch);
  for (const NoticeRun& run : received.notices) {
    for (std::uint64_t i = 0; i < run.pages; ++i) {
      notices.add({RegionId{run.region}, run.first + i}, NodeId{run.writer});
    }
  }
  node().pages.end_interval(single_writer_mode_here());
  notices.publish();
  return true;
}

}  // namespace sdsm::dsm
