/// Is machine code read as the processor does it, and are locked instructions done so?
#include "native/guest/code/machine_code.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/campaign.hpp"
#include "tests/catch.hpp"

using namespace sdsm::program;

namespace {

using Code = std::vector<std::uint8_t>;

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

TEST_CASE("control goes on, to a target, elsewhere or nowhere") {
  struct Case {
    std::string_view what;
    Code code;
    Flow flow{};
    std::int64_t target = 0;
  };
  const auto& [what, code, flow, target] = GENERATE(values<Case>({
      {"mov 16(%rip), %eax", {0x8b, 0x05, 16, 0, 0, 0}, Flow::on},
      {"call *16(%rip)", {0xff, 0x15, 16, 0, 0, 0}, Flow::on},
      {"call", {0xe8, 0xf0, 0xff, 0xff, 0xff}, Flow::on},
      {"syscall", {0x0f, 0x05}, Flow::on},
      {"je", {0x74, 0xfe}, Flow::branch, -2},
      {"jne, by 4 bytes", {0x0f, 0x85, 0x00, 0x01, 0x00, 0x00}, Flow::branch, 256},
      {"bnd jne", {0xf2, 0x75, 0x05}, Flow::branch, 5},
      {"jrcxz", {0xe3, 0x10}, Flow::branch, 16},
      {"loop", {0xe2, 0xf0}, Flow::branch, -16},
      {"xbegin", {0xc7, 0xf8, 0x20, 0, 0, 0}, Flow::branch, 32},
      {"xend", {0x0f, 0x01, 0xd5}, Flow::on},
      {"xabort", {0xc6, 0xf8, 0xff}, Flow::on},
      {"jmp", {0xeb, 0x7f}, Flow::jump, 127},
      {"jmp, by 4 bytes", {0xe9, 0xfb, 0xff, 0xff, 0xff}, Flow::jump, -5},
      {"notrack jmp *%rax", {0x3e, 0xff, 0xe0}, Flow::indirect},
      {"jmp *16(%rip)", {0xff, 0x25, 16, 0, 0, 0}, Flow::indirect},
      {"rep ret", {0xf3, 0xc3}, Flow::end},
      {"ret $8", {0xc2, 8, 0}, Flow::end},
      {"int3", {0xcc}, Flow::end},
      {"hlt", {0xf4}, Flow::end},
      {"ud2", {0x0f, 0x0b}, Flow::end},
  }));
  INFO(what);
  const Instruction found = decode(code.data(), code.size());
  CHECK(found.length == code.size());
  CHECK(found.flow() == flow);
  if (target != 0) CHECK(found.target() == target);
}

TEST_CASE("vector instructions that are newer than the decoder have a length") {
  // As the manuals of AVX-IFMA, AVX-NE-CONVERT and AVX-VNNI-INT8 encode them; the last one has a prefix and a
  // displacement of four bytes.
  const std::vector<std::vector<std::uint8_t>> samples{
      {0xc4, 0xe2, 0xf5, 0xb4, 0x40, 0x08},
      {0xc4, 0xe2, 0x7a, 0xb1, 0x00},
      {0x65, 0xc4, 0xe2, 0x77, 0x50, 0x80, 0x10, 0x00, 0x00, 0x00},
      {0x62, 0xf3, 0x75, 0x28, 0xee, 0x40, 0x01, 0x05},
  };
  for (std::vector<std::uint8_t> code : samples) {
    const std::size_t length = code.size();
    code.resize(length + longest_instruction, 0x90);
    CHECK(decode(code.data(), code.size()).length == length);
    CHECK(decode(code.data(), length - 1).length == 0);
    CHECK(accesses_of(decode(code.data(), code.size())).count == 0);
  }
}

TEST_CASE("what is no instruction, or cut off, has no length") {
  const auto code = GENERATE(values<Code>({{}, {0x06}, {0xf0, 0x89, 0x07}, {0x8b, 0x05, 16, 0, 0}, {0x0f}}));
  const Instruction found = decode(code.data(), code.size());
  CHECK_FALSE(found.is_known());
  CHECK_FALSE(locked_of(found));
  CHECK(accesses_of(found).count == 0);
}

TEST_CASE("readings of the processor's clock are known") {
  const auto reads_cycles = [](const Code& code) { return decode(code.data(), code.size()).reads_cycles(); };
  CHECK(reads_cycles({0x0f, 0x31}));
  CHECK(reads_cycles({0x0f, 0x01, 0xf9}));
  CHECK_FALSE(reads_cycles({0x0f, 0x01, 0xd0}));  // xgetbv
}

TEST_CASE("what locks memory or is a fence is known, and nothing else") {
  struct Case {
    std::string_view what;
    Code code;
    bool is_locked = false;
    bool is_fence = false;
  };
  const auto& [what, code, is_locked, is_fence] = GENERATE(values<Case>({
      {"lock xadd %eax, (%rdi)", {0xf0, 0x0f, 0xc1, 0x07}, true},
      {"xchg %al, (%rdi)", {0x86, 0x07}, true},
      {"lock addl $1, %fs:8", {0xf0, 0x64, 0x83, 0x04, 0x25, 8, 0, 0, 0, 1}, true},
      {"mfence", {0x0f, 0xae, 0xf0}, true, true},
      {"lock orq $0, (%rsp)", {0xf0, 0x48, 0x83, 0x0c, 0x24, 0}, true, true},
      {"lock addl $0, -8(%rsp)", {0xf0, 0x83, 0x44, 0x24, 0xf8, 0}, true, true},
      {"lock orq $1, (%rsp)", {0xf0, 0x48, 0x83, 0x0c, 0x24, 1}, true},
      {"lock orq $0, (%rdi)", {0xf0, 0x48, 0x83, 0x0f, 0}, true},
      {"xadd %eax, (%rdi)", {0x0f, 0xc1, 0x07}},
      {"xchg %rax, %rdi", {0x48, 0x97}},
      {"xchg %ax, %ax", {0x66, 0x90}},
      {"lfence", {0x0f, 0xae, 0xe8}},
      {"sfence", {0x0f, 0xae, 0xf8}},
      {"tpause %eax", {0x66, 0x0f, 0xae, 0xf0}},
      {"lock incl %gs:(%rdi)", {0xf0, 0x65, 0xff, 0x07}},  // nobody has memory there
  }));
  INFO(what);
  const Instruction found = decode(code.data(), code.size());
  const auto locked = locked_of(found);
  CHECK(found.length == code.size());
  CHECK(locked.has_value() == is_locked);
  CHECK((locked && locked->is_fence) == is_fence);
}

TEST_CASE("accesses have their sizes, and read, write or do both") {
  struct Case {
    std::string_view what;
    Code code;
    std::string expected;  // of each operand: bytes, r, w
  };
  const auto& [what, code, expected] = GENERATE(values<Case>({
      {"mov (%rdi), %al", {0x8a, 0x07}, "1r"},
      {"mov %ax, (%rdi)", {0x66, 0x89, 0x07}, "2w"},
      {"movq $1, (%rdi)", {0x48, 0xc7, 0x07, 1, 0, 0, 0}, "8w"},
      {"addl $1, (%rdi)", {0x83, 0x07, 1}, "4rw"},
      {"cmpl $1, (%rdi)", {0x83, 0x3f, 1}, "4r"},
      {"testb $1, (%rdi)", {0xf6, 0x07, 1}, "1r"},
      {"notq (%rdi)", {0x48, 0xf7, 0x17}, "8rw"},
      {"xchg %ecx, (%rdi)", {0x87, 0x0f}, "4rw"},
      {"lock cmpxchg16b (%rdi)", {0xf0, 0x48, 0x0f, 0xc7, 0x0f}, "16rw"},
      {"btl $3, (%rdi)", {0x0f, 0xba, 0x27, 3}, "4r"},
      {"sete (%rdi)", {0x0f, 0x94, 0x07}, "1w"},
      {"cmovne (%rdi), %ax", {0x66, 0x0f, 0x45, 0x07}, "2r"},
      {"movzwl (%rdi), %eax", {0x0f, 0xb7, 0x07}, "2r"},
      {"movslq (%rdi), %rax", {0x48, 0x63, 0x07}, "4r"},
      {"call *(%rdi)", {0xff, 0x17}, "8r"},
      {"pushq (%rdi)", {0xff, 0x37}, "8r"},
      {"push %rdi", {0x57}, ""},
      {"lea (%rdi), %rax", {0x48, 0x8d, 0x07}, ""},
      {"nopl (%rdi)", {0x0f, 0x1f, 0x07}, ""},
      {"prefetcht0 (%rdi)", {0x0f, 0x18, 0x0f}, ""},
      {"movsq", {0x48, 0xa5}, "8w 8r"},
      {"rep movsb", {0xf3, 0xa4}, "1w 1r"},
      {"stosw", {0x66, 0xab}, "2w"},
      {"lodsb", {0xac}, "1r"},
      {"repe cmpsl", {0xf3, 0xa7}, "4r 4r"},
      {"scasb", {0xae}, "1r"},
      {"fldl (%rdi)", {0xdd, 0x07}, "8r"},
      {"fstpt (%rdi)", {0xdb, 0x3f}, "10w"},
      {"fnstcw (%rdi)", {0xd9, 0x3f}, "2w"},
      {"fnstenv (%rdi)", {0xd9, 0x37}, "28w"},
      {"fnsave (%rdi)", {0xdd, 0x37}, "108w"},
      {"ldmxcsr (%rdi)", {0x0f, 0xae, 0x17}, "4r"},
      {"fxsave (%rdi)", {0x0f, 0xae, 0x07}, "512w"},
      {"xsavec (%rdi)", {0x0f, 0xc7, 0x27}, "0w"},
      {"movups (%rdi), %xmm0", {0x0f, 0x10, 0x07}, "16r"},
      {"movlps %xmm0, (%rdi)", {0x0f, 0x13, 0x07}, "8w"},
      {"ucomiss (%rdi), %xmm0", {0x0f, 0x2e, 0x07}, "4r"},
      {"cvtdq2pd (%rdi), %xmm0", {0xf3, 0x0f, 0xe6, 0x07}, "8r"},
      {"paddd (%rdi), %mm0", {0x0f, 0xfe, 0x07}, "8r"},
      {"punpcklbw (%rdi), %mm0", {0x0f, 0x60, 0x07}, "4r"},
      {"pmovzxbq (%rdi), %xmm0", {0x66, 0x0f, 0x38, 0x32, 0x07}, "2r"},
      {"pextrw $1, %xmm0, (%rdi)", {0x66, 0x0f, 0x3a, 0x15, 0x07, 1}, "2w"},
      {"vmovups (%rdi), %ymm0", {0xc5, 0xfc, 0x10, 0x07}, "32r"},
      {"vextractf128 $1, %ymm0, (%rdi)", {0xc4, 0xe3, 0x7d, 0x19, 0x07, 1}, "16w"},
      {"vbroadcastsd (%rdi), %ymm0", {0xc4, 0xe2, 0x7d, 0x19, 0x07}, "8r"},
      {"vmovups (%rdi), %zmm0", {0x62, 0xf1, 0x7c, 0x48, 0x10, 0x07}, "64r"},
      {"vaddps (%rdi){1to16}, %zmm0, %zmm0", {0x62, 0xf1, 0x7c, 0x58, 0x58, 0x07}, "4r"},
      {"vextractf64x4 $1, %zmm0, (%rdi)", {0x62, 0xf3, 0xfd, 0x48, 0x1b, 0x07, 1}, "32w"},
      {"kmovw (%rdi), %k1", {0xc5, 0xf8, 0x90, 0x0f}, "2r"},
      {"vmovups (%rdi), %ymm0{%k1}", {0x62, 0xf1, 0x7c, 0x29, 0x10, 0x07}, "0r"},
      {"vpmaskmovd %ymm0, %ymm1, (%rdi)", {0xc4, 0xe2, 0x75, 0x8e, 0x07}, "0w"},
      {"vpgatherdd %ymm1, (%rdi,%ymm2,4), %ymm0", {0xc4, 0xe2, 0x75, 0x90, 0x04, 0x97}, ""},
      {"clflush (%rdi)", {0x0f, 0xae, 0x3f}, "0r"},
  }));
  INFO(what);
  const Instruction found = decode(code.data(), code.size());
  CHECK(found.length == code.size());
  const MemoryAccesses accesses = accesses_of(found);
  std::string seen;
  for (const MemoryAccess& one : std::span(accesses.all, accesses.count)) {
    seen += (seen.empty() ? "" : " ") + std::to_string(one.bytes) + (one.reads ? "r" : "") + (one.writes ? "w" : "");
  }
  CHECK(seen == expected);
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
      {"movsb", {0xa4}},
      {"pushq (%rdi)", {0xff, 0x37}, 0x700000, 8},
      {"mov (%edi), %eax", {0x67, 0x8b, 0x07}, 0x700000, 4},
      {"mov -8(,%r9,8), %rax", {0x4a, 0x8b, 0x04, 0xcd, 0xf8, 0xff, 0xff, 0xff}, 8 * 0x900000 - 8, 8},
      {"vmovsd 8(%rdi), %xmm16, whose displacement counts operands",
       {0x62, 0xe1, 0xff, 0x08, 0x10, 0x47, 1},
       0x700008,
       8},
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
    const auto instruction = locked_of(decode(code, 16));
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
