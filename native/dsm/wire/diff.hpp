/// Diffs as they travel. A diff is the page's address (8 bytes), then for each run of changed words its place from
/// there on and its length in words (2 bytes each) and the new words, as models/diff.hpp counts them. The twin's words
/// travel with it, uncounted. They show the home which bytes of a word changed, so that two processes may change
/// different bytes of one word. They also show whether somebody else has changed the same bytes meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "models/diff.hpp"
#include "models/page_size.hpp"

namespace sdsm::dsm {

/// No run is shorter than a word or closer to the next than a word, so runs and words together take at most this much.
constexpr std::size_t most_diff_bytes(std::size_t page_bytes) {
  return 8 + page_bytes / 2 + page_bytes;
}

/// Room to make a diff. Whole cache lines are stored at once, and reach beyond the diff's end.
struct DiffBuffer {
  std::byte diff[most_diff_bytes(most_page.count)];
  std::byte twin_words[most_page.count + 64];
};

struct EncodedDiff {
  Change change;
  std::uint32_t bytes = 0;  ///< of the diff; 0: nothing changed

  std::uint32_t twin_bytes() const { return change.words * std::uint32_t{4}; }
};

/// Encodes what differs between a page and its twin, and copies the page to the twin. Each word is read once for both,
/// so a write in between is in this diff or in the next one. `page` and `twin` are aligned to cache lines. `parts`: of
/// 4096 bytes each, a bit for each that belongs to the page (larger_pages.hpp).
EncodedDiff encode_diff(std::uint64_t address, const std::byte* page, std::byte* twin, DiffBuffer& buffer,
                        std::uint32_t parts = 1);

/// encode_diff() for any x86-64 processor; encode_diff() itself uses AVX-512 where there is one.
EncodedDiff encode_diff_anywhere(std::uint64_t address, const std::byte* page, std::byte* twin, DiffBuffer& buffer,
                                 std::uint32_t parts = 1);

/// Stores the bytes that a diff changes, and no others, in `page`. If somebody else has changed some of the same bytes
/// to other values meanwhile, stores the whole word, so that a word of four bytes is one that somebody stored. `torn`
/// then gets the place of a word of which this undoes others' changes of further bytes: right for a variable of four
/// bytes, and wrong for shorter ones side by side. Returns false if the diff contradicts itself. Writes nothing beyond
/// the page's `words`. Each aligned 8 bytes change at once. `page` is aligned to them.
bool apply_diff(const std::byte* diff, std::uint32_t bytes, const std::byte* twin_words, std::uint32_t twin_bytes,
                std::byte* page, std::optional<std::size_t>* torn = nullptr, std::size_t words = words_per_page);

/// Whether all that a diff changes lies in one aligned 8 bytes, and so changes at once.
bool changes_at_once(const std::byte* diff, std::uint32_t bytes);

/// The page's address, with which a diff begins.
std::uint64_t address_of_diff(const std::byte* diff);

}  // namespace sdsm::dsm
