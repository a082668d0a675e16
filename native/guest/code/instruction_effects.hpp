/// Effects of instructions on registers and memory, as far as loops that wait for a store need them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "native/guest/code/machine_code.hpp"
#include "native/guest/code/waiting_code.hpp"

namespace sdsm::program {

inline constexpr std::size_t most_variables = 16;  // of a loop's

/// The registers and memory that an instruction reads and writes. Bit n: register n; one more: flags of comparisons.
inline constexpr std::uint32_t flags_bit = 1u << 16;
struct Effect {
  std::uint32_t reads = 0;
  std::uint32_t writes = 0;
  /// Its address is absolute instead of relative to the instruction: alike for any that uses the variable.
  std::optional<MemoryOperand> memory{};
  bool loads = false;
  bool stores = false;
  bool is_known = false;  ///< this is all that it does
};

/// Of the instruction at `code`. It is known if a waiting loop may have the instruction.
Effect effect_of(const Instruction& instruction, const Operands& operands, const std::uint8_t* code,
                 const Pauses& pauses);

/// An instruction of a function, as far as it is known without its operands. Distances are from the function's begin.
struct Step {
  std::uint32_t at = 0;
  std::uint32_t end = 0;
  std::int64_t target = 0;
  Flow flow{};
  bool has_target = false;
  bool compares = false;    ///< or subtracts, or xors, two variables
  std::uint8_t memory = 0;  ///< a number below 64, the same for the same operand in memory; 0: none
};

constexpr std::uint32_t bit_of(Register one) {
  return one < Register::none ? 1u << static_cast<unsigned>(one) : 0;
}

/// The thread's own variables, in unoptimised code: not those that others store to.
inline bool is_on_stack(const MemoryOperand& memory) {
  if (memory.index != Register::none) return false;
  // Optimised code uses rbp for anything.
  return memory.base == Register::rsp || (memory.base == Register::rbp && memory.displacement < 0);
}

struct Variables {
  MemoryOperand all[most_variables];
  std::size_t count = 0;

  bool has(const MemoryOperand& wanted) const { return std::find(all, all + count, wanted) != all + count; }
  bool add(const MemoryOperand& one) {
    if (has(one)) return true;
    if (count == most_variables) return false;
    all[count++] = one;
    return true;
  }
};

}  // namespace sdsm::program
