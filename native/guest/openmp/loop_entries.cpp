/// GOMP_loop_*: loops over `long`, and over `unsigned long long` (GOMP_loop_ull_*).
#include "native/guest/openmp/loop.hpp"
#include "native/guest/runtime/entry.hpp"

using namespace sdsm;
using gomp::Order;
using gomp::this_thread;
using gomp::ThreadState;

namespace {

using Unsigned = unsigned long long;

bool hand_out(ThreadState& thread, long* start, long* end) {
  if (!gomp::next_chunk(thread)) return false;
  *start = static_cast<long>(gomp::chunk_start(thread.construct));
  *end = static_cast<long>(gomp::chunk_end(thread.construct));
  return true;
}

bool hand_out(ThreadState& thread, Unsigned* start, Unsigned* end) {
  if (!gomp::next_chunk(thread)) return false;
  *start = gomp::chunk_start(thread.construct);
  *end = gomp::chunk_end(thread.construct);
  return true;
}

bool start_loop(const gomp::LoopBounds& loop, Order order, auto* start, auto* end) {
  ThreadState& thread = this_thread();
  gomp::enter_loop(thread, loop, order);
  return hand_out(thread, start, end);
}

}  // namespace

#define SDSM_NEXT(name)                                                         \
  SDSM_ENTRY bool GOMP_loop_##name##_next(long* start, long* end) {             \
    return hand_out(this_thread(), start, end);                                 \
  }                                                                             \
  SDSM_ENTRY bool GOMP_loop_ull_##name##_next(Unsigned* start, Unsigned* end) { \
    return hand_out(this_thread(), start, end);                                 \
  }

#define SDSM_LOOP(name, kind, order)                                                                            \
  SDSM_ENTRY bool GOMP_loop_##name##_start(long from, long to, long step, long chunk, long* start, long* end) { \
    return start_loop(gomp::signed_loop(from, to, step, kind, chunk), order, start, end);                       \
  }                                                                                                             \
  SDSM_ENTRY bool GOMP_loop_ull_##name##_start(bool ascending, Unsigned from, Unsigned to, Unsigned step,       \
                                               Unsigned chunk, Unsigned* start, Unsigned* end) {                \
    return start_loop(gomp::unsigned_loop(ascending, from, to, step, kind, chunk), order, start, end);          \
  }                                                                                                             \
  SDSM_NEXT(name)

SDSM_LOOP(static, Schedule::static_, Order::free)
SDSM_LOOP(dynamic, Schedule::dynamic, Order::free)
SDSM_LOOP(guided, Schedule::guided, Order::free)
SDSM_LOOP(nonmonotonic_dynamic, Schedule::dynamic, Order::free)
SDSM_LOOP(nonmonotonic_guided, Schedule::guided, Order::free)
SDSM_LOOP(ordered_static, Schedule::static_, Order::ordered)
SDSM_LOOP(ordered_dynamic, Schedule::dynamic, Order::ordered)
SDSM_LOOP(ordered_guided, Schedule::guided, Order::ordered)

#define SDSM_RUNTIME_LOOP(name, order)                                                                    \
  SDSM_ENTRY bool GOMP_loop_##name##_start(long from, long to, long step, long* start, long* end) {       \
    return start_loop(gomp::runtime_loop(this_thread(), from, to, step), order, start, end);              \
  }                                                                                                       \
  SDSM_ENTRY bool GOMP_loop_ull_##name##_start(bool ascending, Unsigned from, Unsigned to, Unsigned step, \
                                               Unsigned* start, Unsigned* end) {                          \
    return start_loop(gomp::runtime_loop(this_thread(), ascending, from, to, step), order, start, end);   \
  }                                                                                                       \
  SDSM_NEXT(name)

SDSM_RUNTIME_LOOP(runtime, Order::free)
SDSM_RUNTIME_LOOP(nonmonotonic_runtime, Order::free)
SDSM_RUNTIME_LOOP(maybe_nonmonotonic_runtime, Order::free)
SDSM_RUNTIME_LOOP(ordered_runtime, Order::ordered)

#define SDSM_GENERAL_LOOP(name, order)                                                                            \
  SDSM_ENTRY bool GOMP_loop_##name##start(long from, long to, long step, long schedule, long chunk, long* start,  \
                                          long* end, std::uintptr_t* reductions, void** memory) {                 \
    ThreadState& thread = this_thread();                                                                          \
    const auto kind = gomp::schedule_of(thread, schedule, static_cast<std::uint64_t>(chunk > 0 ? chunk : 0));     \
    gomp::start_general(thread, gomp::signed_loop(from, to, step, kind.schedule, static_cast<long>(kind.chunk)),  \
                        order, reductions, memory);                                                               \
    return start == nullptr || hand_out(thread, start, end);                                                      \
  }                                                                                                               \
  SDSM_ENTRY bool GOMP_loop_ull_##name##start(bool ascending, Unsigned from, Unsigned to, Unsigned step,          \
                                              long schedule, Unsigned chunk, Unsigned* start, Unsigned* end,      \
                                              std::uintptr_t* reductions, void** memory) {                        \
    ThreadState& thread = this_thread();                                                                          \
    const auto kind = gomp::schedule_of(thread, schedule, chunk);                                                 \
    gomp::start_general(thread, gomp::unsigned_loop(ascending, from, to, step, kind.schedule, kind.chunk), order, \
                        reductions, memory);                                                                      \
    return start == nullptr || hand_out(thread, start, end);                                                      \
  }
SDSM_GENERAL_LOOP(, Order::free)
SDSM_GENERAL_LOOP(ordered_, Order::ordered)

SDSM_ENTRY_AS(void, GOMP_loop_end_nowait, (), gomp::leave_loop(this_thread()))

SDSM_ENTRY void GOMP_loop_end() {
  gomp::leave_loop(this_thread());
  gomp::team_barrier(this_thread());
}

SDSM_ENTRY bool GOMP_loop_end_cancel() {
  GOMP_loop_end();
  return false;
}

SDSM_ENTRY void GOMP_ordered_start() {
  const ThreadState& thread = this_thread();
  if (thread.serialised || !thread.construct.is_ordered) return;
  engine::enter_ordered({thread.construct.number, thread.construct.chunk.first});
}

SDSM_ENTRY void GOMP_ordered_end() {
  const ThreadState& thread = this_thread();
  if (thread.serialised || !thread.construct.is_ordered) return;
  engine::leave_ordered({thread.construct.number, thread.construct.chunk.first});
}

SDSM_ENTRY unsigned GOMP_sections_next() {
  ThreadState& thread = this_thread();
  return gomp::next_chunk(thread) ? static_cast<unsigned>(gomp::chunk_start(thread.construct)) : 0;
}

SDSM_ENTRY unsigned GOMP_sections_start(unsigned count) {
  gomp::enter_loop(this_thread(), gomp::sections_loop(count));
  return GOMP_sections_next();
}

SDSM_ENTRY unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
  gomp::start_general(this_thread(), gomp::sections_loop(count), Order::free, reductions, memory);
  return GOMP_sections_next();
}

SDSM_ENTRY_AS(void, GOMP_sections_end, (), GOMP_loop_end())
SDSM_ENTRY_AS(void, GOMP_sections_end_nowait, (), GOMP_loop_end_nowait())
SDSM_ENTRY_AS(bool, GOMP_sections_end_cancel, (), GOMP_loop_end_cancel())
SDSM_ENTRY_AS(void, GOMP_scope_start, (std::uintptr_t * reductions), gomp::start_scope(this_thread(), reductions))
