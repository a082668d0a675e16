/// The node's memory: one file that the node's processes share, in two views. One is where the program expects it, with
/// the protection that the protocol wants. The run-time may always read and write the other, as it serves requests
/// while the program's view is protected.
#pragma once

#include <cstddef>
#include <cstdint>

#include "native/dsm/wire/threads.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/raw_memory.hpp"

namespace sdsm::dsm {
using namespace program;

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::byte* view = nullptr;               ///< the run-time's view of `begin`
  std::byte* twins = nullptr;              ///< room for the twin of each page, in place
  std::uint32_t* region_of = nullptr;      ///< by page; 0: not known here
  std::uint32_t* first_toucher = nullptr;  ///< by page: its number + 1; 0: none, or not known here
  std::uint8_t* opened = nullptr;          ///< by page: what opened_pages.cpp notes
  std::uint16_t* parts = nullptr;          ///< by page: the same for pages of several parts
  std::uint64_t offset = 0;                ///< in the file
  bool is_heap = false;

  bool holds(std::uintptr_t address) const { return address - begin < end - begin; }
  std::size_t page_number(std::uintptr_t address) const { return (address - begin) / page_bytes; }
  std::byte* view_of(std::uintptr_t address) const { return view + (address - begin); }
  std::byte* twin_of(std::uintptr_t address) const { return twins + (address - begin); }
};

/// Of a range that begins as zeros, whatever was there.
constexpr std::uintptr_t nothing_kept = ~std::uintptr_t{0};

/// Makes [begin, begin + bytes) node memory, readable and writable, in place of what is mapped there; keeps its
/// contents unless nothing_kept is given: pages below `file_end` are as a file or the program left them, others are
/// anonymous memory. Null if there is no such address space. All processes add the same ranges in the same order.
Range* add_range(std::uintptr_t begin, std::size_t bytes, std::uintptr_t file_end = nothing_kept) REQUIRES(starting);

/// add_range() that ends the run if there is no address space for `what`.
void need_range(std::uintptr_t begin, std::size_t bytes, const char* what, std::uintptr_t file_end = nothing_kept)
    REQUIRES(starting);

/// The first part of [begin, end), which is in one range, whose pages take memory; empty if there is none. The others
/// are zeros, and to read them would give them memory.
AddressRange touched_part(std::uintptr_t begin, std::uintptr_t end);

/// Memory at `begin` that the node's processes share and the program does not see. Null if there is no such address
/// space.
std::byte* map_node_memory(std::uintptr_t begin, std::size_t bytes) REQUIRES(starting);

/// The range that holds `address`, or null.
const Range* find_range(std::uintptr_t address);
/// Precondition: a range holds `address`.
inline std::byte* view_of(std::uintptr_t address) {
  return find_range(address)->view_of(address);
}
inline std::byte* twin_of(std::uintptr_t address) {
  return find_range(address)->twin_of(address);
}

/// Protects all ranges except these two.
void protect_ranges(const AddressRange& open, const AddressRange& open_too);

}  // namespace sdsm::dsm
