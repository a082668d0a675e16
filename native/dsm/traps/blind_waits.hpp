/// Finds threads that wait for a plain store, outside of single-writer mode, in a loop of which neither the code nor
/// the registers say so: it calls functions, reads a clock, counts in memory. Such a thread runs without an event of
/// the protocol. So from time to time this file single-steps it, and asks other nodes whether they have changed what it
/// loads. If they have, the program hands on memory by plain stores, and single-writer mode begins (waits.hpp).
///
/// A program that synchronises by barriers and locks alone never gets there: nobody may change what a thread has read
/// since its last synchronisation before it comes to the next.
#pragma once

#include <ucontext.h>

#include "native/dsm/wire/threads.hpp"
#include "native/dsm/wire/wire.hpp"

namespace sdsm::dsm {

/// The thread was interrupted here after 2 ms of its processor time, or has just slept. Returns whether it waits for a
/// store that its node does not see.
enum class Interrupted : std::uint8_t { by_timer, after_pause };
bool waits_blindly(ucontext_t& machine, Interrupted how) REQUIRES(application);
/// The program slept or yielded: whether the thread has to be interrupted.
bool is_pause_of_note() REQUIRES(application);
/// To be called at a trap after a single step. False if the thread was not single-stepped.
bool take_followed_step(ucontext_t& machine) REQUIRES(application);

/// Answers whether this node has changed some of what the asker loads.
void tell_of_changes(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);

}  // namespace sdsm::dsm
