#include "native/launch/region_name.hpp"

#include <fmt/format.h>

namespace sdsm::program_start {
namespace {

std::string format_bytes(std::uint64_t bytes) {
  constexpr double kib = 1024;
  const auto value = static_cast<double>(bytes);
  if (value < kib) return fmt::format("{} B", bytes);
  if (value < kib * kib) return fmt::format("{:.1f} KiB", value / kib);
  if (value < kib * kib * kib) return fmt::format("{:.1f} MiB", value / kib / kib);
  return fmt::format("{:.1f} GiB", value / kib / kib / kib);
}

}  // namespace

std::optional<std::string> RegionNamer::name_of(const RegionFacts& region) const {
  switch (region.kind) {
    case RegionKind::globals: return region.library.empty() ? "globals" : "globals of " + region.library;
    case RegionKind::mapped:
      if (!region.library.empty()) return fmt::format("array at {}+{:#x}", region.library, region.address);
      return file_.variable_at(region.address).value_or(fmt::format("array at {}+{:#x}", program_, region.address));
    case RegionKind::heap_block:
      if (region.caller == 0) return fmt::format("heap #{} ({})", region.number, format_bytes(region.bytes));
      return fmt::format("heap #{} ({}, {}+{:#x})", region.number, format_bytes(region.bytes), program_, region.caller);
    case RegionKind::small_heap: return "small heap blocks";
    case RegionKind::initial_stack: return "initial stack";
    case RegionKind::thread_stack:
      return fmt::format("{} of thread {}", region.number == 0 ? "stack" : "thread-local variables", region.owner);
  }
  return std::nullopt;
}

}  // namespace sdsm::program_start
