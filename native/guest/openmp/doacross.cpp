/// Doacross loops: `ordered(n)` with depend(source) and depend(sink), GOMP_loop_doacross_* and GOMP_doacross_*. The
/// compiler counts the iterations of each of the n loops from 0; the team shares those of the outermost one.
///
/// An iteration's number counts the n loops' iterations in the program's order. A part of the outermost loop (a
/// thread's share of a static schedule, else one iteration) has a flag that counts them up. Iterations of one part run
/// in their order, so a flag says by one number which of them are done.
#include <cstdarg>

#include "native/guest/openmp/loop.hpp"
#include "native/guest/runtime/entry.hpp"

using namespace sdsm;
using gomp::CurrentConstruct;
using gomp::Order;
using gomp::this_thread;
using gomp::ThreadState;

namespace {

using Unsigned = unsigned long long;

template <typename Number>
void nest_loops(ThreadState& thread, unsigned loops, const Number* iterations) {
  if (loops > gomp::most_doacross_loops) {
    engine::refuse("a loop with ordered(13) or more", "at most 12 loops may be nested");
  }
  gomp::Doacross& doacross = thread.construct.doacross;
  doacross.loops = loops;
  std::uint64_t inner = 1;
  bool overflows = static_cast<std::uint64_t>(iterations[0]) >= std::uint64_t{1} << 32;
  for (unsigned i = loops; i-- > 0;) {
    doacross.inner_iterations[i] = inner;
    overflows |= __builtin_mul_overflow(inner, static_cast<std::uint64_t>(iterations[i]), &inner);
  }
  if (overflows) {
    engine::refuse("a loop with ordered(n) and depend(sink)",
                   "it has 2^32 iterations or more, or its n loops together 2^64 or more");
  }
}

template <typename Number>
gomp::LoopBounds loop_of(const Number* iterations, Schedule schedule, std::uint64_t chunk) {
  return gomp::unsigned_loop(true, 0, static_cast<std::uint64_t>(iterations[0]), 1, schedule, chunk);
}

template <typename Number>
bool start(unsigned loops, const Number* iterations, gomp::ChosenSchedule schedule, Number* begin, Number* end,
           std::uintptr_t* reductions = nullptr, void** memory = nullptr) {
  ThreadState& thread = this_thread();
  gomp::start_general(thread, loop_of(iterations, schedule.schedule, schedule.chunk), Order::free, reductions, memory);
  nest_loops(thread, loops, iterations);
  if (begin == nullptr) return true;
  if (!gomp::next_chunk(thread)) return false;
  *begin = static_cast<Number>(gomp::chunk_start(thread.construct));
  *end = static_cast<Number>(gomp::chunk_end(thread.construct));
  return true;
}

bool is_static(const CurrentConstruct& construct) {
  return construct.loop.schedule == Schedule::static_;
}

gomp::Flag flag_of(const ThreadState& thread, std::uint64_t outer) {
  const CurrentConstruct& construct = thread.construct;
  if (!is_static(construct)) return {construct.number, outer, construct.loop.iterations};
  return {construct.number, gomp::static_owner(construct.loop, outer, thread.team_size), thread.team_size};
}

/// Whether the calling thread has the outermost loop's iteration: its order is the program's then.
bool is_own(const ThreadState& thread, const gomp::Flag& flag) {
  if (is_static(thread.construct)) return flag.part == thread.number;
  const gomp::Chunk& chunk = thread.construct.chunk;
  return flag.part - chunk.first < chunk.count;
}

template <typename Number>
void post(const Number* at) {
  const ThreadState& thread = this_thread();
  if (thread.serialised || thread.team_size == 1) return;
  const gomp::Doacross& doacross = thread.construct.doacross;
  std::uint64_t number = 1;
  for (unsigned i = 0; i < doacross.loops; ++i) {
    number += static_cast<std::uint64_t>(at[i]) * doacross.inner_iterations[i];
  }
  engine::post_flag(flag_of(thread, static_cast<std::uint64_t>(at[0])), number);
}

/// `next`: iteration of the next loop inside.
template <typename Next>
void wait(std::uint64_t outer, Next next) {
  ThreadState& thread = this_thread();
  if (thread.serialised || thread.team_size == 1) return;
  // gcc 12 does not see that an unsigned loop's first iterations wait for none.
  if (outer >= thread.construct.loop.iterations) return;
  gomp::Doacross& doacross = thread.construct.doacross;
  std::uint64_t number = 1 + outer * doacross.inner_iterations[0];
  for (unsigned i = 1; i < doacross.loops; ++i) number += next() * doacross.inner_iterations[i];
  const gomp::Flag flag = flag_of(thread, outer);
  if (is_own(thread, flag)) return;
  // What one wait has brought, the next one need not fetch again.
  if (flag.part == doacross.awaited_part && number <= doacross.awaited) return;
  engine::wait_for_flag(flag, number);
  doacross.awaited_part = flag.part;
  doacross.awaited = number;
}

}  // namespace

