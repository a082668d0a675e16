/// Loops of the program's that do nothing but wait for a store: they load by plain moves, and all else that a turn
/// changes is the same after each turn. Whoever comes to one has to see others' stores in their order.
#pragma once

#include <cstdint>

#include "native/program/raw_memory.hpp"

namespace sdsm::program {

/// Adds the addresses at which control comes to such a loop of a function's, and where the function looks at the same
/// variable shortly before.
void find_waits(const std::uint8_t* code, std::uint32_t bytes, GrowingArray<std::uintptr_t>& found);

}  // namespace sdsm::program
