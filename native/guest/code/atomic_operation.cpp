#include "native/guest/code/atomic_operation.hpp"

#include <cstring>

namespace sdsm::program {
namespace {

/// The instruction itself, on registers, has the flags of the one on memory. The stack pointer steps over the red zone.
#define SDSM_RUN(instruction)                                                     \
  asm volatile("lea -128(%%rsp), %%rsp\n\tpush %[flags]\n\tpopfq\n\t" instruction \
               "\n\tpushfq\n\tpop %[flags]\n\tlea 128(%%rsp), %%rsp"              \
               : [value] "+r"(value), [flags] "+r"(flags), "+a"(expected)         \
               : [operand] "r"(operand)                                           \
               : "cc", "memory");                                                 \
  break

template <typename Word>
Word run(AtomicKind kind, Word value, Word operand, Word expected, std::uint64_t& flags) {
  switch (kind) {
    case AtomicKind::add: SDSM_RUN("add %[operand], %[value]");
    case AtomicKind::bit_or: SDSM_RUN("or %[operand], %[value]");
    case AtomicKind::add_with_carry: SDSM_RUN("adc %[operand], %[value]");
    case AtomicKind::subtract_with_borrow: SDSM_RUN("sbb %[operand], %[value]");
    case AtomicKind::bit_and: SDSM_RUN("and %[operand], %[value]");
    case AtomicKind::subtract: SDSM_RUN("sub %[operand], %[value]");
    case AtomicKind::bit_xor: SDSM_RUN("xor %[operand], %[value]");
    case AtomicKind::increment: SDSM_RUN("inc %[value]");
    case AtomicKind::decrement: SDSM_RUN("dec %[value]");
    case AtomicKind::invert: SDSM_RUN("not %[value]");
    case AtomicKind::negate: SDSM_RUN("neg %[value]");
    case AtomicKind::compare_exchange: SDSM_RUN("cmpxchg %[operand], %[value]");
    case AtomicKind::exchange: return operand;
    default: break;
  }
  if constexpr (sizeof(Word) > 1) {
    switch (kind) {
      case AtomicKind::set_bit: SDSM_RUN("bts %[operand], %[value]");
      case AtomicKind::reset_bit: SDSM_RUN("btr %[operand], %[value]");
      case AtomicKind::complement_bit: SDSM_RUN("btc %[operand], %[value]");
      default: break;
    }
  }
  return value;
}

#undef SDSM_RUN

template <typename Word>
AtomicOutcome run(const AtomicOperation& operation, const AtomicValue& before) {
  std::uint64_t flags = operation.flags & status_flags;
  const Word now = run(operation.kind, static_cast<Word>(before.low), static_cast<Word>(operation.operand.low),
                       static_cast<Word>(operation.expected.low), flags);
  return {before, {now, 0}, static_cast<std::uint32_t>(flags) & status_flags};
}

AtomicOutcome run_pair(const AtomicOperation& operation, const AtomicValue& before) {
  constexpr std::uint32_t zero_flag = 0x40;
  const bool is_equal = before == operation.expected;
  const std::uint32_t others = operation.flags & status_flags & ~zero_flag;
  return {before, is_equal ? operation.operand : before, is_equal ? others | zero_flag : others};
}

AtomicValue load(const void* memory, unsigned bytes) {
  AtomicValue value;
  std::memcpy(&value, memory, bytes);
  return value;
}

template <typename Word>
bool replace(void* memory, const AtomicValue& before, const AtomicValue& now) {
  auto expected = static_cast<Word>(before.low);
  return __atomic_compare_exchange_n(static_cast<Word*>(memory), &expected, static_cast<Word>(now.low), false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

bool replace_pair(void* memory, AtomicValue before, const AtomicValue& now) {
  bool is_done = false;
  asm volatile("lock cmpxchg16b %[memory]"
               : [memory] "+m"(*static_cast<AtomicValue*>(memory)), "+a"(before.low), "+d"(before.high),
                 "=@ccz"(is_done)
               : "b"(now.low), "c"(now.high)
               : "memory");
  return is_done;
}

bool replace(void* memory, unsigned bytes, const AtomicValue& before, const AtomicValue& now) {
  switch (bytes) {
    case 1: return replace<std::uint8_t>(memory, before, now);
    case 2: return replace<std::uint16_t>(memory, before, now);
    case 4: return replace<std::uint32_t>(memory, before, now);
    case 8: return replace<std::uint64_t>(memory, before, now);
    default: return replace_pair(memory, before, now);
  }
}

}  // namespace

AtomicOutcome evaluate(const AtomicOperation& operation, const AtomicValue& before) {
  if (operation.kind == AtomicKind::compare_exchange_pair) return run_pair(operation, before);
  switch (operation.bytes) {
    case 1: return run<std::uint8_t>(operation, before);
    case 2: return run<std::uint16_t>(operation, before);
    case 4: return run<std::uint32_t>(operation, before);
    default: return run<std::uint64_t>(operation, before);
  }
}

AtomicOutcome operate(const AtomicOperation& operation, void* memory) {
  for (;;) {
    const AtomicOutcome outcome = evaluate(operation, load(memory, operation.bytes));
    if (replace(memory, operation.bytes, outcome.before, outcome.now)) return outcome;
  }
}

}  // namespace sdsm::program
