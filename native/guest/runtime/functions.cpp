#include "native/guest/runtime/functions.hpp"

#include <cstdint>
#include <cstring>

namespace sdsm::program {
namespace {

// Encodings of pointers (Linux Standard Base, "DWARF Extensions").
constexpr std::uint8_t unsigned_4 = 0x03;
constexpr std::uint8_t signed_4_from_table = 0x3b;

/// Bytes of an encoded pointer.
std::size_t bytes_of(std::uint8_t encoding) {
  switch (encoding & 7) {
    case 2: return 2;
    case 3: return 4;
    default: return 8;
  }
}

struct Cursor {
  const std::uint8_t* at;

  template <typename Number>
  Number take() {
    Number number;
    std::memcpy(&number, at, sizeof number);
    at += sizeof number;
    return number;
  }
  /// A number of as many bytes as it needs (LEB128), or only its end.
  std::uint64_t take_number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = *at++;
      if (shift < 64) number |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return number;
    }
  }
};

/// What a function's entry has in common with others.
struct CommonEntry {
  std::uint8_t place_encoding = 0;
  bool has_landing_pads = false;
  bool has_more = false;  ///< behind the function's extent
};

CommonEntry common_entry(const std::uint8_t* entry) {
  CommonEntry found;
  Cursor cursor{entry + 8};
  const auto version = cursor.take<std::uint8_t>();
  const char* what = reinterpret_cast<const char*>(cursor.at);
  cursor.at += std::strlen(what) + 1;
  cursor.take_number();
  cursor.take_number();
  if (version == 1) {
    cursor.take<std::uint8_t>();
  } else {
    cursor.take_number();
  }
  if (*what != 'z') return found;
  found.has_more = true;
  cursor.take_number();
  while (*++what != '\0') {
    switch (*what) {
      case 'L':
        found.has_landing_pads = true;
        cursor.take<std::uint8_t>();
        break;
      case 'P': {
        const auto encoding = cursor.take<std::uint8_t>();
        cursor.at += bytes_of(encoding);
        break;
      }
      case 'R': found.place_encoding = cursor.take<std::uint8_t>(); break;
      default: break;
    }
  }
  return found;
}

/// `entry`: the function's.
FunctionExtent extent_of(std::uintptr_t begin, const std::uint8_t* entry) {
  Cursor cursor{entry + 4};
  const std::uint8_t* const distance_at = cursor.at;
  const CommonEntry common = common_entry(distance_at - cursor.take<std::uint32_t>());
  const std::size_t bytes = bytes_of(common.place_encoding);
  cursor.at += bytes;
  const std::uint64_t length = bytes == 4 ? cursor.take<std::uint32_t>() : cursor.take<std::uint64_t>();
  return {{begin, begin + length}, common.has_landing_pads};
}

}  // namespace

void for_each_function(const dl_phdr_info& object, void (*visit)(const FunctionExtent&, void*), void* data) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    if (header.p_type != PT_GNU_EH_FRAME) continue;
    const std::uintptr_t table = object.dlpi_addr + header.p_vaddr;
    Cursor cursor{reinterpret_cast<const std::uint8_t*>(table)};
    cursor.at += 1;  // the version
    const std::size_t frames_bytes = bytes_of(cursor.take<std::uint8_t>());
    const auto count_encoding = cursor.take<std::uint8_t>();
    const auto encoding = cursor.take<std::uint8_t>();
    if (count_encoding != unsigned_4 || encoding != signed_4_from_table) continue;
    cursor.at += frames_bytes;
    for (auto count = cursor.take<std::uint32_t>(); count > 0; --count) {
      const auto distance = [&] { return static_cast<std::uintptr_t>(std::intptr_t{cursor.take<std::int32_t>()}); };
      const std::uintptr_t begin = table + distance();
      visit(extent_of(begin, reinterpret_cast<const std::uint8_t*>(table + distance())), data);
    }
    return;
  }
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    const std::uintptr_t begin = object.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0) visit({{begin, begin + header.p_filesz}, true}, data);
  }
}

}  // namespace sdsm::program
