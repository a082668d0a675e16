/// Reads the machine code of x86-64: where control goes after an instruction, what memory it accesses, and for those
/// that lock memory, all that is needed to do their work. Zydis decodes. It allocates nothing and keeps no state, so
/// that signal handlers may use it.
#pragma once

#include <Zydis/Zydis.h>
#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "native/guest/code/atomic_operation.hpp"

namespace sdsm::program {

inline constexpr std::uint8_t trap_code = 0xcc;  ///< int3
inline constexpr greg_t single_step = 0x100;     ///< TF, of the processor's flags
inline constexpr std::size_t longest_instruction = ZYDIS_MAX_INSTRUCTION_LENGTH;

/// Where control goes after an instruction.
enum class Flow : std::uint8_t {
  on,        ///< to the next one, perhaps by way of a call
  branch,    ///< there or to the target
  jump,      ///< to the target
  indirect,  ///< to an address from a register or from memory
  end,       ///< nowhere: it returns or traps
};

/// An instruction without its operands, which take half as long again.
struct Instruction : ZydisDecodedInstruction {
  ZydisDecoderContext context;

  bool is_known() const { return length != 0; }
  /// A vector instruction of which nothing but its length is known.
  bool is_newer() const { return mnemonic == ZYDIS_MNEMONIC_INVALID; }
  bool is(std::initializer_list<ZydisMnemonic> those) const {
    return std::find(those.begin(), those.end(), mnemonic) != those.end();
  }
  Flow flow() const;
  /// Of branch, jump and direct call: distance from the next instruction.
  std::int64_t target() const { return raw.imm[0].value.s; }
  bool has_lock() const { return (attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0; }
  /// Whether it reads the processor's own clock.
  bool reads_cycles() const { return is({ZYDIS_MNEMONIC_RDTSC, ZYDIS_MNEMONIC_RDTSCP}); }
};

/// The instruction at `code`, of which `room` bytes may be read.
Instruction decode(const std::uint8_t* code, std::size_t room);

class Operands {
 public:
  explicit Operands(const Instruction& instruction);

  /// Those that assembly code names come first.
  std::span<const ZydisDecodedOperand> all() const { return {operands_, all_}; }
  std::span<const ZydisDecodedOperand> named() const { return {operands_, named_}; }

 private:
  ZydisDecodedOperand operands_[ZYDIS_MAX_OPERAND_COUNT];
  std::size_t all_;
  std::size_t named_;
};

inline bool reads(const ZydisDecodedOperand& operand) {
  return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
}
inline bool writes(const ZydisDecodedOperand& operand) {
  return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

/// A general register as instructions number them, the instruction pointer, or none of these.
enum class Register : std::uint8_t { rax = 0, rcx = 1, rdx = 2, rbx = 3, rsp = 4, rbp = 5, none = 16, rip = 17 };

/// The register that `part` is, or is a part of.
Register register_of(ZydisRegister part);

/// An address, or the variable there.
struct MemoryOperand {
  Register base = Register::none;
  Register index = Register::none;
  std::uint8_t scale = 0;
  bool is_thread_local = false;  ///< relative to fs
  bool has_short_address = false;
  std::int64_t displacement = 0;

  friend bool operator==(const MemoryOperand&, const MemoryOperand&) = default;
};

/// Nothing if the operand is no memory, or lies at several places, or relative to gs.
std::optional<MemoryOperand> memory_of(const Instruction& instruction, const ZydisDecodedOperand& operand);
/// The operand's address for a thread with these registers. `next`: the address behind the instruction.
std::uintptr_t address_of(const MemoryOperand& memory, const greg_t* registers, std::uintptr_t next);

/// Of an operand; of a string instruction, one element.
struct MemoryAccess {
  MemoryOperand operand;
  std::uint32_t bytes = 0;  ///< from its first byte on; 0: not known (masks, state of the processor)
  bool reads = false;
  bool writes = false;
};

/// The instruction's accesses that assembly code names: movs and cmps have two. Not its pushes and pops.
struct MemoryAccesses {
  MemoryAccess all[2];
  std::size_t count = 0;
};
MemoryAccesses accesses_of(const Instruction& instruction);

/// The number in memory, with or without a fraction, that an instruction loads, stores or compares.
struct Poll {
  std::uintptr_t address = 0;
  std::uint32_t bytes = 0;  ///< 1, 2, 4 or 8
};

/// The poll of a thread with these registers, whose instruction pointer says where it is. `code`: the instruction's
/// bytes, of which `longest_instruction` may be read. Nothing for instructions by which no loop waits.
std::optional<Poll> poll_of(const std::uint8_t* code, const greg_t* registers);

/// An instruction that locks memory, or a fence.
struct LockedInstruction {
  enum class Source : std::uint8_t {
    none,
    immediate,
    low,   ///< a register, from its lowest bit on
    high,  ///< of one byte: the second byte of a register (ah, ch, dh, bh)
  };
  AtomicKind kind{};
  std::uint8_t bytes = 0;
  std::uint8_t length = 0;      ///< of the instruction
  bool is_fence = false;        ///< orders memory; what it does besides, if anything, changes nothing
  bool returns_before = false;  ///< xadd and xchg: the source register gets what was in memory
  Source source{};
  Register source_register = Register::none;
  std::int32_t immediate = 0;
  MemoryOperand memory{};
};

/// Nothing if the instruction does not lock memory.
std::optional<LockedInstruction> locked_of(const Instruction& instruction);

/// The operation and address of `instruction`, for a thread with these registers. `next`: the address behind it.
struct LockedAccess {
  std::uintptr_t address = 0;
  AtomicOperation operation;
};
LockedAccess access_of(const LockedInstruction& instruction, const greg_t* registers, std::uintptr_t next);

/// Changes registers and flags as the instruction does.
void finish(const LockedInstruction& instruction, const AtomicOutcome& outcome, greg_t* registers);

}  // namespace sdsm::program
