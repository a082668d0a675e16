#include "native/guest/openmp/loop.hpp"

#include "native/guest/openmp/reductions.hpp"

namespace sdsm::gomp {
namespace {

void set_schedule(LoopBounds& loop, Schedule schedule, std::uint64_t chunk) {
  loop.schedule = schedule;
  loop.chunk = chunk;
}

void set_runtime_schedule(LoopBounds& loop, const ControlVariables& variables) {
  switch (variables.schedule) {
    case RunSchedule::static_: return set_schedule(loop, Schedule::static_, variables.chunk);
    case RunSchedule::dynamic: return set_schedule(loop, Schedule::dynamic, variables.chunk);
    case RunSchedule::guided: return set_schedule(loop, Schedule::guided, variables.chunk);
    case RunSchedule::automatic: return set_schedule(loop, Schedule::static_, 0);
  }
}

LoopBounds signed_bounds(long start, long end, long step) {
  return {.start = static_cast<std::uint64_t>(start),
          .end = static_cast<std::uint64_t>(end),
          .step = static_cast<std::uint64_t>(step),
          .iterations = iterations_of(start, end, step)};
}

LoopBounds unsigned_bounds(bool ascending, std::uint64_t start, std::uint64_t end, std::uint64_t step) {
  return {.start = start, .end = end, .step = step, .iterations = iterations_of(ascending, start, end, step)};
}

}  // namespace

LoopBounds signed_loop(long start, long end, long step, Schedule schedule, long chunk) {
  LoopBounds loop = signed_bounds(start, end, step);
  set_schedule(loop, schedule, chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0);
  return loop;
}

LoopBounds unsigned_loop(bool ascending, std::uint64_t start, std::uint64_t end, std::uint64_t step, Schedule schedule,
                         std::uint64_t chunk) {
  LoopBounds loop = unsigned_bounds(ascending, start, end, step);
  set_schedule(loop, schedule, chunk);
  return loop;
}

LoopBounds runtime_loop(const ThreadState& thread, long start, long end, long step) {
  LoopBounds loop = signed_bounds(start, end, step);
  set_runtime_schedule(loop, thread.variables);
  return loop;
}

LoopBounds runtime_loop(const ThreadState& thread, bool ascending, std::uint64_t start, std::uint64_t end,
                        std::uint64_t step) {
  LoopBounds loop = unsigned_bounds(ascending, start, end, step);
  set_runtime_schedule(loop, thread.variables);
  return loop;
}

LoopBounds sections_loop(unsigned count) {
  return {.start = 1,
          .end = std::uint64_t{count} + 1,
          .step = 1,
          .iterations = count,
          .schedule = Schedule::sections,
          .chunk = 1};
}

void enter_loop(ThreadState& thread, const LoopBounds& loop, Order order) {
  begin_construct(thread);
  enter_combined_loop(thread, loop);
  thread.construct.is_ordered = order == Order::ordered;
}

void enter_combined_loop(ThreadState& thread, const LoopBounds& loop) {
  thread.construct.loop = loop;
  note(thread, EventKind::loop_begin, thread.construct.number, loop.iterations,
       static_cast<std::uint8_t>(loop.schedule));
}

namespace {

Chunk take_chunk(ThreadState& thread) {
  const CurrentConstruct& construct = thread.construct;
  const Chunk chunk = thread.serialised ? shared_chunk(construct.loop, thread.own_iterations_taken, 1)
                                        : engine::take_chunk(construct.number, construct.loop, thread.team_size);
  thread.own_iterations_taken += chunk.count;
  return chunk;
}

}  // namespace

bool next_chunk(ThreadState& thread) {
  CurrentConstruct& construct = thread.construct;
  if (construct.has_turn_to_pass) {
    construct.has_turn_to_pass = false;
    const std::uint64_t next_iteration = construct.chunk.first + construct.chunk.count;
    if (!thread.serialised) engine::pass_ordered({construct.number, construct.chunk.first}, next_iteration);
  }
  if (construct.loop.schedule == Schedule::static_) {
    construct.chunk = static_chunk(construct.loop, thread.number, thread.team_size, construct.turn++);
  } else {
    construct.chunk = take_chunk(thread);
  }
  const bool got_one = construct.chunk.count > 0;
  construct.has_turn_to_pass = got_one && construct.is_ordered;
  return got_one;
}

std::uint64_t chunk_start(const CurrentConstruct& construct) {
  return construct.loop.start + construct.chunk.first * construct.loop.step;
}

std::uint64_t chunk_end(const CurrentConstruct& construct) {
  const std::uint64_t next = construct.chunk.first + construct.chunk.count;
  if (next == construct.loop.iterations) return construct.loop.end;
  return construct.loop.start + next * construct.loop.step;
}

void leave_loop(ThreadState& thread) {
  const std::uint64_t number = thread.construct.number;
  leave_construct(thread);
  note(thread, EventKind::loop_end, number, 0, 0);
}

namespace {

/// Registers the team's reductions: the first thread allocates, the others use the same memory.
void share_reductions(ThreadState& thread, ConstructState& shared, std::uintptr_t* reductions) {
  begin_taskgroup(thread);
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
