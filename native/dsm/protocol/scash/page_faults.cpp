/// How pages come from their homes.
#include <algorithm>

#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/region_books.hpp"
#include "native/dsm/protocol/scash/copies.hpp"

namespace sdsm::dsm {
namespace {

auto find_arriving(std::uintptr_t address) REQUIRES(node().mutex) {
  return std::find_if(node().arriving.begin(), node().arriving.end(),
                      [&](const Arriving& page) { return page.address == address; });
}

}  // namespace

bool is_arriving(std::uintptr_t address) {
  return find_arriving(address) != node().arriving.end();
}
void end_arrival(std::uintptr_t address) {
  node().arriving.erase(find_arriving(address));
}

Fetched with_prefetched(const Place& place) {
  return with_following(place, [](PageId id, std::uintptr_t address) REQUIRES(application, node().mutex) {
    return !is_arriving(address) && node().pages.prefetch(self.process, id);
  });
}

void open_prefetched(const Place& place) {
  if (node().pages.process_permission(self.process, place.id, place.owner) == Permission::read_only)
    open_page(place, Permission::read_only);
}

void note_shown(const Fetched& fetched, std::uint64_t operations) {
  for (Operating& operating : node().operating) {
    Place changed;
    if (!find_place(operating.address, changed)) continue;
    for (std::size_t i = 0; i < fetched.count; ++i) {
      if (changed.address != fetched.places[i].address) continue;
      operating.shown = std::max(operating.shown, operations);
    }
  }
}

void open_resting_behind(const Place& place) {
  constexpr std::uint64_t most = 64;
  const RegionInfo& info = region(index_of(place.id.region));
  const bool is_placed = info.placement != Placement::first_touch;
  if (!is_placed || self.home_pages != HomePages::read_only || shared_page_bytes() > page_bytes) return;
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

}  // namespace sdsm::dsm
