/// Work-shared loops and sections: how a thread enters one and gets its chunks.
#pragma once

#include "native/gomp/thread.hpp"

namespace sdsm::gomp {

LoopBounds signed_loop(long start, long end, long step, Schedule schedule, long chunk);
LoopBounds unsigned_loop(bool ascending, std::uint64_t start, std::uint64_t end, std::uint64_t step, Schedule schedule,
                         std::uint64_t chunk);
/// With the schedule that run-sched-var gives.
LoopBounds runtime_loop(const ThreadState& thread, long start, long end, long step);
LoopBounds runtime_loop(const ThreadState& thread, bool ascending, std::uint64_t start, std::uint64_t end,
                        std::uint64_t step);
/// `count` sections: iterations 1..count, handed out one by one.
LoopBounds sections_loop(unsigned count);

enum class Order : bool { free, ordered };

/// The thread meets a loop of its team: the next construct.
void enter_loop(ThreadState& thread, const LoopBounds& loop, Order order = Order::free);
/// The same for the loop of a combined construct, whose construct has begun.
void enter_combined_loop(ThreadState& thread, const LoopBounds& loop);

/// The thread's next chunk. False if there is none left; else `thread.construct.chunk` is it.
bool next_chunk(ThreadState& thread);

/// First value of the loop variable in the chunk at hand, and the bound that it stays below (above). The last chunk
/// ends at the loop's own bound: a bound computed from the step might lie past the largest number.
std::uint64_t chunk_start(const CurrentConstruct& construct);
std::uint64_t chunk_end(const CurrentConstruct& construct);

/// Leaves the loop, without a barrier.
void leave_loop(ThreadState& thread);

}  // namespace sdsm::gomp
