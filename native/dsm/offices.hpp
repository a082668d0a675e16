/// What a process keeps or does for all: the barrier's master counts arrivals, each lock has a manager, each page a
/// home, and process 0 keeps the books of regions, heap and constructs. Each office is a file and handles the requests
/// that are its own, one at a time: they come from other processes by the service thread, or from this process's own
/// application thread. The answer goes out by answer(), now or later.
#pragma once

#include <cstddef>
#include <cstdint>

#include "native/dsm/answering.hpp"

namespace sdsm::dsm {

/// Hands a request to its office. `payload` has head.bytes bytes.
void handle(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);

// The barrier's master.

void arrive(ProcessId from) REQUIRES(handling);
/// Another thread than the initial one ends the program, which the initial thread does for it when it comes by.
void want_end(const Head& head) REQUIRES(handling);
/// Threads 0 to size - 1 are the team from now on.
void set_team(std::uint32_t size) REQUIRES(handling);
/// The program has ended, and whoever waits for work or comes for it is told so.
void dismiss_all() REQUIRES(handling);
/// Whether all others have been told.
bool are_all_dismissed() REQUIRES(handling);

// Managers of locks. Those of ordered regions go in the order of the loops' turns.

void request_lock(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);
void try_lock(ProcessId from, const Head& head) REQUIRES(handling);
void give_lock_back(const Head& head) REQUIRES(handling);
void pass_turn(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);

// The home of a page.

void send_page(ProcessId from, const Head& head) REQUIRES(handling);
void receive_page(ProcessId from, const Head& head, const std::byte* page) REQUIRES(handling);
void receive_diff(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);

/// Process 0's books: regions, first touches, the heap, names of locks, states of work-sharing constructs.
void keep_books(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);

}  // namespace sdsm::dsm
