#include "native/guest/code/machine_code.hpp"

#include <cstring>

namespace sdsm::program {
namespace {

/// What follows an opcode, by the opcode maps of AMD's manual (volume 3, appendix A): m: a ModRM byte; i: an immediate
/// of one byte; z: of 4 bytes, or 2 with a short operand; M and I, Z: both; s: of 2 bytes; e: of 3 (enter); v: of the
/// operand's size; a: an address of the address size; j, J: a distance of 1 byte, of 4; t: M and an immediate only for
/// `test`; x: none such in 64-bit mode; a dot: nothing.
constexpr char one_byte[] =
    "mmmmizxxmmmmizx."  // 00
    "mmmmizxxmmmmizxx"
    "mmmmiz.xmmmmiz.x"  // 20
    "mmmmiz.xmmmmiz.x"
    "................"  // 40: REX, dealt with before
    "................"
    "xxxm....zZiI...."  // 60
    "jjjjjjjjjjjjjjjj"
    "IZxImmmmmmmmmmmm"  // 80
    "..........x....."
    "aaaa....iz......"  // a0
    "iiiiiiiivvvvvvvv"
    "IIs.xxIZe.s..ix."  // c0
    "mmmmxxx.mmmmmmmm"
    "jjjjiiiiJJxj...."  // e0
    "......tt......mm";
constexpr char after_0f[] =
    "mmmmx.....x.xm.I"  // 00
    "mmmmmmmmmmmmmmmm"
    "mmmmxxxxmmmmmmmm"  // 20
    "......x.xxxxxxxx"
    "mmmmmmmmmmmmmmmm"  // 40
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"  // 60
    "IIIImmm.mmxxmmmm"
    "JJJJJJJJJJJJJJJJ"  // 80
    "mmmmmmmmmmmmmmmm"
    "...mImxx...mImmm"  // a0
    "mmmmmmmmmmImmmmm"
    "mmImIIIm........"  // c0
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"  // e0
    "mmmmmmmmmmmmmmmm";
static_assert(sizeof one_byte == 257 && sizeof after_0f == 257);

/// Reads on in an instruction; what would lie behind its room are zeros.
class Reader {
 public:
  Reader(const std::uint8_t* code, std::size_t room) : code_(code), room_(room < longest ? room : longest) {}

  std::uint8_t peek() const { return at_ < room_ ? code_[at_] : 0; }
  std::uint8_t next() {
    const std::uint8_t byte = peek();
    ++at_;
    return byte;
  }
  void skip(std::size_t bytes) { at_ += bytes; }
  /// The number of 1 or 4 bytes that ends here.
  std::int32_t number(std::size_t bytes) const {
    std::int32_t value = 0;
    if (at_ > room_) return 0;
    if (bytes == 1) return static_cast<std::int8_t>(code_[at_ - 1]);
    std::memcpy(&value, code_ + at_ - sizeof value, sizeof value);
    return value;
  }
  std::uint8_t place() const { return static_cast<std::uint8_t>(at_); }
  bool is_inside() const { return at_ <= room_; }

