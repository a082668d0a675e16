#include "native/tracer/execution/stacks.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "native/guest/kernel/system_calls.hpp"
#include "native/guest/memory/static_arrays.hpp"
#include "native/tracer/execution/pages.hpp"
#include "native/tracer/record/ending.hpp"
#include "native/tracer/record/options.hpp"

namespace sdsm::tracer {
using namespace program;

namespace {

struct Stacks {
  std::uintptr_t initial_begin = 0;
  std::uint64_t initial_bytes = 0;
  std::uintptr_t others_begin = 0;
  std::uint64_t others_bytes = 0;
  std::uint64_t below_block = 0;  ///< where thread-local variables begin
};
constinit Stacks stacks GUARDED_BY(turn);

// The thread's id lies there, which must be the same in each pass: std::barrier chooses places by it.
constexpr std::uintptr_t thread_memory_address = 0x1d0000000000;

std::uint64_t thread_memory_slot() {
  return thread_memory_bytes() + region_alignment;
}

}  // namespace

void reserve_stacks(std::uint32_t threads) {
  stacks.initial_bytes = initial_stack_bytes(own_stack_limit());
  stacks.others_bytes = other_stack_bytes();
  // A page that nobody may use lies below each stack, and above the last.
  const std::uint64_t slot = stack_slot(stacks.others_bytes);
  const std::uint64_t total = stack_slot(stacks.initial_bytes) + slot * (threads - 1) + region_alignment;
  void* memory = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    end_run({"there is no address space for the threads' stacks. Lift `ulimit -v`, or set OMP_STACKSIZE lower."});
  stacks.initial_begin = region_up(reinterpret_cast<std::uintptr_t>(memory) + page_bytes);
  stacks.others_begin = stacks.initial_begin + stack_slot(stacks.initial_bytes);
  add_range(stacks.initial_begin, stacks.others_begin + slot * (threads - 1));
  stacks.below_block = thread_locals_below_block();
  if (has_thread_locals()) {
    add_range(thread_memory_address, thread_memory_address + threads * thread_memory_slot(), true);
  }
}

bool has_thread_locals() {
  return stacks.below_block > 0;
}

AddressRange make_thread_memory(std::uint32_t thread) {
  const std::uintptr_t begin = thread_memory_address + thread * thread_memory_slot();
  const std::uint64_t bytes = thread_memory_bytes();
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* const place = reinterpret_cast<void*>(begin);
  if (mmap(place, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != place) {
    end_run({"there is no address space for thread ", Decimal(thread), ". Is `ulimit -v` too low?"});
  }
  return {begin, begin + bytes};
}

AddressRange name_thread_locals(std::uint32_t thread, const AddressRange& memory, std::uintptr_t block) {
  RegionInfo region;
  region.begin = memory.begin;
  region.pages = (memory.end - memory.begin) / page_bytes;
  region.kind = RegionKind::thread_stack;
  region.placement = Placement::initial;
  region.owner = thread;
  constexpr std::uint32_t behind_its_stack = 1;
  add_region(region, memory.end - memory.begin, 0, behind_its_stack);
  return {page_down(block - stacks.below_block), memory.end};
}

Stack stack_of(std::uint32_t thread) {
  if (thread == 0) return {stacks.initial_begin, stacks.initial_begin + stacks.initial_bytes};
  const std::uintptr_t begin = stacks.others_begin + (thread - 1) * stack_slot(stacks.others_bytes);
  return {begin, begin + stacks.others_bytes};
}

void give_zeros_back(const AddressRange& locals) {
  for (std::uintptr_t page = locals.begin; page < locals.end; page += page_bytes) {
    auto* const memory = reinterpret_cast<void*>(page);
    if (!holds_values(memory, 1)) call_kernel(SYS_madvise, {{static_cast<long>(page), page_bytes, MADV_DONTNEED}});
  }
}

void end_if_full(std::uint32_t thread, std::uintptr_t address, std::uintptr_t stack_pointer) {
  constexpr std::uintptr_t largest_frame = 1 << 20;
  constexpr std::uintptr_t red_zone = 128;  // which functions that call no other use below the stack pointer
  const Stack stack = stack_of(thread);
  if (address >= stack.begin || stack.begin - address > largest_frame || address + red_zone < stack_pointer) return;
  const Decimal bytes(stack.end - stack.begin);
  end_run({"the stack of thread ", Decimal(thread), " is full (", bytes, " bytes). Give it more by ",
           thread == 0 ? "ulimit -s" : "OMP_STACKSIZE (64M, say)",
           ". If it is full without sdsm trace too, look for the reason in the program."});
}

void name_stack(std::uint32_t thread) {
  const Stack stack = stack_of(thread);
  RegionInfo region;
  region.begin = stack.begin;
  region.pages = (stack.end - stack.begin) / page_bytes;
  region.kind = thread == 0 ? RegionKind::initial_stack : RegionKind::thread_stack;
  region.placement = Placement::initial;
  region.owner = thread;
  add_region(region, stack.end - stack.begin);
  open_stack(stack);
}

void open_stack(const Stack& stack) {
  protect(stack.begin, stack.end, PROT_READ | PROT_WRITE);
}
void shut_stack(const Stack& stack) {
  protect(stack.begin, stack.end, PROT_NONE);
}

}  // namespace sdsm::tracer

sdsm::program::AddressRange sdsm::program::stack_of_caller() {
  using namespace tracer;
  if (!turn.is_taken() || watched.running == nullptr) return {};
  const Stack& stack = running_thread().stack;
  return {stack.begin, stack.end};
}
