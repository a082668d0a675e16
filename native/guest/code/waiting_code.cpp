#include "native/guest/code/waiting_code.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "native/guest/code/instruction_effects.hpp"
#include "native/guest/code/re_checks.hpp"

namespace sdsm::program {
namespace {

constexpr std::uint32_t longest_loop = 192;  // bytes: unoptimised ones are long

/// What a loop reads before it has written it, and what it writes.
struct Changes {
  std::uint32_t kept = 0;
  std::uint32_t written = 0;
  Variables kept_in_memory;
  Variables written_in_memory;
  bool stores_for_others = false;

  /// The loop's next instruction. False if there are too many variables.
  bool add(const Effect& effect) {
    kept |= effect.reads & ~written;
    written |= effect.writes;
    if (!effect.memory) return true;
    const MemoryOperand& variable = *effect.memory;
    if (effect.loads && !written_in_memory.has(variable) && !kept_in_memory.add(variable)) return false;
    stores_for_others |= effect.stores && !is_on_stack(variable);
    return !effect.stores || written_in_memory.add(variable);
  }
  std::uint32_t registers() const { return kept & written & ~flags_bit; }
  bool is_changed(const MemoryOperand& variable) const {
    return kept_in_memory.has(variable) && written_in_memory.has(variable);
  }
  bool are_none() const {
    const auto& [all, count] = kept_in_memory;
    return registers() == 0 && !stores_for_others &&
           std::none_of(all, all + count, [&](const MemoryOperand& one) { return written_in_memory.has(one); });
  }
};

/// A turn of a loop, by instructions: what depends on what it changes from turn to turn, and what on variables that
/// only others change. Branches within it are passed over.
class Turn {
 public:
  explicit Turn(const Changes& changes) : changes_(changes), changing_(changes.registers()) {}

  /// Depends on others' stores, and on nothing that the loop changes.
  bool is_others(std::uint32_t registers) const { return (others_ & registers) != 0 && (changing_ & registers) == 0; }

  /// False if the loop loads or stores at one place after the other, or hands on a value: it computes.
  bool goes_on(const Effect& effect) {
    bool changes = (effect.reads & changing_) != 0, is_of_others = (effect.reads & others_) != 0;
    if (effect.memory) {
      const MemoryOperand& variable = *effect.memory;
      const std::uint32_t registers = bit_of(variable.base) | bit_of(variable.index);
      if ((effect.loads || effect.stores) && (registers & changing_) != 0) return false;
      if (effect.loads) {
        changes |= changes_.is_changed(variable) || changing_in_memory_.has(variable);
        is_of_others |=
            others_in_memory_.has(variable) || (!is_on_stack(variable) && !changes_.written_in_memory.has(variable));
      }
      if (effect.stores && !changes && !is_on_stack(variable)) return false;
      if (effect.stores && changes && !changing_in_memory_.add(variable)) return false;
      if (effect.stores && is_of_others && !others_in_memory_.add(variable)) return false;
    }
    changing_ = (changing_ & ~effect.writes) | (changes ? effect.writes : 0);
    others_ = (others_ & ~effect.writes) | (is_of_others ? effect.writes : 0);
    return true;
  }

 private:
  const Changes& changes_;
  std::uint32_t changing_;
  std::uint32_t others_ = 0;
  Variables changing_in_memory_;
  Variables others_in_memory_;
};

/// Step::memory, by ModRM and SIB bytes and the displacement.
std::uint8_t hash_of_memory(const Instruction& instruction, std::uint32_t end) {
  const auto& modrm = instruction.raw.modrm;
  const auto& sib = instruction.raw.sib;
  constexpr std::uint8_t registers_alone = 3, by_sib = 4, by_rip = 5;
  if ((instruction.attributes & ZYDIS_ATTRIB_HAS_MODRM) == 0 || modrm.mod == registers_alone) return 0;
  const bool is_relative = modrm.mod == 0 && modrm.rm == by_rip;
  const auto where = static_cast<std::uint64_t>(instruction.raw.disp.value) + (is_relative ? end : 0);
  const std::uint64_t registers = modrm.rm == by_sib ? 8 + sib.base + 8 * sib.index : modrm.rm;
  return static_cast<std::uint8_t>(1 + (where + 5 * registers) % 63);
}

Step step_of(const Instruction& instruction, std::uint32_t at) {
  Step step{.at = at, .end = at + instruction.length, .flow = instruction.flow()};
  step.has_target = step.flow == Flow::branch || step.flow == Flow::jump;
  if (step.has_target) step.target = step.end + instruction.target();
  step.memory = hash_of_memory(instruction, step.end);
  step.compares =
      instruction.is({ZYDIS_MNEMONIC_CMP, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_XOR}) && instruction.raw.imm[0].size == 0;
  return step;
}

class Function {
 public:
  Function(const std::uint8_t* code, std::uint32_t bytes, const Pauses& pauses) : code_(code), pauses_(pauses) {
    steps.clear();
    for (std::uint32_t at = 0; at < bytes;) {
      const Instruction found = decode(code + at, bytes - at);
      if (!found.is_known()) break;
      steps.push_back(step_of(found, at));
      at += found.length;
    }
  }

