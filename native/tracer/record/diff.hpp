/// The difference of a page and its twin: how many words, how many runs, which lines (docs/protocol.md).
#pragma once

#include <cstdint>
#include <cstring>

#include "models/diff.hpp"

namespace sdsm::tracer {

inline constexpr unsigned map_words = words_per_page / 64;
static_assert(words_per_line == 16, "find_lines counts on it");

/// Bit w says whether word w of the page has changed.
struct ChangeMap {
  std::uint64_t bits[map_words] = {};
};

inline void find_changes(const void* page, const void* twin, ChangeMap& map) {
  const auto* now = static_cast<const std::uint32_t*>(page);
  const auto* before = static_cast<const std::uint32_t*>(twin);
  for (unsigned block = 0; block < map_words; ++block) {
    std::uint64_t bits = 0;
    // Most of a page is usually unchanged: one comparison, which the compiler vectorises, skips 256 bytes.
    if (std::memcmp(now + block * 64, before + block * 64, 256) != 0) {
      for (unsigned word = 0; word < 64; ++word) {
        bits |= std::uint64_t{now[block * 64 + word] != before[block * 64 + word]} << word;
      }
    }
    map.bits[block] = bits;
  }
}

/// The changed lines, from a map's bits, or from a copy of them.
constexpr ChangedLines find_lines(const std::uint64_t (&bits)[map_words]) {
  ChangedLines changed;
  for (unsigned block = 0; block < map_words; ++block) {
    // The lowest bit of each 16 becomes whether any of them is set; then the four are brought together.
    std::uint64_t any = bits[block];
    for (const unsigned shift : {8U, 4U, 2U, 1U}) any |= any >> shift;
    any &= 0x0001'0001'0001'0001;
    changed.lines |= ((any | any >> 15 | any >> 30 | any >> 45) & 15) << (block * 4);
  }
  changed.first_word = (bits[0] & 1) != 0;
  changed.last_word = bits[map_words - 1] >> 63 != 0;
  return changed;
}

constexpr Change count_changes(const ChangeMap& map) {
  unsigned words = 0;
  unsigned runs = 0;
  std::uint64_t last = 0;  ///< whether the word before this block has changed
  for (const std::uint64_t bits : map.bits) {
    words += static_cast<unsigned>(__builtin_popcountll(bits));
    // A run begins where a word has changed and the one before has not.
    runs += static_cast<unsigned>(__builtin_popcountll(bits & ~(bits << 1 | last)));
    last = bits >> 63;
  }
  return {static_cast<std::uint16_t>(words), static_cast<std::uint16_t>(runs)};
}

}  // namespace sdsm::tracer
