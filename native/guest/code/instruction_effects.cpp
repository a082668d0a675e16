#include "native/guest/code/instruction_effects.hpp"

#include <cstring>

namespace sdsm::program {
namespace {

/// Whether it does nothing but what its operands say.
bool is_plain(const Instruction& instruction) {
  if (locked_of(instruction)) return false;
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_CONVERT:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHIFT: return true;
    default: return instruction.mnemonic == ZYDIS_MNEMONIC_LEA;
  }
}

/// The function that the instruction calls; 0 if it is unknown.
std::uintptr_t called_by(const Instruction& instruction, const Operands& operands, std::uintptr_t next,
                         const AddressRange& file) {
  const ZydisDecodedOperand& named = operands.named()[0];
  if (named.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return next + static_cast<std::uintptr_t>(instruction.target());
  const auto memory = memory_of(instruction, named);
  if (!memory || memory->base != Register::rip) return 0;
  // An entry of the linker's table.
  const std::uintptr_t address = address_of(*memory, nullptr, next);
  std::uintptr_t entry = 0;
  if (address < file.begin || address + sizeof entry > file.end) return 0;
  std::memcpy(&entry, reinterpret_cast<const void*>(address), sizeof entry);
  return entry;
}

void use_register(const ZydisDecodedOperand& operand, Effect& effect) {
  const ZydisRegister name = operand.reg.value;
  if (name == ZYDIS_REGISTER_RIP || name == ZYDIS_REGISTER_RFLAGS) return;
  const std::uint32_t bit = bit_of(register_of(name));
  effect.is_known &= bit != 0;
  // What is written on a condition keeps its value else.
  if (reads(operand) || (operand.actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0) effect.reads |= bit;
  if (writes(operand)) effect.writes |= bit;
}

void use_memory(const ZydisDecodedOperand& operand, const std::optional<MemoryOperand>& memory, std::uintptr_t next,
                Effect& effect) {
  effect.is_known &= memory && !effect.memory && operand.visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN;
  if (!effect.is_known) return;
  effect.memory = memory;
  if (memory->base == Register::rip) effect.memory->displacement += static_cast<std::int64_t>(next);
  effect.reads |= bit_of(memory->base) | bit_of(memory->index);
  const bool is_address = operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN;
  effect.loads = !is_address && reads(operand);
  effect.stores = !is_address && writes(operand);
}

void use_flags(const ZydisAccessedFlags& flags, Effect& effect) {
  if ((flags.tested & status_flags) != 0) effect.reads |= flags_bit;
  const auto written = flags.modified | flags.set_0 | flags.set_1 | flags.undefined;
  if ((written & status_flags) != 0) effect.writes |= flags_bit;
}

}  // namespace

Effect effect_of(const Instruction& instruction, const Operands& operands, const std::uint8_t* code,
                 const Pauses& pauses) {
  const std::uintptr_t next = reinterpret_cast<std::uintptr_t>(code) + instruction.length;
  if (instruction.is_newer()) return {};
  if (instruction.is({ZYDIS_MNEMONIC_ENDBR64, ZYDIS_MNEMONIC_NOP, ZYDIS_MNEMONIC_PAUSE})) return {.is_known = true};
  if (instruction.meta.category == ZYDIS_CATEGORY_CALL) {
    // It leaves these registers as it likes: rax, rcx, rdx, rsi, rdi, r8 to r11.
    constexpr std::uint32_t not_kept = 0xfc7;
    return {.writes = not_kept | flags_bit,
            .is_known = pauses.has(called_by(instruction, operands, next, pauses.file))};
  }
  const Flow flow = instruction.flow();
  Effect effect{.is_known = flow == Flow::branch || flow == Flow::jump || is_plain(instruction)};
  for (const ZydisDecodedOperand& operand : operands.all()) {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) use_register(operand, effect);
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) use_memory(operand, memory_of(instruction, operand), next, effect);
  }
  if (instruction.cpu_flags != nullptr) use_flags(*instruction.cpu_flags, effect);
  // What it sets to zero it does not read.
  const auto named = operands.named();
  const auto is_register = [](const auto& operand) { return operand.type == ZYDIS_OPERAND_TYPE_REGISTER; };
  const bool clears =
      instruction.mnemonic == ZYDIS_MNEMONIC_XOR && std::all_of(named.begin(), named.end(), is_register);
  if (clears && named[0].reg.value == named[1].reg.value) effect.reads = 0;
  return effect;
}

}  // namespace sdsm::program
