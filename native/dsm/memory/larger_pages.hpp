/// Pages of 4096 times a power of two bytes (models/page_size.hpp). A page lies in a slot: memory that is aligned to
/// the size of a page, and as long. A page is the part of a slot that one region has, as arrays that are placed lie
/// amid the globals. It consists of parts of 4096 bytes, which the machine protects. Its address is its first part's.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "native/dsm/memory/memory.hpp"
#include "native/dsm/wire/identity.hpp"
#include "native/guest/memory/shared_memory.hpp"

namespace sdsm::dsm {

/// Bytes of a page.
inline std::size_t shared_page_bytes() {
  return self.page_bytes;
}
inline std::uintptr_t slot_of(std::uintptr_t address) {
  return address & ~(shared_page_bytes() - 1);
}
inline std::uintptr_t slot_up(std::uintptr_t address) {
  return slot_of(address + shared_page_bytes() - 1);
}

/// Bit i: the i-th part from a page's address on belongs to it.
using Parts = std::uint16_t;
inline Parts all_parts() {
  return static_cast<Parts>((std::uint32_t{1} << shared_page_bytes() / page_bytes) - 1);
}

struct WholePage {
  std::uintptr_t address = 0;
  Parts parts = 0;
};

/// The page of region `id` in the slot of `part`, as far as the process knows which parts are the region's.
WholePage page_at(const Range& range, std::uintptr_t part, std::uint32_t id);

/// The page's number in its region, and how many the region has.
std::uint64_t page_index(const RegionInfo& region, std::uintptr_t address);
std::uint64_t page_count(const RegionInfo& region);
/// Where its page begins, if no other region has a part of it.
std::uintptr_t first_part_of(const RegionInfo& region, std::uint64_t index);

/// Calls `use` with the begin and the bytes of each piece of memory that a page consists of.
template <typename Use>
void for_each_piece_of(std::uintptr_t address, Parts parts, Use use) {
  for (std::uint32_t left = parts; left != 0;) {
    const auto gap = static_cast<unsigned>(std::countr_zero(left));
    const auto length = static_cast<unsigned>(std::countr_one(left >> gap));
    use(address + gap * page_bytes, length * page_bytes);
    left &= ~(((std::uint32_t{1} << length) - 1) << gap);
  }
}

/// The bytes of the slot that holds `address`, as a message carries them; `room` holds them where the node's memory
/// ends amid the slot.
const std::byte* slot_content(std::uintptr_t address, std::byte* room);
/// Puts those of the slot's bytes that are the page's into the node's memory.
void take_content(std::uintptr_t address, Parts parts, const std::byte* slot);

}  // namespace sdsm::dsm
