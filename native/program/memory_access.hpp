/// How much memory an instruction of x86-64 accesses, and whether it reads what it writes: for single steps, where the
/// processor tells only that a page was accessed, and from which byte on.
#pragma once

#include <cstdint>

#include "native/program/machine_code.hpp"

namespace sdsm::program {

struct MemoryAccess {
  std::uint32_t bytes = 0;        ///< from its first byte on; 0: not known (masks, gathers, state of the processor)
  bool reads_and_writes = false;  ///< of one operand: arithmetic on memory, exchanges
};

/// Of the instruction that was decoded at `code`, if its ModRM byte names memory or it is a string instruction: of one
/// element then. The tables are those of AMD's manual (volumes 3 to 5).
MemoryAccess memory_access(const std::uint8_t* code, const Instruction& found);

}  // namespace sdsm::program
