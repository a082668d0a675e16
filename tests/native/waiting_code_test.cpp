/// Are loops that wait for a store distinguished from those that compute?
#include "native/guest/code/waiting_code.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <vector>

#include "tests/catch.hpp"

// Each function's code lies between its name and NAME_end. Places are labels within.
#define FUNCTION(name, body) asm(".text\n" #name ":\n" body "\n" #name "_end:\n")

extern "C" {
extern const std::uint8_t waits[], waits_end[], waits_at[];
extern const std::uint8_t waits_behind[], waits_exit[];
extern const std::uint8_t pauses[], pauses_end[], pauses_at[], pauses_looks[];
extern const std::uint8_t unoptimised[], unoptimised_end[], unoptimised_body[], unoptimised_entry[];
extern const std::uint8_t two_flags[], two_flags_end[], two_flags_at[];
extern const std::uint8_t searches[], searches_end[], counts[], counts_end[], copies[], copies_end[];
extern const std::uint8_t follows[], follows_end[], counts_on_stack[], counts_on_stack_end[], calls[], calls_end[];
extern const std::uint8_t pausing[], pausing_stub[], pausing_old_stub[], other_stub[], pausing_table[];
extern const std::uint8_t yields[], yields_end[], yields_looks[], yields_at[], yields_by_stub[], yields_by_stub_end[];
extern const std::uint8_t yields_by_stub_at[], yields_by_table[], yields_by_table_end[], yields_by_table_at[];
extern const std::uint8_t names_it_twice[], names_it_twice_end[], names_it_twice_looks[], names_it_twice_at[];
extern const std::uint8_t keeps_too_little[], keeps_too_little_end[], calls_other[], calls_other_end[];
extern const std::uint8_t counts_turns[], counts_turns_end[], counts_turns_at[], counts_in_memory[],
    counts_in_memory_end[];
extern const std::uint8_t counts_in_memory_body[], counts_in_memory_entry[], gives_up[], gives_up_end[], next_row[],
    next_row_end[];
extern const std::uint8_t reads_twice[], reads_twice_end[], reads_twice_at[], breaks[], breaks_end[], breaks_at[];
extern const std::uint8_t backs_off[], backs_off_end[], backs_off_at[], counts_to[], counts_to_end[], walks[],
    walks_end[];
extern const std::uint8_t counts_down[], counts_down_end[], fills[], fills_end[], sums_while[], sums_while_end[];
extern const std::uint8_t looks_again[], looks_again_end[], looks_again_first[], stores_there[], stores_there_end[];
extern const std::uint8_t joins[], joins_end[], calls_between[], calls_between_end[], at_once[], at_once_end[];
extern const std::uint8_t subtracts[], subtracts_end[], looks_by_sub[], looks_by_sub_end[], looks_by_sub_first[];
extern const std::uint8_t looks_by_sub_later[], looks_by_sub_later_end[], looks_by_sub_later_first[];
extern const std::uint8_t looks_by_set[], looks_by_set_end[], looks_by_set_first[];
extern const std::uint8_t locks[], locks_end[], returns[], returns_end[], own_only[], own_only_end[];
}

// clang-format off
FUNCTION(waits, "mov %rdi, %rcx; waits_at: mov (%rcx), %eax; waits_behind: cmp %eax, %esi; jg waits_at; waits_exit: ret");
FUNCTION(pauses, "pauses_looks: cmpl $0, 0x1234(%rip); jne 2f; pauses_at: pause; mov 0x122a(%rip), %eax; test %eax, %eax; je pauses_at; 2: ret");
FUNCTION(unoptimised, "push %rbp; mov %rsp, %rbp; jmp unoptimised_entry; unoptimised_body: nop; unoptimised_entry: mov -8(%rbp), %rax; mov (%rax), %eax;"
                      "mov %eax, -12(%rbp); cmpl $5, -12(%rbp); setne %al; movzbl %al, %eax; test %eax, %eax; jne unoptimised_body; pop %rbp; ret");
FUNCTION(two_flags, "two_flags_at: cmpb $0, (%rdi); jne 2f; cmpb $0, 1(%rdi,%rsi,4); je two_flags_at; 2: ret");
FUNCTION(searches, "1: cmpb $0, (%rdi); je 2f; add $1, %rdi; jmp 1b; 2: ret");
FUNCTION(counts, "1: add (%rdi), %eax; cmp $100, %eax; jl 1b; ret");
FUNCTION(copies, "1: mov (%rdi), %eax; mov %eax, (%rsi); test %eax, %eax; je 1b; ret");
FUNCTION(follows, "1: mov 8(%rdi), %rdi; test %rdi, %rdi; jne 1b; ret");
FUNCTION(counts_on_stack, "1: mov (%rdi), %eax; addl $1, -4(%rbp); cmp %eax, -4(%rbp); jl 1b; ret");
FUNCTION(calls, "1: mov (%rbx), %edi; call calls; test %eax, %eax; je 1b; ret");
asm(".text\npausing: ret\npausing_stub: endbr64; .byte 0xf2; jmp *pausing_table(%rip)\npausing_old_stub: jmp *pausing_table(%rip)\n"
    "other_stub: endbr64; jmp *pausing_table+8(%rip)\n.data\n.balign 8\npausing_table: .quad pausing, waits\n.text\n");
