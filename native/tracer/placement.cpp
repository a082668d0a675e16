/// The placement calls of workloads/include/sdsm/placement.h.
#include "models/placement.hpp"

#include <cstddef>
#include <cstdint>

#include "native/gomp/entry.hpp"
#include "native/tracer/heap.hpp"
#include "native/tracer/options.hpp"
#include "native/tracer/pages.hpp"
#include "native/tracer/program_image.hpp"
#include "native/tracer/start.hpp"
#include "native/tracer/touch.hpp"

using namespace sdsm;
using namespace sdsm::tracer;

namespace {

/// enum sdsm_distribution of the header. False if it is none.
bool read_distribution(int distribution, Placement& placement) {
  switch (distribution) {
    case 0: placement = Placement::round_robin; return true;
    case 1: placement = Placement::block; return true;
    default: return false;
  }
}

}  // namespace

SDSM_ENTRY void* sdsm_rt_galloc(std::size_t bytes, int distribution) {
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  Placement placement{};
  if (!read_distribution(distribution, placement)) return nullptr;
  return heap::allocate({.bytes = bytes, .placement = placement, .caller = caller, .in_own_pages = true});
}

SDSM_ENTRY void sdsm_rt_gfree(void* block) {
  if (block != nullptr) heap::free(block);
}

SDSM_ENTRY int sdsm_rt_map(void* address, std::size_t bytes, int distribution) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  Placement placement{};
  if (!read_distribution(distribution, placement) || begin % page_bytes != 0 || bytes == 0) return -1;
  const AddressRange variables = program_image.variables;
  if (!variables.holds(begin) || bytes > variables.end - begin) return -1;
  RegionInfo region;
  region.begin = begin;
  region.pages = (bytes + page_bytes - 1) / page_bytes;
  region.kind = trace::RegionKind::mapped;
  region.placement = placement;
  retire_pages(*running, begin, region.pages);
  add_region(region, bytes);
  return 0;
}

SDSM_ENTRY int sdsm_rt_home(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const Range* range = find_range(at);
  if (range == nullptr) return -1;
  const std::uint32_t number = range->page_of(at).region;
  if (number == no_region) return -1;
  const RegionInfo& region = region_info(number);
  if (region.kind == trace::RegionKind::thread_stack) return static_cast<int>(region.owner);
  const ProcessId home = home_of(region.placement, page_index(number, at), region.pages, options.threads);
  return static_cast<int>(index_of(home));
}