#define SDSM_DOACROSS(name, kind)                                                                                    \
  SDSM_ENTRY bool GOMP_loop_doacross_##name##_start(unsigned loops, const long* iterations, long chunk, long* begin, \
                                                    long* end) {                                                     \
    return start(loops, iterations, {kind, static_cast<std::uint64_t>(chunk > 0 ? chunk : 0)}, begin, end);          \
  }                                                                                                                  \
  SDSM_ENTRY bool GOMP_loop_ull_doacross_##name##_start(unsigned loops, const Unsigned* iterations, Unsigned chunk,  \
                                                        Unsigned* begin, Unsigned* end) {                            \
    return start(loops, iterations, {kind, chunk}, begin, end);                                                      \
  }
SDSM_DOACROSS(static, Schedule::static_)
SDSM_DOACROSS(dynamic, Schedule::dynamic)
SDSM_DOACROSS(guided, Schedule::guided)

namespace {
constexpr long runtime_schedule = 0;
}

SDSM_ENTRY_AS(bool, GOMP_loop_doacross_runtime_start, (unsigned loops, const long* iterations, long* begin, long* end),
              start(loops, iterations, gomp::schedule_of(this_thread(), runtime_schedule, 0), begin, end))
SDSM_ENTRY bool GOMP_loop_ull_doacross_runtime_start(unsigned loops, const Unsigned* iterations, Unsigned* begin,
                                                     Unsigned* end) {
  return start(loops, iterations, gomp::schedule_of(this_thread(), runtime_schedule, 0), begin, end);
}

SDSM_ENTRY bool GOMP_loop_doacross_start(unsigned loops, const long* iterations, long schedule, long chunk, long* begin,
                                         long* end, std::uintptr_t* reductions, void** memory) {
  const auto kind = gomp::schedule_of(this_thread(), schedule, static_cast<std::uint64_t>(chunk > 0 ? chunk : 0));
  return start(loops, iterations, kind, begin, end, reductions, memory);
}
SDSM_ENTRY bool GOMP_loop_ull_doacross_start(unsigned loops, const Unsigned* iterations, long schedule, Unsigned chunk,
                                             Unsigned* begin, Unsigned* end, std::uintptr_t* reductions,
                                             void** memory) {
  return start(loops, iterations, gomp::schedule_of(this_thread(), schedule, chunk), begin, end, reductions, memory);
}

SDSM_ENTRY_AS(void, GOMP_doacross_post, (const long* at), post(at))
SDSM_ENTRY_AS(void, GOMP_doacross_ull_post, (const Unsigned* at), post(at))

SDSM_ENTRY void GOMP_doacross_wait(long outer, ...) {
  va_list inner;
  va_start(inner, outer);
  wait(static_cast<std::uint64_t>(outer), [&] { return static_cast<std::uint64_t>(va_arg(inner, long)); });
  va_end(inner);
}
SDSM_ENTRY void GOMP_doacross_ull_wait(Unsigned outer, ...) {
  va_list inner;
  va_start(inner, outer);
  wait(outer, [&] { return va_arg(inner, Unsigned); });
  va_end(inner);
}
