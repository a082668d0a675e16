#include "native/dsm/memory/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "native/dsm/wire/identity.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

constexpr std::size_t most_ranges = 1024;  // each library of the program has one
struct Map {
  Range ranges[most_ranges];
  std::size_t count = 0;
  std::uint64_t file_bytes = 0;
};
constinit Map map_at_start GUARDED_BY(starting);
constexpr const Map& map = map_at_start;

constexpr int access = PROT_READ | PROT_WRITE;
constexpr int sharing = MAP_SHARED | MAP_NORESERVE;

/// Size of the file, which is sparse. One size for all: processes open it at the same time, and none may shrink it.
constexpr std::uint64_t most_file_bytes = std::uint64_t{16} << 40;

bool grow_file(std::uint64_t bytes) REQUIRES(starting) {
  map_at_start.file_bytes += bytes;
  return map.file_bytes <= most_file_bytes && ftruncate(self.node_memory, static_cast<off_t>(most_file_bytes)) == 0;
}

}  // namespace

std::byte* map_node_memory(std::uintptr_t begin, std::size_t bytes) {
  const auto offset = static_cast<off_t>(map.file_bytes);
  if (!grow_file(bytes)) return nullptr;
  auto* wanted = reinterpret_cast<void*>(begin);
  void* memory = mmap(wanted, bytes, access, sharing | MAP_FIXED_NOREPLACE, self.node_memory, offset);
  return memory == wanted ? static_cast<std::byte*>(memory) : nullptr;
}

Range* add_range(std::uintptr_t begin, std::size_t bytes, bool keep_contents) {
  if (map.count == most_ranges)
    end_run({"the program has more libraries than the run-time can share. Link some of them statically"});
  Range range;
  range.begin = begin;
  range.end = begin + bytes;
  range.offset = map.file_bytes;
  // Room for the pages, and behind it for their twins. The file is sparse: only what is used takes memory.
  if (!grow_file(2 * bytes)) return nullptr;
  const auto offset = static_cast<off_t>(range.offset);
  void* view = mmap(nullptr, 2 * bytes, access, sharing, self.node_memory, offset);
  if (view == MAP_FAILED) return nullptr;
  range.view = static_cast<std::byte*>(view);
  range.twins = range.view + bytes;
  if (keep_contents) std::memcpy(range.view, reinterpret_cast<const void*>(begin), bytes);
  auto* wanted = reinterpret_cast<void*>(begin);
  if (mmap(wanted, bytes, access, sharing | MAP_FIXED, self.node_memory, offset) != wanted) {
    munmap(view, 2 * bytes);
    return nullptr;
  }
  range.region_of = reserve_array<std::uint32_t>(bytes / page_bytes);
  range.first_toucher = reserve_array<std::uint32_t>(bytes / page_bytes);
  range.opened = reserve_array<std::uint8_t>(bytes / page_bytes);
  range.parts = reserve_array<std::uint16_t>(bytes / page_bytes);
  map_at_start.ranges[map.count] = range;
  return &map_at_start.ranges[map_at_start.count++];
}

void need_range(std::uintptr_t begin, std::size_t bytes, const char* what, bool keep_contents) {
  if (add_range(begin, bytes, keep_contents) != nullptr) return;
  end_run({"there is no address space for ", what, ". Is `ulimit -v` set?"});
}

const Range* find_range(std::uintptr_t address) {
  for (std::size_t i = 0; i < map.count; ++i) {
    if (map.ranges[i].holds(address)) return &map.ranges[i];
  }
  return nullptr;
}

void protect_ranges(const AddressRange& open, const AddressRange& open_too) {
  for (std::size_t i = 0; i < map.count; ++i) {
    std::uintptr_t at = map.ranges[i].begin;
    for (const AddressRange& kept : {open, open_too}) {
      if (!map.ranges[i].holds(kept.begin)) continue;
      if (at < kept.begin) set_protection(at, kept.begin, PROT_NONE);
      at = kept.end;
    }
    if (at < map.ranges[i].end) set_protection(at, map.ranges[i].end, PROT_NONE);
  }
}

}  // namespace sdsm::dsm
