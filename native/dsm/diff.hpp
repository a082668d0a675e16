/// Diffs as they travel: the page's address (8 bytes), then for each run of changed words its place and length in words
/// (2 bytes each) and the words. Sizes are those of models/diff.hpp. A word travels as its difference (exclusive or)
/// from the twin, so that two processes may change different bytes of one word: what neither changed is zero in both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/diff.hpp"

namespace sdsm::dsm {

/// No run is shorter than a word or closer to the next than a word, so runs and words together take at most this much.
inline constexpr std::size_t most_diff_bytes = 8 + max_runs_per_page * 4 + words_per_page * 4;

struct EncodedDiff {
  Change change;
  std::uint32_t bytes = 0;  ///< 0: nothing changed
};

/// What differs between a page and its twin, which becomes as the page is: each word is read once for both, so that a
/// write that comes in between is in this diff or in the next one. `page` and `twin` are aligned to cache
/// lines; `buffer` has room for most_diff_bytes.
EncodedDiff encode_diff(std::uint64_t address, const std::byte* page, std::byte* twin, std::byte* buffer);

/// The same for any x86-64 processor; encode_diff uses AVX-512 where it is.
EncodedDiff encode_diff_anywhere(std::uint64_t address, const std::byte* page, std::byte* twin, std::byte* buffer);

/// Changes `page` as a diff says, each byte that the diff changes and no other. False if the diff contradicts itself;
/// nothing beyond the page is written.
bool apply_diff(const std::byte* diff, std::uint32_t bytes, std::byte* page);

/// The page's address that a diff begins with.
std::uint64_t address_of_diff(const std::byte* diff);

}  // namespace sdsm::dsm