FUNCTION(yields, "yields_looks: mov (%rbx), %eax; test %eax, %eax; je 2f; yields_at: call pausing; mov (%rbx), %eax; test %eax, %eax; jne yields_at; 2: ret");
FUNCTION(yields_by_stub, "yields_by_stub_at: mov $7, %edi; call pausing_stub; call pausing_old_stub; cmpl $0, (%rbx); je yields_by_stub_at; ret");
FUNCTION(yields_by_table, "yields_by_table_at: call *pausing_table(%rip); cmpl $0, (%rbx); je yields_by_table_at; ret");
FUNCTION(names_it_twice, "names_it_twice_looks: mov pausing_table+4(%rip), %eax; lea pausing_table(%rip), %rbx; test %eax, %eax; jne 2f;"
                         "names_it_twice_at: call pausing; mov 4(%rbx), %eax; test %eax, %eax; je names_it_twice_at; 2: ret");
FUNCTION(keeps_too_little, "1: cmpl $0, (%rdi); jne 2f; call pausing; jmp 1b; 2: ret");
FUNCTION(calls_other, "1: call other_stub; call *pausing_table+8(%rip); cmpl $0, (%rbx); je 1b; ret");
FUNCTION(counts_turns, "counts_turns_at: mov (%rdi), %eax; add $1, %rdx; cmp %esi, %eax; jne counts_turns_at; ret");
FUNCTION(counts_in_memory, "push %rbp; mov %rsp, %rbp; jmp counts_in_memory_entry; counts_in_memory_body: addq $1, -24(%rbp); mov 0x1234(%rip), %rax; add $1, %rax;"
                           "mov %rax, 0x1229(%rip); counts_in_memory_entry: mov 0x2345(%rip), %eax; cmp %eax, -8(%rbp); setne %al; test %al, %al; jne counts_in_memory_body; ret");
FUNCTION(gives_up, "1: mov (%rdi), %eax; test %eax, %eax; jne 2f; incl %edx; cmp $1000, %edx; jl 1b; 2: ret");
// Of a loop over columns whose body lies elsewhere, the part that goes on to the next row: a row may have no columns.
FUNCTION(next_row, "1: mov 0x1234(%rip), %eax; cmp $0, %eax; jg 2f; addl $1, -4(%rbp); cmpl $10, -4(%rbp); jge 3f; jmp 1b;"
                   "2: addl $1, -8(%rbp); mov -8(%rbp), %eax; cmp %eax, 0x1234(%rip); jl 2b; jmp 1b; 3: ret");
FUNCTION(reads_twice, "reads_twice_at: movzbl (%rdi), %r8d; mov 8(%rdi), %rax; mov 16(%rdi), %rcx; cmp %rax, %rcx; jne 2f; add $1, %rdx; 2: test %r8b, %r8b; je reads_twice_at; ret");
FUNCTION(breaks, "breaks_at: mov (%rdi), %eax; test %eax, %eax; je 2f; jmp 3f; 2: add $1, %rdx; jmp breaks_at; 3: ret");
FUNCTION(backs_off, "backs_off_at: cmpl $0, (%rdi); jne 3f; mov %edx, %ecx; and $7, %ecx; mov $1, %eax; shl %cl, %eax; 2: pause; sub $1, %eax; jne 2b; add $1, %edx; jmp backs_off_at; 3: ret");
FUNCTION(counts_to, "1: addl $1, -4(%rbp); mov 0x1234(%rip), %eax; cmp %eax, -4(%rbp); jl 1b; ret");
FUNCTION(walks, "1: mov (%rdi,%rdx,4), %eax; add $1, %rdx; test %eax, %eax; jne 1b; ret");
FUNCTION(counts_down, "1: mov 0x1234(%rip), %eax; sub $1, %eax; mov %eax, 0x122b(%rip); test %eax, %eax; jne 1b; ret");
FUNCTION(fills, "1: mov %eax, (%rsi,%rdx,4); add $1, %rdx; cmpl $0, (%rdi); je 1b; ret");
FUNCTION(sums_while, "1: add (%rsi), %eax; cmp (%rdi), %eax; jl 1b; ret");
FUNCTION(looks_again, "looks_again_first: mov (%rdi), %eax; test $1, %al; jne 1f; mov 8(%rdi), %rcx; mov 16(%rdi), %rdx; mov (%rdi), %r8d; cmp %eax, %r8d; jne 1f; add %rdx, %rcx; 1: ret");
FUNCTION(stores_there, "mov (%rdi), %eax; mov 8(%rdi), %rcx; mov %esi, (%rdi); mov (%rdi), %r8d; cmp %eax, %r8d; jne 1f; nop; 1: ret");
FUNCTION(calls_between, "mov (%rbx), %r12d; mov 8(%rbx), %rcx; call calls_between; cmp %r12d, (%rbx); jne 1f; nop; 1: ret");
FUNCTION(joins, "mov (%rdi), %eax; test %esi, %esi; je 1f; mov 4(%rdi), %eax; 1: mov 8(%rdi), %rcx; cmp %eax, (%rdi); jne 2f; nop; 2: ret");
FUNCTION(subtracts, "mov 0x1234(%rip), %rax; mov 0x1235(%rip), %rcx; mov %rax, %rdx; sub 0x1223(%rip), %rdx; add %rcx, %rdx; jne 1f; mov %rdx, %rax; 1: ret");
FUNCTION(looks_by_sub_later, "looks_by_sub_later_first: mov (%rdi), %eax; mov 8(%rdi), %rcx; sub (%rdi), %eax; mov %ecx, %edx; "
                             "lea 1(%rdx), %edx; jne 1f; mov %rcx, %rax; 1: ret");
