#include "native/guest/code/instruction_effects.hpp"

#include <cstring>

namespace sdsm::program {
namespace {

/// Instructions of these kinds do nothing but what their operands say.
bool is_plain(const Instruction& instruction) {
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

/// Nor what their operands say.
bool is_nothing(const Instruction& instruction) {
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_ENDBR64:
    case ZYDIS_MNEMONIC_NOP:
    case ZYDIS_MNEMONIC_PAUSE: return true;
    default: return false;
  }
}

/// The entry of the linker's table of addresses there; 0 outside of the file.
std::uintptr_t entry_of(const AddressRange& file, std::uintptr_t address) {
  std::uintptr_t entry = 0;
  if (address < file.begin || address + sizeof entry > file.end) return 0;
  std::memcpy(&entry, reinterpret_cast<const void*>(address), sizeof entry);
  return entry;
}

class EffectReader {
 public:
  EffectReader(const Instruction& instruction, const Operands& operands, std::uintptr_t next)
      : instruction_(instruction), operands_(operands), next_(next) {}

  Effect read(const Pauses& pauses) {
    if (is_nothing(instruction_)) return {.is_known = true};
    if (instruction_.meta.category == ZYDIS_CATEGORY_CALL) return call(pauses);
    const Flow flow = instruction_.flow();
    effect_.is_known =
        flow == Flow::branch || flow == Flow::jump || (is_plain(instruction_) && !instruction_.has_lock());
    for (const ZydisDecodedOperand& operand : operands_.all()) {
      if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) use_register(operand);
      if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) use_memory(operand);
    }
    use_flags();
    const auto named = operands_.named();
    // What it sets to zero it does not read.
    if (instruction_.mnemonic == ZYDIS_MNEMONIC_XOR && named[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        named[0].type == ZYDIS_OPERAND_TYPE_REGISTER && named[0].reg.value == named[1].reg.value) {
      effect_.reads = 0;
    }
    return effect_;
  }

 private:
  /// A call leaves these registers as it likes: rax, rcx, rdx, rsi, rdi, r8 to r11.
  Effect call(const Pauses& pauses) const {
    constexpr std::uint32_t not_kept = 0xfc7;
    const ZydisDecodedOperand& named = operands_.named()[0];
    std::uintptr_t function = 0;
    if (named.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
      function = next_ + static_cast<std::uintptr_t>(instruction_.target());
    } else if (const auto table = memory_of(instruction_, named); table && table->base == Register::rip) {
      function = entry_of(pauses.file, address_of(*table, nullptr, next_));
    }
    return {.writes = not_kept | flags_bit, .is_known = pauses.has(function)};
  }

  void use_register(const ZydisDecodedOperand& operand) {
    const ZydisRegister name = operand.reg.value;
    if (name == ZYDIS_REGISTER_RIP || name == ZYDIS_REGISTER_RFLAGS) return;
    const std::uint32_t bit = bit_of(register_of(name));
    if (bit == 0) effect_.is_known = false;
    // What is written on a condition keeps its value else.
    if (reads(operand) || (operand.actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0) effect_.reads |= bit;
    if (writes(operand)) effect_.writes |= bit;
  }

  void use_memory(const ZydisDecodedOperand& operand) {
    const auto memory = memory_of(instruction_, operand);
    if (!memory || effect_.memory || operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN ||
        (instruction_.mnemonic == ZYDIS_MNEMONIC_XCHG)) {
      effect_.is_known = false;
      return;
    }
    effect_.memory = memory;
    if (memory->base == Register::rip) effect_.memory->displacement += static_cast<std::int64_t>(next_);
    effect_.reads |= bit_of(memory->base) | bit_of(memory->index);
    const bool is_address = operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN;
    effect_.loads = !is_address && reads(operand);
    effect_.stores = !is_address && writes(operand);
  }

  void use_flags() {
    const ZydisAccessedFlags* const flags = instruction_.cpu_flags;
    if (flags == nullptr) return;
    constexpr ZydisAccessedFlagsMask of_comparisons = status_flags;
    if ((flags->tested & of_comparisons) != 0) effect_.reads |= flags_bit;
    if (((flags->modified | flags->set_0 | flags->set_1 | flags->undefined) & of_comparisons) != 0) {
      effect_.writes |= flags_bit;
    }
  }

  const Instruction& instruction_;
  const Operands& operands_;
  std::uintptr_t next_;
  Effect effect_;
};

}  // namespace

Effect effect_of(const Instruction& instruction, const Operands& operands, const std::uint8_t* code,
                 const Pauses& pauses) {
  return EffectReader(instruction, operands, reinterpret_cast<std::uintptr_t>(code) + instruction.length).read(pauses);
}

}  // namespace sdsm::program
