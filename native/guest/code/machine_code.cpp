#include "native/guest/code/machine_code.hpp"

namespace sdsm::program {
namespace {

/// Nothing is lost if a signal's handler makes it, too.
const ZydisDecoder& decoder() {
  static const ZydisDecoder made = [] {
    ZydisDecoder one;
    ZydisDecoderInit(&one, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return one;
  }();
  return made;
}

}  // namespace

Instruction decode(const std::uint8_t* code, std::size_t room) {
  Instruction found;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder(), &found.context, code, room, &found))) found = {};
  return found;
}

Flow Instruction::flow() const {
  const bool is_relative = raw.imm[0].is_relative;
  switch (meta.category) {
    case ZYDIS_CATEGORY_COND_BR: return is_relative ? Flow::branch : Flow::on;  // xend
    case ZYDIS_CATEGORY_UNCOND_BR:
      return is_relative ? Flow::jump : mnemonic == ZYDIS_MNEMONIC_JMP ? Flow::indirect : Flow::on;  // xabort
    case ZYDIS_CATEGORY_RET: return Flow::end;
    default: break;
  }
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2: return Flow::end;
    default: return Flow::on;
  }
}

Operands::Operands(const Instruction& instruction)
    : all_(instruction.operand_count), named_(instruction.operand_count_visible) {
  ZydisDecoderDecodeOperands(&decoder(), &instruction.context, &instruction, operands_, instruction.operand_count);
}

Register register_of(ZydisRegister part) {
  if (part == ZYDIS_REGISTER_RIP || part == ZYDIS_REGISTER_EIP) return Register::rip;
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, part);
  const bool is_general = whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15;
  return is_general ? static_cast<Register>(whole - ZYDIS_REGISTER_RAX) : Register::none;
}

std::optional<MemoryOperand> memory_of(const Instruction& instruction, const ZydisDecodedOperand& operand) {
  const bool is_place = operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type != ZYDIS_MEMOP_TYPE_VSIB;
  if (!is_place || operand.mem.segment == ZYDIS_REGISTER_GS) return std::nullopt;
  return MemoryOperand{.base = register_of(operand.mem.base),
                       .index = register_of(operand.mem.index),
                       .scale = operand.mem.scale,
                       .is_thread_local = operand.mem.segment == ZYDIS_REGISTER_FS,
                       .has_short_address = instruction.address_width == 32,
                       .displacement = operand.mem.disp.value};
}

namespace {

std::optional<AtomicKind> kind_of(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_XADD: return AtomicKind::add;
    case ZYDIS_MNEMONIC_OR: return AtomicKind::bit_or;
    case ZYDIS_MNEMONIC_ADC: return AtomicKind::add_with_carry;
    case ZYDIS_MNEMONIC_SBB: return AtomicKind::subtract_with_borrow;
    case ZYDIS_MNEMONIC_AND: return AtomicKind::bit_and;
    case ZYDIS_MNEMONIC_SUB: return AtomicKind::subtract;
    case ZYDIS_MNEMONIC_XOR: return AtomicKind::bit_xor;
    case ZYDIS_MNEMONIC_INC: return AtomicKind::increment;
    case ZYDIS_MNEMONIC_DEC: return AtomicKind::decrement;
    case ZYDIS_MNEMONIC_NOT: return AtomicKind::invert;
    case ZYDIS_MNEMONIC_NEG: return AtomicKind::negate;
    case ZYDIS_MNEMONIC_BTS: return AtomicKind::set_bit;
    case ZYDIS_MNEMONIC_BTR: return AtomicKind::reset_bit;
    case ZYDIS_MNEMONIC_BTC: return AtomicKind::complement_bit;
    case ZYDIS_MNEMONIC_XCHG: return AtomicKind::exchange;
    case ZYDIS_MNEMONIC_CMPXCHG: return AtomicKind::compare_exchange;
    case ZYDIS_MNEMONIC_CMPXCHG8B:
    case ZYDIS_MNEMONIC_CMPXCHG16B: return AtomicKind::compare_exchange_pair;
    default: return std::nullopt;
  }
}

bool is_second_byte(ZydisRegister part) {
  return part >= ZYDIS_REGISTER_AH && part <= ZYDIS_REGISTER_BH;
}

}  // namespace

std::optional<LockedInstruction> locked_of(const Instruction& instruction) {
  LockedInstruction locked{.length = instruction.length};
  if (instruction.mnemonic == ZYDIS_MNEMONIC_MFENCE) {
    locked.is_fence = true;
    return locked;
  }
  // An exchange with memory locks without a prefix.
  if (!instruction.has_lock() && instruction.mnemonic != ZYDIS_MNEMONIC_XCHG) return std::nullopt;
  const auto kind = kind_of(instruction.mnemonic);
  std::optional<MemoryOperand> memory;
  const Operands operands(instruction);
  for (const ZydisDecodedOperand& operand : operands.named()) {
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      memory = memory_of(instruction, operand);
      locked.bytes = static_cast<std::uint8_t>(operand.size / 8);
    } else if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
      locked.source = LockedInstruction::Source::immediate;
      locked.immediate = static_cast<std::int32_t>(operand.imm.value.s);
    } else {
      const bool is_high = is_second_byte(operand.reg.value);
      locked.source = is_high ? LockedInstruction::Source::high : LockedInstruction::Source::low;
      locked.source_register = register_of(operand.reg.value);
    }
  }
  if (!memory || !kind) return std::nullopt;
  locked.kind = *kind;
  locked.memory = *memory;
  locked.returns_before = *kind == AtomicKind::exchange || instruction.mnemonic == ZYDIS_MNEMONIC_XADD;
  locked.is_fence = (*kind == AtomicKind::bit_or || *kind == AtomicKind::add) &&
                    locked.source == LockedInstruction::Source::immediate && locked.immediate == 0 &&
                    memory->base == Register::rsp && memory->index == Register::none;
  return locked;
}

