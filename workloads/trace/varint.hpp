/// Variable-length integers (LEB128): seven bits a byte, lowest first, the top bit set on all but the last. Signed
/// numbers are zigzagged first: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/trace/content_error.hpp"

namespace sdsm::trace {

inline constexpr unsigned max_varint_bytes = 10;

constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

/// Writes up to max_varint_bytes at `out`, and returns the end.
inline std::uint8_t* write_varint(std::uint8_t* out, std::uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<std::uint8_t>(value);
  return out;
}

inline void write_varint(std::vector<std::uint8_t>& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<std::uint8_t>(value));
}

/// Reads up to max_varint_bytes from `cursor` without checking for an end: the caller's buffer has that many spare
/// bytes behind its content. Throws ContentError for a number of more than 64 bits.
inline std::uint64_t read_varint(const std::uint8_t*& cursor) {
  std::uint64_t value = *cursor++;
  if (value < 0x80) [[likely]]
    return value;
  value &= 0x7f;
  for (unsigned shift = 7; shift < 70; shift += 7) {
    const std::uint64_t byte = *cursor++;
    if (shift == 63 && byte > 1) break;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  throw ContentError("a number of more than 64 bits");
}

}  // namespace sdsm::trace