 private:
  static constexpr std::size_t longest = 15;
  const std::uint8_t* code_;
  std::size_t room_;
  std::size_t at_ = 0;
};

void read_prefixes(Reader& reader, Instruction& found) {
  for (;; reader.skip(1)) {
    switch (reader.peek()) {
      case 0x66: found.has_short_operand = true; continue;
      case 0x67: found.has_short_address = true; continue;
      case 0xf0: found.has_lock = true; continue;
      case 0xf2:
      case 0xf3: found.is_repeated = true; continue;
      case 0x26:
      case 0x2e:
      case 0x36:
      case 0x3e:  // these four mean nothing in 64-bit mode
        continue;
      case 0x64:
      case 0x65: found.segment = reader.peek(); continue;
      default: break;
    }
    break;
  }
  if ((reader.peek() & 0xf0) == 0x40) found.rex = reader.next();
}

/// A ModRM byte, and the SIB byte and displacement that it asks for.
void read_modrm(Reader& reader, Instruction& found) {
  found.modrm = reader.place();
  const std::uint8_t modrm = reader.next();
  const unsigned mode = modrm >> 6;
  const unsigned base = modrm & 7;
  if (mode == 3) return;
  const bool has_sib = base == 4;
  const unsigned sib_base = has_sib ? reader.next() & 7 : base;
  if (mode == 1) reader.skip(1);
  if (mode == 2 || (mode == 0 && sib_base == 5)) reader.skip(4);
}

/// VEX, EVEX and XOP have an opcode's map within them. True if `first` begins one.
bool read_vector_prefix(Reader& reader, std::uint8_t first, Instruction& found) {
  const bool is_xop = first == 0x8f && (reader.peek() & 0x1f) >= 8;
  if (first != 0xc4 && first != 0xc5 && first != 0x62 && !is_xop) return false;
  found.is_vector = true;
  found.is_evex = first == 0x62;
  const std::uint8_t second = reader.next();
  found.map = first == 0xc5 ? 1 : second & (found.is_evex ? 7 : 0x1f);
  // What REX has is in them, too: its last three bits inverted, of the shortest prefix the one for the register alone.
  unsigned rex = 0x40U | (~second >> 5U & (first == 0xc5 ? 4U : 7U));
  if (first != 0xc5) rex |= reader.next() >> 7U << 3U;
  found.rex = static_cast<std::uint8_t>(rex);
  if (found.is_evex) reader.skip(1);
  found.opcode = reader.next();
  return true;
}

void read_vector(Reader& reader, Instruction& found) {
  constexpr unsigned first_of_xop = 8;
  const bool is_empty = found.map == 1 && found.opcode == 0x77;  // vzeroupper
  if (!is_empty) read_modrm(reader, found);
  if (found.map == 3 || found.map == first_of_xop || (found.map == 1 && after_0f[found.opcode] == 'I')) reader.skip(1);
  if (found.map == first_of_xop + 2) reader.skip(4);
}

void read_immediate(Reader& reader, char kind, Instruction& found) {
  const std::size_t word = found.has_short_operand && (found.rex & rex_wide) == 0 ? 2 : 4;
  switch (kind) {
    case 'i':
    case 'I': return reader.skip(1);
    case 'z':
    case 'Z': return reader.skip(word);
    case 's': return reader.skip(2);
    case 'e': return reader.skip(3);
    case 'v': return reader.skip((found.rex & rex_wide) != 0 ? 8 : word);
    case 'a': return reader.skip(found.has_short_address ? 4 : 8);
    case 'j': reader.skip(1); return void(found.target = reader.number(1));
    case 'J': reader.skip(4); return void(found.target = reader.number(4));
    default: return;
  }
}

Flow flow_of(const Instruction& found, std::uint8_t modrm) {
  const unsigned extension = modrm >> 3 & 7;
  const std::uint8_t opcode = found.opcode;
  if (found.is_vector) return Flow::on;
  if (found.map == 1) {
    if ((opcode & 0xf0) == 0x80) return Flow::branch;
    return opcode == 0x0b || opcode == 0xb9 || opcode == 0xff ? Flow::end : Flow::on;
  }
  if (found.map != 0) return Flow::on;
  if ((opcode & 0xf0) == 0x70 || (opcode >= 0xe0 && opcode <= 0xe3)) return Flow::branch;
  if (opcode == 0xe9 || opcode == 0xeb) return Flow::jump;
  if (opcode == 0xff && (extension == 4 || extension == 5)) return Flow::indirect;
  switch (opcode) {
    case 0xc2:
    case 0xc3:
    case 0xca:
    case 0xcb:
    case 0xcc:
    case 0xcf:
    case 0xf4: return Flow::end;
    default: return Flow::on;
  }
}

}  // namespace

Instruction decode(const std::uint8_t* code, std::size_t room) {
  Instruction found;
  Reader reader(code, room);
  read_prefixes(reader, found);
  found.opcode = reader.next();
  if (found.rex == 0 && read_vector_prefix(reader, found.opcode, found)) {
    read_vector(reader, found);
  } else {
    if (found.opcode == 0x0f) {
      found.opcode = reader.next();
      found.map = found.opcode == 0x38 ? 2 : found.opcode == 0x3a ? 3 : 1;
      if (found.map > 1) found.opcode = reader.next();
    }
    char kind = found.map == 0   ? one_byte[found.opcode]
                : found.map == 1 ? after_0f[found.opcode]
                : found.map == 2 ? 'm'
                                 : 'I';
    if (kind == 'x') return {};
    if (kind == 't') {  // test, the first two of the group, has an immediate of the operand's size
      const bool is_test = (reader.peek() >> 3 & 7) < 2;
      kind = !is_test ? 'm' : found.opcode == 0xf6 ? 'I' : 'Z';
    }
    if (kind == 'm' || kind == 'I' || kind == 'Z') read_modrm(reader, found);
    read_immediate(reader, kind, found);
  }
  if (!reader.is_inside()) return {};
  found.length = reader.place();
  found.flow = flow_of(found, found.modrm != 0 ? code[found.modrm] : 0);
  return found;
}

MemoryOperand memory_of(const std::uint8_t* code, const Instruction& found) {
  MemoryOperand memory;
  const std::uint8_t modrm = code[found.modrm];
  const unsigned mode = modrm >> 6;
  const auto extended = [&](unsigned number, unsigned bit) {
    return static_cast<Register>(number | ((found.rex & bit) != 0 ? 8u : 0u));
  };
  unsigned at = found.modrm + 1u;
  unsigned base = modrm & 7;
  if (base == 4) {
    const std::uint8_t sib = code[at++];
    base = sib & 7;
    const Register index = extended(sib >> 3 & 7, 2);
    if (index != Register::rsp) memory.index = index;
    memory.scale = static_cast<std::uint8_t>(1 << (sib >> 6));
    if (base != 5 || mode != 0) memory.base = extended(base, 1);
  } else if (base == 5 && mode == 0) {
    memory.base = Register::rip;
  } else {
    memory.base = extended(base, 1);
  }
  if (mode == 1) memory.displacement = static_cast<std::int8_t>(code[at]);
  if (mode == 2 || (mode == 0 && base == 5)) std::memcpy(&memory.displacement, code + at, sizeof memory.displacement);
  memory.is_thread_local = found.segment == 0x64;
  memory.has_short_address = found.has_short_address;
  return memory;
}

namespace {

/// The eight operations that arithmetic opcodes number, in the processor's order. The eighth compares, and locks not.
constexpr AtomicKind arithmetic[] = {
    AtomicKind::add,     AtomicKind::bit_or,   AtomicKind::add_with_carry, AtomicKind::subtract_with_borrow,
    AtomicKind::bit_and, AtomicKind::subtract, AtomicKind::bit_xor};
constexpr unsigned arithmetic_count = 7;

class LockedReader {
 public:
  LockedReader(const std::uint8_t* code, const Instruction& found) : code_(code), found_(found) {
    const unsigned last = found.opcode & 1;
    locked_.bytes = static_cast<std::uint8_t>(last == 0 ? 1 : word());
    locked_.length = found.length;
    locked_.memory = memory_of(code, found);
  }

