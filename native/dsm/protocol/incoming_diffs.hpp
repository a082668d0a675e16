/// Diffs on their way into pages of this process, as every protocol receives them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/requests/answering.hpp"
#include "native/guest/runtime/program_image.hpp"

namespace sdsm::dsm {

/// Pieces of a diff come one after another on one connection.
struct Incoming {
  std::uint32_t bytes = 0;
  std::uint32_t twin_bytes = 0;
  std::vector<std::byte> diff;  ///< as long as the longest so far
  std::vector<std::byte> twin_words;
};
Incoming& incoming_of(ProcessId from, const Head& head) REQUIRES(handling);

/// The `bytes` at `address`, which `from` asks for. Ends the run if they do not lie on one page of this node.
std::byte* asked_view_of(ProcessId from, std::uint64_t address, std::size_t bytes = page_bytes);

/// While it lives, the page is nobody else's where that is needed.
std::optional<StopTheWorld> stop_the_world_at(std::uint64_t address, bool is_at_once);

/// Twins of own pages, which others' changes have to go to as well.
struct TwinsAtHome {
  program::Mutex& mutex;                  ///< held while the change is stored in both
  std::byte* (*twin_of)(std::uintptr_t);  ///< null: the page has none
};
/// Stores a whole diff in its page. Ends the run if it contradicts itself.
void store(ProcessId from, const Incoming& diff, const TwinsAtHome* twins = nullptr) REQUIRES(handling);

/// A part of a diff is here, in two pieces behind each other at `pieces`: so long, of so long a diff, and as many of
/// the message's bytes are left. Precondition: the diff's parts so far are there.
void take_part(ProcessId from, Incoming& diff, const PartOfDiff& sizes, const std::byte* pieces, std::size_t left)
    REQUIRES(handling);

/// Takes a piece of a diff (diff_pieces.hpp). Returns the whole diff with the last one, until the sender's next; else
/// null.
const Incoming* take_piece(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);

}  // namespace sdsm::dsm
