#include "native/dsm/regions.hpp"

#include <atomic>
#include <vector>

#include "native/dsm/cluster.hpp"
#include "native/dsm/coherence.hpp"
#include "native/dsm/page_log.hpp"
#include "native/program/ending.hpp"
#include "native/program/signals.hpp"

namespace sdsm::dsm {
namespace {

constexpr std::uint32_t most_regions = std::uint32_t{1} << 22;

RegionInfo* regions = nullptr;     ///< by id; those that this process knows
std::uint32_t made = 0;            ///< regions that the program has made, behind the fixed ones
std::vector<KnownRegion> learned;  ///< what was asked for, by a process that does not keep the books
std::atomic<std::uint32_t> known_generation = 0;

RegionInfo& region(std::uint32_t id) {
  if (regions == nullptr) regions = reserve_array<RegionInfo>(most_regions + 1);
  return regions[id];
}

void name_pages(std::uintptr_t begin, std::uint64_t pages, std::uint32_t id) {
  const Range* range = find_range(begin);
  const std::size_t first = range->page_number(begin);
  for (std::uint64_t page = 0; page < pages; ++page) {
    __atomic_store_n(&range->region_of[first + page], id, __ATOMIC_RELEASE);
    range->first_toucher[first + page] = 0;
  }
}

std::uint32_t add(const RegionInfo& info) {
  const std::uint32_t id = stack_region(processes()) + made++;
  if (id > most_regions) end_run({"the program allocates more blocks than the run-time can name"});
  region(id) = info;
  name_pages(info.begin, info.pages, id);
  return id;
}

/// The fixed regions stay for good; what was asked for may have changed.
void forget_learned() {
  for (const KnownRegion& known : learned) name_pages(known.begin, known.pages, no_region);
  learned.clear();
}

}  // namespace

void name_fixed_region(std::uint32_t id, const RegionInfo& info) {
  region(id) = info;
  name_pages(info.begin, info.pages, id);
}

std::vector<RegionInfo> made_regions() {
  std::vector<RegionInfo> list;
  for (std::uint32_t i = 0; i < made; ++i) list.push_back(region(stack_region(processes()) + i));
  return list;
}

const RegionInfo* region_at(Range& range, std::uintptr_t page, std::uint32_t& id) {
  id = __atomic_load_n(&range.region_of[range.page_number(page)], __ATOMIC_ACQUIRE);
  if (id != no_region) return &region(id);
  if (is_initial()) return nullptr;
  const program::HeldSignals held;
  KnownRegion known;
  ask(ProcessId{0}, {.kind = WireKind::region_of, .address = page}, nullptr, &known);
  if (known.pages == 0) return nullptr;
  id = known.id;
  region(id) = known.info;
  name_pages(known.begin, known.pages, id);
  learned.push_back(known);
  return &region(id);
}

namespace {

RegionHomes homes_of(const RegionInfo& info) {
  if (info.kind == trace::RegionKind::thread_stack) return homes_of_stack(ProcessId{info.owner}, info.pages);
  return {info.placement, info.pages, std::nullopt};
}

}  // namespace

ProcessId home_of_page(Range& range, std::uintptr_t page, const RegionInfo& info, PageId id) {
  if (info.placement != Placement::first_touch) return homes_of(info).home(id.index, processes());
  std::uint32_t& known = range.first_toucher[range.page_number(page)];
  if (known == 0) {
    const Head touch{.kind = WireKind::touch_first, .address = id.index, .value = index_of(id.region)};
    known = static_cast<std::uint32_t>(ask(ProcessId{0}, touch).value) + 1;
  }
  return ProcessId{known - 1};
}

KnownRegion known_region(std::uintptr_t page) {
  const Range* range = find_range(page);
  if (range == nullptr) return {};
  const auto id_of = [&](std::size_t number) { return __atomic_load_n(&range->region_of[number], __ATOMIC_ACQUIRE); };
  const std::size_t asked = range->page_number(page);
  const std::uint32_t id = id_of(asked);
  if (id == no_region) return {};
  std::size_t first = asked;
  std::size_t end = asked + 1;
  const std::size_t last_end = (range->end - range->begin) / page_bytes;
  while (first > 0 && id_of(first - 1) == id) --first;
  while (end < last_end && id_of(end) == id) ++end;
  return {id, region(id), range->begin + first * page_bytes, end - first};
}

std::uint32_t generation() {
  return known_generation.load(std::memory_order_relaxed);
}

bool learn_generation(std::uint32_t other) {
  if (other <= generation()) return false;
  known_generation.store(other, std::memory_order_relaxed);
  if (!is_initial()) forget_learned();
  return true;
}

}  // namespace sdsm::dsm

namespace sdsm::program {

using namespace dsm;

std::uint32_t add_region(const RegionInfo& info, std::uint64_t bytes, std::uintptr_t caller, std::uint32_t number) {
  log_region({.bytes = bytes,
              .address = info.kind == trace::RegionKind::mapped ? program_image.file_address(info.begin) : 0,
              .caller = caller == 0 ? 0 : program_image.file_address(caller),
              .number = number,
              .kind = info.kind});
  RegionInfo placed = info;
  if (info.kind == trace::RegionKind::heap_block) placed.placement = heap_placement(self.placement, info.placement);
  return add(placed);
}

void set_region_pages(std::uint32_t id, std::uint64_t pages) {
  RegionInfo& info = region(id);
  const std::uint64_t before = info.pages;
  info.pages = pages;
  name_pages(info.begin + before * page_bytes, pages - before, id);
}

void retire_pages(std::uintptr_t begin, std::uint64_t pages) {
  known_generation.fetch_add(1, std::memory_order_relaxed);
  forget_pages(begin, pages);
}

int home_of_address(std::uintptr_t address) {
  Range* range = find_range(address);
  if (range == nullptr) return -1;
  std::uint32_t id = no_region;
  const RegionInfo* info = region_at(*range, page_down(address), id);
  if (info == nullptr) return -1;
  const PageId page{RegionId{id}, (address - info->begin) / page_bytes};
  return static_cast<int>(index_of(home_of_page(*range, page_down(address), *info, page)));
}

}  // namespace sdsm::program
