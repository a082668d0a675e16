#include "native/dsm/wire/diff.hpp"

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstring>

namespace sdsm::dsm {
namespace {

constexpr std::size_t block_words = 16;  ///< a cache line
constexpr std::uint32_t whole_block = 0xffff;

struct RunHead {
  std::uint16_t first;
  std::uint16_t words;
};
static_assert(sizeof(RunHead) == run_header.count);

/// The state of the run that may go on in the next block.
struct Runs {
  std::byte* at = nullptr;       ///< where the next byte of the diff goes
  std::byte* twin_at = nullptr;  ///< where the twin's next word goes
  std::byte* open = nullptr;     ///< head of the run that ended with the last block's last word; null: none
  std::uint16_t open_words = 0;  ///< of it, so far
  Change change;

  void close() {
    if (open == nullptr) return;
    std::memcpy(open + offsetof(RunHead, words), &open_words, sizeof open_words);
    open = nullptr;
  }

  void begin(std::size_t first) {
    const RunHead head{static_cast<std::uint16_t>(first), 0};
    std::memcpy(at, &head, sizeof head);
    open = at;
    open_words = 0;
    at += sizeof head;
    ++change.runs;
  }
};

/// Sixteen words of a page and of its twin.
struct Block {
  __m128i now[4];
  __m128i before[4];
  std::uint32_t changed;  ///< a bit for each word
};

/// Each word of the page is loaded once, for the diff and for the renewed twin: another thread may be writing it.
/// (Aligned loads of 16 bytes do not tear words; volatile, so that none is repeated.)
Block compare_block(const std::byte* page, std::byte* twin) {
  const auto* from = reinterpret_cast<const volatile __m128i*>(page);
  auto* to = reinterpret_cast<__m128i*>(twin);
  __m128i same[4];
  Block block;
  for (int i = 0; i < 4; ++i) {
    block.now[i] = from[i];
    block.before[i] = to[i];
    same[i] = _mm_cmpeq_epi32(block.now[i], block.before[i]);
  }
  const __m128i halves[2] = {_mm_packs_epi32(same[0], same[1]), _mm_packs_epi32(same[2], same[3])};
  block.changed = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(halves[0], halves[1]))) ^ whole_block;
  if (block.changed != 0) {
    for (int i = 0; i < 4; ++i) to[i] = block.now[i];
  }
  return block;
}

void copy_word(std::byte* to, const std::byte* from) {
  // Volatile, or the compiler makes wide loads of a row of these.
  const std::uint32_t word = *reinterpret_cast<const volatile std::uint32_t*>(from);
  std::memcpy(to, &word, sizeof word);
}

/// The runs of a block in which some words have changed and others not.
void add_runs(Runs& runs, std::size_t word, const Block& block) {
  std::uint32_t changed = block.changed;
  const auto* now = reinterpret_cast<const std::byte*>(block.now);
  const auto* before = reinterpret_cast<const std::byte*>(block.before);
  for (std::size_t place = 0; changed != 0;) {
    const auto gap = static_cast<std::size_t>(std::countr_zero(changed));
    if (gap != 0 || place != 0) runs.close();
    place += gap;
    changed >>= gap;
    const auto words = static_cast<std::size_t>(std::countr_one(changed));
    if (runs.open == nullptr) runs.begin(word + place);
    // Word by word: a wider load across two of the stores that just made them would wait for both.
    for (std::size_t i = 0; i < words; ++i) {
      copy_word(runs.at + 4 * i, now + 4 * (place + i));
      copy_word(runs.twin_at + 4 * i, before + 4 * (place + i));
    }
    runs.at += 4 * words;
    runs.twin_at += 4 * words;
    runs.open_words = static_cast<std::uint16_t>(runs.open_words + words);
    place += words;
    changed >>= words;
  }
  if ((block.changed >> (block_words - 1)) == 0) runs.close();
}

/// Words of a page, from one on up to another.
struct Words {
  std::size_t first = 0;
  std::size_t end = 0;
};

/// Finds the runs of changed words.
Runs encode_blocks(Runs runs, const std::byte* page, std::byte* twin, const Words& words) {
  for (std::size_t word = words.first; word < words.end; word += block_words) {
    const Block block = compare_block(page + word * 4, twin + word * 4);
    if (block.changed == 0) {
      runs.close();
      continue;
    }
    runs.change.words = static_cast<std::uint16_t>(runs.change.words + std::popcount(block.changed));
    if (block.changed != whole_block) {
      add_runs(runs, word, block);
      continue;
    }
    if (runs.open == nullptr) runs.begin(word);
    std::memcpy(runs.at, block.now, block_words * 4);
    std::memcpy(runs.twin_at, block.before, block_words * 4);
    runs.at += block_words * 4;
    runs.twin_at += block_words * 4;
    runs.open_words = static_cast<std::uint16_t>(runs.open_words + block_words);
  }
  runs.close();
  return runs;
}

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vpopcntdq,bmi,bmi2,lzcnt,popcnt")

