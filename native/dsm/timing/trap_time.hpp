/// A trap's time before and after its handler, which cannot see it. It is part of a fault's time as the handler's own.
#pragma once

#include <cstdint>

#include "native/dsm/wire/threads.hpp"

namespace sdsm::dsm {

/// Measures the time, on pages of its own.
void measure_trap_time() REQUIRES(starting);
std::uint64_t trap_time_ns();

}  // namespace sdsm::dsm
