#include "native/guest/code/re_checks.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "native/guest/code/instruction_effects.hpp"

namespace sdsm::program {
namespace {

constexpr std::size_t registers = 16;
constexpr unsigned subtraction = 5;  ///< of the arithmetic instructions

/// A value that the code has computed, and where it comes from if it was loaded.
struct Value {
  const std::uint8_t* load = nullptr;  ///< the instruction; null: the value was not loaded, or is out of date
  MemoryOperand where;
  std::uint32_t base = 0;  ///< numbers of the values that the address was computed from
  std::uint32_t index = 0;
  std::uint32_t order = 0;  ///< of the load
};

/// Follows a function's code from its begin to its end, branches passed over.
class ReCheckFinder {
 public:
  ReCheckFinder(const Pauses& pauses, GrowingArray<Wait>& found) : pauses_(pauses), found_(found) { forget(); }

  void read(const std::uint8_t* code, std::uint32_t bytes) {
    targets_.clear();
    for (std::uint32_t at = 0; at < bytes;) {
      const Instruction next = decode(code + at, bytes - at);
      if (next.length == 0) break;
      at += next.length;
      if (next.flow == Flow::branch || next.flow == Flow::jump)
        targets_.push_back(static_cast<std::uint32_t>(at + next.target));
    }
    std::sort(targets_.begin(), targets_.end());
    for (std::uint32_t at = 0; at < bytes;) {
      const Instruction next = decode(code + at, bytes - at);
      if (next.length == 0) return;
      if (std::binary_search(targets_.begin(), targets_.end(), at)) forget();
      at += next.length;
      take(code + at - next.length, next, at, bytes - at);
    }
  }

 private:
  static constexpr std::size_t most_slots = 64;
  static constexpr std::uint32_t most_between = 64;  ///< loads between the first one and the second
  struct Slot {
    MemoryOperand place;
    std::uint32_t value = 0;
  };

  std::uint32_t add(const Value& value) {
    values_.push_back(value);
    return static_cast<std::uint32_t>(values_.size() - 1);
  }
  void forget() {
    values_.clear();
    slots_ = next_slot_ = 0;
    for (std::uint32_t& value : in_register_) value = add({});
  }
  /// Other code ran: loads before it say nothing of what is there now.
  void age() { aged_at_ = loads_; }

  std::uint32_t value_of(Register one) const {
    return one < Register::none ? in_register_[static_cast<unsigned>(one)] : 0;
  }

  std::uint32_t& slot_at(const MemoryOperand& place) {
    const auto same = [&](const Slot& slot) { return is_same(slot.place, place); };
    Slot* found = std::find_if(slot_, slot_ + slots_, same);
    if (found == slot_ + slots_) {
      found = slot_ + next_slot_++ % most_slots;
      slots_ = std::max(slots_, static_cast<std::size_t>(found - slot_ + 1));
      *found = {place, add({})};
    }
    return found->value;
  }

  Value load_of(const MemoryOperand& where, const std::uint8_t* code) {
    return {code, where, value_of(where.base), value_of(where.index), ++loads_};
  }
  /// The code stores there itself.
  void forget_loads_of(const Value& stored) {
    for (std::size_t i = values_.size(); i-- > 0;) {
      Value& value = values_[i];
      if (value.load == nullptr) continue;
      if (value.order + most_between < stored.order) return;
      if (is_same_place(value, stored)) value.load = nullptr;
    }
  }
  static bool is_same_place(const Value& one, const Value& other) {
    return is_same(one.where, other.where) && one.base == other.base && one.index == other.index;
  }

  bool is_call(const std::uint8_t* code, const Instruction& next) const {
    constexpr std::uint8_t call = 0xe8, group = 0xff, call_by_table = 2;
    if (next.map != 0) return false;
    return next.opcode == call || (next.opcode == group && (code[next.modrm] >> 3 & 7) == call_by_table);
  }