/// Encodes whole cache lines: no step depends on which words have changed, only on whether any has, or all have.
Runs encode_lines(Runs runs, const std::byte* page, std::byte* twin, const Words& among) {
  using Line [[gnu::vector_size(64)]] = std::uint32_t;
  const Line lanes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  // A lane of the heads, the same one of the words, the next one of the heads...
  const __m512i first_lanes = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i last_lanes = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  for (std::size_t word = among.first; word < among.end; word += block_words) {
    const __m512i now = *reinterpret_cast<const volatile __m512i*>(page + word * 4);
    auto* const twin_line = reinterpret_cast<__m512i*>(twin + word * 4);
    const __m512i before = *twin_line;
    const std::uint32_t changed = _mm512_cmpneq_epi32_mask(now, before);
    if (changed == 0) {
      runs.close();
      continue;
    }
    *twin_line = now;
    // Compressed in the register: a compressing store is slow on some processors.
    _mm512_storeu_si512(runs.twin_at, _mm512_maskz_compress_epi32(static_cast<__mmask16>(changed), before));
    runs.twin_at += 4 * std::popcount(changed);
    runs.change.words = static_cast<std::uint16_t>(runs.change.words + std::popcount(changed));
    if (changed == whole_block) {
      if (runs.open == nullptr) runs.begin(word);
      _mm512_storeu_si512(runs.at, now);
      runs.at += sizeof now;
      runs.open_words = static_cast<std::uint16_t>(runs.open_words + block_words);
      continue;
    }
    const std::uint32_t goes_on = runs.open != nullptr ? 1 : 0;
    if (goes_on != 0) {
      runs.open_words = static_cast<std::uint16_t>(runs.open_words + std::countr_one(changed));
      runs.close();
    }
    const std::uint32_t begins = changed & ~(changed << 1 | goes_on);
    // How many adjacent words from each lane on have changed: the ones that end its bits.
    const Line rest = (Line{} + changed) >> lanes;
    const auto lengths = reinterpret_cast<Line>(_mm512_popcnt_epi32(reinterpret_cast<__m512i>(rest & ~(rest + 1))));
    const auto heads = reinterpret_cast<__m512i>(lengths << 16 | (lanes + static_cast<std::uint32_t>(word)));
    const __m512i first = _mm512_permutex2var_epi32(heads, first_lanes, now);
    const __m512i last = _mm512_permutex2var_epi32(heads, last_lanes, now);
    const std::uint32_t kept = _pdep_u32(begins, 0x55555555) | _pdep_u32(changed, 0xaaaaaaaa);
    std::byte* const block_at = runs.at;
    _mm512_storeu_si512(runs.at, _mm512_maskz_compress_epi32(static_cast<__mmask16>(kept), first));
    runs.at += 4 * std::popcount(kept & 0xffff);
    _mm512_storeu_si512(runs.at, _mm512_maskz_compress_epi32(static_cast<__mmask16>(kept >> 16), last));
    runs.at += 4 * std::popcount(kept >> 16);
    runs.change.runs = static_cast<std::uint16_t>(runs.change.runs + std::popcount(begins));
    if ((changed >> (block_words - 1)) == 0) continue;
    const int words = std::countl_one(changed << 16);
    const std::uint32_t below = (std::uint32_t{1} << 2 * (block_words - static_cast<std::size_t>(words))) - 1;
    runs.open = block_at + 4 * std::popcount(kept & below);
    runs.open_words = static_cast<std::uint16_t>(words);
  }
  runs.close();
  return runs;
}

#pragma GCC pop_options

/// Room beyond a diff's end for what is written at once.
constexpr std::size_t overrun = 64;
static_assert(8 + 4 * (words_per_page + 1) + overrun <= most_diff_bytes(least_page.count),
              "a run more is a word less, as one that did not change lies between two");

using EncodeBlocks = Runs(Runs, const std::byte*, std::byte*, const Words&);

EncodedDiff encode_by(EncodeBlocks& encode, std::uint64_t address, const std::byte* page, std::byte* twin,
                      DiffBuffer& buffer, std::uint32_t parts) {
  Runs runs;
  runs.at = buffer.diff + sizeof address;
  runs.twin_at = buffer.twin_words;
  for (Words words; parts != 0;) {
    const auto gap = static_cast<unsigned>(std::countr_zero(parts));
    const auto length = static_cast<unsigned>(std::countr_one(parts >> gap));
    words = {words.end + gap * words_per_page, words.end + (gap + length) * words_per_page};
    runs = encode(runs, page, twin, words);
    parts = gap + length < 32 ? parts >> (gap + length) : 0;
  }
  EncodedDiff diff{runs.change, 0};
  if (!diff.change) return diff;
  std::memcpy(buffer.diff, &address, sizeof address);
  diff.bytes = static_cast<std::uint32_t>(runs.at - buffer.diff);
  return diff;
}

bool can_take_lines() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}
const bool takes_lines = can_take_lines();

