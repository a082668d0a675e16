/// Has code variables of one or two bytes that it stores to by plain moves, which is what atomic stores compile to?
/// Then the changes of a word do not show whether it is one variable.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sdsm::program {

/// Whether the function stores one or two bytes at an address that is not its own stack's, or has code that is not
/// known.
bool stores_short_variables(const std::uint8_t* code, std::size_t bytes);

}  // namespace sdsm::program
