/// What some process keeps for all: the barrier's master counts arrivals, each lock has a manager, process 0 keeps the
/// books of regions and heap. Requests come from other processes by the service thread, or from this process's own
/// application thread, one at a time.
#pragma once

#include <cstdint>

#include "models/ids.hpp"
#include "native/dsm/wire.hpp"

namespace sdsm::dsm {

/// Handles a request; the answer goes out by answer() now or later. `payload` has head.bytes bytes.
void handle(ProcessId from, const Head& head, const std::byte* payload);

/// How an answer reaches who asked: over its connection, or into this process's own waiting ask(). In cluster.cpp.
void answer(ProcessId to, const Head& head, const void* payload = nullptr);

/// At the barrier's master: threads 0 to size - 1 are the team from now on.
void set_team(std::uint32_t size);
/// At the barrier's master: nobody needs to wait any more, as the program has ended.
void dismiss_all(std::uint32_t unused = 0);

/// Ordered loops: what a lock_request's value says if the turn does not matter.
inline constexpr std::uint64_t any_turn = ~std::uint64_t{0};

}  // namespace sdsm::dsm
