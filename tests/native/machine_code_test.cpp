/// Is machine code read as others read it, and are locked instructions done as the processor does them?
#include "native/guest/code/machine_code.hpp"

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "native/guest/code/memory_access.hpp"
#include "native/guest/runtime/functions.hpp"
#include "tests/campaign.hpp"
#include "tests/catch.hpp"

using namespace sdsm::program;

namespace {

/// What accesses nothing, and what Capstone 4 says otherwise than AMD's manual: ucomiss and the like read one element,
/// fnstsw writes two bytes, cmpxchg and ror read and write, test only reads.
constexpr const char* not_compared[] = {"lea",    "nop", "comisd", "comiss",       "vcomisd",        "vcomiss",
                                        "fnstsw", "ror", "test",   "lock cmpxchg", "lock cmpxchg16b"};

/// The one operand in memory, if there is one that the instruction accesses.
const cs_x86_op* memory_operand(const cs_insn& instruction) {
  const cs_x86& known = instruction.detail->x86;
  const cs_x86_op* memory = nullptr;
  for (unsigned i = 0; i < known.op_count; ++i) {
    if (known.operands[i].type != X86_OP_MEM) continue;
    if (memory != nullptr) return nullptr;  // a string instruction
    memory = &known.operands[i];
  }
  return memory;
}

bool is_compared(const cs_insn& instruction) {
  const std::string name = instruction.mnemonic;
  if (name.starts_with("prefetch")) return false;
  return std::find(std::begin(not_compared), std::end(not_compared), name) == std::end(not_compared);
}

/// As memory_of() should have it: a general register's number, Register::rip, or none.
Register register_of(csh capstone, x86_reg name) {
  constexpr const char* names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                   "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
  if (name == X86_REG_INVALID || name == X86_REG_RIZ || name == X86_REG_EIZ) return Register::none;
  if (name == X86_REG_RIP) return Register::rip;
  const auto* const known = std::ranges::find(names, std::string_view(cs_reg_name(capstone, name)));
  REQUIRE(known != std::end(names));
  return static_cast<Register>(known - names);
}

struct Comparison {
  csh capstone = 0;
  cs_insn* instruction = nullptr;
  std::uint64_t functions = 0;
  std::uint64_t instructions = 0;
  std::uint64_t differences = 0;
  std::string first;
  std::uint64_t sizes = 0;
  std::map<std::string, std::uint64_t> other_sizes;  ///< by instruction, and both sizes
  std::uint64_t vector_operands = 0;
  std::string other_operand;

  void compare_operand(const std::uint8_t* code, const Instruction& found) {
    const cs_x86_op* const memory = memory_operand(*instruction);
    if (memory == nullptr || found.modrm == 0 || code[found.modrm] >= 0xc0 || found.is_evex) return;
    if (instruction->detail->x86.prefix[3] != 0) return;  // addresses of 32 bits
    const std::string_view index = memory->mem.index == X86_REG_INVALID ? "" : cs_reg_name(capstone, memory->mem.index);
    if (index.starts_with("xmm") || index.starts_with("ymm")) return;  // gathers
    const MemoryOperand own = memory_of(code, found);
    vector_operands += found.is_vector ? 1 : 0;
    const Register of_index = register_of(capstone, memory->mem.index);
    if (own.base == register_of(capstone, memory->mem.base) && own.index == of_index &&
        (of_index == Register::none || own.scale == memory->mem.scale) && own.displacement == memory->mem.disp) {
      return;
    }
    if (other_operand.empty()) other_operand = std::string(instruction->mnemonic) + " " + instruction->op_str;
  }

  void compare_access(const std::uint8_t* code, const Instruction& found) {
    const cs_x86_op* const memory = memory_operand(*instruction);
    if (memory == nullptr || !is_compared(*instruction)) return;
    const MemoryAccess access = memory_access(code, found);
    if (access.bytes == 0) return;
    ++sizes;
    const bool changes = (memory->access & CS_AC_READ) != 0 && (memory->access & CS_AC_WRITE) != 0;
    if (access.bytes == memory->size && access.reads_and_writes == changes) return;
    const std::string both = std::to_string(access.bytes) + (access.reads_and_writes ? "rw" : "") + " instead of " +
                             std::to_string(memory->size) + (changes ? "rw" : "");
    ++other_sizes[std::string(instruction->mnemonic) + " " + both];
  }

