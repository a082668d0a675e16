#include "native/guest/code/memory_access.hpp"

#include <bit>

namespace sdsm::program {
namespace {

bool accesses(const Instruction& instruction, const ZydisDecodedOperand& operand) {
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_WIDENOP: return false;
    default: return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type != ZYDIS_MEMOP_TYPE_AGEN;
  }
}

/// Whether the operand's size says how much is accessed.
bool is_sized(const Instruction& instruction) {
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_VMASKMOVPD:  // masked by a vector
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
    case ZYDIS_MNEMONIC_CLFLUSH:  // a line of the cache, wherever in it the address is
    case ZYDIS_MNEMONIC_CLFLUSHOPT:
    case ZYDIS_MNEMONIC_CLWB: return false;
    default: break;
  }
  const ZydisInstructionCategory category = instruction.meta.category;
  const ZydisMaskMode mask = instruction.avx.mask.mode;
  return category != ZYDIS_CATEGORY_XSAVE && category != ZYDIS_CATEGORY_XSAVEOPT &&
         (mask == ZYDIS_MASK_MODE_INVALID || mask == ZYDIS_MASK_MODE_DISABLED);
}

}  // namespace

MemoryAccesses accesses_of(const Instruction& instruction) {
  MemoryAccesses found;
  const Operands operands(instruction);
  const bool is_string = instruction.meta.category == ZYDIS_CATEGORY_STRINGOP;
  for (const ZydisDecodedOperand& operand : is_string ? operands.all() : operands.named()) {
    if (!accesses(instruction, operand)) continue;
    if (const auto memory = memory_of(instruction, operand)) {
      const std::uint32_t bytes = is_sized(instruction) ? operand.size / 8U : 0;
      found.all[found.count++] = {*memory, bytes, reads(operand), writes(operand)};
    }
  }
  return found;
}

std::optional<Poll> poll_of(const std::uint8_t* code, const greg_t* registers) {
  constexpr std::uint32_t bytes_of_long_double = 10, most_bytes = 8;
  const Instruction found = decode(code, longest_instruction);
  const MemoryAccesses accesses = accesses_of(found);
  if (accesses.count != 1 || found.meta.category == ZYDIS_CATEGORY_STRINGOP) return std::nullopt;
  const auto& [operand, bytes, reads, writes] = accesses.all[0];
  // A long double counts by its last 8 bytes: they have the exponent and most of the fraction.
  const std::uint32_t unseen = bytes == bytes_of_long_double ? bytes - most_bytes : 0;
  if (bytes - unseen > most_bytes || !std::has_single_bit(bytes - unseen)) return std::nullopt;
  const std::uintptr_t behind = static_cast<std::uintptr_t>(registers[REG_RIP]) + found.length;
  return Poll{address_of(operand, registers, behind) + unseen, bytes - unseen};
}

}  // namespace sdsm::program
