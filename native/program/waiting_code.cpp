#include "native/program/waiting_code.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "native/program/machine_code.hpp"

namespace sdsm::program {
namespace {

constexpr std::uint8_t trap = 0xcc;          // int3
constexpr std::uint32_t longest_loop = 192;  // bytes: unoptimised ones are long
constexpr std::size_t most_variables = 16;   // of a loop's

struct Step {
  std::uint32_t at = 0;
  Instruction instruction;

  std::uint32_t end() const { return at + instruction.length; }
  bool has_target() const { return instruction.flow == Flow::branch || instruction.flow == Flow::jump; }
  std::int64_t target() const { return std::int64_t{end()} + instruction.target; }
};

/// The thread's own variables, in unoptimised code: not those that others store to.
bool is_on_stack(const MemoryOperand& memory) {
  if (memory.index != Register::none) return false;
  constexpr auto frame = Register{5};  // rbp, which optimised code uses for anything
  return memory.base == Register::rsp || (memory.base == frame && memory.displacement < 0);
}

/// What an instruction reads and writes. Bit 1 << n stands for register n, and one more for the flags of comparisons.
constexpr std::uint32_t flags = 1u << 16;
struct Effect {
  std::uint32_t reads = 0;
  std::uint32_t writes = 0;
  std::optional<MemoryOperand> memory;
  bool loads = false;
  bool stores = false;
};

/// What the linker's table of addresses has there; 0 outside of the file.
std::uintptr_t entry_of(const AddressRange& file, std::uintptr_t address) {
  std::uintptr_t entry = 0;
  if (address < file.begin || address + sizeof entry > file.end) return 0;
  std::memcpy(&entry, reinterpret_cast<const void*>(address), sizeof entry);
  return entry;
}

/// Nothing for an instruction that no waiting loop needs.
class EffectReader {
 public:
  EffectReader(const std::uint8_t* code, const Instruction& instruction, const Pauses& pauses)
      : code_(code), instruction_(instruction), pauses_(pauses) {}

