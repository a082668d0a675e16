/// How much memory an instruction accesses, where, and whether it reads what it writes. For single steps, where the
/// processor reports only the first byte.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "native/guest/code/machine_code.hpp"

namespace sdsm::program {

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

}  // namespace sdsm::program