  void find(GrowingArray<Wait>& found) const {
    for (std::size_t last = 0; last < steps.size(); ++last) {
      const Step& jump = steps[last];
      if (!jump.has_target || jump.target < 0 || jump.target > jump.at) continue;
      const Step* const first = step_at(static_cast<std::uint32_t>(jump.target));
      if (first == nullptr || jump.end - first->at > longest_loop) continue;
      Waiting loop;
      if (!waits(first, &jump, loop)) continue;
      add_names_before(first, loop.waited_for);
      add_loop(first, &jump, loop, found);
      add_entries(first, &jump, loop.waited_for, found);
    }
    find_re_checks(code_, {steps.begin(), steps.end()}, pauses_, found);
  }

 private:
  const Step* step_at(std::uint32_t at) const {
    const Step* const found = std::lower_bound(steps.begin(), steps.end(), at,
                                               [](const Step& one, std::uint32_t wanted) { return one.at < wanted; });
    return found != steps.end() && found->at == at ? found : nullptr;
  }
  Effect effect_of(const Step& step) const {
    const Instruction found = decode(code_ + step.at, step.end - step.at);
    return program::effect_of(found, Operands(found), code_ + step.at, pauses_);
  }

  /// Finds, by byte of the loop, whether control comes there within an iteration.
  static void reach_within(const Step* first, const Step* last, bool (&is_reached)[longest_loop]) {
    for (bool goes_on = true; std::exchange(goes_on, false);) {
      const auto reach = [&](std::int64_t at) {
        if (at < first->at || at > last->at || is_reached[at - first->at]) return;
        is_reached[at - first->at] = goes_on = true;
      };
      for (const Step* step = first; step <= last; ++step) {
        if (!is_reached[step->at - first->at]) continue;
        if (step->flow == Flow::on || step->flow == Flow::branch) reach(step->end);
        if (step->has_target) reach(step->target);
      }
    }
  }

  bool ends_at(const Step* first, const Step* last, std::int64_t at) const { return at < first->at || at > last->at; }

  struct Waiting {
    Variables waited_for;
    const Step* load = nullptr;  ///< what loads the variables; null if several instructions do
    Changes changes;
  };

  /// Whether an iteration changes nothing that it began with, and stores nothing that others see; or what it changes (a
  /// count of iterations) decides neither what it loads nor when it ends.
  bool waits(const Step* first, const Step* last, Waiting& loop) const {
    std::uint32_t loads = 0;
    bool has_exit = false;
    bool is_reached[longest_loop] = {true};
    reach_within(first, last, is_reached);
    if (!is_reached[last->at - first->at]) return false;
    for (const Step* step = first; step <= last; ++step) {
      if (!is_reached[step->at - first->at]) continue;
      const Effect effect = effect_of(*step);
      if (!effect.is_known || !loop.changes.add(effect)) return false;
      if (step->has_target) {
        has_exit |= ends_at(first, last, step->target) || (step == last && step->flow == Flow::branch);
      }
      if (effect.memory && !is_on_stack(*effect.memory) && effect.loads) loop.load = ++loads == 1 ? step : nullptr;
    }
    const auto& [all, count] = loop.changes.kept_in_memory;
    for (const MemoryOperand& one : std::span(all, count)) {
      if (!is_on_stack(one) && !loop.changes.written_in_memory.has(one)) loop.waited_for.add(one);
    }
    if (!has_exit || loop.waited_for.count == 0) return false;
    return loop.changes.are_none() || ends_by_others_store(first, last, is_reached, loop);
  }

  bool ends_by_others_store(const Step* first, const Step* last, const bool (&is_reached)[longest_loop],
                            Waiting& loop) const {
    Turn turn(loop.changes);
    bool ends = false;
    for (const Step* step = first; step <= last; ++step) {
      if (!is_reached[step->at - first->at]) continue;
      const bool is_branch = step->flow == Flow::branch;
      const bool jumps_next = step < last && step[1].flow == Flow::jump;
      if (is_branch && (step == last || ends_at(first, last, step->target) ||
                        (jumps_next && ends_at(first, last, step[1].target)))) {
        if (!turn.is_others(flags_bit)) return false;
        ends = true;
      }
      const Effect effect = effect_of(*step);
      if (!effect.is_known || !turn.goes_on(effect)) return false;
    }
    return ends;
  }

  std::uintptr_t address_of(std::int64_t at) const { return reinterpret_cast<std::uintptr_t>(code_ + at); }

