/// Finds the file that an instruction is in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "native/tracer/record/turn.hpp"

namespace sdsm::tracer {

/// Sends an ObjectRecord for each file in memory that one of the addresses is in and that was not sent yet. Not in a
/// signal handler.
void tell_objects_of(const std::uint64_t* addresses, std::size_t count) REQUIRES(turn);

}  // namespace sdsm::tracer
