#include "native/guest/code/machine_code.hpp"

#include <bit>
#include <iterator>
#include <utility>

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

bool is_decoded(const std::uint8_t* code, std::size_t room, Instruction& found) {
  return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder(), &found.context, code, room, &found));
}

/// Makes a vector instruction (VEX or EVEX) an older one of its table of opcodes, which is as long. False if it is
/// none.
bool make_older(std::uint8_t* code) {
  while (*code == 0x64 || *code == 0x65 || *code == 0x67) ++code;  // segments, short addresses
  constexpr std::uint8_t add = 0x58, multiply_add = 0x98, align = 0x0f;
  const bool is_short = *code == 0xc5, is_evex = *code == 0x62;
  if (!is_short && *code != 0xc4 && !is_evex) return false;
  const unsigned table = is_short ? 1 : code[1] & (is_evex ? 7 : 31);
  if (table < 1 || table > 3) return false;
  std::uint8_t& width_and_prefix = code[is_short ? 1 : 2];
  width_and_prefix = static_cast<std::uint8_t>((width_and_prefix & (is_short ? 0xfc : 0x7c)) | (table == 1 ? 0 : 1));
  if (is_evex) code[3] &= 0x08;  // neither masks nor broadcasts
  code[is_short ? 2 : is_evex ? 4 : 3] = table == 1 ? add : table == 2 ? multiply_add : align;
  return true;
}

}  // namespace

Instruction decode(const std::uint8_t* code, std::size_t room) {
  Instruction found;
  if (is_decoded(code, room, found)) return found;
  std::uint8_t older[longest_instruction + 5] = {};
  std::copy_n(code, std::min(room, longest_instruction), older);
  const bool has_length = make_older(older) && is_decoded(older, std::min(room, longest_instruction), found);
  const std::uint8_t length = has_length ? found.length : std::uint8_t{0};
  found = {};
  found.length = length;
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
  const bool traps =
      is({ZYDIS_MNEMONIC_HLT, ZYDIS_MNEMONIC_INT3, ZYDIS_MNEMONIC_UD0, ZYDIS_MNEMONIC_UD1, ZYDIS_MNEMONIC_UD2});
  return traps ? Flow::end : Flow::on;
}

Operands::Operands(const Instruction& instruction)
    : all_(instruction.operand_count), named_(instruction.operand_count_visible) {
  if (instruction.is_newer()) return;
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

bool accesses(const Instruction& instruction, const ZydisDecodedOperand& operand) {
  const ZydisInstructionCategory category = instruction.meta.category;
  const bool is_hint =
      category == ZYDIS_CATEGORY_NOP || category == ZYDIS_CATEGORY_WIDENOP || category == ZYDIS_CATEGORY_PREFETCH;
  return !is_hint && operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type != ZYDIS_MEMOP_TYPE_AGEN;
}

/// Whether the operand's size says how much is accessed.
bool is_sized(const Instruction& instruction) {
  // Masked by a vector; or a line of the cache, wherever in it the address is.
  if (instruction.is({ZYDIS_MNEMONIC_VMASKMOVPD, ZYDIS_MNEMONIC_VMASKMOVPS, ZYDIS_MNEMONIC_VPMASKMOVD,
                      ZYDIS_MNEMONIC_VPMASKMOVQ, ZYDIS_MNEMONIC_CLFLUSH, ZYDIS_MNEMONIC_CLFLUSHOPT,
                      ZYDIS_MNEMONIC_CLWB})) {
    return false;
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

namespace {

/// What instructions do with memory that may lock it.
constexpr std::pair<ZydisMnemonic, AtomicKind> kinds[] = {
    {ZYDIS_MNEMONIC_ADD, AtomicKind::add},
    {ZYDIS_MNEMONIC_XADD, AtomicKind::add},
    {ZYDIS_MNEMONIC_OR, AtomicKind::bit_or},
    {ZYDIS_MNEMONIC_ADC, AtomicKind::add_with_carry},
    {ZYDIS_MNEMONIC_SBB, AtomicKind::subtract_with_borrow},
    {ZYDIS_MNEMONIC_AND, AtomicKind::bit_and},
    {ZYDIS_MNEMONIC_SUB, AtomicKind::subtract},
    {ZYDIS_MNEMONIC_XOR, AtomicKind::bit_xor},
    {ZYDIS_MNEMONIC_INC, AtomicKind::increment},
    {ZYDIS_MNEMONIC_DEC, AtomicKind::decrement},
    {ZYDIS_MNEMONIC_NOT, AtomicKind::invert},
    {ZYDIS_MNEMONIC_NEG, AtomicKind::negate},
    {ZYDIS_MNEMONIC_BTS, AtomicKind::set_bit},
    {ZYDIS_MNEMONIC_BTR, AtomicKind::reset_bit},
    {ZYDIS_MNEMONIC_BTC, AtomicKind::complement_bit},
    {ZYDIS_MNEMONIC_XCHG, AtomicKind::exchange},
    {ZYDIS_MNEMONIC_CMPXCHG, AtomicKind::compare_exchange},
    {ZYDIS_MNEMONIC_CMPXCHG8B, AtomicKind::compare_exchange_pair},
    {ZYDIS_MNEMONIC_CMPXCHG16B, AtomicKind::compare_exchange_pair},
};

}  // namespace

std::optional<LockedInstruction> locked_of(const Instruction& instruction) {
  LockedInstruction locked{.length = instruction.length};
  if (instruction.mnemonic == ZYDIS_MNEMONIC_MFENCE) {
    locked.is_fence = true;
    return locked;
  }
  // An exchange with memory locks without a prefix.
  if (!instruction.has_lock() && instruction.mnemonic != ZYDIS_MNEMONIC_XCHG) return std::nullopt;
  const auto* const kind = std::find_if(std::begin(kinds), std::end(kinds),
                                        [&](const auto& one) { return one.first == instruction.mnemonic; });
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
      const bool is_high = operand.reg.value >= ZYDIS_REGISTER_AH && operand.reg.value <= ZYDIS_REGISTER_BH;
      locked.source = is_high ? LockedInstruction::Source::high : LockedInstruction::Source::low;
      locked.source_register = register_of(operand.reg.value);
    }
  }
  if (!memory || kind == std::end(kinds)) return std::nullopt;
  locked.kind = kind->second;
  locked.memory = *memory;
  locked.returns_before = locked.kind == AtomicKind::exchange || instruction.mnemonic == ZYDIS_MNEMONIC_XADD;
  locked.is_fence = (locked.kind == AtomicKind::bit_or || locked.kind == AtomicKind::add) &&
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