  /// Null if another trap is there.
  Wait* add(const Step* step, GrowingArray<Wait>& found) const {
    if (code_[step->at] == trap_code) return nullptr;
    const std::uintptr_t address = address_of(step->at);
    Wait* const known =
        std::find_if(found.begin(), found.end(), [&](const Wait& one) { return one.address == address; });
    if (known != found.end()) return known;
    found.push_back({address});
    return &found.back();
  }

  void add_loop(const Step* first, const Step* last, const Waiting& waiting, GrowingArray<Wait>& found) const {
    Wait* const wait = add(first, found);
    if (wait == nullptr) return;
    // A thread that rests turns less often, and would count less.
    const Step* const load = waiting.changes.are_none() ? waiting.load : nullptr;
    Wait loop{address_of(first->at), last->end - first->at, address_of(first->at), {}, {}};
    std::size_t exits = 0;
    for (const Step* step = first; step <= last; ++step) {
      const auto add_exit = [&](std::int64_t at) {
        if (at >= first->at && at < last->end) return;
        if (exits < Wait::most_exits) loop.exits[exits] = address_of(at);
        ++exits;
      };
      if (step->has_target) add_exit(step->target);
      if (step == last && step->flow == Flow::branch) add_exit(step->end);
    }
    // Two loops may begin at one place: it is unknown which one runs.
    const bool is_known = load != nullptr && exits <= Wait::most_exits && wait->load == 0;
    if (is_known) {
      loop.load = address_of(load->at);
      loop.behind = address_of(load->end);
    } else {
      loop.bytes = 0;
    }
    *wait = loop;
  }

  static constexpr std::ptrdiff_t steps_before = 10;

  /// A register that keeps a variable's address in the loop gets it before, by lea. Loads before may use the address.
  void add_names_before(const Step* loop, Variables& waited_for) const {
    const Step* const first = loop - std::min(steps_before, loop - steps.begin());
    const Variables known = waited_for;
    for (const MemoryOperand& one : std::span(known.all, known.count)) {
      if (one.base >= Register::none || one.index != Register::none) continue;
      for (const Step* step = loop; step-- > first;) {
        const Effect effect = effect_of(*step);
        if (!effect.is_known) break;
        if ((effect.writes & bit_of(one.base)) == 0) continue;
        const bool is_address = effect.memory && !effect.loads && !effect.stores;
        if (!is_address || effect.memory->base != Register::rip) break;
        MemoryOperand name = *effect.memory;
        name.displacement += one.displacement;
        waited_for.add(name);
        break;
      }
    }
  }

  /// Compilers may copy a loop's condition before the loop.
  void add_polls_before(const Step* step, const Variables& waited_for, GrowingArray<Wait>& found) const {
    const Step* const first = step - std::min(steps_before, step - steps.begin());
    while (step-- > first) {
      const Effect effect = effect_of(*step);
      if (effect.is_known && effect.loads && waited_for.has(*effect.memory)) add(step, found);
    }
  }

  void add_entries(const Step* first, const Step* last, const Variables& waited_for, GrowingArray<Wait>& found) const {
    add_polls_before(first, waited_for, found);
    for (const Step& step : steps) {
      if ((&step >= first && &step <= last) || !step.has_target) continue;
      if (step.target < first->at || step.target > last->at) continue;
      if (const Step* const entry = step_at(static_cast<std::uint32_t>(step.target))) add(entry, found);
      add_polls_before(&step, waited_for, found);
    }
  }

  /// Steps of one function at a time.
  static constinit inline GrowingArray<Step> steps;
  const std::uint8_t* code_;
  const Pauses& pauses_;
};

}  // namespace

bool Pauses::has(std::uintptr_t function) const {
  const auto is_listed = [&](std::uintptr_t address) {
    return std::find(functions, functions + count, address) != functions + count;
  };
  if (is_listed(function)) return true;
  // The linker's stub: perhaps endbr64, and a jump by its table, or by the table's substitute (call_patch.cpp).
  if (!file.holds(function)) return false;
  const auto at = [&](std::uintptr_t code) {
    return decode(reinterpret_cast<const std::uint8_t*>(code), file.end - code);
  };
  if (const Instruction first = at(function); first.mnemonic == ZYDIS_MNEMONIC_ENDBR64) function += first.length;
  const Instruction jump = at(function);
  if (jump.flow() != Flow::indirect) return false;
  const auto table = memory_of(jump, Operands(jump).named()[0]);
  if (!table || table->base != Register::rip) return false;
  std::uintptr_t entry = 0;
  std::memcpy(&entry, reinterpret_cast<const void*>(address_of(*table, nullptr, function + jump.length)), sizeof entry);
  return is_listed(entry);
}

void find_waits(const std::uint8_t* code, std::uint32_t bytes, const Pauses& pauses, GrowingArray<Wait>& found) {
  Function(code, bytes, pauses).find(found);
}

}  // namespace sdsm::program
