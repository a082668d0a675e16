#include "native/dsm/books/regions.hpp"

#include "models/homes.hpp"
#include "native/dsm/requests/asking.hpp"

namespace sdsm::dsm {
namespace {

/// Moves, as far as barriers' notices have reached this process.
Homes& moved() REQUIRES(application) {
  static Homes homes;
  return homes;
}

/// The first process that asks becomes the home.
ProcessId first_toucher_of(PageId page) REQUIRES(application) {
  const Head touch{.kind = WireKind::touch_first, .address = page.index, .value = index_of(page.region)};
  return ProcessId{static_cast<std::uint32_t>(ask(ProcessId{0}, touch).value)};
}

}  // namespace

const RegionInfo* region_at(const Range& range, std::uintptr_t page, std::uint32_t& id) {
  id = region_number(range, page);
  if (id != no_region) return &region(id);
  if (is_initial()) return nullptr;
  const program::HeldSignals held;
  KnownRegion known;
  ask(ProcessId{0}, {.kind = WireKind::region_of, .address = page}, nullptr, &known);
  if (known.pages == 0) return nullptr;
  learn_region(known);
  id = known.id;
  return &region(id);
}

RegionHomes homes_of(const RegionInfo& info) {
  return sdsm::homes_of(info, info.placement, page_count(info));
}

ProcessId home_of_page(const Range& range, std::uintptr_t page, const RegionInfo& info, PageId id) {
  if (info.placement != Placement::first_touch) return moved().home(id, homes_of(info).home(id.index, processes()));
  std::uint32_t& known = range.first_toucher[range.page_number(page)];
  if (known == 0) known = index_of(first_toucher_of(id)) + 1;
  return moved().home(id, ProcessId{known - 1});
}

std::vector<RegionId> unnoticed_regions() {
  std::vector<RegionId> regions;
  for (std::uint32_t process = 0; process < processes(); ++process) {
    regions.push_back(RegionId{stack_region(process)});
    regions.push_back(RegionId{control_region(process)});
  }
  return regions;
}

WholePage page_of(const RegionInfo& info, PageId id) {
  const std::uintptr_t part = first_part_of(info, id.index);
  return page_at(*find_range(part), part, index_of(id.region));
}

ProcessId home_of(PageId page) {
  const RegionInfo& info = region(index_of(page.region));
  const std::uintptr_t part = first_part_of(info, page.index);
  const Range& range = *find_range(part);
  if (info.placement == Placement::first_touch && region_number(range, part) != index_of(page.region)) {
    // The block has gone: its address may be another's by now.
    return moved().home(page, first_toucher_of(page));
  }
  return home_of_page(range, part, info, page);
}

void note_move(PageId page, ProcessId to) {
  moved().move(page, to);
}

ProcessId home_after_moves(PageId page, ProcessId before) {
  return moved().home(page, before);
}

}  // namespace sdsm::dsm

namespace sdsm::program {

using namespace dsm;

int home_of_address(std::uintptr_t address) {
  application.check();
  const Range* range = find_range(address);
  if (range == nullptr) return -1;
  std::uint32_t id = no_region;
  const RegionInfo* info = region_at(*range, page_down(address), id);
  if (info == nullptr) return -1;
  const PageId page{RegionId{id}, page_index(*info, address)};
  const std::uintptr_t begin = page_at(*range, page_down(address), id).address;
  return static_cast<int>(index_of(home_of_page(*range, begin, *info, page)));
}

}  // namespace sdsm::program
