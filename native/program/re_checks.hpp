/// Code that looks at a variable, then at others, and at the first one again, to see whether it is as it was: a reader
/// of a sequence lock, which may wait for nobody. Only others can have changed it: where the code itself stores there,
/// or calls a function in between, it is no such look. No compiler looks twice but for a volatile or an atomic
/// variable.
#pragma once

#include "native/program/waiting_code.hpp"

namespace sdsm::program {

/// Adds the first looks of a function.
void find_re_checks(const std::uint8_t* code, std::uint32_t bytes, const Pauses& pauses, GrowingArray<Wait>& found);

}  // namespace sdsm::program
