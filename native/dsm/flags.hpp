/// Threads that hand memory over without a lock or a barrier: one stores a flag, or does an atomic operation, and
/// another sees it by a plain load. A program that does so is in flag mode from then on, in all its processes: pages
/// carry numbers that show whether other pages may have changed, and a loop that waits for a store is noticed.
#pragma once

#include "models/ids.hpp"
#include "native/dsm/threads.hpp"

namespace sdsm::dsm {

/// Any thread.
bool is_in_flag_mode();
/// Returns when all processes are in flag mode. The first call of a process tells the others.
void enter_flag_mode() REQUIRES(application);

/// From now on the run-time looks at the calling thread every 2 ms of its processor time. If it is found again at the
/// same place with the same registers and stack, it waits for a store: its changes go home, its copies are dropped, and
/// other processes send their changes home.
void notice_waits() REQUIRES(application);

/// Another process's thread waits, or does its first atomic operation.
void hear_of_flags(ProcessId from) REQUIRES(handling);

}  // namespace sdsm::dsm
