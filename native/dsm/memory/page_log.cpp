#include "native/dsm/memory/page_log.hpp"

#include <algorithm>
#include <utility>

#include "native/dsm/process/launcher.hpp"

namespace sdsm::dsm {
namespace {

constinit std::vector<RegionOrigin> origins GUARDED_BY(program::heap::books_lock);

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
