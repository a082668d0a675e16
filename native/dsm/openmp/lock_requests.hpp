/// Managers of locks, library objects and flags. Locks of ordered regions go in the order of the loops' iterations.
#pragma once

#include <cstdint>

#include "native/dsm/requests/answering.hpp"

namespace sdsm::dsm {

void request_lock(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);
void try_lock(ProcessId from, const Head& head) REQUIRES(handling);
void give_lock_back(const Head& head) REQUIRES(handling);
void serve_object(ProcessId from, const Head& head) REQUIRES(handling);
void pass_turn(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);

// Flags of doacross loops.

void post_flag(const Head& head) REQUIRES(handling);
void await_flag(ProcessId from, const Head& head) REQUIRES(handling);
/// Forgets the flags of the constructs before `construct`, which all processes have left.
void forget_flags_before(std::uint64_t construct) REQUIRES(handling);

}  // namespace sdsm::dsm
