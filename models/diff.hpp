/// The size of a diff. Layout and sizes are ours (docs/protocol.md, "A page").
#pragma once

#include <cstdint>

#include "models/protocol/pages.hpp"
#include "models/units.hpp"

namespace sdsm {

/// The difference of a page and its twin, in words of 4 bytes and runs of adjacent changed words.
struct Change {
  std::uint16_t words = 0;  ///< 0..1024, in larger pages as many more
  std::uint16_t runs = 0;   ///< at most half as many; 0 exactly if words is 0

  constexpr bool operator==(const Change&) const = default;
  constexpr explicit operator bool() const { return words != 0; }
};

/// The places of a page's changes: a bit for each of its 64 lines of 64 bytes (bit 0: the first), and whether its first
/// and its last word changed. Where larger pages are simulated, changes that meet at such an end are one run.
struct ChangedLines {
  std::uint64_t lines = 0;
  bool first_word = false;
  bool last_word = false;

  constexpr bool operator==(const ChangedLines&) const = default;
};

inline constexpr std::uint16_t words_per_page = page_bytes / word_bytes;
inline constexpr unsigned words_per_line = 16;
inline constexpr Bytes diff_header{8};
inline constexpr Bytes run_header{4};
inline constexpr Bytes diff_word{word_bytes};

/// Every word of the page, in one run.
inline constexpr Change whole_page{words_per_page, 1};

/// Changes of two intervals to one page without a flush between: their sum, at most the whole page. A word that both
/// changed counts twice, as a trace does not say where words lie. `page_words`: the number of words of the page.
constexpr Change merge(Change a, Change b, std::uint16_t page_words = words_per_page) {
  const int words = a.words + b.words;
  if (words >= page_words) return {page_words, 1};
  // Between two runs lies at least one word that did not change.
  const int most_runs = page_words + 1 - words < page_words / 2 ? page_words + 1 - words : page_words / 2;
  const int runs = a.runs + b.runs < most_runs ? a.runs + b.runs : most_runs;
  return {static_cast<std::uint16_t>(words), static_cast<std::uint16_t>(runs)};
}

/// Payload of a page's diff, over all its messages; 0 if nothing changed.
constexpr Bytes diff_bytes(Change change) {
  if (!change) return {0};
  return diff_header + change.runs * run_header + change.words * diff_word;
}

}  // namespace sdsm
