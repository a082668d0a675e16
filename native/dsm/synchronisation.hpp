/// Barriers, locks and the measured region, as this process's application thread goes through them.
#pragma once

#include <cstdint>

#include "models/ids.hpp"
#include "native/dsm/control.hpp"
#include "native/dsm/wire.hpp"

namespace sdsm::dsm {

/// Calls of omp_get_wtime by the initial thread, and when the last one was.
struct ClockCalls {
  std::uint64_t count = 0;
  std::uint64_t last_ns = 0;
};
/// As known to this process. Any thread.
ClockCalls clock_calls();
/// The initial thread calls the clock now.
void count_clock_call(std::uint64_t at_ns);

/// Of an ordered loop: its number, and the first iteration of the chunk that wants to go on.
struct OrderedTurn {
  std::uint64_t construct = 0;
  std::uint64_t first_iteration = 0;
};

/// LockIds 0, 1 and 2: the nameless critical section, atomic operations, ordered regions (as the tracer numbers them).
inline constexpr std::uint64_t first_named_lock = 3;

/// Does the phases of models/openmp.hpp. `is_fork`: until the team meets first it is idle, which is no part of a
/// barrier.
void pass_barrier(bool is_fork = false);

void acquire_lock(LockId lock, const OrderedTurn* turn = nullptr);
/// False if somebody else has it. What has been given back is free, even if its manager has not heard of that yet.
bool try_acquire_lock(LockId lock);
void release_lock(LockId lock);
/// This process has it, and has not begun to give it back. Any thread.
bool holds_lock(LockId lock);
/// Changes go home and copies die, without a lock.
void synchronise_memory();

/// This thread, which is not the initial one, ends the program: process 0 does it for it.
[[noreturn]] void end_from_member(ExitKind kind, int status);

/// What this process did, in the measured region and in all. At the end of the program.
Result result();

}  // namespace sdsm::dsm
