#include "native/guest/code/re_checks.hpp"

#include <algorithm>

namespace sdsm::program {
namespace {

constexpr std::size_t registers = 16;

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
  ReCheckFinder(const std::uint8_t* code, const Pauses& pauses, GrowingArray<Wait>& found)
      : code_(code), pauses_(pauses), found_(found) {}

  void read(std::span<const Step> steps) {
    targets_.clear();
    for (const Step& step : steps) {
      if (step.has_target) targets_.push_back(step.target);
    }
    std::sort(targets_.begin(), targets_.end());
    while (!steps.empty()) {
      // Up to where control may come or go otherwise; of that, up to the last comparison behind a second use of one
      // place.
      std::size_t end = 0, behind_last = 0;
      std::uint64_t used = 0;
      bool is_used_twice = false;
      do {
        const std::uint64_t memory = std::uint64_t{1} << steps[end].memory & ~std::uint64_t{1};
        is_used_twice = is_used_twice || (used & memory) != 0;
        used |= memory;
        if (steps[end].compares && is_used_twice) behind_last = end + 1;
      } while (goes_on(steps[end++]) && end < steps.size() && !is_target(steps[end].at));
      if (behind_last > 0) forget();
      for (std::size_t i = 0; i < behind_last; ++i) take(steps[i], steps.subspan(i + 1));
      steps = steps.subspan(end);
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
  static bool goes_on(const Step& step) { return step.flow == Flow::on || step.flow == Flow::branch; }
  bool is_target(std::uint32_t at) const {
    return std::binary_search(targets_.begin(), targets_.end(), std::int64_t{at});
  }

  /// Other code ran: loads before it say nothing of what is there now.
  void age() { aged_at_ = loads_; }

  std::uint32_t value_of(Register one) const {
    return one < Register::none ? in_register_[static_cast<unsigned>(one)] : 0;
  }

  std::uint32_t& slot_at(const MemoryOperand& place) {
    const auto same = [&](const Slot& slot) { return slot.place == place; };
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
    return one.where == other.where && one.base == other.base && one.index == other.index;
  }

  void take(const Step& step, std::span<const Step> rest) {
    const std::uint8_t* const code = code_ + step.at;
    const Instruction instruction = decode(code, step.end - step.at);
    const Operands operands(instruction);
    const Effect effect = effect_of(instruction, operands, code, pauses_);
    const bool is_call = instruction.meta.category == ZYDIS_CATEGORY_CALL;
    if ((is_call && !effect.is_known) || instruction.has_lock()) age();
    if (!effect.is_known) {
      // Of floating-point numbers, say: it may load anything into its registers.
      ++loads_;
      return set_registers(effect.writes, [&] { return add({}); });
    }
    std::uint32_t in_memory = 0;
    const bool is_slot = effect.memory && is_on_stack(*effect.memory);
    if (is_slot) {
      in_memory = slot_at(*effect.memory);
    } else if (effect.memory && effect.loads) {
      in_memory = add(load_of(*effect.memory, code));
    }
    const auto value_named = [&](std::size_t which) {
      const ZydisDecodedOperand& operand = operands.named()[which];
      return operand.type == ZYDIS_OPERAND_TYPE_MEMORY ? in_memory : value_of(register_of(operand.reg.value));
    };
    if (step.compares && (instruction.mnemonic != ZYDIS_MNEMONIC_SUB || is_asked_for_zero(rest)))
      compare(values_[value_named(0)], values_[value_named(1)]);
    const auto result = [&] { return moves(instruction) ? value_named(1) : add({}); };
    set_registers(effect.writes, result);
    if (!effect.stores) return;
    if (is_slot) {
      slot_at(*effect.memory) = result();
    } else {
      forget_loads_of(load_of(*effect.memory, code));
    }
  }

  template <typename Value>
  void set_registers(std::uint32_t written, const Value& value) {
    for (unsigned i = 0; i < registers; ++i)
      if ((written >> i & 1) != 0) in_register_[i] = value();
  }

  static bool moves(const Instruction& instruction) {
    return instruction.is({ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_MOVSX, ZYDIS_MNEMONIC_MOVSXD, ZYDIS_MNEMONIC_MOVZX}) &&
           instruction.raw.imm[0].size == 0;
  }
  /// Whether the next instruction asks for zero, apart from a few that leave the flags as they are. How far a variable
  /// has changed is no question whether it has.
  bool is_asked_for_zero(std::span<const Step> rest) const {
    constexpr std::size_t most_between_flags = 4;
    for (const Step& step : rest.first(std::min(rest.size(), most_between_flags + 1))) {
      const std::uint8_t* const code = code_ + step.at;
      const Instruction next = decode(code, step.end - step.at);
      if (next.is({ZYDIS_MNEMONIC_JZ, ZYDIS_MNEMONIC_JNZ, ZYDIS_MNEMONIC_SETZ, ZYDIS_MNEMONIC_SETNZ,
                   ZYDIS_MNEMONIC_CMOVZ, ZYDIS_MNEMONIC_CMOVNZ})) {
        return true;
      }
      const Effect effect = effect_of(next, Operands(next), code, pauses_);
      if (step.flow != Flow::on || !effect.is_known || (effect.writes & flags_bit) != 0) return false;
    }
    return false;
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

  const std::uint8_t* code_;
  const Pauses& pauses_;
  GrowingArray<Wait>& found_;
  static constinit inline GrowingArray<Value> values_;
  static constinit inline GrowingArray<std::int64_t> targets_;
  std::uint32_t in_register_[registers] = {};
  Slot slot_[most_slots];
  std::size_t slots_ = 0;
  std::size_t next_slot_ = 0;
  std::uint32_t loads_ = 0;
  std::uint32_t aged_at_ = 0;  ///< loads up to this one are out of date
};

}  // namespace

void find_re_checks(const std::uint8_t* code, std::span<const Step> steps, const Pauses& pauses,
                    GrowingArray<Wait>& found) {
  ReCheckFinder(code, pauses, found).read(steps);
}

}  // namespace sdsm::program