  void compare(const FunctionExtent& extent) {
    ++functions;
    const auto* at = reinterpret_cast<const std::uint8_t*>(extent.code.begin);
    std::size_t left = extent.code.end - extent.code.begin;
    std::uint64_t address = extent.code.begin;
    while (left > 0) {
      const std::uint8_t* const begin = at;
      const Instruction found = decode(begin, left);
      const auto locked = decode_locked(begin, left);
      // What it does not know is jumped over.
      if (!cs_disasm_iter(capstone, &at, &left, &address, instruction)) {
        if (found.length == 0) return;
        at += found.length;
        left -= found.length;
        address += found.length;
        continue;
      }
      ++instructions;
      compare_access(begin, found);
      compare_operand(begin, found);
      const bool is_locked = instruction->detail->x86.prefix[0] == X86_PREFIX_LOCK ||
                             instruction->id == X86_INS_MFENCE ||
                             (instruction->id == X86_INS_XCHG && std::strchr(instruction->op_str, '[') != nullptr);
      if (found.length == instruction->size && locked.has_value() == is_locked) continue;
      if (differences++ == 0) first = std::string(instruction->mnemonic) + " " + instruction->op_str;
    }
  }
};

/// What a thread has in registers: the instruction's numbers, without rsp, then flags.
struct Machine {
  std::array<std::uint64_t, 16> general;
  std::uint64_t flags;
};
extern "C" void run_on_processor(Machine* machine, const void* code);
asm(R"(
.globl run_on_processor
run_on_processor:
  push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15; push %rdi; push %rsi
  pushq 128(%rdi); popfq
  mov 0(%rdi), %rax; mov 8(%rdi), %rcx; mov 16(%rdi), %rdx; mov 24(%rdi), %rbx; mov 40(%rdi), %rbp
  mov 48(%rdi), %rsi; mov 64(%rdi), %r8; mov 72(%rdi), %r9; mov 80(%rdi), %r10; mov 88(%rdi), %r11
  mov 96(%rdi), %r12; mov 104(%rdi), %r13; mov 112(%rdi), %r14; mov 120(%rdi), %r15; mov 56(%rdi), %rdi
  call *(%rsp)
  pushfq; push %rdi; mov 24(%rsp), %rdi
  mov %rax, 0(%rdi); mov %rcx, 8(%rdi); mov %rdx, 16(%rdi); mov %rbx, 24(%rdi); mov %rbp, 40(%rdi)
  mov %rsi, 48(%rdi); mov %r8, 64(%rdi); mov %r9, 72(%rdi); mov %r10, 80(%rdi); mov %r11, 88(%rdi)
  mov %r12, 96(%rdi); mov %r13, 104(%rdi); mov %r14, 112(%rdi); mov %r15, 120(%rdi)
  pop 56(%rdi); pop 128(%rdi)
  pop %rsi; pop %rdi; pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx
  ret
)");

constexpr int places[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                          REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

/// A locked instruction in memory that can be executed, what it works on, and registers that fit.
class Sample {
 public:
  Sample(std::mt19937_64& random, std::uint8_t* code, std::uint8_t* memory)
      : random_(random), code_(code), memory_(memory) {}

  std::uint8_t bytes = 0;  ///< of the instruction
  Machine machine{};

  /// False if the parts that were drawn do not go together.
  bool draw() {
    for (auto& value : machine.general) value = draw_value();
    machine.flags = 0x202 | (random_() & status_flags);
    const bool has_rex = below(4) != 0;
    const std::uint8_t rex = has_rex ? static_cast<std::uint8_t>(0x40 | below(16)) : 0;
    const bool is_short = below(3) == 0;
    std::uint8_t field = static_cast<std::uint8_t>(below(8));
    std::uint8_t opcode[2];
    unsigned immediate = 0;
    bool is_of_bits = false;
    const unsigned word = (rex & 8) != 0 ? 4 : is_short ? 2 : 4;
    std::size_t opcode_bytes = 1;
    switch (below(8)) {
      case 0: opcode[0] = static_cast<std::uint8_t>(below(7) << 3 | below(2)); break;
      case 1:
        opcode[0] = std::array<std::uint8_t, 3>{0x80, 0x81, 0x83}[below(3)];
        field = static_cast<std::uint8_t>(below(7));
        immediate = opcode[0] == 0x81 ? word : 1;
        break;
      case 2: opcode[0] = static_cast<std::uint8_t>(0x86 | below(2)); break;
      case 3:
        opcode[0] = static_cast<std::uint8_t>(0xf6 | below(2));
        field = static_cast<std::uint8_t>(2 + below(2));
        break;
      case 4:
        opcode[0] = static_cast<std::uint8_t>(0xfe | below(2));
        field = static_cast<std::uint8_t>(below(2));
        break;
      default:
        opcode_bytes = 2;
        opcode[0] = 0x0f;
        opcode[1] = std::array<std::uint8_t, 10>{0xb0, 0xb1, 0xb1, 0xc0, 0xc1, 0xc7, 0xab, 0xb3, 0xbb, 0xba}[below(10)];
        if (opcode[1] == 0xc7) field = 1;
        if (opcode[1] == 0xba) {
          field = static_cast<std::uint8_t>(5 + below(3));
          immediate = 1;
        }
        is_of_bits = opcode[1] == 0xab || opcode[1] == 0xb3 || opcode[1] == 0xbb;
    }
    const bool is_pair = opcode_bytes == 2 && opcode[1] == 0xc7;
    if (is_short && is_pair) return false;
    bytes = 0;
    put(0xf0);
    if (is_short) put(0x66);
    if (has_rex) put(rex);
    for (std::size_t i = 0; i < opcode_bytes; ++i) put(opcode[i]);
    const std::uint8_t* const target = memory_ + 2048 + (is_pair ? 16 * below(8) : below(128));
    return put_operand(rex, field, target, is_of_bits, immediate);
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  /// Edges more often than chance has them.
  std::uint64_t draw_value() {
    switch (below(4)) {
      case 0: return below(2) - below(2);
      case 1: return std::uint64_t{1} << below(64);
      default: return random_();
    }
  }
  void put(std::uint8_t byte) { code_[bytes++] = byte; }
  template <typename Number>
  void put_number(Number number) {
    std::memcpy(code_ + bytes, &number, sizeof number);
    bytes = static_cast<std::uint8_t>(bytes + sizeof number);
  }

  bool put_operand(std::uint8_t rex, std::uint8_t field, const std::uint8_t* target, bool is_of_bits,
                   unsigned immediate) {
    const auto wanted = reinterpret_cast<std::uint64_t>(target);
    const unsigned source = field | ((rex & 4) != 0 ? 8u : 0u);
    if (source == 4) return false;
    if (is_of_bits) machine.general[source] = below(2048) - 1024;
    const auto mode = static_cast<std::uint8_t>(below(3));
    auto low = static_cast<std::uint8_t>(below(8));
    if (mode == 0 && low == 5) {
      put(static_cast<std::uint8_t>(field << 3 | 5));
      const auto next = reinterpret_cast<std::uint64_t>(code_ + bytes + 4 + immediate);
      put_number(static_cast<std::int32_t>(wanted - next));
    } else {
      put(static_cast<std::uint8_t>(mode << 6 | field << 3 | low));
      std::uint64_t rest = 0;
      const bool has_sib = low == 4;
      unsigned index = 4;
      if (has_sib) {
        const auto sib = static_cast<std::uint8_t>(random_());
        put(sib);
        low = sib & 7;
        index = (sib >> 3 & 7) | ((rex & 2) != 0 ? 8u : 0u);
        if (mode == 0 && low == 5) return false;
        if (index != 4) rest += machine.general[index] << (sib >> 6);
      }
      const unsigned base = low | ((rex & 1) != 0 ? 8u : 0u);
      if (base == 4 || base == index || (is_of_bits && base == source)) return false;
      if (mode == 1) {
        put(static_cast<std::uint8_t>(random_()));
        rest += static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(code_[bytes - 1])});
      } else if (mode == 2) {
        const auto distance = static_cast<std::int32_t>(random_());
        put_number(distance);
        rest += static_cast<std::uint64_t>(std::int64_t{distance});
      }
      machine.general[base] = wanted - rest;
    }
    for (unsigned i = 0; i < immediate; ++i) put(static_cast<std::uint8_t>(random_()));
    code_[bytes] = 0xc3;  // ret
    return true;
  }

  std::mt19937_64& random_;
  std::uint8_t* code_;
  std::uint8_t* memory_;
};

}  // namespace