/// The top bit of each byte that is not zero.
constexpr std::uint32_t nonzero_bytes(std::uint32_t word) {
  constexpr std::uint32_t low_bits = 0x7f7f7f7f;
  return (((word & low_bits) + low_bits) | word) & ~low_bits;
}
constexpr std::uint32_t all_bytes = nonzero_bytes(0xffffffff);

std::uint32_t word_at(const std::byte* bytes) {
  std::uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

struct MergedWord {
  std::uint32_t stored = 0;  ///< mask of the bits that get what is new
  bool is_torn = false;      ///< others have changed some of these, and the whole word is stored in spite of that
};

/// Merges a change into a word that is `current` at home.
MergedWord merge(std::uint32_t current, std::uint32_t now, std::uint32_t before) {
  const std::uint32_t changed = nonzero_bytes(now ^ before);
  const std::uint32_t overlap = changed & nonzero_bytes(current ^ before) & nonzero_bytes(current ^ now);
  if (changed == all_bytes || overlap != 0) return {~0U, (nonzero_bytes(current ^ before) & ~changed) != 0};
  return {(changed >> 7) * 0xff, false};
}
/// Stores a word, or two, at once: the home's own thread may be reading a variable of that size, and must not find half
/// of a change. Bytes that do not change stay as they are: it may be writing them. Returns whether the first word, or
/// the second one, is torn.
template <typename Words>
std::array<bool, sizeof(Words) / word_bytes> store_words(std::byte* home, const std::byte* now,
                                                         const std::byte* before) {
  constexpr unsigned count = sizeof(Words) / word_bytes, bits = 32;
  auto* const place = reinterpret_cast<Words*>(home);
  Words wanted;
  std::memcpy(&wanted, now, sizeof wanted);
  Words current = __atomic_load_n(place, __ATOMIC_RELAXED);
  for (;;) {
    std::array<bool, count> is_torn{};
    Words stored = 0;
    for (unsigned i = 0; i < count; ++i) {
      const auto word = static_cast<std::uint32_t>(current >> bits * i);
      const MergedWord merged = merge(word, word_at(now + i * sizeof word), word_at(before + i * sizeof word));
      stored |= Words{merged.stored} << bits * i;
      is_torn[i] = merged.is_torn;
    }
    const Words merged = (current & ~stored) | (wanted & stored);
    if (__atomic_compare_exchange_n(place, &current, merged, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) return is_torn;
  }
}

}  // namespace

EncodedDiff encode_diff(std::uint64_t address, const std::byte* page, std::byte* twin, DiffBuffer& buffer,
                        std::uint32_t parts) {
  return encode_by(takes_lines ? encode_lines : encode_blocks, address, page, twin, buffer, parts);
}

EncodedDiff encode_diff_anywhere(std::uint64_t address, const std::byte* page, std::byte* twin, DiffBuffer& buffer,
                                 std::uint32_t parts) {
  return encode_by(encode_blocks, address, page, twin, buffer, parts);
}

bool apply_diff(const std::byte* diff, std::uint32_t bytes, const std::byte* twin_words, std::uint32_t twin_bytes,
                std::byte* page, std::optional<std::size_t>* torn, std::size_t words) {
  std::size_t at = sizeof(std::uint64_t);
  std::size_t twin_at = 0;
  while (at < bytes) {
    RunHead head;
    if (bytes - at < sizeof head) return false;
    std::memcpy(&head, diff + at, sizeof head);
    at += sizeof head;
    const std::size_t length = std::size_t{head.words} * 4;
    if (head.words == 0 || std::size_t{head.first} + head.words > words) return false;
    if (length > bytes - at || length > twin_bytes - twin_at) return false;
    std::byte* home = page + std::size_t{head.first} * 4;
    const auto note = [&](bool is_torn, std::size_t i) {
      if (is_torn && torn != nullptr) *torn = static_cast<std::size_t>(home + i - page);
    };
    for (std::size_t i = 0; i < length;) {
      const std::byte* const now = diff + at + i;
      const std::byte* const before = twin_words + twin_at + i;
      if (length - i >= 8 && (head.first + i / 4) % 2 == 0) {
        const auto [low, high] = store_words<std::uint64_t>(home + i, now, before);
        note(low, i);
        note(high, i + 4);
        i += 8;
      } else {
        note(store_words<std::uint32_t>(home + i, now, before)[0], i);
        i += 4;
      }
    }
    at += length;
    twin_at += length;
  }
  return at == bytes && twin_at == twin_bytes;
}

bool changes_at_once(const std::byte* diff, std::uint32_t bytes) {
  RunHead head;
  constexpr std::size_t begin = sizeof(std::uint64_t);
  if (bytes < begin + sizeof head) return true;
  std::memcpy(&head, diff + begin, sizeof head);
  const bool is_one_run = begin + sizeof head + std::size_t{head.words} * 4 == bytes;
  return is_one_run && head.words > 0 && head.first / 2 == (head.first + head.words - 1) / 2;
}

std::uint64_t address_of_diff(const std::byte* diff) {
  std::uint64_t address;
  std::memcpy(&address, diff, sizeof address);
  return address;
}

}  // namespace sdsm::dsm