  std::optional<LockedInstruction> read() {
    if (found_.map == 0 ? !read_one_byte() : !read_after_0f()) return std::nullopt;
    const MemoryOperand& memory = locked_.memory;
    locked_.is_fence = (locked_.kind == AtomicKind::bit_or || locked_.kind == AtomicKind::add) &&
                       locked_.source == LockedInstruction::Source::immediate && locked_.immediate == 0 &&
                       memory.base == Register::rsp && memory.index == Register::none;
    return locked_;
  }

 private:
  std::uint8_t word() const { return (found_.rex & rex_wide) != 0 ? 8 : found_.has_short_operand ? 2 : 4; }
  unsigned field() const { return code_[found_.modrm] >> 3 & 7; }

  bool take(AtomicKind kind) {
    locked_.kind = kind;
    return true;
  }
  bool take_register(AtomicKind kind, bool returns_before = false) {
    const unsigned number = field() | ((found_.rex & 4) != 0 ? 8u : 0u);
    const bool is_high = locked_.bytes == 1 && found_.rex == 0 && number >= 4;
    locked_.source = is_high ? LockedInstruction::Source::high : LockedInstruction::Source::low;
    locked_.source_register = static_cast<Register>(is_high ? number - 4 : number);
    locked_.returns_before = returns_before;
    return take(kind);
  }
  bool take_immediate(AtomicKind kind, std::size_t bytes) {
    locked_.source = LockedInstruction::Source::immediate;
    const std::uint8_t* const at = code_ + found_.length - bytes;
    std::int16_t half = 0;
    switch (bytes) {
      case 1: locked_.immediate = static_cast<std::int8_t>(*at); break;
      case 2:
        std::memcpy(&half, at, sizeof half);
        locked_.immediate = half;
        break;
      default: std::memcpy(&locked_.immediate, at, sizeof locked_.immediate);
    }
    return take(kind);
  }

