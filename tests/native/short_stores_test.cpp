/// Is code found that stores variables of one or two bytes?
#include "native/guest/code/short_stores.hpp"

#include "tests/catch.hpp"

// Each function's code lies between its name and NAME_end.
#define STORING_FUNCTION(name, body)                    \
  asm(".text\n" #name ":\n" body "\n" #name "_end:\n"); \
  extern "C" const std::uint8_t name[], name##_end[]

// clang-format off
STORING_FUNCTION(stores_byte, "xor %eax, %eax; mov %al, (%rdi); ret");
STORING_FUNCTION(stores_number, "movb $1, 0x100(%rip); ret");
STORING_FUNCTION(stores_half, "mov %ax, 2(%rdi,%rsi,4); ret");
STORING_FUNCTION(stores_half_number, "movw $300, (%rdi); ret");
STORING_FUNCTION(exchanges, "xchg %al, (%rdi); ret");
STORING_FUNCTION(stores_by_frame, "push %rbp; mov %rsp, %rbp; movb $1, -1(%rbp); pop %rbp; ret");
STORING_FUNCTION(unknown, "mov %eax, (%rdi); .byte 0x06; ret");
STORING_FUNCTION(stores_words, "mov %eax, (%rdi); movl $1, 4(%rdi); mov %rax, 8(%rdi); movq $1, 16(%rdi); xchg %eax, (%rsi); ret");
STORING_FUNCTION(loads, "mov (%rdi), %al; movzbl 1(%rdi), %ecx; mov (%rdi), %ax; mov %al, %cl; cmpb $1, (%rdi); sete %al; ret");
STORING_FUNCTION(on_own_stack, "movb $1, 8(%rsp); mov %ax, (%rsp); movb $1, %fs:0x10; ret");
STORING_FUNCTION(other_stores, "andb $1, (%rdi); movss %xmm0, (%rdi); ret");
// clang-format on

namespace {

#define STORES_SHORT(name) sdsm::program::stores_short_variables(name, static_cast<std::size_t>(name##_end - name))

TEST_CASE("short stores are found, and unknown code counts as them") {
  CHECK(STORES_SHORT(stores_byte));
  CHECK(STORES_SHORT(stores_number));
  CHECK(STORES_SHORT(stores_half));
  CHECK(STORES_SHORT(stores_half_number));
  CHECK(STORES_SHORT(exchanges));
  CHECK(STORES_SHORT(stores_by_frame));
  CHECK(STORES_SHORT(unknown));
}

TEST_CASE("Stores of words, loads, and stores on the own stack are not") {
  CHECK(!STORES_SHORT(stores_words));
  CHECK(!STORES_SHORT(loads));
  CHECK(!STORES_SHORT(on_own_stack));
  CHECK(!STORES_SHORT(other_stores));
}

}  // namespace
