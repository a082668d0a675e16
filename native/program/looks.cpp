#include "native/program/looks.hpp"

#include "native/program/machine_code.hpp"

namespace sdsm::program {
namespace {

constexpr std::uint8_t first_of_vex_2 = 0xc5, first_of_vex_3 = 0xc4;
enum class Prefix : std::uint8_t { none, short_operand, single, twice };  // as VEX numbers them: 66, f3, f2

/// Of an SSE or AVX instruction, which says what it moves. None for EVEX, which is not looked into.
Prefix prefix_of(const std::uint8_t* code, const Instruction& found) {
  if (found.is_vector) {
    const std::uint8_t fields = *code == first_of_vex_2 ? code[1] : *code == first_of_vex_3 ? code[2] : 0;
    return static_cast<Prefix>(fields & 3);
  }
  Prefix prefix = found.has_short_operand ? Prefix::short_operand : Prefix::none;
  for (std::uint8_t i = 0; i < found.modrm; ++i) {
    if (code[i] == 0x0f) break;
    if (code[i] == 0xf3) prefix = Prefix::single;
    if (code[i] == 0xf2) prefix = Prefix::twice;
  }
  return prefix;
}

/// fld of 80 bits, which are more than a look holds: the last 8 bytes have the exponent and most of the fraction.
constexpr std::uintptr_t unseen_of_long_double = 2;
bool is_long_double(const std::uint8_t* code, const Instruction& found) {
  return found.map == 0 && !found.is_vector && found.opcode == 0xdb && (code[found.modrm] >> 3 & 7) == 5;
}

/// Of an instruction that loads or compares one number with a fraction, or one integer into a vector's register;
/// 0: of others.
std::uint32_t fraction_bytes(const std::uint8_t* code, const Instruction& found) {
  constexpr unsigned load = 0x10, compare_unordered = 0x2e, compare = 0x2f, move_integer = 0x6e, move_eight = 0x7e;
  const unsigned opcode = found.opcode;
  if (found.map == 0 && !found.is_vector) {  // x87: fld, fcom, fcomp
    const unsigned part = code[found.modrm] >> 3 & 7;
    if (opcode == 0xd9 || opcode == 0xdd) return part == 0 ? (opcode == 0xd9 ? 4 : 8) : 0;
    if (opcode == 0xd8 || opcode == 0xdc) return opcode == 0xd8 ? 4 : 8;
    return is_long_double(code, found) ? 8 : 0;
  }
  if (found.map != 1) return 0;
  const Prefix prefix = prefix_of(code, found);
  const bool is_of_one = prefix == Prefix::single || prefix == Prefix::twice;
  const std::uint32_t one = prefix == Prefix::single ? 4 : 8;
  if (opcode == compare || opcode == compare_unordered) return prefix == Prefix::short_operand ? 8 : 4;
  if (opcode == move_integer && prefix == Prefix::short_operand) return 4;
  if (opcode == move_eight) return prefix == Prefix::single ? 8 : 0;
  const bool is_arithmetic = opcode == 0x51 || (opcode >= 0x58 && opcode <= 0x5f) || opcode == 0xc2;
  const bool is_conversion = opcode == 0x2c || opcode == 0x2d;
  return is_of_one && (opcode == load || is_arithmetic || is_conversion) ? one : 0;
}

/// Of an instruction that loads, stores or compares integers; 0: of others.
std::uint32_t operand_bytes(const Instruction& found) {
  constexpr std::uint8_t wide = 8;  // of REX
  const std::uint32_t word = (found.rex & wide) != 0 ? 8 : found.has_short_operand ? 2 : 4;
  const unsigned opcode = found.opcode;
  if (found.is_vector || found.map > 1) return 0;
  if (found.map == 1) {
    if (opcode == 0xb6 || opcode == 0xbe) return 1;
    if (opcode == 0xb7 || opcode == 0xbf) return 2;
    return opcode == 0xaf || (opcode & 0xf0) == 0x40 ? word : 0;
  }
  constexpr unsigned sign_extending = 0x63, address_only = 0x8d;
  if (opcode == sign_extending) return 4;
  const bool is_arithmetic = opcode < 0x40 || (opcode >= 0x80 && opcode <= 0x8b) || opcode >= 0xf6 || opcode == 0xc6 ||
                             opcode == 0xc7 || opcode == 0x69 || opcode == 0x6b;
  if (!is_arithmetic || opcode == address_only) return 0;
  if (opcode == 0x69 || opcode == 0x6b || (opcode & 1) != 0) return word;
  return 1;
}

}  // namespace

std::optional<Look> look_of(const std::uint8_t* code, const greg_t* registers) {
  const Instruction found = decode(code, longest_instruction);
  constexpr std::uint8_t registers_alone = 0xc0;
  if (found.length == 0 || found.modrm == 0 || code[found.modrm] >= registers_alone) return std::nullopt;
  const std::uint32_t whole = operand_bytes(found);
  const std::uint32_t bytes = whole != 0 ? whole : fraction_bytes(code, found);
  if (bytes == 0) return std::nullopt;
  const std::uintptr_t behind = static_cast<std::uintptr_t>(registers[REG_RIP]) + found.length;
  const std::uintptr_t address = address_of(memory_of(code, found), registers, behind);
  return Look{address + (is_long_double(code, found) ? unseen_of_long_double : 0), bytes};
}

}  // namespace sdsm::program