FUNCTION(looks_by_sub, "looks_by_sub_first: mov (%rdi), %eax; mov 8(%rdi), %rcx; sub (%rdi), %eax; jne 1f; mov %rcx, %rax; 1: ret");
FUNCTION(looks_by_set, "looks_by_set_first: mov (%rdi), %eax; mov 8(%rdi), %rcx; sub (%rdi), %eax; sete %al; ret");
FUNCTION(at_once, "mov (%rdi), %eax; cmp %eax, (%rdi); jne 1f; nop; 1: ret");
FUNCTION(locks, "1: mov $1, %eax; lock xadd %eax, (%rdi); test %eax, %eax; jne 1b; ret");
FUNCTION(returns, "jmp 2f; 1: mov (%rdi), %eax; ret; 2: jmp 1b");
FUNCTION(own_only, "1: cmpl $0, -4(%rbp); je 1b; ret");
// clang-format on

/// Nobody gives it back, as in a program that runs.
void* sdsm::program::grow_reservation(void* memory, std::size_t old_bytes, std::size_t new_bytes) {
  static std::deque<std::vector<std::byte>> kept;
  std::vector<std::byte>& grown = kept.emplace_back(new_bytes);
  if (old_bytes > 0) std::memcpy(grown.data(), memory, old_bytes);
  return grown.data();
}

namespace {

sdsm::program::Pauses pauses_here() {
  sdsm::program::Pauses here;
  here.functions[here.count++] = reinterpret_cast<std::uintptr_t>(pausing);
  // Of this file, from the first stub to the end of the table.
  const auto stub = reinterpret_cast<std::uintptr_t>(pausing_stub);
  const auto table = reinterpret_cast<std::uintptr_t>(pausing_table);
  here.file = {std::min(stub, table), std::max(stub, table) + 64};
  return here;
}

std::vector<std::uintptr_t> found_in(const std::uint8_t* begin, const std::uint8_t* end) {
  sdsm::program::GrowingArray<sdsm::program::Wait> found;
  sdsm::program::find_waits(begin, static_cast<std::uint32_t>(end - begin), pauses_here(), found);
  std::vector<std::uintptr_t> list;
  for (const sdsm::program::Wait& wait : found) list.push_back(wait.address);
  std::sort(list.begin(), list.end());
  return list;
}

const sdsm::program::Wait* loop_in(const std::uint8_t* begin, const std::uint8_t* end) {
  static sdsm::program::GrowingArray<sdsm::program::Wait> found;
  found.clear();
  sdsm::program::find_waits(begin, static_cast<std::uint32_t>(end - begin), pauses_here(), found);
  const auto* const loop = std::find_if(found.begin(), found.end(), [](const auto& wait) { return wait.bytes > 0; });
  return loop == found.end() ? nullptr : loop;
}

std::vector<std::uintptr_t> addresses(std::initializer_list<const std::uint8_t*> places) {
  std::vector<std::uintptr_t> list;
  for (const std::uint8_t* place : places) list.push_back(reinterpret_cast<std::uintptr_t>(place));
  return list;
}

}  // namespace

TEST_CASE("a loop waits if it only loads what others store") {
  CHECK(found_in(waits, waits_end) == addresses({waits_at}));
  CHECK(found_in(two_flags, two_flags_end) == addresses({two_flags_at}));
}

TEST_CASE("control that comes into the loop's midst comes to a wait") {
  CHECK(found_in(unoptimised, unoptimised_end) == addresses({unoptimised_body, unoptimised_entry}));
}

