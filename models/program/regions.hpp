/// Regions of a program's memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "models/ids.hpp"
#include "models/program/placement.hpp"

namespace sdsm {

enum class RegionKind : std::uint8_t { globals, mapped, heap_block, small_heap, initial_stack, thread_stack };

constexpr std::string_view name_of(RegionKind kind) {
  constexpr std::array<std::string_view, 6> names{"globals",    "mapped",        "heap_block",
                                                  "small_heap", "initial_stack", "thread_stack"};
  return name_in(names, kind);
}

/// Whether a fetch brings further pages of the region (models/prefetch.hpp): for arrays, whose size is the same in a
/// trace and in a run.
constexpr bool has_prefetch(RegionKind kind) {
  return kind == RegionKind::heap_block || kind == RegionKind::mapped;
}

constexpr bool is_program_variable(RegionKind kind) {
  return kind == RegionKind::globals || kind == RegionKind::mapped;
}

/// Whether the home process has the pages open for good, so that its writes are free and not traced.
constexpr bool is_open_at_home(RegionKind kind) {
  return kind == RegionKind::initial_stack || kind == RegionKind::thread_stack;
}

/// A piece of memory that is one thing to the program.
struct MemoryRegion {
  RegionKind kind{};
  Placement placement{};    ///< that the program asked for, or the default of the region's kind
  std::uint32_t owner = 0;  ///< thread_stack: the thread, whose accesses never fault and are not traced; else 0
  std::uint64_t pages = 0;

  bool operator==(const MemoryRegion&) const = default;
};

/// Whether `--placement` decides the homes of a region's pages: for heap blocks, and for static arrays that the program
/// does not place itself.
constexpr bool is_placed_by_option(const MemoryRegion& region) {
  return region.kind == RegionKind::heap_block ||
         (region.kind == RegionKind::mapped && region.placement == Placement::initial);
}

/// Returns the placement of a region's pages under `--placement`. Process 0 has already touched regions that hold
/// values before main begins.
constexpr Placement placement_of(HeapPlacement wanted, const MemoryRegion& region, bool is_filled) {
  if (!is_placed_by_option(region)) return region.placement;
  const Placement placement = heap_placement(wanted, region.placement);
  return is_filled && placement == Placement::first_touch ? Placement::initial : placement;
}

/// Homes of a region's `pages` pages, placed so. A thread's own process uses its stack without faults
/// (docs/native-dsm.md).
constexpr RegionHomes homes_of(const MemoryRegion& region, Placement placement, std::uint64_t pages) {
  if (region.kind == RegionKind::thread_stack) return {Placement::initial, pages, ProcessId{region.owner}};
  return {placement, pages, std::nullopt};
}

// Numbers of regions in a running program, equal in all processes. Region 0 does not exist.
inline constexpr std::uint32_t globals_region = 1;
inline constexpr std::uint32_t administrative_region = 2;
constexpr std::uint32_t stack_region(std::uint32_t process) {
  return 3 + 2 * process;
}
/// The region of the process's thread-local variables: in a trace the thread's second `thread_stack`.
constexpr std::uint32_t control_region(std::uint32_t process) {
  return 4 + 2 * process;
}
/// Number of the first region that the program creates; others follow in order of creation.
constexpr std::uint32_t first_made_region(std::uint32_t processes) {
  return stack_region(processes);
}

}  // namespace sdsm
