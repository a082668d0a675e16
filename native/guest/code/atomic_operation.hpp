/// One atomic operation of an x86-64 processor, apart from the registers and the memory that it works on. Plain data:
/// the native DSM sends it to where the memory is.
#pragma once

#include <cstdint>

namespace sdsm::program {

/// The instructions that may have a lock prefix. `exchange` locks without one.
enum class AtomicKind : std::uint8_t {
  add,
  bit_or,
  add_with_carry,
  subtract_with_borrow,
  bit_and,
  subtract,
  bit_xor,
  increment,
  decrement,
  invert,
  negate,
  set_bit,
  reset_bit,
  complement_bit,
  exchange,
  compare_exchange,
  compare_exchange_pair,  ///< of two registers: changes no flag but ZF
};

/// A value of 1, 2, 4, 8 or 16 bytes; the rest is 0.
struct AtomicValue {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend bool operator==(const AtomicValue&, const AtomicValue&) = default;
};

struct AtomicOperation {
  AtomicKind kind{};
  std::uint8_t bytes = 0;
  std::uint16_t unused = 0;
  std::uint32_t flags = 0;  ///< the processor's, before
  AtomicValue operand;      ///< of bit operations: the bit's number, less than 8 * bytes
  AtomicValue expected;     ///< of compare_exchange

  /// Whether the operation may fail. The program then tries again.
  bool compares() const { return kind == AtomicKind::compare_exchange || kind == AtomicKind::compare_exchange_pair; }
};

struct AtomicOutcome {
  AtomicValue before;
  AtomicValue now;
  std::uint32_t flags = 0;  ///< the processor's, after

  /// Whether a compare_exchange found what it expected.
  bool is_equal() const { return (flags & 0x40) != 0; }
};

/// The flags that an operation may change: CF, PF, AF, ZF, SF, OF.
inline constexpr std::uint32_t status_flags = 0x8d5;

/// The operation's effect on a value, and on the flags, as the processor defines it.
AtomicOutcome evaluate(const AtomicOperation& operation, const AtomicValue& before);

/// Does the operation at `memory`, as one with regard to every thread and process that maps it. Precondition: the
/// memory can be written; 16 bytes are aligned.
AtomicOutcome operate(const AtomicOperation& operation, void* memory);

}  // namespace sdsm::program
