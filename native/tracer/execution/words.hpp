/// Records the words of watched pages that each thread reads and writes, in a pass of its own (Mode::replay). Those
/// pages stay shut, and an instruction that accesses one is done in a single step with the page open. The rest is open.
#pragma once

#include <ucontext.h>
#include <atomic>
#include <csignal>
#include <cstdint>

#include "native/tracer/execution/threads.hpp"

namespace sdsm::tracer {

/// Whether start_watching() was called, and not stop_watching() yet; for threads that need not have the turn.
inline constinit std::atomic<bool> watches_words = false;

/// Reads `text`, which says what is watched: region, first page and pages, as in "3:0:16,7:2:1".
void choose_watched(const char* text) REQUIRES(turn);
/// Shuts the watched pages that there are; from here on, also new ones.
void start_watching() REQUIRES(turn);
/// Opens them all, for good.
void stop_watching() REQUIRES(turn);

/// Watches the region's pages, as far as they are chosen.
void watch_region(std::uint32_t region) REQUIRES(turn);
/// Forgets pages that lose their region.
void forget_watched(std::uintptr_t begin, std::uint64_t pages) REQUIRES(turn);

/// Serves a fault of a watched page: records what the instruction accesses, and lets it be done on return. False if the
/// page is not watched.
bool take_watched_fault(const siginfo_t& info, ucontext_t& machine) REQUIRES(turn);
/// To be called when the instruction is done. True if that was what the trap was for.
bool end_watched_step(ucontext_t& machine) REQUIRES(turn);

/// Records a buffer that the kernel uses, and opens its watched pages until shut_watched().
void open_watched(std::uintptr_t begin, std::uint64_t bytes, bool is_write) REQUIRES(turn);
void shut_watched() REQUIRES(turn);

/// Sends what the running thread has accessed since it last sent.
void send_words(const VirtualThread& thread) REQUIRES(turn);

}  // namespace sdsm::tracer
