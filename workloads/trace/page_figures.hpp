/// What each page cost each process, in a run or in a simulation: one file format for both.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "models/ids.hpp"
#include "models/page_state.hpp"

namespace sdsm::trace {

struct PageFigures {
  std::uint64_t read_faults = 0;   ///< traps of the process that the protocol calls faults, whatever their kind
  std::uint64_t write_faults = 0;  ///< the same, on a write
  std::uint64_t fetches = 0;       ///< times that the process brought the page to its node
  std::uint64_t twins = 0;         ///< twins that it made of a page that is at home on another node
  std::uint64_t diffs = 0;         ///< diffs that it sent to a home on another node
  std::uint64_t diff_bytes = 0;    ///< payload of these

  PageFigures& operator+=(const PageFigures& other);
  bool operator==(const PageFigures&) const = default;
};

/// Of one fault.
PageFigures figures_of(FaultKind kind);
/// Of one diff to another node.
constexpr PageFigures figures_of_diff(std::uint64_t bytes) {
  return {.diffs = 1, .diff_bytes = bytes};
}

/// By page, then process. Regions are numbered as region_numbers.hpp says.
using PageBook = std::map<std::pair<PageId, ProcessId>, PageFigures>;

/// Names of regions, by number; one that is not there has its fixed name.
using RegionNames = std::map<std::uint32_t, std::string>;

/// A table as RFC 4180 has it, with titles: one line for each page and process that met there, sorted by region, page
/// and process.
std::string page_table_text(const PageBook& book, const RegionNames& names, const Layout& layout);

}  // namespace sdsm::trace