TEST_CASE("a wait includes the load copied before its loop") {
  CHECK(found_in(pauses, pauses_end) == addresses({pauses_looks, pauses_at}));
}

TEST_CASE("a loop that counts its turns waits if stores end it") {
  CHECK(found_in(counts_turns, counts_turns_end) == addresses({counts_turns_at}));
  CHECK(found_in(counts_in_memory, counts_in_memory_end) == addresses({counts_in_memory_body, counts_in_memory_entry}));
  CHECK(found_in(reads_twice, reads_twice_end) == addresses({reads_twice_at}));
  CHECK(found_in(breaks, breaks_end) == addresses({breaks_at}));
  CHECK(found_in(backs_off, backs_off_end) == addresses({backs_off_at}));
}

TEST_CASE("a loop whose count steers its loads computes") {
  CHECK(found_in(gives_up, gives_up_end).empty());
  CHECK(found_in(next_row, next_row_end).empty());
  CHECK(found_in(counts_to, counts_to_end).empty());
  CHECK(found_in(walks, walks_end).empty());
  CHECK(found_in(counts_down, counts_down_end).empty());
  CHECK(found_in(fills, fills_end).empty());
  CHECK(found_in(sums_while, sums_while_end).empty());
}

TEST_CASE("a repeated load of the first variable sees others' stores") {
  CHECK(found_in(looks_again, looks_again_end) == addresses({looks_again_first}));
  CHECK(found_in(looks_by_sub, looks_by_sub_end) == addresses({looks_by_sub_first}));
  CHECK(found_in(looks_by_sub_later, looks_by_sub_later_end) == addresses({looks_by_sub_later_first}));
  CHECK(found_in(looks_by_set, looks_by_set_end) == addresses({looks_by_set_first}));
}

TEST_CASE("a subtraction of two loads without a test computes") {
  CHECK(found_in(subtracts, subtracts_end).empty());
}

TEST_CASE("a second load after a store or jump is no re-check") {
  CHECK(found_in(stores_there, stores_there_end).empty());
  CHECK(found_in(calls_between, calls_between_end).empty());
  CHECK(found_in(joins, joins_end).empty());
  CHECK(found_in(at_once, at_once_end).empty());
}

TEST_CASE("no thread rests at a loop that counts turns") {
  CHECK(loop_in(counts_turns, counts_turns_end) == nullptr);
}

TEST_CASE("loops that compute, store, call or lock do not wait") {
  CHECK(found_in(searches, searches_end).empty());
  CHECK(found_in(counts, counts_end).empty());
  CHECK(found_in(copies, copies_end).empty());
  CHECK(found_in(follows, follows_end).empty());
  CHECK(found_in(counts_on_stack, counts_on_stack_end).empty());
  CHECK(found_in(calls, calls_end).empty());
  CHECK(found_in(locks, locks_end).empty());
  CHECK(found_in(returns, returns_end).empty());
  CHECK(found_in(own_only, own_only_end).empty());
}

TEST_CASE("a resting loop's load, next instruction and ends are known") {
  const sdsm::program::Wait* const loop = loop_in(waits, waits_end);
  REQUIRE(loop != nullptr);
  CHECK(loop->address == reinterpret_cast<std::uintptr_t>(waits_at));
  CHECK(loop->bytes == static_cast<std::uint32_t>(waits_exit - waits_at));
  CHECK(std::vector{loop->load, loop->behind, loop->exits[0]} == addresses({waits_at, waits_behind, waits_exit}));
  CHECK(loop->exits[1] == 0);
  CHECK(loop_in(unoptimised, unoptimised_end)->load ==
        reinterpret_cast<std::uintptr_t>(unoptimised_entry) + 4);  // behind mov -8(%rbp), %rax
}

TEST_CASE("a loop with two loads or unknown ends rests nobody") {
  CHECK(loop_in(two_flags, two_flags_end) == nullptr);
}

TEST_CASE("a loop that yields between loads waits, however it calls") {
  using Places = std::vector<std::uintptr_t>;
  const auto at = [](const std::uint8_t* place) { return reinterpret_cast<std::uintptr_t>(place); };
  CHECK(found_in(yields, yields_end) == Places{at(yields_looks), at(yields_at)});
  CHECK(found_in(yields_by_stub, yields_by_stub_end) == Places{at(yields_by_stub_at)});
  CHECK(found_in(names_it_twice, names_it_twice_end) == Places{at(names_it_twice_looks), at(names_it_twice_at)});
  CHECK(found_in(yields_by_table, yields_by_table_end) == Places{at(yields_by_table_at)});
}

TEST_CASE("a loop with other calls does not wait") {
  CHECK(found_in(calls_other, calls_other_end).empty());
  CHECK(found_in(keeps_too_little, keeps_too_little_end).empty());
}
