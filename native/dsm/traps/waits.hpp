/// Notices the first time that a thread waits for another's plain store or atomic operation by plain loads, without a
/// lock or a barrier: by the loops of its code, or by samples. The protocol says what follows
/// (models/single_writer/page_sharing.hpp; JIAJIA's runs end).
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "native/dsm/wire/threads.hpp"

namespace sdsm::dsm {

/// Puts a trap at each place of the program, and of the libraries that are linked to it, where a loop waits
/// (native/guest/code/waiting_code.hpp). To be called after take_over_locked_instructions().
void watch_waiting_code() REQUIRES(starting);
/// If there is such a trap at `address`, takes it away, so that the thread goes on there.
bool take_waiting_trap(std::uintptr_t address) REQUIRES(application);

/// Where processes have fewer than two processors each, a thread in single-writer mode rests at a waiting loop, as it
/// would keep other threads, and its own service thread, from running. It rests once a whole turn of the loop has seen
/// the present value, until the variable changes or its page is shut. Called when the page of `variable`, which the
/// instruction at `instruction` touches, was opened and is watched. False if that is no waiting loop's load.
bool come_to_load(std::uintptr_t instruction, std::uintptr_t variable) REQUIRES(application);
/// The thread comes to a waiting loop at `place` for the first time in single-writer mode. Its page may be open.
void expect_load(std::uintptr_t place) REQUIRES(application);
/// Returns whether the thread has come to a trap that come_to_load(), or this function, laid. If so, goes on or rests.
bool take_rest_trap(ucontext_t& machine) REQUIRES(application);
/// Called by the service thread when it has handled something.
void wake_resting_thread();

/// The program slept or yielded, as a thread that waits does.
void note_pause() REQUIRES(application);

/// Samples the calling thread from now on every 2 ms of its processor time. One that is where it was, with the same
/// registers and stack, waits for a store: single-writer mode begins.
void notice_waits() REQUIRES(application);

}  // namespace sdsm::dsm
