#include "native/tracer/execution/pages.hpp"

#include <sys/mman.h>

#include <cstring>
#include <iterator>

#include "native/guest/runtime/program_image.hpp"
#include "native/tracer/execution/threads.hpp"
#include "native/tracer/execution/touch.hpp"
#include "native/tracer/execution/words.hpp"
#include "native/tracer/record/ending.hpp"
#include "native/tracer/record/objects.hpp"
#include "native/tracer/record/options.hpp"
#include "native/tracer/record/recorder.hpp"

namespace sdsm::tracer {
using namespace program;
namespace {

constexpr std::size_t most_ranges = 1024;  // each library of the program has one
constexpr std::uint32_t most_regions = std::uint32_t{1} << 20;

struct Memory {
  Range ranges[most_ranges];
  std::size_t range_count = 0;
  RegionInfo* regions = nullptr;  ///< by number, from 1
  std::uint32_t regions_used = 1;
};
constinit Memory memory GUARDED_BY(turn);

}  // namespace

void add_range(std::uintptr_t begin, std::uintptr_t end, bool is_of_threads) {
  if (memory.range_count == most_ranges)
    end_run({"the program has more libraries than the tracer can trace. Link some of them statically"});
  const std::size_t pages = (end - begin) / page_bytes;
  memory.ranges[memory.range_count] = {begin, end, reserve_array<PageInfo>(pages), is_of_threads};
  ++memory.range_count;
}

Range* find_range(std::uintptr_t address) {
  for (std::size_t i = 0; i < memory.range_count; ++i) {
    if (memory.ranges[i].holds(address)) return &memory.ranges[i];
  }
  return nullptr;
}

std::uint32_t region_count() {
  return memory.regions_used;
}

RegionInfo& region_info(std::uint32_t region) {
  return memory.regions[region];
}

void protect(std::uintptr_t begin, std::uintptr_t end, int protection) {
  if (!set_protection(begin, end, protection)) end_without_mappings();
}

void end_without_mappings() {
  end_run({"the kernel has no mapping left for traced memory. Set vm.max_map_count to 65530 or more."});
}

void protect_all() {
  for (std::size_t i = 0; i < memory.range_count; ++i) {
    if (!memory.ranges[i].is_of_threads) protect(memory.ranges[i].begin, memory.ranges[i].end, PROT_NONE);
  }
}

void unprotect_all() {
  for (std::size_t i = 0; i < memory.range_count; ++i) {
    if (memory.ranges[i].is_of_threads) continue;
    // One mapping at most is left of each range: the kernel cannot refuse.
    protect(memory.ranges[i].begin, memory.ranges[i].end, PROT_READ | PROT_WRITE);
  }
}

}  // namespace sdsm::tracer

namespace sdsm::program {

using namespace tracer;

std::uint32_t add_region(const RegionInfo& region, std::uint64_t bytes, std::uintptr_t caller, std::uint32_t number) {
  enter();
  if (memory.regions == nullptr) memory.regions = reserve_array<RegionInfo>(most_regions + 1);
  if (memory.regions_used > most_regions) {
    end_run(
        {"the program allocates more than 1048576 blocks of a page or more, and a trace can name no more. Trace "
         "fewer iterations."});
  }
  const std::uint32_t id = memory.regions_used++;
  memory.regions[id] = region;
  Range* range = find_range(region.begin);
  for (std::uint64_t page = 0; page < region.pages; ++page) {
    range->page_of(region.begin + page * page_bytes).region = id;
  }
  RegionRecord record;
  record.region = region;
  record.id = id - 1;
  record.lead_pages = static_cast<std::uint32_t>(region.begin % region_alignment / page_bytes);
  record.number = number;
  record.bytes = bytes;
  record.address = is_program_variable(region.kind) ? program_image.variable_address(region.begin) : 0;
  record.caller = caller == 0 ? 0 : program_image.file_address(caller);
  if (caller != 0 && options.has_sites) {
    const std::size_t calls = look_up_callers(record.calls, std::size(record.calls));
    // A call is the last byte before where it returns to.
    for (std::size_t i = 0; i < calls; ++i) --record.calls[i];
    tell_objects_of(record.calls, calls);
  }
  std::strncpy(record.library, program_image.library_of_variable(region.begin), sizeof record.library - 1);
  recorder::put(RecordKind::region, &record, sizeof record);
  watch_region(id);
  return id;
}

void set_region_pages(std::uint32_t region, std::uint64_t pages) {
  enter();
  RegionInfo& info = memory.regions[region];
  Range* range = find_range(info.begin);
  for (std::uint64_t page = info.pages; page < pages; ++page) {
    range->page_of(info.begin + page * page_bytes).region = region;
  }
  info.pages = pages;
  watch_region(region);
}

}  // namespace sdsm::program
