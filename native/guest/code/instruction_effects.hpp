/// Effects of instructions on registers and memory, as far as loops that wait for a store need them.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>

#include "native/guest/code/machine_code.hpp"
#include "native/guest/code/waiting_code.hpp"

namespace sdsm::program {

inline constexpr std::size_t most_variables = 16;  // of a loop's

struct Step {
  std::uint32_t at = 0;
  Instruction instruction;

  std::uint32_t end() const { return at + instruction.length; }
  bool has_target() const { return instruction.flow == Flow::branch || instruction.flow == Flow::jump; }
  std::int64_t target() const { return std::int64_t{end()} + instruction.target; }
};

/// The thread's own variables, in unoptimised code: not those that others store to.
inline bool is_on_stack(const MemoryOperand& memory) {
  if (memory.index != Register::none) return false;
  constexpr auto frame = Register{5};  // rbp, which optimised code uses for anything
  return memory.base == Register::rsp || (memory.base == frame && memory.displacement < 0);
}

/// The registers and memory that an instruction reads and writes. Bit n: register n; one more: flags of comparisons.
inline constexpr std::uint32_t flags_bit = 1u << 16;
struct Effect {
  std::uint32_t reads = 0;
  std::uint32_t writes = 0;
  std::optional<MemoryOperand> memory;
  bool loads = false;
  bool stores = false;
};

/// The entry of the linker's table of addresses there; 0 outside of the file.
inline std::uintptr_t entry_of(const AddressRange& file, std::uintptr_t address) {
  std::uintptr_t entry = 0;
  if (address < file.begin || address + sizeof entry > file.end) return 0;
  std::memcpy(&entry, reinterpret_cast<const void*>(address), sizeof entry);
  return entry;
}

/// Reads an instruction's effect; nothing for one that no waiting loop needs.
class EffectReader {
 public:
  EffectReader(const std::uint8_t* code, const Instruction& instruction, const Pauses& pauses)
      : code_(code), instruction_(instruction), pauses_(pauses) {}

  std::optional<Effect> read() {
    if (instruction_.has_lock || instruction_.is_vector || instruction_.flow == Flow::indirect ||
        instruction_.flow == Flow::end) {
      return std::nullopt;
    }
    if (instruction_.flow == Flow::branch) use(flags_bit, Use::reads);
    if (instruction_.flow != Flow::on) return effect_;
    const bool is_known = instruction_.map == 0 ? read_one_byte() : instruction_.map == 1 && read_after_0f();
    return is_known ? std::optional(effect_) : std::nullopt;
  }

 private:
  enum class Use : std::uint8_t { none, reads, writes, changes };

  unsigned field() const { return code_[instruction_.modrm] >> 3 & 7; }
  bool is_byte() const { return instruction_.map == 0 && (instruction_.opcode & 1) == 0; }
  std::uint32_t bit_of(unsigned number, unsigned extension, bool is_of_byte) const {
    if ((instruction_.rex & extension) != 0) number += 8;
    if (is_of_byte && instruction_.rex == 0 && number >= 4) number -= 4;
    return 1u << number;
  }
  static bool reads(Use use) { return use == Use::reads || use == Use::changes; }
  static bool writes(Use use) { return use == Use::writes || use == Use::changes; }

  void use(std::uint32_t registers, Use how) {
    if (reads(how)) effect_.reads |= registers;
    if (writes(how)) effect_.writes |= registers;
  }
  bool use_operands(Use of_field, Use of_other, bool is_of_byte) {
    if (of_field != Use::none) use(bit_of(field(), 4, is_of_byte), of_field);
    if (code_[instruction_.modrm] >= 0xc0) {
      use(bit_of(code_[instruction_.modrm] & 7, 1, is_of_byte), of_other);
      return true;
    }
    effect_.memory = memory_of(code_, instruction_);
    const auto address_register = [&](Register one) {
      if (one < Register::none) effect_.reads |= 1u << static_cast<unsigned>(one);
    };
    address_register(effect_.memory->base);
    address_register(effect_.memory->index);
    effect_.loads = reads(of_other);
    effect_.stores = writes(of_other);
    return true;
  }
  /// rax
  bool use_first(Use how) {
    use(1, how);
    return true;
  }
  bool is_nothing() { return true; }
  bool sets_flags() {
    use(flags_bit, Use::writes);
    return true;
  }
  /// A call leaves these registers as it likes: rax, rcx, rdx, rsi, rdi, r8 to r11.
  bool use_call(std::uintptr_t function) {
    constexpr std::uint32_t not_kept = 0xfc7;
    use(not_kept | flags_bit, Use::writes);
    return pauses_.has(function);
  }
  std::uintptr_t next() const { return reinterpret_cast<std::uintptr_t>(code_) + instruction_.length; }

  /// Arithmetic: add to xor change their first operand, the eighth compares.
  static Use result_of(unsigned operation) { return operation == 7 ? Use::reads : Use::changes; }

