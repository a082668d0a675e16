/// Which process is a page's home. The rules are those of the specification's "Placement".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/ids.hpp"

namespace sdsm {

enum class Placement : std::uint8_t {
  round_robin,  ///< page i of a region: process i mod P (Omni's malloc on SCASH; restarts with each region)
  block,        ///< page i of N: process floor(i P / N) (ompsm_galloc block-wise, `omni mapping a[block][*]`)
  initial,      ///< every page: process 0 (globals and the initial thread's stack, unless mapped)
};

constexpr std::string_view name_of(Placement placement) {
  switch (placement) {
    case Placement::round_robin: return "round_robin";
    case Placement::block: return "block";
    case Placement::initial: return "initial";
  }
  return "?";
}

/// Home of page `index` of a region of `pages` pages over `processes` processes.
/// Precondition: index < pages, processes > 0.
constexpr ProcessId home_of(Placement placement, std::uint64_t index, std::uint64_t pages, std::uint32_t processes) {
  switch (placement) {
    case Placement::round_robin: return ProcessId{static_cast<std::uint32_t>(index % processes)};
    case Placement::block: return ProcessId{static_cast<std::uint32_t>(index * processes / pages)};
    case Placement::initial: break;
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
    case Placement::initial: break;
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

/// A thread's own stack: its home is that thread's process, which uses it freely (spec, "What is shared").
constexpr RegionHomes homes_of_stack(ProcessId thread, std::uint64_t pages) {
  return {Placement::initial, pages, thread};
}

}  // namespace sdsm
