/// Finds a program's static arrays in the symbol tables of its files.
#pragma once

#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/program_image.hpp"

namespace sdsm::program {

/// The regions of an object's variables, in the order of their numbers: all its globals, and out of these the whole
/// pages of each array of at least a page, by ascending address. Only the first if the file has no symbol table.
GrowingArray<RegionInfo> regions_of_variables(const ObjectImage& object);

/// Whether the memory, which may be read, has a byte that is not 0.
bool holds_values(const void* begin, std::uint64_t pages);

}  // namespace sdsm::program
