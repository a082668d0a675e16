#include "workloads/trace/page_codec.hpp"

#include <fmt/format.h>

#include <bit>

namespace sdsm::trace {
namespace {

/// Bits 0 and 1 of the first byte: the encoding of the 64 lines; line 0 is the lowest bit.
enum Form : unsigned {
  few,     ///< a byte that marks the eight bytes that are not zero, then these
  most,    ///< the same for bytes that are not 0xff
  repeat,  ///< one byte, for all eight
  group,   ///< one group of adjacent lines; the next 12 bits hold its first line, and its number of lines less one
};
constexpr unsigned first_word_bit = 1 << 2;
constexpr unsigned last_word_bit = 1 << 3;

constexpr std::uint8_t byte_of(std::uint64_t lines, unsigned number) {
  return static_cast<std::uint8_t>(lines >> (8 * number));
}

constexpr std::uint64_t repeated(std::uint8_t byte) {
  return std::uint64_t{byte} * 0x0101'0101'0101'0101;
}

void write_bytes_that_differ(std::vector<std::uint8_t>& out, std::uint64_t lines, std::uint8_t usual) {
  unsigned which = 0;
  for (unsigned i = 0; i < 8; ++i) which |= (byte_of(lines, i) != usual ? 1U : 0U) << i;
  out.push_back(static_cast<std::uint8_t>(which));
  for (unsigned i = 0; i < 8; ++i) {
    if ((which >> i & 1) != 0) out.push_back(byte_of(lines, i));
  }
}

std::uint64_t read_bytes_that_differ(const std::uint8_t*& cursor, std::uint8_t usual) {
  const unsigned which = *cursor++;
  std::uint64_t lines = 0;
  for (unsigned i = 0; i < 8; ++i) lines |= std::uint64_t{(which >> i & 1) != 0 ? *cursor++ : usual} << (8 * i);
  return lines;
}

}  // namespace

void write_value(std::vector<std::uint8_t>& out, const ChangedLines& changed) {
  const std::uint64_t lines = changed.lines;
  const unsigned ends = (changed.first_word ? first_word_bit : 0) | (changed.last_word ? last_word_bit : 0);
  const auto write_head = [&](Form form, unsigned more = 0) {
    out.push_back(static_cast<std::uint8_t>(form | ends | more));
  };
  const auto start = static_cast<unsigned>(std::countr_zero(lines));
  const auto length = static_cast<unsigned>(std::countr_one(lines >> (start % 64)));
  if (length > 0 && std::popcount(lines) == static_cast<int>(length)) {
    const unsigned place = start | (length - 1) << 6;
    write_head(group, (place & 15) << 4);
    out.push_back(static_cast<std::uint8_t>(place >> 4));
  } else if (lines == repeated(byte_of(lines, 0))) {
    write_head(repeat);
    out.push_back(byte_of(lines, 0));
  } else {
    const bool has_most = std::popcount(lines) > 32;
    write_head(has_most ? most : few);
    write_bytes_that_differ(out, lines, has_most ? 0xff : 0);
  }
}

void read_value(const std::uint8_t*& cursor, ChangedLines& changed) {
  const unsigned head = *cursor++;
  changed.first_word = (head & first_word_bit) != 0;
  changed.last_word = (head & last_word_bit) != 0;
  const unsigned form = head & 3;
  if (form != group && head >> 4 != 0) throw ContentError("lines that begin with no form of theirs");
  switch (form) {
    case few: changed.lines = read_bytes_that_differ(cursor, 0); return;
    case most: changed.lines = read_bytes_that_differ(cursor, 0xff); return;
    case repeat: changed.lines = repeated(*cursor++); return;
    default: break;
  }
  const unsigned place = head >> 4 | static_cast<unsigned>(*cursor++) << 4;
  const unsigned start = place & 63;
  const unsigned length = (place >> 6) + 1;
  if (start + length > 64) throw ContentError(fmt::format("{} lines from line {} of a page", length, start));
  changed.lines = (~std::uint64_t{0} >> (64 - length)) << start;
}

void write_value(std::vector<std::uint8_t>& out, std::uint32_t site) {
  write_varint(out, site);
}

void read_value(const std::uint8_t*& cursor, std::uint32_t& site) {
  const std::uint64_t number = read_varint(cursor);
  if (number >= max_sites) throw ContentError(fmt::format("site {} is above {}", number, max_sites - 1));
  site = static_cast<std::uint32_t>(number);
}

}  // namespace sdsm::trace
