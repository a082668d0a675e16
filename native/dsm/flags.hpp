/// Threads that hand memory over without a lock or a barrier: one stores a flag, or does an atomic operation, and
/// another sees it by a plain load. A program that does so is in flag mode from then on, in all its processes
/// (recalls.hpp, models/page_sharing.hpp). Here the first such wait is noticed.
#pragma once

#include <cstdint>

#include "native/dsm/threads.hpp"

namespace sdsm::dsm {

/// Puts a trap at each place of the program, and of the libraries that are linked to it, where a loop waits
/// (native/program/waiting_code.hpp). To be called after take_over_locked_instructions().
void watch_waiting_code() REQUIRES(starting);
/// If there is such a trap at `address`, takes it away, so that the thread goes on there.
bool take_waiting_trap(std::uintptr_t address);

/// From now on the calling thread is looked at every 2 ms of its processor time: one that is where it was, with the
/// same registers and stack, waits for a store. Flag mode begins then.
void notice_waits() REQUIRES(application);

}  // namespace sdsm::dsm
