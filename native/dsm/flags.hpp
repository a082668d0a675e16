/// Threads that hand memory over without a lock or a barrier: one stores a flag, or does an atomic operation, and
/// another sees it by a plain load. A program that does so is in flag mode from then on, in all its processes
/// (recalls.hpp, models/page_sharing.hpp). Here the first such wait is noticed.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "native/dsm/threads.hpp"

namespace sdsm::dsm {

/// Puts a trap at each place of the program, and of the libraries that are linked to it, where a loop waits
/// (native/program/waiting_code.hpp). To be called after take_over_locked_instructions().
void watch_waiting_code() REQUIRES(starting);
/// If there is such a trap at `address`, takes it away, so that the thread goes on there.
bool take_waiting_trap(std::uintptr_t address) REQUIRES(application);

/// In flag mode, where the processes have fewer than two processors each, a thread rests at a waiting loop until the
/// variable changes or its page is shut, once a whole turn of the loop has seen the present value. Turning, it would
/// keep other threads, and its own service thread, from running. Called when the page of `variable`, which the
/// instruction at `instruction` touches, was opened and is watched. False if that is no waiting loop's load.
bool come_to_load(std::uintptr_t instruction, std::uintptr_t variable) REQUIRES(application);
/// In flag mode, when the thread comes to a waiting loop at `place` for the first time: its page may be open.
void expect_load(std::uintptr_t place) REQUIRES(application);
/// Whether the thread has come to a trap that come_to_load(), or this function, laid; then goes on with the turn, or
/// rests.
bool take_rest_trap(ucontext_t& machine) REQUIRES(application);
/// The service thread, when it has handled something.
void wake_resting_thread();

/// The program slept or yielded, as a thread that waits does.
void note_pause() REQUIRES(application);

/// From now on the calling thread is looked at every 2 ms of its processor time: one that is where it was, with the
/// same registers and stack, waits for a store. Flag mode begins then.
void notice_waits() REQUIRES(application);

}  // namespace sdsm::dsm
