/// The protocol at work on this process's pages: faults, flushes, dropped copies. Every decision is models/'s; this
/// file moves bytes and sets protections.
#pragma once

#include <cstdint>

#include "models/openmp.hpp"
#include "models/page_state.hpp"
#include "native/program/program_image.hpp"

namespace sdsm::dsm {

/// Protects the shared memory and begins to take faults. A process's own stack and thread-local variables stay as they
/// are: its use of them costs nothing and is never counted.
void start_coherence(const program::AddressRange& stack, const program::AddressRange& variables);

/// A lock that this process has just got, and how often it was granted before.
struct Grant {
  LockId lock{};
  std::uint64_t number = 0;
};
/// Diffs of this process's changed pages go home, as the rule of `sync` says; returns when they are applied. `granted`:
/// for the log, whether it is with a lock.
void flush(Sync sync, const Grant* granted = nullptr);
/// Copies die, as the rule of `sync` says. Everything is flushed before.
void drop(Sync sync);

/// A companion is about to drop the node's copies: this process has no access to them any more. From the service
/// thread, while the companion holds the node.
void shut_copies();

/// The pages are no longer what they were: changes to them are forgotten, and the next access looks anew.
void forget_pages(std::uintptr_t begin, std::uint64_t pages);
/// Every page of the heap and of the globals is looked at anew at its next access (regions have changed).
void look_anew();

/// Where the administrative pages are.
void place_administrative_pages(std::uintptr_t begin);
std::uintptr_t address_of(AdministrativePage page);

/// Pages of [begin, begin + pages) go to their homes; those of zeros need not if nobody has ever written them.
enum class Zeros : bool { are_there, must_go };
void move_home(std::uintptr_t begin, std::uint64_t pages, Zeros zero_pages);

}  // namespace sdsm::dsm