  /// `end`: where the instruction ends; as many bytes of the function follow as `rest`.
  void take(const std::uint8_t* code, const Instruction& next, std::uint32_t end, std::uint32_t rest) {
    if (next.flow == Flow::end || next.flow == Flow::jump || next.flow == Flow::indirect) return forget();
    const std::optional<Effect> effect = EffectReader(code, next, pauses_).read();
    if ((!effect && is_call(code, next)) || next.has_lock) age();
    if (!effect) return take_unknown(code, next);
    // The value that the instruction's memory operand, or the register in its place, has before it.
    std::uint32_t other = 0;
    MemoryOperand where;
    if (effect->memory) {
      where = anywhere(*effect->memory, end);
      if (is_on_stack(where)) {
        other = slot_at(where);
      } else if (effect->loads) {
        other = add(load_of(where, code));
      }
    } else if (next.modrm != 0) {
      other = in_register_[(code[next.modrm] & 7u) | ((next.rex & 1) != 0 ? 8u : 0u)];
    }
    const unsigned field = next.modrm == 0 ? 0 : (code[next.modrm] >> 3 & 7u) | ((next.rex & 4) != 0 ? 8u : 0u);
    const std::uint32_t own = in_register_[field];
    const bool subtracts = next.map == 0 && next.opcode >> 3 == subtraction;
    if (compares_both(next) && (!subtracts || is_asked_for_zero(code + next.length, rest)))
      compare(values_[own], values_[other]);
    for (unsigned i = 0; i < registers; ++i)
      if ((effect->writes >> i & 1) != 0)
        in_register_[i] = moves_to_memory(next) ? own : moves_to_register(next) ? other : add({});
    if (!effect->memory || !effect->stores) return;
    const std::uint32_t stored = moves_to_memory(next) ? own : add({});
    if (is_on_stack(where)) {
      slot_at(where) = stored;
    } else {
      forget_loads_of(load_of(where, code));
    }
  }

  /// Takes an unknown instruction, of floating-point numbers, say: it may load anything into its registers.
  void take_unknown(const std::uint8_t* code, const Instruction& next) {
    ++loads_;
    if (next.modrm == 0) return;
    in_register_[(code[next.modrm] >> 3 & 7u) | ((next.rex & 4) != 0 ? 8u : 0u)] = add({});
    if (code[next.modrm] >= 0xc0) in_register_[(code[next.modrm] & 7u) | ((next.rex & 1) != 0 ? 8u : 0u)] = add({});
  }

  /// cmp, sub and xor of a register and another operand.
  static bool compares_both(const Instruction& next) {
    if (next.map != 0 || next.opcode >= 0x40 || (next.opcode & 7) > 3) return false;
    const unsigned operation = next.opcode >> 3;
    return operation == subtraction || operation == 6 || operation == 7;
  }
  /// Whether the next instruction asks for zero, apart from a few that leave the flags as they are.
  bool is_asked_for_zero(const std::uint8_t* code, std::uint32_t rest) const {
    constexpr int most_between_flags = 4;
    for (int passed = 0; passed <= most_between_flags; ++passed) {
      const Instruction next = decode(code, rest);
      if (asks_for_zero(next)) return true;
      if (next.length == 0 || next.flow != Flow::on) return false;
      const std::optional<Effect> effect = EffectReader(code, next, pauses_).read();
      if (!effect || (effect->writes & flags_bit) != 0) return false;
      code += next.length;
      rest -= next.length;
    }
    return false;
  }
  /// je, jne, sete, setne, cmove, cmovne. How far a variable has changed is no question whether it has.
  static bool asks_for_zero(const Instruction& next) {
    if (next.length == 0) return false;
    const unsigned group = next.opcode & 0xfeu;
    return next.map == 0 ? group == 0x74 : next.map == 1 && (group == 0x84 || group == 0x94 || group == 0x44);
  }
  static bool moves_to_register(const Instruction& next) {
    if (next.map == 1) return (next.opcode & 0xf6) == 0xb6;
    return next.map == 0 && (next.opcode == 0x8a || next.opcode == 0x8b || next.opcode == 0x63);
  }
  static bool moves_to_memory(const Instruction& next) {
    return next.map == 0 && (next.opcode == 0x88 || next.opcode == 0x89);
  }

  void compare(const Value& one, const Value& other) {
    const Value& first = one.order < other.order ? one : other;
    const Value& second = one.order < other.order ? other : one;
    if (first.load == nullptr || second.load == nullptr || first.order <= aged_at_) return;
    if (second.order - first.order < 2 || second.order - first.order > most_between) return;
    if (!is_same_place(first, second) || *first.load == trap_code) return;
    const auto address = reinterpret_cast<std::uintptr_t>(first.load);
    const auto is_here = [&](const Wait& wait) { return wait.address == address; };
    if (std::none_of(found_.begin(), found_.end(), is_here)) found_.push_back({address});
  }

  const Pauses& pauses_;
  GrowingArray<Wait>& found_;
  static constinit inline GrowingArray<Value> values_;
  static constinit inline GrowingArray<std::uint32_t> targets_;
  std::uint32_t in_register_[registers] = {};
  Slot slot_[most_slots];
  std::size_t slots_ = 0;
  std::size_t next_slot_ = 0;
  std::uint32_t loads_ = 0;
  std::uint32_t aged_at_ = 0;  ///< loads up to this one are out of date
};

}  // namespace

void find_re_checks(const std::uint8_t* code, std::uint32_t bytes, const Pauses& pauses, GrowingArray<Wait>& found) {
  ReCheckFinder(pauses, found).read(code, bytes);
}

}  // namespace sdsm::program
