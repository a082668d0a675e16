/// A trace file's outer shape (docs/trace-format.md): head, blocks, footer, trailer. Numbers are little-endian.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

namespace sdsm::trace {

/// Modelled on PNG's: it is not ASCII, so no text file begins with it; its line ends and end-of-file character reveal a
/// copy that was "converted" as text.
inline constexpr std::array<std::uint8_t, 8> magic = {0x89, 'S', 'D', 'S', 'M', '\r', '\n', 0x1a};
inline constexpr std::array<std::uint8_t, 8> end_magic = {'S', 'D', 'S', 'M', 'e', 'n', 'd', '\n'};

/// Magic, version (4 bytes), zero (4 bytes).
inline constexpr std::uint64_t head_bytes = 16;
/// Footer offset (8), its stored bytes (8), its raw bytes (4), CRC-32 (4), end magic (8). The CRC covers the stored
/// footer and the first 20 trailer bytes.
inline constexpr std::uint64_t trailer_bytes = 32;
inline constexpr std::uint64_t trailer_checked_bytes = 20;

/// Largest content of a block: a reader holds one per thread, and larger ones compress hardly better.
inline constexpr std::uint32_t max_block_bytes = 64 * 1024;
/// Slightly above zstd's bound for an incompressible block (ZSTD_compressBound plus a checksum).
inline constexpr std::uint32_t max_stored_block_bytes = max_block_bytes + 4096;
/// The shortest zstd frame with content size and checksum.
inline constexpr std::uint32_t min_stored_block_bytes = 11;
/// Suffices for the index of a hundred gigabytes of blocks; bounds the memory that a damaged file can ask for.
inline constexpr std::uint32_t max_footer_bytes = 64 * 1024 * 1024;

/// Is added to an EventKind whose call site follows, as it is not the predicted one.
inline constexpr std::uint8_t has_call_site = 1 << 6;
/// Replaces an EventKind where the interval continues in the thread's next block.
inline constexpr std::uint8_t part_of_interval = 0xff;

/// The lowest bits of a piece's number of runs mark the sections that follow the runs.
namespace section_flags {
inline constexpr unsigned lines = 1;
inline constexpr unsigned sites = 2;
inline constexpr unsigned shift = 2;
}  // namespace section_flags

/// Flags of a piece's first byte in format 1.
namespace format_1_flags {
inline constexpr std::uint8_t kind_mask = 15;
inline constexpr std::uint8_t detail = 1 << 4;
inline constexpr std::uint8_t object = 1 << 5;
inline constexpr std::uint8_t value = 1 << 6;
/// Stands alone where the interval continues in the thread's next block.
inline constexpr std::uint8_t unfinished = 1 << 7;
}  // namespace format_1_flags

/// Kind, detail, and call site, object, value, team, compute time, number of runs as varints.
inline constexpr unsigned max_piece_head_bytes = 2 + 6 * 10;

template <typename Integer>
void store_little_endian(std::uint8_t* to, Integer value) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

template <typename Integer>
Integer load_little_endian(const std::uint8_t* from) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) value |= static_cast<Integer>(Integer{from[i]} << (8 * i));
  return value;
}

/// CRC-32 as in zip and PNG (polynomial 0xEDB88320), continued from the earlier bytes' `crc`.
std::uint32_t crc32(std::span<const std::uint8_t> bytes, std::uint32_t crc = 0);

struct Trailer {
  std::uint64_t footer_offset = 0;
  std::uint64_t footer_stored_bytes = 0;
  std::uint32_t footer_raw_bytes = 0;
};

using HeadBytes = std::array<std::uint8_t, head_bytes>;
using TrailerBytes = std::array<std::uint8_t, trailer_bytes>;

HeadBytes encode_head(std::uint32_t format);
/// `footer` holds the stored bytes.
TrailerBytes encode_trailer(const Trailer& trailer, std::span<const std::uint8_t> footer);

}  // namespace sdsm::trace
