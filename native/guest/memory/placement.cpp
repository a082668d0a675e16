/// The placement calls of workloads/include/sdsm/placement.h.
#include "models/program/placement.hpp"

#include <cstddef>
#include <cstdint>

#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/raw_memory.hpp"

using namespace sdsm;
using namespace sdsm::program;

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
  const std::uintptr_t caller = SDSM_CALLER;
  Placement placement{};
  if (!read_distribution(distribution, placement)) return nullptr;
  return shared_heap::allocate({.bytes = bytes, .placement = placement, .caller = caller, .in_own_pages = true});
}

SDSM_ENTRY void sdsm_rt_gfree(void* block) {
  if (block != nullptr) shared_heap::free(block);
}

SDSM_ENTRY int sdsm_rt_map(void* address, std::size_t bytes, int distribution) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  Placement placement{};
  if (!read_distribution(distribution, placement) || begin % page_bytes != 0 || bytes == 0) return -1;
  return place_globals(begin, bytes, placement) ? 0 : -1;
}

SDSM_ENTRY_AS(int, sdsm_rt_home, (const void* address), home_of_address(reinterpret_cast<std::uintptr_t>(address)))
