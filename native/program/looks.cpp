#include "native/program/looks.hpp"

#include "native/program/machine_code.hpp"

namespace sdsm::program {
namespace {

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
  const std::uint32_t bytes = operand_bytes(found);
  if (bytes == 0) return std::nullopt;
  const std::uintptr_t behind = static_cast<std::uintptr_t>(registers[REG_RIP]) + found.length;
  return Look{address_of(memory_of(code, found), registers, behind), bytes};
}

}  // namespace sdsm::program