TEST_CASE("instruction lengths and locks agree with a disassembler") {
  Comparison comparison;
  REQUIRE(cs_open(CS_ARCH_X86, CS_MODE_64, &comparison.capstone) == CS_ERR_OK);
  cs_option(comparison.capstone, CS_OPT_DETAIL, CS_OPT_ON);
  comparison.instruction = cs_malloc(comparison.capstone);
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        for_each_function(
            *object, [](const FunctionExtent& extent, void* to) { static_cast<Comparison*>(to)->compare(extent); },
            data);
        return 0;
      },
      &comparison);
  INFO(comparison.first);
  CHECK(comparison.differences == 0);
  std::string others;
  for (const auto& [what, count] : comparison.other_sizes) others += what + ": " + std::to_string(count) + "\n";
  CHECK(others == "");
  CHECK(comparison.sizes > 100'000);
  CHECK(comparison.other_operand == "");
  CHECK(comparison.vector_operands > 1000);
  CHECK(comparison.functions > 5000);
  CHECK(comparison.instructions > 500'000);
}

TEST_CASE("a look is where the instruction's number lies, and as long") {
  // A thread whose registers have their number times 0x100000, at address 0x5000000.
  greg_t registers[NGREG] = {};
  for (std::size_t i = 0; i < 16; ++i) registers[places[i]] = static_cast<greg_t>(i * 0x100000);
  registers[REG_RIP] = 0x5000000;
  struct Case {
    std::string_view what;
    std::vector<std::uint8_t> code;
    std::uintptr_t address = 0;  // 0: no look
    std::uint32_t bytes = 0;
  };
  const auto& [what, code, address, bytes] = GENERATE(values<Case>({
      {"mov 8(%r9), %eax", {0x41, 0x8b, 0x41, 0x08}, 0x900008, 4},
      {"cmpb $1, 16(%rip)", {0x80, 0x3d, 16, 0, 0, 0, 1}, 0x5000017, 1},
      {"lea 8(%r9), %rax", {0x49, 0x8d, 0x41, 0x08}},
      {"movsd (%r12), %xmm0", {0xf2, 0x41, 0x0f, 0x10, 0x04, 0x24}, 0xc00000, 8},
      {"vmovsd (%r12), %xmm0", {0xc4, 0xc1, 0x7b, 0x10, 0x04, 0x24}, 0xc00000, 8},
      {"vmovss (%rdi,%r9,4), %xmm0", {0xc4, 0xa1, 0x7a, 0x10, 0x04, 0x8f}, 0x700000 + 4 * 0x900000, 4},
      {"vucomisd 8(%r8), %xmm8", {0xc4, 0x41, 0x79, 0x2e, 0x40, 0x08}, 0x800008, 8},
      {"vmovsd (%rdi), %xmm8", {0xc5, 0x7b, 0x10, 0x07}, 0x700000, 8},
      {"cvtsi2sd 32(%rdi), %xmm0", {0xf2, 0x0f, 0x2a, 0x47, 0x20}, 0x700020, 4},
      {"cvtsi2sdq 32(%rdi), %xmm0", {0xf2, 0x48, 0x0f, 0x2a, 0x47, 0x20}, 0x700020, 8},
      {"vcvtsi2sdq (%rdi), %xmm0", {0xc4, 0xe1, 0xfb, 0x2a, 0x07}, 0x700000, 8},
      {"filds (%rdi)", {0xdf, 0x07}, 0x700000, 2},
      {"fildl (%rdi)", {0xdb, 0x07}, 0x700000, 4},
      {"fildq (%rdi)", {0xdf, 0x2f}, 0x700000, 8},
      {"ficoms (%rdi)", {0xde, 0x17}, 0x700000, 2},
      {"fiaddl (%rdi)", {0xda, 0x07}, 0x700000, 4},
      {"fldt (%rdi)", {0xdb, 0x2f}, 0x700002, 8},
      {"movq (%rdi), %xmm0, by REX.W", {0x66, 0x48, 0x0f, 0x6e, 0x07}, 0x700000, 8},
      {"vfmadd231sd (%rdi), %xmm1, %xmm0", {0xc4, 0xe2, 0xf1, 0xb9, 0x07}, 0x700000, 8},
      {"vroundsd $1, (%rdi), %xmm0, %xmm0", {0xc4, 0xe3, 0x79, 0x0b, 0x07, 0x01}, 0x700000, 8},
      {"movups (%rdi), %xmm0", {0x0f, 0x10, 0x07}},
      {"vmovsd (%rdi), %xmm16, EVEX", {0x62, 0xe1, 0xff, 0x08, 0x10, 0x07}},
      {"mov %eax, %ecx", {0x89, 0xc1}},
  }));
  INFO(what);
  std::vector<std::uint8_t> room = code;
  room.resize(longest_instruction, 0x90);
  const std::optional<Poll> poll = poll_of(room.data(), registers);
  CHECK(poll.value_or(Poll{}).address == address);
  CHECK(poll.value_or(Poll{}).bytes == bytes);
}

TEST_CASE("locked instructions on random registers and memory do what the processor does") {
  constexpr std::size_t memory_bytes = 4096;
  auto* code = static_cast<std::uint8_t*>(
      mmap(nullptr, 2 * memory_bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(code != MAP_FAILED);
  std::uint8_t* const memory = code + memory_bytes;
  std::mt19937_64 random(20261122);
  std::array<unsigned, 17> seen{};
  for (std::uint64_t drawn = 0; drawn < sdsm::test::rounds(20'000);) {
    Sample sample(random, code, memory);
    if (!sample.draw()) continue;
    ++drawn;
    const auto instruction = decode_locked(code, 16);
    CAPTURE(drawn, code[0], code[1], code[2], code[3], code[4], code[5]);
    REQUIRE(instruction);
    REQUIRE(instruction->length == sample.bytes);
    ++seen[static_cast<std::size_t>(instruction->kind)];
    std::vector<std::uint8_t> before(memory_bytes);
    for (std::size_t i = 1900; i < 2400; ++i) before[i] = static_cast<std::uint8_t>(random());
    greg_t registers[NGREG] = {};
    for (std::size_t i = 0; i < 16; ++i) registers[places[i]] = static_cast<greg_t>(sample.machine.general[i]);
    registers[REG_EFL] = static_cast<greg_t>(sample.machine.flags);
    std::memcpy(memory, before.data(), memory_bytes);
    const LockedAccess access =
        access_of(*instruction, registers, reinterpret_cast<std::uintptr_t>(code) + instruction->length);
    // Comparisons that succeed are rare by chance.
    if (instruction->kind >= AtomicKind::compare_exchange && random() % 2 == 0) {
      std::memcpy(before.data() + (access.address - reinterpret_cast<std::uintptr_t>(memory)),
                  &access.operation.expected, instruction->bytes);
      std::memcpy(memory, before.data(), memory_bytes);
    }
    finish(*instruction, operate(access.operation, reinterpret_cast<void*>(access.address)), registers);
    const std::vector<std::uint8_t> after(memory, memory + memory_bytes);
    std::memcpy(memory, before.data(), memory_bytes);
    run_on_processor(&sample.machine, code);
    REQUIRE(std::memcmp(memory, after.data(), memory_bytes) == 0);
    for (std::size_t i = 0; i < 16; ++i) {
      if (i == 4) continue;
      CAPTURE(i);
      REQUIRE(static_cast<std::uint64_t>(registers[places[i]]) == sample.machine.general[i]);
    }
    REQUIRE((static_cast<std::uint64_t>(registers[REG_EFL]) & status_flags) == (sample.machine.flags & status_flags));
  }
  for (const unsigned count : seen) CHECK(count > 100);
  munmap(code, 2 * memory_bytes);
}
