/// Traced memory: ranges of pages, and for each page its region and the running thread's accesses to it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/raw_memory.hpp"
#include "native/tracer/record/turn.hpp"

namespace sdsm::tracer {
using namespace program;

/// The running thread's accesses to a page since its pages were last protected.
enum class PageState : std::uint8_t {
  untouched,  ///< PROT_NONE
  read,       ///< PROT_READ
  written,    ///< PROT_READ|PROT_WRITE; has a twin
};

struct PageInfo {
  std::byte* twin = nullptr;  ///< the page's bytes before the first write
  std::uint32_t region = 0;
  PageState state{};
  bool is_watched = false;        ///< its words are recorded (words.hpp)
  std::uint8_t faults_again = 0;  ///< number of faults in a row that the page's state does not explain
};

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  PageInfo* pages = nullptr;
  bool is_of_threads = false;  ///< each thread's part is shut and opened with the thread (stacks.hpp)

  bool holds(std::uintptr_t address) const { return address - begin < end - begin; }
  PageInfo& page_of(std::uintptr_t address) const { return pages[(address - begin) / page_bytes]; }
};

/// Makes [begin, end) a traced range.
void add_range(std::uintptr_t begin, std::uintptr_t end, bool is_of_threads = false) REQUIRES(turn, starting);

/// The range that holds `address`, or null.
Range* find_range(std::uintptr_t address) REQUIRES(turn);

/// Number that the next region gets.
std::uint32_t region_count() REQUIRES(turn);
RegionInfo& region_info(std::uint32_t region) REQUIRES(turn);

inline std::uint64_t page_index(std::uint32_t region, std::uintptr_t address) REQUIRES(turn) {
  return (address - region_info(region).begin) / page_bytes;
}

/// Changes the protection of whole pages of traced memory. The run ends if the kernel refuses.
void protect(std::uintptr_t begin, std::uintptr_t end, int protection);
[[noreturn]] void end_without_mappings();

/// Protects every page of every range (all untouched), or opens them all; except those of threads.
void protect_all() REQUIRES(turn);
void unprotect_all() REQUIRES(turn);

}  // namespace sdsm::tracer