namespace {

/// Places of the registers in the machine's context, in the order in which instructions number them.
constexpr int places[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                          REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

std::uint64_t value_of(Register which, const greg_t* registers) {
  return static_cast<std::uint64_t>(registers[places[static_cast<unsigned>(which)]]);
}

/// 8 * bytes ones.
std::uint64_t mask_of(unsigned bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
}

/// Writes a register as instructions do: 4 bytes clear the rest.
void set(Register which, unsigned bytes, unsigned shift, std::uint64_t value, greg_t* registers) {
  greg_t& place = registers[places[static_cast<unsigned>(which)]];
  const std::uint64_t kept = bytes == 4 ? 0 : static_cast<std::uint64_t>(place) & ~(mask_of(bytes) << shift);
  place = static_cast<greg_t>(kept | (value & mask_of(bytes)) << shift);
}

bool is_of_bits(AtomicKind kind) {
  return kind == AtomicKind::set_bit || kind == AtomicKind::reset_bit || kind == AtomicKind::complement_bit;
}

}  // namespace

std::uintptr_t address_of(const MemoryOperand& memory, const greg_t* registers, std::uintptr_t next) {
  auto address = static_cast<std::uintptr_t>(memory.displacement);
  if (memory.base == Register::rip) {
    address += next;
  } else if (memory.base != Register::none) {
    address += value_of(memory.base, registers);
  }
  if (memory.index != Register::none) address += memory.scale * value_of(memory.index, registers);
  if (memory.has_short_address) address &= 0xffffffff;
  // The thread's block, whose address fs has, begins with its own address (thread-local storage, variant II).
  if (memory.is_thread_local) address += reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  return address;
}

LockedAccess access_of(const LockedInstruction& instruction, const greg_t* registers, std::uintptr_t next) {
  using Source = LockedInstruction::Source;
  const auto half = [&](Register which) { return value_of(which, registers) & 0xffffffff; };
  LockedAccess access{address_of(instruction.memory, registers, next), {}};
  AtomicOperation& operation = access.operation;
  operation.kind = instruction.kind;
  operation.bytes = instruction.bytes;
  operation.flags = static_cast<std::uint32_t>(registers[REG_EFL]);
  if (instruction.kind == AtomicKind::compare_exchange_pair && instruction.bytes == 8) {
    operation.operand.low = half(Register::rcx) << 32 | half(Register::rbx);
    operation.expected.low = half(Register::rdx) << 32 | half(Register::rax);
    return access;
  }
  if (instruction.kind == AtomicKind::compare_exchange_pair) {
    operation.operand = {value_of(Register::rbx, registers), value_of(Register::rcx, registers)};
    operation.expected = {value_of(Register::rax, registers), value_of(Register::rdx, registers)};
    return access;
  }
  std::uint64_t operand = 0;
  switch (instruction.source) {
    case Source::none: break;
    case Source::immediate: operand = static_cast<std::uint64_t>(std::int64_t{instruction.immediate}); break;
    case Source::low: operand = value_of(instruction.source_register, registers); break;
    case Source::high: operand = value_of(instruction.source_register, registers) >> 8; break;
  }
  if (is_of_bits(instruction.kind)) {
    const unsigned bits = 8u * instruction.bytes;
    // A register numbers bits of any word from the operand's address on, also before it.
    if (instruction.source == Source::low) {
      const std::int64_t bit = instruction.bytes == 2   ? static_cast<std::int16_t>(operand)
                               : instruction.bytes == 4 ? static_cast<std::int32_t>(operand)
                                                        : static_cast<std::int64_t>(operand);
      const std::int64_t word = bit >> (instruction.bytes == 2 ? 4 : instruction.bytes == 4 ? 5 : 6);
      access.address += static_cast<std::uintptr_t>(word * instruction.bytes);
    }
    operand &= bits - 1;
  }
  operation.operand.low = operand & mask_of(instruction.bytes);
  operation.expected.low = value_of(Register::rax, registers) & mask_of(instruction.bytes);
  return access;
}

void finish(const LockedInstruction& instruction, const AtomicOutcome& outcome, greg_t* registers) {
  registers[REG_EFL] = static_cast<greg_t>(
      (static_cast<std::uint64_t>(registers[REG_EFL]) & ~std::uint64_t{status_flags}) | outcome.flags);
  const unsigned bytes = instruction.bytes;
  if (instruction.returns_before) {
    set(instruction.source_register, bytes, instruction.source == LockedInstruction::Source::high ? 8 : 0,
        outcome.before.low, registers);
  } else if (instruction.kind == AtomicKind::compare_exchange && !outcome.is_equal()) {
    set(Register::rax, bytes, 0, outcome.before.low, registers);
  } else if (instruction.kind == AtomicKind::compare_exchange_pair && !outcome.is_equal()) {
    const bool is_narrow = bytes == 8;
    set(Register::rax, bytes / 2u, 0, outcome.before.low, registers);
    set(Register::rdx, bytes / 2u, 0, is_narrow ? outcome.before.low >> 32 : outcome.before.high, registers);
  }
}

}  // namespace sdsm::program
