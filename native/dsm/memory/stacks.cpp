#include "native/dsm/memory/stacks.hpp"

#include "native/dsm/memory/region_books.hpp"
#include "native/dsm/wire/identity.hpp"
#include "native/guest/memory/stacks.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

// Far from what the kernel chooses.
constexpr std::uintptr_t stacks_address = 0x300000000000;
constexpr std::uintptr_t control_address = 0x310000000000;

struct StackSizes {
  std::uint64_t initial = 0;
  std::uint64_t others = 0;
  std::uint64_t control = 0;
};
constinit StackSizes sizes_at_start GUARDED_BY(starting);
constexpr const StackSizes& sizes = sizes_at_start;

void name_stack(std::uint32_t id, const AddressRange& range, RegionKind kind, std::uint32_t owner) REQUIRES(starting) {
  set_fixed_region(id, {{kind, Placement::initial, owner, (range.end - range.begin) / page_bytes}, range.begin});
  name_region(id);
}

}  // namespace

void make_stacks(std::uint64_t stack_limit) {
  sizes_at_start = {initial_stack_bytes(stack_limit), other_stack_bytes(), thread_memory_bytes()};
  need_range(stacks_address, stack_of(processes() - 1).end + page_bytes - stacks_address, "the threads' stacks");
  need_range(control_address, processes() * sizes.control, "the threads' own variables");
  for (std::uint32_t i = 0; i < processes(); ++i) {
    const auto kind = i == 0 ? RegionKind::initial_stack : RegionKind::thread_stack;
    name_stack(stack_region(i), stack_of(i), kind, i);
    name_stack(control_region(i), control_of(i), RegionKind::thread_stack, i);
  }
}

AddressRange stack_of(std::uint32_t process) {
  // A page that belongs to no region lies below each stack.
  std::uintptr_t begin = stacks_address + region_alignment;
  if (process == 0) return {begin, begin + sizes.initial};
  begin += stack_slot(sizes.initial) + (process - 1) * stack_slot(sizes.others);
  return {begin, begin + sizes.others};
}

AddressRange control_of(std::uint32_t process) {
  const std::uintptr_t begin = control_address + process * sizes.control;
  return {begin, begin + sizes.control};
}

void need_own_stack() {
  const auto at = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto is_in = [at](const AddressRange& range) { return at >= range.begin && at < range.end; };
  const std::uint32_t own = index_of(self.process);
  if (is_in(stack_of(own)) || is_in(control_of(own)) || find_range(at) == nullptr) return;
  program::end_run(
      {"the program synchronises, or ends, on a stack that it made itself in shared memory. Let that be done on the "
       "thread's own stack: a lock, a barrier, an atomic operation, a fork"});
}

bool is_below_stack(std::uintptr_t address) {
  return page_down(address) + page_bytes == stack_of(index_of(self.process)).begin;
}

}  // namespace sdsm::dsm

sdsm::program::AddressRange sdsm::program::stack_of_caller() {
  using namespace dsm;
  return application.is_taken() ? stack_of(index_of(self.process)) : AddressRange{};
}
