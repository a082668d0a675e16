#include "native/gomp/loop_start.hpp"

#include "native/gomp/reductions.hpp"

namespace sdsm::gomp {
namespace {

/// Registers the team's reductions: the first thread allocates, the others use the same memory.
void share_reductions(ThreadState& thread, ConstructState& shared, std::uintptr_t* reductions) {
  begin_taskgroup(thread);
  thread.taskgroup->of_workshare = true;
  if (shared.reductions == nullptr) {
    shared.reductions = reductions;
    register_reductions(reductions, thread.taskgroup->reductions, thread.team_size);
  } else {
    adopt_reductions(reductions, shared.reductions, thread.taskgroup->reductions);
  }
  thread.taskgroup->reductions = reductions;
}

void* share_memory(ConstructState& shared, void* wanted) {
  if (shared.memory == nullptr) {
    const auto bytes = reinterpret_cast<std::uintptr_t>(wanted);
    shared.memory = engine::allocate_shared(bytes > 0 ? bytes : 1, 64);
    if (shared.memory == nullptr) engine::refuse("a work-sharing loop with scratch memory", "there is no memory left");
  }
  return shared.memory;
}

}  // namespace

ChosenSchedule schedule_of(const ThreadState& thread, long schedule, std::uint64_t chunk) {
  switch (static_cast<std::uint32_t>(schedule) & ~monotonic_modifier) {
    case 1: return {Schedule::static_, chunk};
    case 2: return {Schedule::dynamic, chunk};
    case 3: return {Schedule::guided, chunk};
    default: break;
  }
  const LoopBounds loop = runtime_loop(thread, 0L, 0L, 1L);
  return {loop.schedule, loop.chunk};
}

void start_general(ThreadState& thread, const LoopBounds& loop, Order order, std::uintptr_t* reductions,
                   void** memory) {
  enter_loop(thread, loop, order);
  if (reductions == nullptr && memory == nullptr) return;
  OpenConstruct shared(thread);
  if (reductions) share_reductions(thread, *shared, reductions);
  if (memory) *memory = share_memory(*shared, *memory);
}

void start_scope(ThreadState& thread, std::uintptr_t* reductions) {
  begin_construct(thread);
  if (reductions) {
    OpenConstruct shared(thread);
    share_reductions(thread, *shared, reductions);
  }
  leave_construct(thread);
}

}  // namespace sdsm::gomp
