/// What a page's words say against its twin: how many differ, in how many runs (docs/protocol.md, "A page").
#pragma once

#include <cstdint>
#include <cstring>

#include "models/diff.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::tracer {

static_assert(words_per_page == trace::page_bytes / trace::word_bytes);
inline constexpr unsigned map_words = words_per_page / 64;

/// Bit w says whether word w of the page has changed.
struct ChangeMap {
  std::uint64_t bits[map_words] = {};
};

inline void find_changes(const void* page, const void* twin, ChangeMap& map) {
  const auto* now = static_cast<const std::uint32_t*>(page);
  const auto* before = static_cast<const std::uint32_t*>(twin);
  for (unsigned block = 0; block < map_words; ++block) {
    std::uint64_t bits = 0;
    // Most of a page is mostly unchanged: 256 bytes are skipped by one comparison that the compiler vectorises.
    if (std::memcmp(now + block * 64, before + block * 64, 256) != 0) {
      for (unsigned word = 0; word < 64; ++word) {
        bits |= std::uint64_t{now[block * 64 + word] != before[block * 64 + word]} << word;
      }
    }
    map.bits[block] = bits;
  }
}

constexpr trace::Change count_changes(const ChangeMap& map) {
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
