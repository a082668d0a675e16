#include "native/guest/code/memory_access.hpp"

#include <bit>

namespace sdsm::program {
namespace {

/// The prefix that chooses among operations of one opcode.
enum class Selector : std::uint8_t { none, short_operand, f3, f2 };

/// What of an instruction decides how much it accesses.
struct Form {
  const Instruction* found = nullptr;
  Selector selector{};
  bool is_wide = false;    ///< operands of general registers have 8 bytes
  std::uint32_t word = 4;  ///< bytes of such an operand
  std::uint32_t vector = 16;
  bool is_masked = false;     ///< by an EVEX mask register
  bool is_broadcast = false;  ///< EVEX: one element is read for all
  unsigned field = 0;         ///< bits 3..5 of the ModRM byte
};

Selector selector_of(unsigned bits) {
  constexpr Selector by_bits[] = {Selector::none, Selector::short_operand, Selector::f3, Selector::f2};
  return by_bits[bits & 3];
}

/// Reads a VEX or EVEX prefix, with which `code` begins. XOP has another layout, and no length here.
void read_vector_prefix(const std::uint8_t* code, Form& form) {
  if (*code == 0xc5) {
    form.selector = selector_of(code[1]);
    form.vector = (code[1] & 4) != 0 ? 32 : 16;
  } else if (*code == 0xc4) {
    form.selector = selector_of(code[2]);
    form.vector = (code[2] & 4) != 0 ? 32 : 16;
    form.is_wide = (code[2] & 0x80) != 0;
  } else if (*code == 0x62) {
    form.selector = selector_of(code[2]);
    form.is_wide = (code[2] & 0x80) != 0;
    form.is_broadcast = (code[3] & 0x10) != 0;
    form.is_masked = (code[3] & 7) != 0;
    constexpr std::uint32_t lengths[] = {16, 32, 64, 0};
    form.vector = lengths[code[3] >> 5 & 3];
  }
  form.word = form.is_wide ? 8 : 4;
}

Form form_of(const std::uint8_t* code, const Instruction& found) {
  Form form{.found = &found};
  form.field = found.modrm != 0 ? code[found.modrm] >> 3 & 7U : 0;
  const std::uint8_t* at = code;
  if (found.is_vector) {
    while (*at != 0xc4 && *at != 0xc5 && *at != 0x62 && *at != 0x8f) ++at;
    read_vector_prefix(at, form);
    return form;
  }
  // The last of f2 and f3 counts; they come before 66.
  for (; at < code + found.length; ++at) {
    if (*at == 0xf2) form.selector = Selector::f2;
    if (*at == 0xf3) form.selector = Selector::f3;
    if (*at != 0x66 && *at != 0x67 && *at != 0xf0 && *at != 0xf2 && *at != 0xf3 && (*at & 0xe7) != 0x26 &&
        (*at & 0xfe) != 0x64)
      break;
  }
  if (form.selector == Selector::none && found.has_short_operand) form.selector = Selector::short_operand;
  form.is_wide = (found.rex & rex_wide) != 0;
  form.word = form.is_wide ? 8 : found.has_short_operand ? 2 : 4;
  return form;
}

std::uint32_t bytes_of_x87(unsigned opcode, unsigned field) {
  constexpr std::uint32_t sizes[8][8] = {
      {4, 4, 4, 4, 4, 4, 4, 4}, {4, 0, 4, 4, 28, 2, 28, 2},   {4, 4, 4, 4, 4, 4, 4, 4}, {4, 4, 4, 4, 0, 10, 0, 10},
      {8, 8, 8, 8, 8, 8, 8, 8}, {8, 8, 8, 8, 108, 0, 108, 2}, {2, 2, 2, 2, 2, 2, 2, 2}, {2, 2, 2, 2, 10, 8, 10, 8}};
  return sizes[opcode - 0xd8][field];
}

// What instructions access, by opcode maps as in machine_code.cpp; a dot: nothing, or not known.

/// o: an operand of one byte or, with an odd opcode, a word; O: the same, read and written; w: a word; a digit: so many
/// bytes; n, g: O for some of the group; p: pop; i, f: inc to push; x: of x87.
constexpr char one_byte_access[] =
    "OOoooo..OOoooo.."  // 00
    "OOoooo..OOoooo.."
    "OOoooo..OOoooo.."  // 20
    "OOoooo..oooooo.."
    "................"  // 40
    "................"
    "...4.....w.w...."  // 60
    "................"
    "gg.gooOOoooo2.2p"  // 80
    "................"
    "oooooooo..oooooo"  // a0
    "................"
    "OO....oo........"  // c0
    "OOOO....xxxxxxxx"
    "................"  // e0
    "......nn......if";

/// Of SSE and MMX. s: a vector or its first element; v: a vector; f: the full width; a digit: so many bytes; h: how far
/// to shift; l: the low part; the others one by one.
constexpr char packed[] =
    "................"  // 00
    "ssd8vvd8........"
    "........vvivttcc"  // 20
    "................"
    "................"  // 40
    ".sssssssssDvssss"
    "lllfffffffffffmf"  // 60
    "f...fff.....vvMf"
    "................"  // 80
    "................"
    "................"  // a0
    "................"
    "..s.2.v........."  // c0
    "vhhhff8fffffffff"
    "fhhfffefffffffff"  // e0
    "vhhhfffffffffff.";

/// f: the full width; H, Q, E: a half, quarter, eighth of a vector (pmovsx, pmovzx); c: crc32, movbe; w: a word. Of
/// vectors alone: h: a half; m: a vector, or an element (FMA); a digit: so many bytes; x: 16.
constexpr char after_0f_38[] =
    "ffffffffffffffff"  // 00
    "f..hff.f48x.fff."
    "HQEHQH..ffff...."  // 20
    "HQEHQHffffffffff"
    "f..............."  // 40
    "........48x....."
    "................"  // 60
    "........12......"
    "................"  // 80
    "......mmmmmmmmmm"
    "......mmmmmmmmmm"  // a0
    "......mmmmmmmmmm"
    "........ffffffff"  // c0
    "ffffffffffffffff"
    "................"  // e0
    "cwww.www........";
static_assert(sizeof one_byte_access == 257 && sizeof packed == 257 && sizeof after_0f_38 == 257);

MemoryAccess of_one_byte(const Form& form) {
  const unsigned opcode = form.found->opcode;
  const std::uint32_t operand = (opcode & 1) == 0 ? 1 : form.word;
  switch (one_byte_access[opcode]) {
    case '2': return {2};
    case '4': return {4};
    case 'w': return {form.word};
    case 'o': return {operand};
    case 'O': return {operand, true};
    case 'g': return {operand, form.field != 7};  // the last compares
    case 'n': return {operand, form.field == 2 || form.field == 3};
    case 'p': return {form.found->has_short_operand ? 2U : 8U};
    case 'i': return {1, true};
    case 'f': return form.field < 2 ? MemoryAccess{form.word, true} : MemoryAccess{8};
    case 'x': return {bytes_of_x87(opcode, form.field)};
    default: return {};
  }
}

/// Access of opcodes after 0f and of a vector's map 1: SSE's and MMX's, whose full width is `full`.
MemoryAccess of_packed(const Form& form, std::uint32_t full) {
  const bool is_scalar = form.selector == Selector::f3 || form.selector == Selector::f2;
  const bool has_none = form.selector == Selector::none;
  const std::uint32_t scalar = form.selector == Selector::f3 ? 4 : 8;
  switch (packed[form.found->opcode]) {
    case 's': return {is_scalar ? scalar : form.vector};
    case 'v': return {form.vector};
    case 'f': return {full};
    case '2': return {2};
    case '8': return {8};
    case 'h': return {has_none ? 8U : 16U};
    case 'l': return {has_none ? 4 : form.vector};
    case 'd':
      if (form.selector == Selector::f3) return {form.vector};
      return {form.selector == Selector::f2 && form.vector > 16 ? form.vector : 8};
    case 'i': return {is_scalar ? form.word : 8};
    case 't': return {is_scalar ? scalar : has_none ? 8U : 16U};
    case 'c': return {has_none ? 4U : 8U};
    case 'D': return {is_scalar ? scalar : has_none ? form.vector / 2 : form.vector};
    case 'm': return {form.word == 2 ? 4 : form.word};
    case 'M': return {form.selector == Selector::f3 ? 8 : form.word == 2 ? 4 : form.word};
    case 'e': return {form.selector == Selector::f3 ? form.vector / 2 : form.vector};
    default: return {};
  }
}

MemoryAccess of_after_0f(const Form& form) {
  const unsigned opcode = form.found->opcode;
  if ((opcode & 0xf0) == 0x40) return {form.word};
  if ((opcode & 0xf0) == 0x90) return {1};
  switch (opcode) {
    case 0xa3: return {form.word};
    case 0xa4:
    case 0xa5:
    case 0xab:
    case 0xac:
    case 0xad:
    case 0xb3:
    case 0xbb: return {form.word, true};
    case 0xae: return {form.field == 2 || form.field == 3 ? 4U : 0U};
    case 0xaf:
    case 0xb8:
    case 0xbc:
    case 0xbd: return {form.word};
    case 0xb0:
    case 0xc0: return {1, true};
    case 0xb1:
    case 0xc1: return {form.word, true};
    case 0xb6:
    case 0xbe: return {1};
    case 0xb7:
    case 0xbf: return {2};
    case 0xba: return {form.word, form.field != 4};
    case 0xc3: return {form.word};
    case 0xc7: return form.field == 1 ? MemoryAccess{form.is_wide ? 16U : 8U, true} : MemoryAccess{};
    default: break;
  }
  return of_packed(form, form.selector == Selector::none ? 8 : 16);
}

/// Access of opcodes after 0f 38 and of a vector's map 2.
MemoryAccess of_after_38(const Form& form) {
  const unsigned opcode = form.found->opcode;
  const bool is_vector = form.found->is_vector;
  switch (const char kind = after_0f_38[opcode]) {
    case 'f': return {!is_vector && form.selector == Selector::none ? 8 : form.vector};
    case 'H': return {form.vector / 2};
    case 'Q': return {form.vector / 4};
    case 'E': return {form.vector / 8};
    case 'c': return {form.selector == Selector::f2 ? 1 : form.word};
    case 'w': return {form.word};
    case '.': return {};
    case 'h': return {is_vector ? form.vector / 2 : 0};
    case 'x': return {is_vector ? 16U : 0U};
    case 'm': {
      const unsigned low = opcode & 0xf;
      const bool is_scalar = low >= 9 && (low & 1) != 0;
      return {!is_vector ? 0 : is_scalar ? form.word : form.vector};
    }
    default: return {is_vector ? static_cast<std::uint32_t>(kind - '0') : 0};
  }
}

/// Access of opcodes after 0f 3a and of a vector's map 3.
MemoryAccess of_after_3a(const Form& form) {
  switch (form.found->opcode) {
    case 0x14:
    case 0x20: return {1};
    case 0x15: return {2};
    case 0x16:
    case 0x22: return {form.is_wide ? 8U : 4U};
    case 0x17:
    case 0x21:
    case 0x0a: return {4};
    case 0x0b: return {8};
    case 0x18:
    case 0x19:
    case 0x38:
    case 0x39: return {form.found->is_vector ? 16U : 0U};
    case 0x1d: return {form.vector / 2};
    case 0xf0: return {form.word};
    case 0x6a:
    case 0x6e:
    case 0x7a:
    case 0x7e: return {4};  // FMA4's scalars
    case 0x6b:
    case 0x6f:
    case 0x7b:
    case 0x7f: return {8};
    default: break;
  }
  const bool is_mmx = !form.found->is_vector && form.selector == Selector::none;
  return {is_mmx ? 8 : form.vector};
}

}  // namespace

MemoryAccess memory_access(const std::uint8_t* code, const Instruction& found) {
  if (found.length == 0) return {};
  const Form form = form_of(code, found);
  if (form.is_masked || form.vector == 0) return {};
  if (form.is_broadcast && found.map != 0) return {form.is_wide ? 8U : 4U};
  if (found.is_vector) {
    switch (found.map) {
      case 1: return of_packed(form, form.vector);
      case 2: return of_after_38(form);
      case 3: return of_after_3a(form);
      default: return {};
    }
  }
  switch (found.map) {
    case 0: return of_one_byte(form);
    case 1: return of_after_0f(form);
    case 2: return of_after_38(form);
    default: return of_after_3a(form);
  }
}

std::optional<Poll> poll_of(const std::uint8_t* code, const greg_t* registers) {
  constexpr std::uint32_t bytes_of_long_double = 10, most_bytes = 8;
  const Instruction found = decode(code, longest_instruction);
  constexpr std::uint8_t registers_alone = 0xc0;
  if (found.length == 0 || found.modrm == 0 || code[found.modrm] >= registers_alone) return std::nullopt;
  if (found.is_evex) return std::nullopt;
  const std::uint32_t bytes = memory_access(code, found).bytes;
  // A long double counts by its last 8 bytes: they have the exponent and most of the fraction.
  const std::uint32_t unseen = bytes == bytes_of_long_double ? bytes - most_bytes : 0;
  if (bytes - unseen > most_bytes || !std::has_single_bit(bytes - unseen)) return std::nullopt;
  const std::uintptr_t behind = static_cast<std::uintptr_t>(registers[REG_RIP]) + found.length;
  const std::uintptr_t address = address_of(memory_of(code, found), registers, behind);
  return Poll{address + unseen, bytes - unseen};
}

}  // namespace sdsm::program
