#include "native/dsm/memory/larger_pages.hpp"

#include <algorithm>
#include <cstring>

#include "native/dsm/memory/region_books.hpp"

namespace sdsm::dsm {

WholePage page_at(const Range& range, std::uintptr_t part, std::uint32_t id) {
  if (shared_page_bytes() == page_bytes) return {part, 1};
  const std::uintptr_t slot = slot_of(part);
  // Blocks come and go, but share no slot; what is behind one belongs to nobody.
  if (range.is_heap) return {slot, all_parts()};
  std::uint32_t parts = 0;
  const std::uintptr_t end = std::min(slot + shared_page_bytes(), range.end);
  for (std::uintptr_t at = std::max(slot, range.begin); at < end; at += page_bytes) {
    if (region_number(range, at) == id) parts |= std::uint32_t{1} << (at - slot) / page_bytes;
  }
  if (parts == 0) return {};
  const auto first = static_cast<unsigned>(std::countr_zero(parts));
  return {slot + first * page_bytes, static_cast<Parts>(parts >> first)};
}

std::uint64_t page_index(const RegionInfo& region, std::uintptr_t address) {
  return (slot_of(address) - slot_of(region.begin)) / shared_page_bytes();
}

std::uint64_t page_count(const RegionInfo& region) {
  return (slot_up(region.begin + region.pages * page_bytes) - slot_of(region.begin)) / shared_page_bytes();
}

std::uintptr_t first_part_of(const RegionInfo& region, std::uint64_t index) {
  return std::max(region.begin, slot_of(region.begin) + index * shared_page_bytes());
}

const std::byte* slot_content(std::uintptr_t address, std::byte* room) {
  const Range& range = *find_range(address);
  const std::uintptr_t slot = slot_of(address);
  const std::uintptr_t begin = std::max(slot, range.begin);
  const std::uintptr_t end = std::min(slot + shared_page_bytes(), range.end);
  if (end - begin == shared_page_bytes()) return range.view_of(slot);
  std::memcpy(room + (begin - slot), range.view_of(begin), end - begin);
  return room;
}

void take_content(std::uintptr_t address, Parts parts, const std::byte* slot) {
  const Range& range = *find_range(address);
  for_each_piece_of(address, parts, [&](std::uintptr_t begin, std::size_t bytes) {
    std::memcpy(range.view_of(begin), slot + (begin - slot_of(address)), bytes);
  });
}

}  // namespace sdsm::dsm
