/// Finds re-checks: code that loads a variable, then others, and the first one again, to see whether it has changed. So
/// does a reader of a sequence lock, which may wait for nobody. Only other threads can have changed it: code that
/// stores there itself, or calls a function in between, is no re-check. Compilers load twice only from volatile or
/// atomic variables.
#pragma once

#include <span>

#include "native/guest/code/instruction_effects.hpp"

namespace sdsm::program {

/// Adds the first loads of the re-checks of the function `code`.
void find_re_checks(const std::uint8_t* code, std::span<const Step> steps, const Pauses& pauses,
                    GrowingArray<Wait>& found);

}  // namespace sdsm::program
