/// The memory whose use is traced: ranges of pages, what the running thread has done to each page, and the region that
/// each belongs to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/placement.hpp"
#include "native/tracer/raw_memory.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::tracer {

/// What the running thread has done to a page since its pages were last protected.
enum class PageState : std::uint8_t {
  untouched,  ///< PROT_NONE
  read,       ///< PROT_READ
  written,    ///< PROT_READ|PROT_WRITE; has a twin
};

struct PageInfo {
  std::byte* twin = nullptr;  ///< the page's bytes before the first write
  std::uint32_t region = 0;
  PageState state{};
  bool was_used = false;          ///< heap: not known to be zero
  std::uint8_t faults_again = 0;  ///< faults in a row that the page's state does not explain
};

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  PageInfo* pages = nullptr;

  bool holds(std::uintptr_t address) const { return address - begin < end - begin; }
  PageInfo& page_of(std::uintptr_t address) const { return pages[(address - begin) / page_bytes]; }
};

/// A region as the trace knows it; its first page is at `begin`.
struct RegionInfo {
  std::uintptr_t begin = 0;
  std::uint64_t pages = 0;
  trace::RegionKind kind{};
  Placement placement{};
  std::uint32_t owner = 0;
};

inline constexpr std::uint32_t no_region = 0;  ///< region numbers inside the run-time start at 1

/// Makes [begin, end) a traced range. Called at start only.
Range& add_range(std::uintptr_t begin, std::uintptr_t end);

/// The range that holds `address`, or null.
Range* find_range(std::uintptr_t address);

/// Names [begin, begin + pages) as a region, tells the driver, and returns its number.
std::uint32_t add_region(const RegionInfo& region, std::uint64_t bytes = 0, std::uintptr_t caller = 0,
                         std::uint32_t number = 0);
/// Number that the next region gets.
std::uint32_t region_count();
RegionInfo& region_info(std::uint32_t region);

/// A region has grown at its end.
void set_region_pages(std::uint32_t region, std::uint64_t pages);

inline std::uint64_t page_index(std::uint32_t region, std::uintptr_t address) {
  return (address - region_info(region).begin) / page_bytes;
}

/// Gives every page of every range the protection that tracking needs (all untouched), or none at all.
void protect_all();
void unprotect_all();

/// Changes the protection of whole pages; ends the run if the kernel refuses for lack of mappings.
/// False if there are too many mappings (vm.max_map_count).
bool set_protection(std::uintptr_t begin, std::uintptr_t end, int protection);

}  // namespace sdsm::tracer
