#include "workloads/trace/file_layout.hpp"

#include <algorithm>

namespace sdsm::trace {
namespace {

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320U : 0);
    table[i] = value;
  }
  return table;
}

constexpr auto crc_table = make_crc_table();

}  // namespace

std::uint32_t crc32(std::span<const std::uint8_t> bytes, std::uint32_t crc) {
  crc = ~crc;
  for (const std::uint8_t byte : bytes) crc = crc_table[(crc ^ byte) & 0xff] ^ (crc >> 8);
  return ~crc;
}

HeadBytes encode_head(std::uint32_t format) {
  HeadBytes bytes{};
  std::copy(magic.begin(), magic.end(), bytes.begin());
  store_little_endian(&bytes[8], format);
  return bytes;
}

TrailerBytes encode_trailer(const Trailer& trailer, std::span<const std::uint8_t> footer) {
  TrailerBytes bytes{};
  store_little_endian(&bytes[0], trailer.footer_offset);
  store_little_endian(&bytes[8], trailer.footer_stored_bytes);
  store_little_endian(&bytes[16], trailer.footer_raw_bytes);
  const std::span checked(bytes.data(), trailer_checked_bytes);
  store_little_endian(&bytes[20], crc32(checked, crc32(footer)));
  std::copy(end_magic.begin(), end_magic.end(), bytes.begin() + 24);
  return bytes;
}

}  // namespace sdsm::trace
