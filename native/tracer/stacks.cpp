#include "native/tracer/stacks.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdlib>

#include "native/gomp/message.hpp"
#include "native/tracer/ending.hpp"
#include "native/tracer/options.hpp"
#include "native/tracer/pages.hpp"

namespace sdsm::tracer {

// The frame pointer links the two stacks, so that debuggers and C++ exceptions find their way.
asm(R"(
.text
.type sdsm_call_on_stack, @function
.globl sdsm_call_on_stack
.hidden sdsm_call_on_stack
sdsm_call_on_stack:
  .cfi_startproc
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  mov %rsp, %rbp
  .cfi_def_cfa_register %rbp
  mov %rdi, %rsp
  and $-16, %rsp
  mov %rdx, %rdi
  call *%rsi
  mov %rbp, %rsp
  pop %rbp
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
.size sdsm_call_on_stack, .-sdsm_call_on_stack
)");

namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t usual_stack = 8 * mib;
constexpr std::uint64_t largest_stack = 1024 * mib;

std::uintptr_t initial_begin = 0;
std::uint64_t initial_bytes = 0;
std::uintptr_t others_begin = 0;
std::uint64_t others_bytes = 0;

std::uint64_t clamp_stack(std::uint64_t bytes) {
  if (bytes < 64 * kib) bytes = 64 * kib;
  if (bytes > largest_stack) bytes = largest_stack;
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

/// "512", "512k", "8M", "1G", "4096B"; plain numbers are KiB (OpenMP 5.0, 6.7). 0 if it is none of these.
std::uint64_t parse_stack_size(const char* text) {
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text, &end, 10);
  if (end == text || number > largest_stack) return 0;
  switch (*end | 0x20) {
    case 'b': return number;
    case 'm': return number * mib;
    case 'g': return number * 1024 * mib;
    default: return number * kib;
  }
}

}  // namespace

void reserve_stacks(std::uint32_t threads) {
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  initial_bytes = clamp_stack(limit.rlim_cur == RLIM_INFINITY ? largest_stack : limit.rlim_cur);
  others_bytes = usual_stack;
  if (const char* text = std::getenv("OMP_STACKSIZE")) {
    const std::uint64_t bytes = parse_stack_size(text);
    if (bytes == 0) {
      gomp::message({"the environment variable OMP_STACKSIZE='", text, "' is not understood and has no effect"});
    } else {
      others_bytes = clamp_stack(bytes);
    }
  }
  // A page that nobody may use lies below each stack, and above the last.
  const std::uint64_t slot = others_bytes + page_bytes;
  const std::uint64_t total = initial_bytes + slot * (threads - 1) + 2 * page_bytes;
  void* memory = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) end_run({"there is no address space for the threads' stacks. Set OMP_STACKSIZE lower."});
  initial_begin = reinterpret_cast<std::uintptr_t>(memory) + page_bytes;
  others_begin = initial_begin + initial_bytes + page_bytes;
  add_range(initial_begin, others_begin + slot * (threads - 1));
}

Stack stack_of(std::uint32_t thread) {
  if (thread == 0) return {initial_begin, initial_begin + initial_bytes};
  const std::uintptr_t begin = others_begin + (thread - 1) * (others_bytes + page_bytes);
  return {begin, begin + others_bytes};
}

void name_stack(std::uint32_t thread) {
  const Stack stack = stack_of(thread);
  RegionInfo region;
  region.begin = stack.begin;
  region.pages = (stack.end - stack.begin) / page_bytes;
  region.kind = thread == 0 ? trace::RegionKind::initial_stack : trace::RegionKind::thread_stack;
  region.placement = Placement::initial;
  region.owner = thread;
  add_region(region, stack.end - stack.begin);
  open_stack(stack);
}

void open_stack(const Stack& stack) {
  set_protection(stack.begin, stack.end, PROT_READ | PROT_WRITE);
}
void shut_stack(const Stack& stack) {
  set_protection(stack.begin, stack.end, PROT_NONE);
}

}  // namespace sdsm::tracer
