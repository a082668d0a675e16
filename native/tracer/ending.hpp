/// The ways in which the tracer ends the traced program.
#pragma once

#include "native/program/ending.hpp"

namespace sdsm::tracer {
using namespace program;

/// This pass does otherwise than the first: the driver compares them and says where. `thread` noticed it.
[[noreturn]] void end_diverged(std::uint32_t thread);

}  // namespace sdsm::tracer
