/// Whether code stores variables of one or two bytes by plain moves, to which atomic stores compile. If so, the changes
/// of a word do not show whether it is one variable.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sdsm::program {

/// Whether the function stores one or two bytes at an address that is not its own stack's, or has unknown code.
bool stores_short_variables(const std::uint8_t* code, std::size_t bytes);

}  // namespace sdsm::program
