#pragma once

#include <cstdint>

#include "native/tracer/threads.hpp"

namespace sdsm::tracer {

/// A lock of the program or of a construct. It gets its number at creation, or at its first use.
struct Lock {
  std::uint64_t key = 0;  ///< class and address; 0: the place in the table is free
  std::uint32_t id = 0;   ///< the trace's LockId
  trace::LockClass lock_class{};
  VirtualThread* holder GUARDED_BY(turn) = nullptr;
  std::uint32_t depth GUARDED_BY(turn) = 0;  ///< times that the holder of a nested lock has it
};

/// First iteration of the chunk whose ordered regions may run, of loop `construct`.
std::uint64_t& ordered_turn(std::uint64_t construct) REQUIRES(turn);

}  // namespace sdsm::tracer
