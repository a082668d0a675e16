/// How much memory an instruction of x86-64 accesses, and whether it reads what it writes. For single steps, where the
/// processor reports only the first byte.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "native/guest/code/machine_code.hpp"

namespace sdsm::program {

struct MemoryAccess {
  std::uint32_t bytes = 0;        ///< from its first byte on; 0: not known (masks, gathers, state of the processor)
  bool reads_and_writes = false;  ///< of one operand: arithmetic on memory, exchanges
};

/// The access of the instruction that was decoded at `code`, if its ModRM byte names memory or it is a string
/// instruction: one element then. The tables are those of AMD's manual (volumes 3 to 5).
MemoryAccess memory_access(const std::uint8_t* code, const Instruction& found);

/// The number in memory, with or without a fraction, that an instruction loads, stores or compares.
struct Poll {
  std::uintptr_t address = 0;
  std::uint32_t bytes = 0;  ///< 1, 2, 4 or 8
};

/// Longest instruction, in bytes.
inline constexpr std::size_t longest_instruction = 15;

/// The poll of a thread with these registers, whose instruction pointer says where it is. `code`: the instruction's
/// bytes, of which `longest_instruction` may be read. Nothing for instructions by which no loop waits.
std::optional<Poll> poll_of(const std::uint8_t* code, const greg_t* registers);

}  // namespace sdsm::program
