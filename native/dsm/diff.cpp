#include "native/dsm/diff.hpp"

#include <cstring>

namespace sdsm::dsm {
namespace {

constexpr std::size_t block_words = 16;  ///< compared at once: a cache line

struct RunHead {
  std::uint16_t first;
  std::uint16_t words;
};
static_assert(sizeof(RunHead) == run_header.count);

/// One load: another thread may be writing the word.
std::uint32_t word_at(const std::byte* page, std::size_t word) {
  return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(page) + word, __ATOMIC_RELAXED);
}

bool is_same_block(const std::byte* page, const std::byte* twin, std::size_t word) {
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < block_words * 4; i += sizeof difference) {
    std::uint64_t a;
    std::uint64_t b;
    std::memcpy(&a, page + word * 4 + i, sizeof a);
    std::memcpy(&b, twin + word * 4 + i, sizeof b);
    difference |= a ^ b;
  }
  return difference == 0;
}

/// Bytes that do not change are not written: somebody else may be writing them.
void change_bytes(std::byte* bytes, const std::byte* differences, std::size_t count) {
  for (std::size_t i = 0; i < count; i += 4) {
    std::uint32_t difference;
    std::memcpy(&difference, differences + i, sizeof difference);
    // No byte of the word is zero (Mycroft's test): the usual case, and one write.
    const bool changes_all = ((difference - 0x01010101U) & ~difference & 0x80808080U) == 0;
    if (changes_all) {
      std::uint32_t changed;
      std::memcpy(&changed, bytes + i, sizeof changed);
      changed ^= difference;
      std::memcpy(bytes + i, &changed, sizeof changed);
      continue;
    }
    for (std::size_t byte = i; byte < i + 4; ++byte) {
      if (differences[byte] != std::byte{0}) bytes[byte] ^= differences[byte];
    }
  }
}

}  // namespace

EncodedDiff encode_diff(std::uint64_t address, const std::byte* page, std::byte* twin, std::byte* buffer) {
  EncodedDiff diff;
  std::byte* at = buffer + sizeof address;
  std::byte* run = nullptr;  ///< head of the run at hand
  RunHead head{};
  for (std::size_t word = 0; word < words_per_page; ++word) {
    if (word % block_words == 0 && is_same_block(page, twin, word)) {
      run = nullptr;
      word += block_words - 1;
      continue;
    }
    const std::uint32_t now = word_at(page, word);
    const std::uint32_t difference = now ^ word_at(twin, word);
    if (difference == 0) {
      run = nullptr;
      continue;
    }
    if (run == nullptr) {
      run = at;
      head = {static_cast<std::uint16_t>(word), 0};
      at += sizeof head;
      ++diff.change.runs;
    }
    ++head.words;
    std::memcpy(run, &head, sizeof head);
    std::memcpy(at, &difference, sizeof difference);
    at += sizeof difference;
    std::memcpy(twin + word * 4, &now, sizeof now);
    ++diff.change.words;
  }
  if (!diff.change) return diff;
  std::memcpy(buffer, &address, sizeof address);
  diff.bytes = static_cast<std::uint32_t>(at - buffer);
  return diff;
}

bool apply_diff(const std::byte* diff, std::uint32_t bytes, std::byte* page) {
  std::size_t at = sizeof(std::uint64_t);
  while (at < bytes) {
    RunHead head;
    if (bytes - at < sizeof head) return false;
    std::memcpy(&head, diff + at, sizeof head);
    at += sizeof head;
    const std::size_t length = std::size_t{head.words} * 4;
    if (head.words == 0 || head.first + head.words > words_per_page || length > bytes - at) return false;
    change_bytes(page + std::size_t{head.first} * 4, diff + at, length);
    at += length;
  }
  return at == bytes;
}

std::uint64_t address_of_diff(const std::byte* diff) {
  std::uint64_t address;
  std::memcpy(&address, diff, sizeof address);
  return address;
}

}  // namespace sdsm::dsm
