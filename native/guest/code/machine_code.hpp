/// Decodes the machine code of x86-64: how long an instruction is and where control goes, and for those that lock
/// memory, all that is needed to do their work.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <optional>

#include "native/guest/code/atomic_operation.hpp"

namespace sdsm::program {

inline constexpr std::uint8_t trap_code = 0xcc;  ///< int3
inline constexpr std::uint8_t rex_wide = 8;      ///< bit of Instruction::rex: operands have 8 bytes
inline constexpr greg_t single_step = 0x100;     ///< TF, of the processor's flags

/// Where control goes after an instruction.
enum class Flow : std::uint8_t {
  on,        ///< to the next one, perhaps by way of a call
  branch,    ///< there or to `target`
  jump,      ///< to `target`
  indirect,  ///< to an address from a register or from memory
  end,       ///< nowhere: it returns or traps
};

struct Instruction {
  std::uint8_t length = 0;  ///< in bytes; 0: no instruction, or one that is not known
  std::uint8_t map = 0;     ///< table of opcodes: 0 one byte, 1 after 0f, 2 after 0f 38, 3 after 0f 3a
  std::uint8_t opcode = 0;
  std::uint8_t rex = 0;    ///< prefix, also as VEX, EVEX and XOP hold it; 0: none
  std::uint8_t modrm = 0;  ///< place of that byte; 0: there is none
  bool is_vector = false;  ///< VEX, EVEX or XOP
  bool is_evex = false;
  bool has_lock = false;
  bool is_repeated = false;  ///< f2 or f3
  bool has_short_operand = false;
  bool has_short_address = false;
  std::uint8_t segment = 0;  ///< prefix; 0: none
  Flow flow{};
  std::int32_t target = 0;  ///< of branch and jump: distance from the next instruction
};

/// The instruction at `code`, of which `room` bytes may be read.
Instruction decode(const std::uint8_t* code, std::size_t room);

/// Whether the instruction, which was decoded at `code`, reads the processor's own clock (rdtsc, rdtscp).
bool reads_cycles(const std::uint8_t* code, const Instruction& found);

/// A register as instructions number them, or none.
enum class Register : std::uint8_t { rax = 0, rcx = 1, rdx = 2, rbx = 3, rsp = 4, none = 16, rip = 17 };

struct MemoryOperand {
  Register base = Register::none;
  Register index = Register::none;
  std::uint8_t scale = 1;
  bool is_thread_local = false;  ///< relative to fs
  bool has_short_address = false;
  std::int32_t displacement = 0;
};

/// Precondition: `found`, which was decoded at `code`, has a ModRM byte that names memory, and is not EVEX, where a
/// displacement of one byte counts operands.
MemoryOperand memory_of(const std::uint8_t* code, const Instruction& found);
/// The operand's address for a thread with these registers. `next`: the address behind the instruction.
std::uintptr_t address_of(const MemoryOperand& memory, const greg_t* registers, std::uintptr_t next);

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
  MemoryOperand memory;
};

/// Decodes the instruction at `code`; nothing if it does not lock memory.
std::optional<LockedInstruction> decode_locked(const std::uint8_t* code, std::size_t room);

/// The operation and address of `instruction`, for a thread with these registers. `next`: the address behind it.
struct LockedAccess {
  std::uintptr_t address = 0;
  AtomicOperation operation;
};
LockedAccess access_of(const LockedInstruction& instruction, const greg_t* registers, std::uintptr_t next);

/// Changes registers and flags as the instruction does.
void finish(const LockedInstruction& instruction, const AtomicOutcome& outcome, greg_t* registers);

}  // namespace sdsm::program
