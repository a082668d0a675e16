#include "native/program/memory_access.hpp"

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

bool is_arithmetic(unsigned opcode) {
  return opcode < 0x40 && (opcode & 7) < 6;
}

MemoryAccess of_one_byte(const Form& form) {
  const unsigned opcode = form.found->opcode;
  const std::uint32_t operand = (opcode & 1) == 0 ? 1 : form.word;
  if (is_arithmetic(opcode)) return {operand, (opcode & 7) < 2 && opcode >> 3 != 7};  // the last compares
  if (opcode >= 0xd8 && opcode <= 0xdf) return {bytes_of_x87(opcode, form.field)};
  switch (opcode) {
    case 0x63: return {4};
    case 0x69:
    case 0x6b: return {form.word};
    case 0x80:
    case 0x81:
    case 0x83: return {operand, form.field != 7};
    case 0x84:
    case 0x85: return {operand};
    case 0x86:
    case 0x87: return {operand, true};
    case 0x88:
    case 0x89:
    case 0x8a:
    case 0x8b: return {operand};
    case 0x8c:
    case 0x8e: return {2};
    case 0x8f: return {form.found->has_short_operand ? 2U : 8U};
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa3:
    case 0xa4:
    case 0xa5:
    case 0xa6:
    case 0xa7:
    case 0xaa:
    case 0xab:
    case 0xac:
    case 0xad:
    case 0xae:
    case 0xaf: return {operand};
    case 0xc0:
    case 0xc1:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: return {operand, true};
    case 0xc6:
    case 0xc7: return {operand};
    case 0xf6:
    case 0xf7: return {operand, form.field == 2 || form.field == 3};
    case 0xfe: return {1, true};
    case 0xff: return form.field < 2 ? MemoryAccess{form.word, true} : MemoryAccess{8};
    default: return {};
  }
}

/// Access of opcodes after 0f and of a vector's map 1: SSE's and MMX's, whose full width is `full`.
MemoryAccess of_packed(const Form& form, std::uint32_t full) {
  const unsigned opcode = form.found->opcode;
  const bool is_scalar = form.selector == Selector::f3 || form.selector == Selector::f2;
  const std::uint32_t scalar = form.selector == Selector::f3 ? 4 : 8;
  const std::uint32_t by_selector = is_scalar ? scalar : form.vector;
  switch (opcode) {
    case 0x10:
    case 0x11: return {by_selector};
    case 0x12:
    case 0x16:
      if (form.selector == Selector::f3) return {form.vector};
      return {form.selector == Selector::f2 && form.vector > 16 ? form.vector : 8};
    case 0x13:
    case 0x17: return {8};
    case 0x14:
    case 0x15:
    case 0x28:
    case 0x29:
    case 0x2b: return {form.vector};
    case 0x2a: return {is_scalar ? form.word : 8};
    case 0x2c:
    case 0x2d: return {is_scalar ? scalar : form.selector == Selector::none ? 8U : 16U};
    case 0x2e:
    case 0x2f: return {form.selector == Selector::none ? 4U : 8U};
    case 0x5a: return {is_scalar ? scalar : form.selector == Selector::none ? form.vector / 2 : form.vector};
    case 0x5b: return {form.vector};
    case 0x60:
    case 0x61:
    case 0x62: return {form.selector == Selector::none ? 4 : form.vector};
    case 0x6e: return {form.word == 2 ? 4 : form.word};
    case 0x7e: return {form.selector == Selector::f3 ? 8 : form.word == 2 ? 4 : form.word};
    case 0x6f:
    case 0x7f: return {full};
    case 0xc2: return {by_selector};
    case 0xc4: return {2};
    case 0xc6: return {form.vector};
    case 0xd1:
    case 0xd2:
    case 0xd3:
    case 0xe1:
    case 0xe2:
    case 0xf1:
    case 0xf2:
    case 0xf3: return {form.selector == Selector::none ? 8U : 16U};  // how far to shift
    case 0xd6: return {8};
    case 0xe6: return {form.selector == Selector::f3 ? form.vector / 2 : form.vector};
    case 0xf0: return {form.vector};
    default: break;
  }
  if (opcode >= 0x51 && opcode <= 0x5f) return {by_selector};
  if ((opcode >= 0x63 && opcode <= 0x70) || (opcode >= 0x74 && opcode <= 0x76)) return {full};
  if (opcode == 0x7c || opcode == 0x7d || opcode == 0xd0) return {form.vector};
  return {opcode >= 0xd4 && opcode != 0xff ? full : 0};
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
  const std::uint32_t full = !is_vector && form.selector == Selector::none ? 8 : form.vector;
  switch (opcode) {
    case 0x20:
    case 0x23:
    case 0x25:
    case 0x30:
    case 0x33:
    case 0x35: return {form.vector / 2};  // pmovsx, pmovzx: elements of half the size
    case 0x21:
    case 0x24:
    case 0x31:
    case 0x34: return {form.vector / 4};
    case 0x22:
    case 0x32: return {form.vector / 8};
    case 0x13: return {is_vector ? form.vector / 2 : 0};
    case 0x18:
    case 0x58: return {is_vector ? 4U : 0U};
    case 0x19:
    case 0x59: return {is_vector ? 8U : 0U};
    case 0x1a:
    case 0x5a: return {is_vector ? 16U : 0U};
    case 0x78: return {is_vector ? 1U : 0U};
    case 0x79: return {is_vector ? 2U : 0U};
    case 0xf0: return {form.selector == Selector::f2 ? 1 : form.word};  // crc32, movbe
    case 0xf1:
    case 0xf2:
    case 0xf3:
    case 0xf5:
    case 0xf6:
    case 0xf7: return {form.word};
    default: break;
  }
  // Masks decide what of their operand vmaskmov, gathers and scatters access.
  if (is_vector && opcode >= 0x96 && opcode <= 0xbf) {
    const unsigned low = opcode & 0xf;
    if (low < 6) return {};
    const bool is_scalar = low >= 9 && (low & 1) != 0;
    return {is_scalar ? form.word : form.vector};
  }
  if (opcode <= 0x0f || (opcode >= 0x1c && opcode <= 0x1e) || (opcode >= 0x28 && opcode <= 0x2b) ||
      (opcode >= 0x36 && opcode <= 0x40) || (opcode >= 0xc8 && opcode <= 0xdf))
    return {full};
  return {opcode == 0x10 || opcode == 0x14 || opcode == 0x15 || opcode == 0x17 ? full : 0};
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

}  // namespace sdsm::program
