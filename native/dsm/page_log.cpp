#include "native/dsm/page_log.hpp"

#include <algorithm>
#include <utility>

#include "native/dsm/launcher.hpp"

namespace sdsm::dsm {
namespace {

constexpr std::size_t long_log = 8192;
constinit std::vector<RegionOrigin> origins GUARDED_BY(program::heap::books_lock);

template <typename Record>
void send_records(FrameKind kind, const std::vector<Record>& records) {
  constexpr std::size_t most = most_frame_bytes / sizeof(Record);
  for (std::size_t sent = 0; sent < records.size();) {
    const std::size_t count = std::min(most, records.size() - sent);
    send_to_launcher(kind, records.data() + sent, count * sizeof(Record));
    sent += count;
  }
}

std::vector<RegionOrigin> take_origins() {
  const program::HeapGuard guard;
  return std::exchange(origins, {});
}

}  // namespace

void send_long_page_log() {
  if (page_events.size() < long_log) return;
  send_records(FrameKind::page_events, page_events);
  page_events.clear();
}

void send_page_log() {
  send_records(FrameKind::page_events, page_events);
  page_events.clear();
  send_records(FrameKind::regions, take_origins());
}

void log_region(const RegionOrigin& origin) {
  if (self.wants_page_log || self.wants_timeline) origins.push_back(origin);
}

}  // namespace sdsm::dsm