  bool read_arithmetic() {
    const unsigned operation = instruction_.opcode >> 3;
    const Use result = result_of(operation);
    const bool is_same = code_[instruction_.modrm] >= 0xc0 && field() == (code_[instruction_.modrm] & 7u) &&
                         ((instruction_.rex & 4) != 0) == ((instruction_.rex & 1) != 0);
    constexpr unsigned with_carry = 2, with_borrow = 3, exclusive_or = 6;
    use(flags_bit, operation == with_carry || operation == with_borrow ? Use::changes : Use::writes);
    switch (instruction_.opcode & 7) {
      case 0:
      case 1:
        if (operation == exclusive_or && is_same) return use_operands(Use::none, Use::writes, is_byte());
        return use_operands(Use::reads, result, is_byte());
      case 2:
      case 3: return use_operands(result, Use::reads, is_byte());
      default: return use_first(result);
    }
  }

  bool read_one_byte() {
    const unsigned opcode = instruction_.opcode;
    if (opcode < 0x40 && (opcode & 7) < 6) return read_arithmetic();
    switch (opcode) {
      case 0x63: return use_operands(Use::writes, Use::reads, false);
      case 0x69:
      case 0x6b: return sets_flags() && use_operands(Use::writes, Use::reads, false);
      case 0x80:
      case 0x81:
      case 0x83: return sets_flags() && use_operands(Use::none, result_of(field()), is_byte());
      case 0x84:
      case 0x85: return sets_flags() && use_operands(Use::reads, Use::reads, is_byte());
      case 0x88:
      case 0x89: return use_operands(Use::reads, Use::writes, is_byte());
      case 0x8a:
      case 0x8b: return use_operands(Use::writes, Use::reads, is_byte());
      case 0x8d: return use_operands(Use::writes, Use::none, false);
      case 0x90: return is_nothing();  // also pause
      case 0x98: return use_first(Use::changes);
      case 0xa8:
      case 0xa9: return sets_flags() && use_first(Use::reads);
      case 0xc0:
      case 0xc1:
      case 0xd0:
      case 0xd1: return sets_flags() && use_operands(Use::none, Use::changes, is_byte());
      case 0xd2:
      case 0xd3:
        use(1u << static_cast<unsigned>(Register::rcx), Use::reads);
        return sets_flags() && use_operands(Use::none, Use::changes, is_byte());
      case 0xc6:
      case 0xc7: return use_operands(Use::none, Use::writes, is_byte());
      case 0xf6:
      case 0xf7:
        if (field() < 2) return sets_flags() && use_operands(Use::none, Use::reads, is_byte());
        return field() < 4 && sets_flags() && use_operands(Use::none, Use::changes, is_byte());
      case 0xe8: {
        std::int32_t distance = 0;
        std::memcpy(&distance, code_ + instruction_.length - sizeof distance, sizeof distance);
        return use_call(next() + static_cast<std::uintptr_t>(std::intptr_t{distance}));
      }
      case 0xfe: return field() < 2 && sets_flags() && use_operands(Use::none, Use::changes, true);
      case 0xff: {
        constexpr unsigned calls = 2;
        if (field() < 2) return sets_flags() && use_operands(Use::none, Use::changes, false);
        if (field() != calls || code_[instruction_.modrm] >= 0xc0) return false;
        const MemoryOperand table = memory_of(code_, instruction_);
        return table.base == Register::rip && use_call(entry_of(pauses_.file, address_of(table, nullptr, next())));
      }
      default: break;
    }
    if (opcode < 0xb0 || opcode > 0xbf) return false;
    use(bit_of(opcode & 7, 1, opcode < 0xb8), Use::writes);
    return true;
  }

  bool read_after_0f() {
    const unsigned opcode = instruction_.opcode;
    if (opcode == 0x1e || opcode == 0x1f) return is_nothing();
    if (opcode == 0xaf) return sets_flags() && use_operands(Use::changes, Use::reads, false);
    if ((opcode & 0xf0) == 0x40 || (opcode & 0xf0) == 0x90) use(flags_bit, Use::reads);
    if ((opcode & 0xf0) == 0x40) return use_operands(Use::changes, Use::reads, false);
    if ((opcode & 0xf0) == 0x90) return use_operands(Use::none, Use::writes, true);
    const bool extends = (opcode & 0xf6) == 0xb6;
    return extends && use_operands(Use::writes, Use::reads, (opcode & 1) == 0 && code_[instruction_.modrm] >= 0xc0);
  }

  const std::uint8_t* code_;
  const Instruction& instruction_;
  const Pauses& pauses_;
  Effect effect_;
};

inline bool is_same(const MemoryOperand& one, const MemoryOperand& other) {
  return one.base == other.base && one.index == other.index && one.displacement == other.displacement &&
         one.scale == other.scale && one.is_thread_local == other.is_thread_local;
}

struct Variables {
  MemoryOperand all[most_variables];
  std::size_t count = 0;

  bool has(const MemoryOperand& wanted) const {
    return std::any_of(all, all + count, [&](const MemoryOperand& one) { return is_same(one, wanted); });
  }
  bool add(const MemoryOperand& one) {
    if (has(one)) return true;
    if (count == most_variables) return false;
    all[count++] = one;
    return true;
  }
};

/// The operand with an absolute address instead of one relative to the next instruction, at `next`: alike for any
/// instruction that uses the variable.
inline MemoryOperand anywhere(MemoryOperand memory, std::uint32_t next) {
  if (memory.base == Register::rip) memory.displacement += static_cast<std::int32_t>(next);
  return memory;
}

}  // namespace sdsm::program
