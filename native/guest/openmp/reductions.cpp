#include "native/guest/openmp/reductions.hpp"

#include "native/guest/openmp/unfinished.hpp"
#include "native/guest/runtime/entry.hpp"

namespace sdsm::gomp {
namespace {

enum Word : std::size_t { count = 0, part_bytes = 1, memory = 2, next = 4, own = 5, memory_end = 6, variables = 7 };

/// [5] marks the last descriptor of a construct's own chain: what follows belongs to outer taskgroups.
enum Own : std::uintptr_t { more_follow = 0, last = 1 };

std::uintptr_t* next_of(const std::uintptr_t* descriptor) {
  return reinterpret_cast<std::uintptr_t*>(descriptor[Word::next]);
}

void end_chain(std::uintptr_t* descriptor, std::uintptr_t* outer) {
  descriptor[Word::next] = reinterpret_cast<std::uintptr_t>(outer);
  descriptor[Word::own] = Own::last;
}

/// Descriptor and offset of the variable that `address` is, or, inside a thread's part, a copy of. Null if none.
struct Place {
  const std::uintptr_t* descriptor = nullptr;
  std::uintptr_t offset = 0;
};

Place find_place(const std::uintptr_t* descriptor, std::uintptr_t address) {
  for (; descriptor; descriptor = next_of(descriptor)) {
    for (std::size_t i = 0; i < descriptor[Word::count]; ++i) {
      const std::uintptr_t* variable = descriptor + Word::variables + 3 * i;
      if (variable[0] == address) return {descriptor, variable[1]};
    }
    if (address >= descriptor[Word::memory] && address < descriptor[Word::memory_end]) {
      return {descriptor, (address - descriptor[Word::memory]) % descriptor[Word::part_bytes]};
    }
  }
  return {};
}

std::uintptr_t original_of(const Place& place) {
  for (std::size_t i = 0; i < place.descriptor[Word::count]; ++i) {
    const std::uintptr_t* variable = place.descriptor + Word::variables + 3 * i;
    if (variable[1] == place.offset) return variable[0];
  }
  return 0;
}

constexpr const char* unknown_reduction = "no taskgroup around it has the reduction: is a reduction clause missing?";

}  // namespace

void begin_taskgroup(ThreadState& thread) {
  void* storage = engine::allocate_private(sizeof(Taskgroup));
  auto* taskgroup = static_cast<Taskgroup*>(storage);
  *taskgroup = {.outer = thread.taskgroup,
                .reductions = thread.taskgroup ? thread.taskgroup->reductions : nullptr,
                .tasks_before = tasks_so_far()};
  thread.taskgroup = taskgroup;
}

void end_taskgroup(ThreadState& thread) {
  Taskgroup* taskgroup = thread.taskgroup;
  if (taskgroup == nullptr) return;
  finish_tasks(taskgroup->tasks_before);
  thread.taskgroup = taskgroup->outer;
  engine::free_private(taskgroup);
}

void register_reductions(std::uintptr_t* descriptors, std::uintptr_t* outer, std::uint32_t threads) {
  for (std::uintptr_t* descriptor = descriptors;; descriptor = next_of(descriptor)) {
    const std::size_t bytes = descriptor[Word::part_bytes] * threads;
    void* block = engine::allocate_shared(bytes > 0 ? bytes : 1, descriptor[Word::memory]);
    if (block == nullptr) engine::refuse("a task reduction", "there is no memory left");
    descriptor[Word::memory] = reinterpret_cast<std::uintptr_t>(block);
    descriptor[Word::memory_end] = descriptor[Word::memory] + bytes;
    descriptor[Word::own] = Own::more_follow;
    if (descriptor[Word::next] == 0) return end_chain(descriptor, outer);
  }
}

void adopt_reductions(std::uintptr_t* descriptors, const std::uintptr_t* first, std::uintptr_t* outer) {
  for (std::uintptr_t* descriptor = descriptors;; descriptor = next_of(descriptor), first = next_of(first)) {
    descriptor[Word::memory] = first[Word::memory];
    descriptor[Word::memory_end] = first[Word::memory_end];
    descriptor[Word::own] = Own::more_follow;
    if (descriptor[Word::next] == 0) return end_chain(descriptor, outer);
  }
}

void free_reductions(std::uintptr_t* descriptors) {
  for (std::uintptr_t* descriptor = descriptors; descriptor; descriptor = next_of(descriptor)) {
    engine::free_shared(reinterpret_cast<void*>(descriptor[Word::memory]));
    if (descriptor[Word::own] == Own::last) return;
  }
}

ReductionScope::ReductionScope(ThreadState& thread, std::uintptr_t* descriptors)
    : thread_(thread), is_open_(descriptors != nullptr) {
  if (!is_open_) return;
  begin_taskgroup(thread);
  thread.taskgroup->reductions = descriptors;
}

void ReductionScope::end() {
  if (is_open_) end_taskgroup(thread_);
}

}  // namespace sdsm::gomp

using namespace sdsm;
using gomp::this_thread;
using gomp::ThreadState;

SDSM_ENTRY_AS(void, GOMP_taskgroup_start, (), gomp::begin_taskgroup(this_thread()))
SDSM_ENTRY_AS(void, GOMP_taskgroup_end, (), gomp::end_taskgroup(this_thread()))

SDSM_ENTRY void GOMP_taskgroup_reduction_register(std::uintptr_t* descriptors) {
  ThreadState& thread = this_thread();
  // In place, any thread's tasks run on that thread; but a task may be run by any thread of the team in principle, and
  // the compiler combines the parts of all of them.
  const std::uint32_t threads = thread.team_size;
  if (thread.taskgroup == nullptr) gomp::begin_taskgroup(thread);
  gomp::register_reductions(descriptors, thread.taskgroup->reductions, threads);
  thread.taskgroup->reductions = descriptors;
}

SDSM_ENTRY_AS(void, GOMP_taskgroup_reduction_unregister, (std::uintptr_t * descriptors),
              gomp::free_reductions(descriptors))

SDSM_ENTRY void GOMP_task_reduction_remap(std::size_t variables, std::size_t with_original, void** pointers) {
  const ThreadState& thread = this_thread();
  if (thread.taskgroup == nullptr) engine::refuse("an in_reduction clause", gomp::unknown_reduction);
  for (std::size_t i = 0; i < variables; ++i) {
    const auto place = gomp::find_place(thread.taskgroup->reductions, reinterpret_cast<std::uintptr_t>(pointers[i]));
    if (place.descriptor == nullptr) engine::refuse("an in_reduction clause", gomp::unknown_reduction);
    pointers[i] = reinterpret_cast<void*>(place.descriptor[gomp::Word::memory] +
                                          thread.number * place.descriptor[gomp::Word::part_bytes] + place.offset);
    if (i < with_original) pointers[variables + i] = reinterpret_cast<void*>(gomp::original_of(place));
  }
}

SDSM_ENTRY void GOMP_workshare_task_reduction_unregister(bool cancelled) {
  ThreadState& thread = this_thread();
  std::uintptr_t* descriptors = thread.taskgroup->reductions;
  gomp::end_taskgroup(thread);
  // The memory is the first registering thread's; its own chain is on that thread's stack, ours has the same addresses.
  if (thread.number == 0) gomp::free_reductions(descriptors);
  if (!cancelled) gomp::team_barrier(thread);
}
