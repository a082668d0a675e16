#include "native/dsm/memory/region_books.hpp"

#include <atomic>
#include <cstring>

#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/memory/page_log.hpp"
#include "native/dsm/wire/identity.hpp"
#include "native/guest/memory/static_arrays.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

constexpr std::uint32_t most_regions = std::uint32_t{1} << 22;

/// Regions by id. A page's number is stored after its region, so the region is there.
constinit RegionInfo* regions_at_start GUARDED_BY(starting) = nullptr;
constexpr RegionInfo* const& regions = regions_at_start;

/// Regions that the program has made, behind the fixed ones.
constinit std::uint32_t made GUARDED_BY(heap::books_lock) = 0;
/// Regions that this process has asked for, where it does not keep the books.
constinit std::vector<KnownRegion> learned GUARDED_BY(application);
constinit std::atomic<std::uint32_t> known_generation = 0;

void name_pages(std::uintptr_t begin, std::uint64_t pages, std::uint32_t id) {
  const Range* range = find_range(begin);
  const std::size_t first = range->page_number(begin);
  for (std::uint64_t page = 0; page < pages; ++page) {
    __atomic_store_n(&range->region_of[first + page], id, __ATOMIC_RELEASE);
    range->first_toucher[first + page] = 0;
  }
}

/// Names pages as process 0 has answered. Or forgets them: id is no_region.
void name_known(const KnownRegion& known, std::uint32_t id) {
  name_pages(known.begin, known.pages, id);
  for (const WholePage& page : {known.first, known.last}) {
    for_each_piece_of(page.address, page.parts,
                      [&](std::uintptr_t begin, std::size_t bytes) { name_pages(begin, bytes / page_bytes, id); });
  }
}

std::uint32_t next_number() REQUIRES(heap::books_lock) {
  const std::uint32_t id = stack_region(processes()) + made++;
  if (id > most_regions) end_run({"the program allocates more blocks than the run-time can name"});
  return id;
}

}  // namespace

void start_region_books() {
  regions_at_start = reserve_array<RegionInfo>(most_regions + 1);
}

void set_fixed_region(std::uint32_t id, const RegionInfo& info) {
  regions[id] = info;
}

std::uint32_t number_region(const RegionInfo& info, RegionOrigin origin) {
  const HeapGuard guard;
  origin.kind = info.kind;
  if (info.kind == RegionKind::mapped) origin.address = program_image.variable_address(info.begin);
  std::strncpy(origin.library, program_image.library_of_variable(info.begin), sizeof origin.library - 1);
  log_region(origin);
  const std::uint32_t id = next_number();
  regions[id] = info;
  regions[id].placement = placement_of(self.placement, info, false);
  return id;
}

void name_region(std::uint32_t id) {
  name_pages(regions[id].begin, regions[id].pages, id);
}

std::uint32_t region_number(const Range& range, std::uintptr_t page) {
  return __atomic_load_n(&range.region_of[range.page_number(page)], __ATOMIC_ACQUIRE);
}

const RegionInfo& region(std::uint32_t id) {
  return regions[id];
}

std::vector<RegionInfo> place_regions() {
  const HeapGuard guard;
  RegionInfo* const first = regions + stack_region(processes());
  for (RegionInfo* region = first; region < first + made; ++region) {
    if (region->placement != Placement::first_touch) continue;
    if (holds_values(reinterpret_cast<const void*>(region->begin), region->pages))
      region->placement = Placement::initial;
  }
  return {first, first + made};
}

KnownRegion known_region(std::uintptr_t page) {
  const Range* range = find_range(page);
  if (range == nullptr) return {};
  const std::uint32_t id = region_number(*range, page);
  if (id == no_region) return {};
  std::uintptr_t begin = page_down(page);
  std::uintptr_t end = begin + page_bytes;
  while (begin > range->begin && region_number(*range, begin - page_bytes) == id) begin -= page_bytes;
  while (end < range->end && region_number(*range, end) == id) end += page_bytes;
  KnownRegion known{id, region(id), begin, (end - begin) / page_bytes, {}, {}};
  // Elsewhere what lies around them is of no interest.
  const bool is_amid_others = shared_page_bytes() > page_bytes && !range->is_heap;
  if (is_amid_others) known.first = page_at(*range, begin, id);
  if (is_amid_others) known.last = page_at(*range, end - page_bytes, id);
  return known;
}

void learn_region(const KnownRegion& known) {
  regions[known.id] = known.info;
  name_known(known, known.id);
  learned.push_back(known);
}

std::uint32_t generation() {
  return known_generation.load(std::memory_order_relaxed);
}

void learn_generation(std::uint32_t other) {
  if (other <= generation()) return;
  known_generation.store(other, std::memory_order_relaxed);
  // The fixed regions stay for good; what was asked for may have changed.
  for (const KnownRegion& known : learned) name_known(known, no_region);
  learned.clear();
}

}  // namespace sdsm::dsm

namespace sdsm::program {

using namespace dsm;

std::uint32_t add_region(const RegionInfo& info, std::uint64_t bytes, std::uintptr_t caller, std::uint32_t number) {
  const HeapGuard guard;
  const std::uintptr_t file_caller = caller == 0 ? 0 : program_image.file_address(caller);
  const std::uint32_t id = number_region(info, {.bytes = bytes, .caller = file_caller, .number = number});
  name_region(id);
  return id;
}

void set_region_pages(std::uint32_t id, std::uint64_t pages) {
  RegionInfo& info = regions[id];
  const std::uint64_t before = info.pages;
  info.pages = pages;
  name_pages(info.begin + before * page_bytes, pages - before, id);
}

void retire_pages(std::uintptr_t begin, std::uint64_t pages) {
  // Before they are shut: nobody opens them any more without looking up their region.
  const Range& range = *find_range(begin);
  if (range.is_heap) regions[region_number(range, begin)].is_retired = true;
  known_generation.fetch_add(1, std::memory_order_relaxed);
  forget_pages(begin, pages);
}

}  // namespace sdsm::program
