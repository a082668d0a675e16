/// Which process is a page's home.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "models/ids.hpp"

namespace sdsm {

enum class Placement : std::uint8_t {
  round_robin,  ///< page i of a region: process i mod P (Omni's malloc on SCASH; restarts with each region)
  block,        ///< page i of N: process floor(i P / N) (ompsm_galloc block-wise, `omni mapping a[block][*]`)
  initial,      ///< every page: process 0 (globals and the initial thread's stack, unless mapped)
  first_touch,  ///< the process that touches the page first (first_touch.hpp keeps who that was)
};

constexpr std::string_view name_of(Placement placement) {
  return name_in(std::array<std::string_view, 4>{"round_robin", "block", "initial", "first_touch"}, placement);
}

/// Where a run places all heap blocks of a page or more: as the program asked, or by one rule whatever it asked.
enum class HeapPlacement : std::uint32_t { as_asked, round_robin, block, first_touch };
inline constexpr std::array heap_placements{HeapPlacement::as_asked, HeapPlacement::round_robin, HeapPlacement::block,
                                            HeapPlacement::first_touch};

constexpr std::string_view name_of(HeapPlacement placement) {
  return name_in(std::array<std::string_view, 4>{"as-asked", "round-robin", "block", "first-touch"}, placement);
}

constexpr Placement heap_placement(HeapPlacement wanted, Placement asked) {
  switch (wanted) {
    case HeapPlacement::as_asked: break;
    case HeapPlacement::round_robin: return Placement::round_robin;
    case HeapPlacement::block: return Placement::block;
    case HeapPlacement::first_touch: return Placement::first_touch;
  }
  return asked;
}

/// The placement with this name ("first-touch"), if there is one.
constexpr std::optional<HeapPlacement> heap_placement_named(std::string_view name) {
  for (const HeapPlacement placement : heap_placements) {
    if (name_of(placement) == name) return placement;
  }
  return std::nullopt;
}

/// Home of page `index` of a region of `pages` pages over `processes` processes.
/// Preconditions: index < pages, processes > 0, placement is not first_touch.
constexpr ProcessId home_of(Placement placement, std::uint64_t index, std::uint64_t pages, std::uint32_t processes) {
  switch (placement) {
    case Placement::round_robin: return ProcessId{static_cast<std::uint32_t>(index % processes)};
    case Placement::block: return ProcessId{static_cast<std::uint32_t>(index * processes / pages)};
    case Placement::initial:
    case Placement::first_touch: break;
  }
  return ProcessId{0};
}

/// One past the last page after `index` that has the same home as `index`.
constexpr std::uint64_t end_of_home(Placement placement, std::uint64_t index, std::uint64_t pages,
                                    std::uint32_t processes) {
  switch (placement) {
    case Placement::round_robin: return processes == 1 ? pages : index + 1;
    case Placement::block: {
      const std::uint64_t home = index * processes / pages;
      return ((home + 1) * pages + processes - 1) / processes;  // the first i with i P / N >= home + 1
    }
    case Placement::initial:
    case Placement::first_touch: break;
  }
  return pages;
}

/// Homes of a region's pages.
struct RegionHomes {
  Placement placement = Placement::initial;
  std::uint64_t pages = 0;
  std::optional<ProcessId> owner;  ///< the home of all pages, whatever the placement says

  constexpr ProcessId home(std::uint64_t index, std::uint32_t processes) const {
    return owner ? *owner : home_of(placement, index, pages, processes);
  }
  constexpr std::uint64_t end_of_home(std::uint64_t index, std::uint32_t processes) const {
    return owner ? pages : sdsm::end_of_home(placement, index, pages, processes);
  }
};

}  // namespace sdsm
