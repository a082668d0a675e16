/// Threads that wait for a plain store, outside of flag mode, in a loop of which neither the code nor the registers say
/// so: it calls functions, looks at a clock, counts in memory. Such a thread turns and turns without an event of the
/// protocol. So from time to time some of its instructions are followed, and other nodes are asked whether they have
/// changed what these look at. If they have, threads hand on memory by plain stores, and flag mode begins (flags.hpp).
///
/// Where threads hand on memory by barriers and locks alone, that never happens: what a thread has read since it last
/// came to one, nobody may change before it comes to the next.
#pragma once

#include <ucontext.h>

#include "native/dsm/threads.hpp"
#include "native/dsm/wire.hpp"

namespace sdsm::dsm {

/// The thread was interrupted here after 2 ms of its processor time; or it has just slept. Returns whether it waits for
/// what it does not see.
enum class Interrupted : std::uint8_t { by_timer, after_pause };
bool waits_blindly(ucontext_t& machine, Interrupted how) REQUIRES(application);
/// The program slept or yielded: whether the thread has to be interrupted.
bool is_pause_of_note() REQUIRES(application);
/// After an instruction that was followed. False if none was.
bool take_followed_step(ucontext_t& machine) REQUIRES(application);

/// Tells whether this node has changed some of what the asker looks at.
void tell_of_changes(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);

}  // namespace sdsm::dsm
