/// The protocol at work on this process's pages: faults, flushes, dropped copies. Every decision is models/'s; this
/// file moves bytes and sets protections.
#pragma once

#include <cstdint>

#include "models/page_state.hpp"
#include "native/dsm/node.hpp"
#include "native/program/program_image.hpp"

namespace sdsm::dsm {

/// Protects the shared memory but for the process's own (opened_pages.hpp), and begins to take faults.
void start_coherence(const program::AddressRange& stack, const program::AddressRange& variables) REQUIRES(starting);

/// A lock that this process has just got, and how often it was granted before.
struct Grant {
  LockId lock{};
  std::uint64_t number = 0;
};
/// Diffs of this process's changed pages go home, as the rule of `sync` says; returns when they are applied. `granted`:
/// for the log, whether it is with a lock.
void flush(Sync sync, const Grant* granted = nullptr) REQUIRES(application) EXCLUDES(node().mutex);
/// Copies die, as the rule of `sync` says. Everything is flushed before.
void drop(Sync sync) REQUIRES(application) EXCLUDES(node().mutex);

/// Pages of [begin, begin + pages) go to their homes; those of zeros need not if nobody has ever written them.
enum class Zeros : bool { are_there, must_go };
void move_home(std::uintptr_t begin, std::uint64_t pages, Zeros zero_pages) REQUIRES(application);

}  // namespace sdsm::dsm
