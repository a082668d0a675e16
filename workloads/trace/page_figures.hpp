/// Costs of each page for each process, in a run or a simulation, in one file format.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "models/ids.hpp"
#include "models/protocol/tables.hpp"

namespace sdsm::trace {

struct PageFigures {
  std::uint64_t read_faults = 0;   ///< the process's traps on reads that are faults of the protocol
  std::uint64_t write_faults = 0;  ///< its traps on writes
  std::uint64_t fetches = 0;       ///< fetches of the page by the process
  std::uint64_t twins = 0;         ///< the process's twins of a page of another node
  std::uint64_t diffs = 0;         ///< diffs to a home on another node
  std::uint64_t diff_bytes = 0;    ///< their payload

  PageFigures& operator+=(const PageFigures& other);
  bool operator==(const PageFigures&) const = default;
};

PageFigures figures_of(const FaultRow& row);
/// Returns the figures of one diff to another node.
constexpr PageFigures figures_of_diff(std::uint64_t bytes) {
  return {.diffs = 1, .diff_bytes = bytes};
}

/// Figures by page, then process. region_numbers.hpp says how regions are numbered.
using PageBook = std::map<std::pair<PageId, ProcessId>, PageFigures>;

/// The same in no order, for what is counted a million times.
struct HashOfPageOfProcess {
  std::size_t operator()(const std::pair<PageId, ProcessId>& key) const {
    const auto& [page, process] = key;
    // Multiplied by the golden ratio's bits, so that neighbouring pages are far apart.
    return ((page.index << 16) + index_of(process) + (std::uint64_t{index_of(page.region)} << 44)) *
           0x9e37'79b9'7f4a'7c15;
  }
};
using PageCounts = std::unordered_map<std::pair<PageId, ProcessId>, PageFigures, HashOfPageOfProcess>;

/// Names of regions by number; a region without an entry has its fixed name.
using RegionNames = std::map<std::uint32_t, std::string>;

/// Writes a CSV table (RFC 4180): a title, then a line per page and process, sorted by region, page and process.
std::string page_table_text(const PageBook& book, const RegionNames& names, const Layout& layout);

}  // namespace sdsm::trace