  bool read_one_byte() {
    const unsigned opcode = found_.opcode;
    if (opcode < 0x38 && (opcode & 7) < 2) return take_register(arithmetic[opcode >> 3]);
    switch (opcode) {
      case 0x80:
      case 0x83: return field() < arithmetic_count && take_immediate(arithmetic[field()], 1);
      case 0x81: return field() < arithmetic_count && take_immediate(arithmetic[field()], word() == 2 ? 2 : 4);
      case 0x86:
      case 0x87: return take_register(AtomicKind::exchange, true);
      case 0xf6:
      case 0xf7: return field() == 2 ? take(AtomicKind::invert) : field() == 3 && take(AtomicKind::negate);
      case 0xfe:
      case 0xff: return field() == 0 ? take(AtomicKind::increment) : field() == 1 && take(AtomicKind::decrement);
      default: return false;
    }
  }

  bool read_after_0f() {
    switch (found_.opcode) {
      case 0xb0:
      case 0xb1: return take_register(AtomicKind::compare_exchange);
      case 0xc0:
      case 0xc1: return take_register(AtomicKind::add, true);
      case 0xc7: locked_.bytes = word() == 8 ? 16 : 8; return field() == 1 && take(AtomicKind::compare_exchange_pair);
      case 0xab: return take_register(AtomicKind::set_bit);
      case 0xb3: return take_register(AtomicKind::reset_bit);
      case 0xbb: return take_register(AtomicKind::complement_bit);
      case 0xba:
        locked_.bytes = word();
        switch (field()) {
          case 5: return take_immediate(AtomicKind::set_bit, 1);
          case 6: return take_immediate(AtomicKind::reset_bit, 1);
          case 7: return take_immediate(AtomicKind::complement_bit, 1);
          default: return false;
        }
      default: return false;
    }
  }

