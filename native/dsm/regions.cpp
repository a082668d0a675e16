#include "native/dsm/regions.hpp"

#include "native/dsm/asking.hpp"

namespace sdsm::dsm {

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
  if (info.kind == trace::RegionKind::thread_stack) return homes_of_stack(ProcessId{info.owner}, page_count(info));
  return {info.placement, page_count(info), std::nullopt};
}

ProcessId home_of_page(const Range& range, std::uintptr_t page, const RegionInfo& info, PageId id) {
  if (info.placement != Placement::first_touch) return homes_of(info).home(id.index, processes());
  std::uint32_t& known = range.first_toucher[range.page_number(page)];
  if (known == 0) {
    const Head touch{.kind = WireKind::touch_first, .address = id.index, .value = index_of(id.region)};
    known = static_cast<std::uint32_t>(ask(ProcessId{0}, touch).value) + 1;
  }
  return ProcessId{known - 1};
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
