#include "native/dsm/memory/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

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

/// Copies anonymous memory to memory of zeros. Leaves out pages that nobody has touched, of which a program's large
/// arrays are full at its start: to read and write each takes longer than all else that starts a process.
void copy_touched(std::byte* to, const std::byte* from, std::size_t bytes) {
  const int page_map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  std::uint64_t entries[512];
  for (std::size_t at = 0; at < bytes;) {
    const std::size_t pages = std::min((bytes - at) / page_bytes, std::size(entries));
    const std::size_t first = reinterpret_cast<std::uintptr_t>(from + at) / page_bytes;
    const std::size_t known = pages * sizeof entries[0];
    if (pread(page_map, entries, known, static_cast<off_t>(first * sizeof entries[0])) != static_cast<ssize_t>(known)) {
      std::memcpy(to + at, from + at, bytes - at);  // there is no /proc
      break;
    }
    for (std::size_t i = 0; i < pages; ++i, at += page_bytes) {
      if (entries[i] != 0) std::memcpy(to + at, from + at, page_bytes);  // it is in memory or swapped out
    }
  }
  if (page_map >= 0) close(page_map);
}

}  // namespace

std::byte* map_node_memory(std::uintptr_t begin, std::size_t bytes) {
  const auto offset = static_cast<off_t>(map.file_bytes);
  if (!grow_file(bytes)) return nullptr;
  auto* wanted = reinterpret_cast<void*>(begin);
  void* memory = mmap(wanted, bytes, access, sharing | MAP_FIXED_NOREPLACE, self.node_memory, offset);
  return memory == wanted ? static_cast<std::byte*>(memory) : nullptr;
}

Range* add_range(std::uintptr_t begin, std::size_t bytes, std::uintptr_t file_end) {
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
  if (file_end != nothing_kept) {
    const auto* from = reinterpret_cast<const std::byte*>(begin);
    const std::size_t from_file = file_end > begin ? std::min(file_end - begin, bytes) : 0;
    std::memcpy(range.view, from, from_file);
    copy_touched(range.view + from_file, from + from_file, bytes - from_file);
  }
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

void need_range(std::uintptr_t begin, std::size_t bytes, const char* what, std::uintptr_t file_end) {
  if (add_range(begin, bytes, file_end) != nullptr) return;
  end_run({"there is no address space for ", what, ". Is `ulimit -v` set?"});
}

const Range* find_range(std::uintptr_t address) {
  for (std::size_t i = 0; i < map.count; ++i) {
    if (map.ranges[i].holds(address)) return &map.ranges[i];
  }
  return nullptr;
}

AddressRange touched_part(std::uintptr_t begin, std::uintptr_t end) {
  const Range* range = find_range(begin);
  const std::uint64_t origin = range->offset - range->begin;  // of addresses in the file
  const off_t data = lseek(self.node_memory, static_cast<off_t>(origin + begin), SEEK_DATA);
  if (data < 0) return errno == ENXIO ? AddressRange{end, end} : AddressRange{begin, end};
  const off_t hole = lseek(self.node_memory, data, SEEK_HOLE);
  const std::uintptr_t from = std::min(static_cast<std::uint64_t>(data) - origin, end);
  return {from, hole < 0 ? end : std::min(static_cast<std::uint64_t>(hole) - origin, end)};
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
