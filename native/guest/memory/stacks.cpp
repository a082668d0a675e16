#include "native/guest/memory/stacks.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/message.hpp"
#include "native/guest/runtime/next_function.hpp"

namespace sdsm::program {

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

std::uint64_t thread_local_bytes() {
  // The C library's own name for it (glibc, allocatestack.c): what a new thread's stack must have besides the stack.
  using LeastStack = std::size_t (*)(const pthread_attr_t*);
  const auto least_stack = reinterpret_cast<LeastStack>(dlsym(RTLD_DEFAULT, "__pthread_get_minstack"));
  pthread_attr_t attributes;
  if (least_stack == nullptr || pthread_attr_init(&attributes) != 0) return 0;
  return region_up(least_stack(&attributes));
}

std::uint64_t own_stack_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  return limit.rlim_cur;
}

std::uint64_t initial_stack_bytes(std::uint64_t limit) {
  return clamp_stack(limit);
}

std::uint64_t other_stack_bytes() {
  const char* text = std::getenv("OMP_STACKSIZE");
  if (text == nullptr) return usual_stack;
  const std::uint64_t bytes = parse_stack_size(text);
  if (bytes > 0) return clamp_stack(bytes);
  gomp::message({"the environment variable OMP_STACKSIZE='", text, "' is not understood and has no effect"});
  return usual_stack;
}

void give_signal_stack() {
  constexpr std::size_t bytes = 128 * kib;
  stack_t stack{};
  stack.ss_sp = reserve(bytes);
  stack.ss_size = bytes;
  // The raw call: the function is interposed.
  syscall(SYS_sigaltstack, &stack, nullptr);
}

GrowingArray<AddressRange> own_thread_locals() {
  GrowingArray<AddressRange> found;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* ranges) {
        if (!is_of_program(*object)) return 0;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          if (object->dlpi_phdr[i].p_type != PT_TLS || object->dlpi_tls_data == nullptr) continue;
          const auto begin = reinterpret_cast<std::uintptr_t>(object->dlpi_tls_data);
          static_cast<GrowingArray<AddressRange>*>(ranges)->push_back({begin, begin + object->dlpi_phdr[i].p_memsz});
        }
        return 0;
      },
      &found);
  return found;
}

void take_over_thread_locals(const GrowingArray<AddressRange>& constructed) {
  GrowingArray<AddressRange> own = own_thread_locals();
  std::size_t i = 0;
  for (const AddressRange& from : constructed) {
    std::memcpy(reinterpret_cast<void*>(own[i++].begin), reinterpret_cast<const void*>(from.begin),
                from.end - from.begin);
  }
}

std::uint64_t thread_locals_below_block() {
  const auto block = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  std::uint64_t farthest = 0;
  for (const AddressRange& range : own_thread_locals()) {
    // Variables of a library that are made when a thread first uses them lie elsewhere.
    if (range.begin < block && block - range.begin > farthest && block - range.begin < thread_local_bytes()) {
      farthest = block - range.begin;
    }
  }
  return farthest;
}

std::uint64_t thread_memory_bytes() {
  constexpr std::uint64_t own_stack_bytes = 1 << 20;
  // The two run-times have different variables of their own beside the program's: whole steps hide that.
  constexpr std::uint64_t step = 1 << 20;
  return (own_stack_bytes + thread_local_bytes() + step - 1) / step * step;
}

namespace {

/// Returns where the stack begins below the copy.
std::uintptr_t copy_arguments(MainCall& call, const AddressRange& stack) {
  const auto number = static_cast<std::size_t>(call.argc);
  std::size_t bytes = (number + 1) * sizeof(char*);
  for (std::size_t i = 0; i < number; ++i) bytes += std::strlen(call.argv[i]) + 1;
  if (bytes > (stack.end - stack.begin) / 2) return stack.end;
  const std::uintptr_t top = page_down(stack.end - bytes);
  auto** const copies = reinterpret_cast<char**>(top);
  auto* text = reinterpret_cast<char*>(copies + number + 1);
  for (std::size_t i = 0; i < number; ++i) {
    copies[i] = text;
    text = stpcpy(text, call.argv[i]) + 1;
  }
  copies[number] = nullptr;
  call.argv = copies;
  return top;
}

void run(void* argument) {
  const MainCall& call = *static_cast<const MainCall*>(argument);
  call.end(call.main(call.argc, call.argv, call.environment));
}

}  // namespace

void call_main_on(const AddressRange& stack, const MainCall& call) {
  MainCall copied = call;
  const std::uintptr_t top = copy_arguments(copied, stack);
  sdsm_call_on_stack(top, run, &copied);
  __builtin_unreachable();
}

}  // namespace sdsm::program

/// For a thread that asks about itself: garbage collectors look for pointers there.
SDSM_ENTRY int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) noexcept {
  using namespace sdsm::program;
  SDSM_NEXT_FUNCTION NextFunction<int(pthread_t, pthread_attr_t*)> real{"pthread_getattr_np"};
  const int error = real(thread, attributes);
  if (error != 0 || thread != pthread_self()) return error;
  const AddressRange stack = stack_of_caller();
  if (!stack.holds(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)))) return 0;
  return pthread_attr_setstack(attributes, reinterpret_cast<void*>(stack.begin), stack.end - stack.begin);
}
