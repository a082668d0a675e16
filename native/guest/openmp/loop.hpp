/// Work-shared loops and sections: how a thread enters one and gets its chunks.
#pragma once

#include "native/guest/openmp/thread.hpp"

namespace sdsm::gomp {

LoopBounds signed_loop(long start, long end, long step, Schedule schedule, long chunk);
LoopBounds unsigned_loop(bool ascending, std::uint64_t start, std::uint64_t end, std::uint64_t step, Schedule schedule,
                         std::uint64_t chunk);
/// A loop with the schedule that run-sched-var gives.
LoopBounds runtime_loop(const ThreadState& thread, long start, long end, long step);
LoopBounds runtime_loop(const ThreadState& thread, bool ascending, std::uint64_t start, std::uint64_t end,
                        std::uint64_t step);
/// `count` sections: iterations 1..count, handed out one by one.
LoopBounds sections_loop(unsigned count);

enum class Order : bool { free, ordered };

/// Enters a loop of the thread's team: the next construct.
void enter_loop(ThreadState& thread, const LoopBounds& loop, Order order = Order::free);
/// enter_loop() for a combined construct, which has begun already.
void enter_combined_loop(ThreadState& thread, const LoopBounds& loop);

/// The thread's next chunk. False if there is none left; else `thread.construct.chunk` is it.
bool next_chunk(ThreadState& thread);

/// First value of the loop variable in the current chunk, and the bound that it stays below (above). The last chunk has
/// the loop's own bound, as one computed from the step might overflow.
std::uint64_t chunk_start(const CurrentConstruct& construct);
std::uint64_t chunk_end(const CurrentConstruct& construct);

/// Leaves the loop, without a barrier.
void leave_loop(ThreadState& thread);

// Of newer compilers: reductions with the task modifier, and scratch memory that the team shares (inscan reductions,
// conditional lastprivate).

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