  std::optional<Effect> read() {
    if (instruction_.has_lock || instruction_.is_vector || instruction_.flow == Flow::indirect ||
        instruction_.flow == Flow::end) {
      return std::nullopt;
    }
    if (instruction_.flow == Flow::branch) use(flags, Use::reads);
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
    use(flags, Use::writes);
    return true;
  }
  /// A call leaves these registers as it likes: rax, rcx, rdx, rsi, rdi, r8 to r11.
  bool use_call(std::uintptr_t function) {
    constexpr std::uint32_t not_kept = 0xfc7;
    use(not_kept | flags, Use::writes);
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
    use(flags, operation == with_carry || operation == with_borrow ? Use::changes : Use::writes);
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
    if ((opcode & 0xf0) == 0x40 || (opcode & 0xf0) == 0x90) use(flags, Use::reads);
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

bool is_same(const MemoryOperand& one, const MemoryOperand& other) {
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

/// The variable that is waited for, by any instruction that uses it: relative to the next one's address, it is `at`.
MemoryOperand anywhere(MemoryOperand memory, std::uint32_t next) {
  if (memory.base == Register::rip) memory.displacement += static_cast<std::int32_t>(next);
  return memory;
}

/// What a loop reads before it has written it, and what it writes.
struct Changes {
  std::uint32_t kept = 0;
  std::uint32_t written = 0;
  Variables kept_in_memory;
  Variables written_in_memory;
  bool stores_for_others = false;

  /// The next instruction of the loop, which ends at `end`. False if there are too many variables.
  bool add(const Effect& effect, std::uint32_t end) {
    kept |= effect.reads & ~written;
    written |= effect.writes;
    if (!effect.memory) return true;
    const MemoryOperand variable = anywhere(*effect.memory, end);
    if (effect.loads && !written_in_memory.has(variable) && !kept_in_memory.add(variable)) return false;
    stores_for_others |= effect.stores && !is_on_stack(variable);
    return !effect.stores || written_in_memory.add(variable);
  }
  std::uint32_t registers() const { return kept & written & ~flags; }
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

  /// False if the loop looks or stores at one place after the other, or hands on a value: it computes.
  bool goes_on(const Effect& effect, std::uint32_t end) {
    bool changes = (effect.reads & changing_) != 0, is_of_others = (effect.reads & others_) != 0;
    if (effect.memory) {
      const MemoryOperand variable = anywhere(*effect.memory, end);
      if ((effect.loads || effect.stores) && (registers_of(variable) & changing_) != 0) return false;
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
  static std::uint32_t registers_of(const MemoryOperand& variable) {
    std::uint32_t registers = 0;
    for (const Register one : {variable.base, variable.index}) {
      if (one < Register::none) registers |= 1u << static_cast<unsigned>(one);
    }
    return registers;
  }

  const Changes& changes_;
  std::uint32_t changing_;
  std::uint32_t others_ = 0;
  Variables changing_in_memory_;
  Variables others_in_memory_;
};

class Function {
 public:
  Function(const std::uint8_t* code, std::uint32_t bytes, const Pauses& pauses) : code_(code), pauses_(pauses) {
    steps.clear();
    for (std::uint32_t at = 0; at < bytes;) {
      const Instruction found = decode(code + at, bytes - at);
      if (found.length == 0) break;
      steps.push_back({at, found});
      at += found.length;
    }
  }

  void find(GrowingArray<Wait>& found) const {
    for (std::size_t last = 0; last < steps.size(); ++last) {
      const Step& jump = steps[last];
      if (!jump.has_target() || jump.target() < 0 || jump.target() > jump.at) continue;
      const Step* const first = step_at(static_cast<std::uint32_t>(jump.target()));
      if (first == nullptr || jump.end() - first->at > longest_loop) continue;
      Waiting loop;
      if (!waits(first, &jump, loop)) continue;
      add_names_before(first, loop.waited_for);
      add_loop(first, &jump, loop, found);
      add_entries(first, &jump, loop.waited_for, found);
    }
  }

 private:
  const Step* step_at(std::uint32_t at) const {
    const Step* const found = std::lower_bound(steps.begin(), steps.end(), at,
                                               [](const Step& one, std::uint32_t wanted) { return one.at < wanted; });
    return found != steps.end() && found->at == at ? found : nullptr;
  }
  std::optional<Effect> effect_of(const Step& step) const {
    return EffectReader(code_ + step.at, step.instruction, pauses_).read();
  }

  /// By byte of the loop: whether control comes there within a turn.
  static void reach_within(const Step* first, const Step* last, bool (&is_reached)[longest_loop]) {
    for (bool goes_on = true; std::exchange(goes_on, false);) {
      const auto reach = [&](std::int64_t at) {
        if (at < first->at || at > last->at || is_reached[at - first->at]) return;
        is_reached[at - first->at] = goes_on = true;
      };
      for (const Step* step = first; step <= last; ++step) {
        if (!is_reached[step->at - first->at]) continue;
        if (step->instruction.flow == Flow::on || step->instruction.flow == Flow::branch) reach(step->end());
        if (step->has_target()) reach(step->target());
      }
    }
  }

  bool ends_at(const Step* first, const Step* last, std::int64_t at) const { return at < first->at || at > last->at; }

  struct Waiting {
    Variables waited_for;
    const Step* load = nullptr;  ///< what loads the variables; null if several instructions do
    Changes changes;
  };

  /// A turn of the loop changes nothing that it began with, and stores nothing that others see; or what it changes (a
  /// count of turns) says neither where it looks nor when it ends.
  bool waits(const Step* first, const Step* last, Waiting& loop) const {
    std::uint32_t loads = 0;
    bool has_exit = false;
    bool is_reached[longest_loop] = {true};
    reach_within(first, last, is_reached);
    if (!is_reached[last->at - first->at]) return false;
    for (const Step* step = first; step <= last; ++step) {
      if (!is_reached[step->at - first->at]) continue;
      const auto effect = effect_of(*step);
      if (!effect || !loop.changes.add(*effect, step->end())) return false;
      if (step->has_target()) {
        has_exit |= ends_at(first, last, step->target()) || (step == last && step->instruction.flow == Flow::branch);
      }
      if (effect->memory && !is_on_stack(*effect->memory) && effect->loads) loop.load = ++loads == 1 ? step : nullptr;
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
      const bool is_branch = step->instruction.flow == Flow::branch;
      const bool jumps_next = step < last && step[1].instruction.flow == Flow::jump;
      if (is_branch && (step == last || ends_at(first, last, step->target()) ||
                        (jumps_next && ends_at(first, last, step[1].target())))) {
        if (!turn.is_others(flags)) return false;
        ends = true;
      }
      const auto effect = effect_of(*step);
      if (!effect || !turn.goes_on(*effect, step->end())) return false;
    }
    return ends;
  }

  std::uintptr_t address_of(std::int64_t at) const { return reinterpret_cast<std::uintptr_t>(code_ + at); }

  /// Null if another trap is there.
  Wait* add(const Step* step, GrowingArray<Wait>& found) const {
    if (code_[step->at] == trap) return nullptr;
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
    Wait loop{address_of(first->at), last->end() - first->at, address_of(first->at), {}, {}};
    std::size_t exits = 0;
    for (const Step* step = first; step <= last; ++step) {
      const auto add_exit = [&](std::int64_t at) {
        if (at >= first->at && at < last->end()) return;
        if (exits < Wait::most_exits) loop.exits[exits] = address_of(at);
        ++exits;
      };
      if (step->has_target()) add_exit(step->target());
      if (step == last && step->instruction.flow == Flow::branch) add_exit(step->end());
    }
    // Of two loops with one beginning nobody knows which one turns.
    const bool is_known = load != nullptr && exits <= Wait::most_exits && wait->load == 0;
    if (is_known) {
      loop.load = address_of(load->at);
      loop.behind = address_of(load->end());
    } else {
      loop.bytes = 0;
    }
    *wait = loop;
  }

  static constexpr std::ptrdiff_t steps_before = 10;

  /// A register that keeps a variable's address in the loop gets it before, by lea. What looks there before the loop
  /// may use the address itself.
  void add_names_before(const Step* loop, Variables& waited_for) const {
    const Step* const first = loop - std::min(steps_before, loop - steps.begin());
    const Variables known = waited_for;
    for (const MemoryOperand& one : std::span(known.all, known.count)) {
      if (one.base >= Register::none || one.index != Register::none) continue;
      const std::uint32_t base = 1u << static_cast<unsigned>(one.base);
      for (const Step* step = loop; step-- > first;) {
        const auto effect = effect_of(*step);
        if (!effect) break;
        if ((effect->writes & base) == 0) continue;
        constexpr std::uint8_t lea = 0x8d;
        const bool is_address = step->instruction.map == 0 && step->instruction.opcode == lea && effect->memory &&
                                effect->memory->base == Register::rip;
        if (!is_address) break;
        MemoryOperand name = anywhere(*effect->memory, step->end());
        name.displacement += one.displacement;
        waited_for.add(name);
        break;
      }
    }
  }

  /// Compilers may copy a loop's condition before the loop.
  void add_looks_before(const Step* step, const Variables& waited_for, GrowingArray<Wait>& found) const {
    const Step* const first = step - std::min(steps_before, step - steps.begin());
    while (step-- > first) {
      const auto effect = effect_of(*step);
      if (effect && effect->loads && waited_for.has(anywhere(*effect->memory, step->end()))) add(step, found);
    }
  }

  void add_entries(const Step* first, const Step* last, const Variables& waited_for, GrowingArray<Wait>& found) const {
    add_looks_before(first, waited_for, found);
    for (const Step& step : steps) {
      if ((&step >= first && &step <= last) || !step.has_target()) continue;
      if (step.target() < first->at || step.target() > last->at) continue;
      if (const Step* const entry = step_at(static_cast<std::uint32_t>(step.target()))) add(entry, found);
      add_looks_before(&step, waited_for, found);
    }
  }

  /// Of one function at a time.
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
  // The linker's stub: perhaps endbr64, perhaps a prefix (bnd), and a jump by its table.
  constexpr std::uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa};
  constexpr std::uint8_t jump[] = {0xff, 0x25};
  constexpr std::size_t longest = sizeof landing + 1 + sizeof jump + sizeof(std::int32_t);
  if (function < file.begin || function + longest > file.end) return false;
  const auto* code = reinterpret_cast<const std::uint8_t*>(function);
  if (std::equal(std::begin(landing), std::end(landing), code)) code += sizeof landing;
  if (*code == 0xf2) ++code;
  if (!std::equal(std::begin(jump), std::end(jump), code)) return false;
  std::int32_t distance = 0;
  std::memcpy(&distance, code + sizeof jump, sizeof distance);
  const std::uintptr_t next = reinterpret_cast<std::uintptr_t>(code) + sizeof jump + sizeof distance;
  // Of the file, or what stands in for its table (call_patch.cpp).
  std::uintptr_t entry = 0;
  const std::uintptr_t table = next + static_cast<std::uintptr_t>(std::intptr_t{distance});
  std::memcpy(&entry, reinterpret_cast<const void*>(table), sizeof entry);
  return is_listed(entry);
}

void find_waits(const std::uint8_t* code, std::uint32_t bytes, const Pauses& pauses, GrowingArray<Wait>& found) {
  Function(code, bytes, pauses).find(found);
}

}  // namespace sdsm::program