  const std::uint8_t* code_;
  const Instruction& found_;
  LockedInstruction locked_;
};

}  // namespace

std::optional<LockedInstruction> decode_locked(const std::uint8_t* code, std::size_t room) {
  const Instruction found = decode(code, room);
  constexpr std::uint8_t base_of_gs = 0x65;
  if (found.length == 0 || found.is_vector || found.modrm == 0 || found.map > 1 || found.segment == base_of_gs)
    return std::nullopt;
  const std::uint8_t modrm = code[found.modrm];
  if (found.map == 1 && found.opcode == 0xae && (modrm & 0xf8) == 0xf0 && !found.is_repeated &&
      !found.has_short_operand) {
    LockedInstruction fence;
    fence.length = found.length;
    fence.is_fence = true;
    return fence;
  }
  const bool is_exchange = found.map == 0 && (found.opcode | 1) == 0x87;
  if ((modrm >> 6) == 3 || (!found.has_lock && !is_exchange)) return std::nullopt;
  return LockedReader(code, found).read();
}

namespace {

/// Places of the registers in the machine's context, in the order in which instructions number them.
constexpr int places[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                          REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

std::uint64_t value_of(Register which, const greg_t* registers) {
  return static_cast<std::uint64_t>(registers[places[static_cast<int>(which)]]);
}

/// 8 * bytes ones.
std::uint64_t mask_of(unsigned bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
}

/// Writes a register as instructions do: 4 bytes clear the rest.
void set(Register which, unsigned bytes, unsigned shift, std::uint64_t value, greg_t* registers) {
  greg_t& place = registers[places[static_cast<int>(which)]];
  const std::uint64_t kept = bytes == 4 ? 0 : static_cast<std::uint64_t>(place) & ~(mask_of(bytes) << shift);
  place = static_cast<greg_t>(kept | (value & mask_of(bytes)) << shift);
}

bool is_of_bits(AtomicKind kind) {
  return kind == AtomicKind::set_bit || kind == AtomicKind::reset_bit || kind == AtomicKind::complement_bit;
}

}  // namespace

std::uintptr_t address_of(const MemoryOperand& memory, const greg_t* registers, std::uintptr_t next) {
  auto address = static_cast<std::uintptr_t>(static_cast<std::int64_t>(memory.displacement));
  if (memory.base == Register::rip) {
    address += next;
  } else if (memory.base != Register::none) {
    address += value_of(memory.base, registers);
  }
  if (memory.index != Register::none) address += memory.scale * value_of(memory.index, registers);
  if (memory.has_short_address) address &= 0xffffffff;
  // The thread's block, whose address fs has, begins with its own address (thread-local storage, variant II).
  if (memory.is_thread_local) address += reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  return address;
}

bool reads_cycles(const std::uint8_t* code, const Instruction& found) {
  if (found.length == 0 || found.is_vector || found.map != 1) return false;
  constexpr std::uint8_t rdtsc = 0x31, system_group = 0x01, rdtscp = 0xf9;
  return found.opcode == rdtsc || (found.opcode == system_group && found.modrm != 0 && code[found.modrm] == rdtscp);
}

LockedAccess access_of(const LockedInstruction& instruction, const greg_t* registers, std::uintptr_t next) {
  using Source = LockedInstruction::Source;
  const auto half = [&](Register which) { return value_of(which, registers) & 0xffffffff; };
  LockedAccess access{address_of(instruction.memory, registers, next), {}};
  AtomicOperation& operation = access.operation;
  operation.kind = instruction.kind;
  operation.bytes = instruction.bytes;
  operation.flags = static_cast<std::uint32_t>(registers[REG_EFL]);
  if (instruction.kind == AtomicKind::compare_exchange_pair && instruction.bytes == 8) {
    operation.operand.low = half(Register::rcx) << 32 | half(Register::rbx);
    operation.expected.low = half(Register::rdx) << 32 | half(Register::rax);
    return access;
  }
  if (instruction.kind == AtomicKind::compare_exchange_pair) {
    operation.operand = {value_of(Register::rbx, registers), value_of(Register::rcx, registers)};
    operation.expected = {value_of(Register::rax, registers), value_of(Register::rdx, registers)};
    return access;
  }
  std::uint64_t operand = 0;
  switch (instruction.source) {
    case Source::none: break;
    case Source::immediate: operand = static_cast<std::uint64_t>(std::int64_t{instruction.immediate}); break;
    case Source::low: operand = value_of(instruction.source_register, registers); break;
    case Source::high: operand = value_of(instruction.source_register, registers) >> 8; break;
  }
  if (is_of_bits(instruction.kind)) {
    const unsigned bits = 8u * instruction.bytes;
    // A register numbers bits of any word from the operand's address on, also before it.
    if (instruction.source == Source::low) {
      const std::int64_t bit = instruction.bytes == 2   ? static_cast<std::int16_t>(operand)
                               : instruction.bytes == 4 ? static_cast<std::int32_t>(operand)
                                                        : static_cast<std::int64_t>(operand);
      const std::int64_t word = bit >> (instruction.bytes == 2 ? 4 : instruction.bytes == 4 ? 5 : 6);
      access.address += static_cast<std::uintptr_t>(word * instruction.bytes);
    }
    operand &= bits - 1;
  }
  operation.operand.low = operand & mask_of(instruction.bytes);
  operation.expected.low = value_of(Register::rax, registers) & mask_of(instruction.bytes);
  return access;
}

void finish(const LockedInstruction& instruction, const AtomicOutcome& outcome, greg_t* registers) {
  registers[REG_EFL] = static_cast<greg_t>(
      (static_cast<std::uint64_t>(registers[REG_EFL]) & ~std::uint64_t{status_flags}) | outcome.flags);
  const unsigned bytes = instruction.bytes;
  if (instruction.returns_before) {
    set(instruction.source_register, bytes, instruction.source == LockedInstruction::Source::high ? 8 : 0,
        outcome.before.low, registers);
  } else if (instruction.kind == AtomicKind::compare_exchange && !outcome.is_equal()) {
    set(Register::rax, bytes, 0, outcome.before.low, registers);
  } else if (instruction.kind == AtomicKind::compare_exchange_pair && !outcome.is_equal()) {
    const bool is_narrow = bytes == 8;
    set(Register::rax, bytes / 2u, 0, outcome.before.low, registers);
    set(Register::rdx, bytes / 2u, 0, is_narrow ? outcome.before.low >> 32 : outcome.before.high, registers);
  }
}

}  // namespace sdsm::program
