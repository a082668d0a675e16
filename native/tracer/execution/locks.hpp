#pragma once

#include <cstdint>

#include "native/guest/threads/engine.hpp"
#include "native/tracer/execution/threads.hpp"

namespace sdsm::tracer {

/// A lock of the program or of a construct, or an object of the C library. Its id comes with its first use.
struct Lock {
  std::uint64_t key = 0;  ///< class and address; 0: the place in the table is free
  std::uint32_t id = 0;   ///< the trace's LockId
  LockClass lock_class{};
  Numbers numbers GUARDED_BY(turn);
  std::uint64_t gives GUARDED_BY(turn) = 0;  ///< as the events count them; of a barrier, threads that came
  std::int64_t added GUARDED_BY(turn) = 0;   ///< the number that the events make: nobody sets it anew
  std::int32_t met GUARDED_BY(turn) = 0;     ///< threads at a barrier
  std::uint64_t meetings GUARDED_BY(turn) = 0;
  VirtualThread* holder GUARDED_BY(turn) = nullptr;
  std::uint32_t depth GUARDED_BY(turn) = 0;  ///< times that the holder of a nested lock has it
};

Lock& find_lock(LockClass lock_class, const void* address) REQUIRES(turn);
void note_holder(VirtualThread& self, Lock& lock, engine::Demand demand) REQUIRES(turn);
/// Ends the interval with `acquire`, waits until the lock's number allows it, and begins the next interval.
void take_lock(VirtualThread& self, Lock& lock, engine::Demand demand) REQUIRES(turn);
/// Takes the lock without waiting, for a thread that has waited, or only tries. Precondition: the number allows it.
void take_free_lock(VirtualThread& self, Lock& lock, engine::Demand demand, bool only_tried) REQUIRES(turn);
/// Ends the interval with `release`, and begins the next.
void give_lock_back(VirtualThread& self, Lock& lock) REQUIRES(turn);
/// Lets the threads that wait for the lock's number check it again.
void wake_all(const Lock& lock, std::uint64_t clock_ns) REQUIRES(turn);

/// First iteration of the chunk whose ordered regions may run, of loop `construct`.
std::uint64_t& ordered_turn(std::uint64_t construct) REQUIRES(turn);

/// The flag's count so far.
std::uint64_t& progress_of(const gomp::Flag& flag) REQUIRES(turn);

}  // namespace sdsm::tracer
