/// Loops and scopes with newer compilers' extras: reductions with the task modifier, and scratch memory that the team
/// shares (inscan reductions, conditional lastprivate).
#pragma once

#include "native/gomp/loop.hpp"

namespace sdsm::gomp {

struct ChosenSchedule {
  Schedule schedule;
  std::uint64_t chunk;
};

/// Reads libgomp's schedule numbers (0 runtime, 1 static, 2 dynamic, 3 guided, 4 runtime-nonmonotonic; the highest bit
/// of 32 is the monotonic modifier).
ChosenSchedule schedule_of(const ThreadState& thread, long schedule, std::uint64_t chunk);

/// `*memory` holds a size, and gets the address of so much zeroed memory, the same for the whole team.
void start_general(ThreadState& thread, const LoopBounds& loop, Order order, std::uintptr_t* reductions, void** memory);

void start_scope(ThreadState& thread, std::uintptr_t* reductions);

}  // namespace sdsm::gomp
