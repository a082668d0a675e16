/// The engine's work-sharing, locks and clock (native/guest/openmp/engine.hpp).
#include "native/guest/openmp/engine.hpp"

#include "models/jiajia/courses.hpp"
#include "models/locks.hpp"
#include "models/scash/directives.hpp"
#include "native/dsm/books/lock_names.hpp"
#include "native/dsm/memory/page_log.hpp"
#include "native/dsm/openmp/measured_region.hpp"
#include "native/dsm/openmp/steps.hpp"
#include "native/dsm/openmp/synchronisation.hpp"
#include "native/dsm/openmp/team.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/timing/emulation.hpp"
#include "native/dsm/timing/timeline_log.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/openmp/thread.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::engine {

using namespace dsm;
using namespace program;

namespace {

/// Shared counters live in DSM pages, as Omni's do. Volatile, because each access is a protocol event.
template <typename State>
volatile State& on_page(AdministrativePage page) {
  static_assert(sizeof(State) <= page_payload.count);
  return *reinterpret_cast<volatile State*>(address_of(page));
}

struct SingleState {
  std::uint64_t executed;  ///< number of the last construct that somebody executes, plus 1: numbers ascend
};

struct LoopState {
  std::uint64_t construct;  ///< plus 1. A thread that finds a later one knows that all iterations of its own loop are
                            ///< taken
  std::uint64_t taken;
  std::uint64_t polls;  ///< every poll changes the page
};

struct CopiedState {
  const void* data;
  std::uint64_t gifts;
};

/// Between open_construct and close_construct.
gomp::ConstructState opened_state GUARDED_BY(application);

}  // namespace

std::uint32_t default_threads() {
  return processes();
}
std::uint32_t thread_limit() {
  return processes();
}

void note(const Event& event) {
  application.check();
  if (event.kind == EventKind::task && gomp::this_thread().team_size > 1) {
    ++tasks_run.count;
    tasks_run.regions |= std::uint64_t{1} << gomp::this_thread().region % 64;
  }
  end_work(event.kind);
  begin_work();
}

bool take_single(std::uint64_t number) {
  application.check();
  end_work(EventKind::single);
  auto& state = on_page<SingleState>(AdministrativePage::single);
  bool is_first = false;
  perform(
      Directive::single, [&] { is_first = state.executed <= number; }, [&] { state.executed = number + 1; }, nothing,
      is_first);
  begin_work();
  return is_first;
}

void give_copied(std::uint64_t /*number*/, const void* data, std::uint32_t team_size) {
  application.check();
  end_work(EventKind::copyprivate);
  auto& state = on_page<CopiedState>(AdministrativePage::copyprivate);
  perform(
      Directive::copyprivate_gives, nothing,
      [&] {
        state.data = data;
        state.gifts = state.gifts + 1;
      },
      [&]() REQUIRES(application) { wait_for_team(team_size); });
  begin_work();
}

const void* take_copied(std::uint64_t /*number*/, std::uint32_t team_size) {
  application.check();
  end_work(EventKind::copyprivate);
  auto& state = on_page<CopiedState>(AdministrativePage::copyprivate);
  const void* data = nullptr;
  perform(
      Directive::copyprivate_takes, [&] { data = state.data; }, nothing,
      [&]() REQUIRES(application) { wait_for_team(team_size); });
  begin_work();
  return data;
}

gomp::Chunk take_chunk(std::uint64_t number, const gomp::LoopBounds& loop, std::uint32_t team_size) {
  application.check();
  end_work(EventKind::chunk);
  auto& state = on_page<LoopState>(AdministrativePage::loop);
  gomp::Chunk chunk;
  // Regions inside of a team of one have loops of their own, which the page knows as the latest.
  const bool is_alone = team_size == 1;
  std::uint64_t latest = 0, taken = 0;
  perform(
      Directive::chunk,
      [&] {
        latest = state.construct;
        taken = latest <= number ? 0 : state.taken;
        if (is_alone) taken = gomp::this_thread().own_iterations_taken;
      },
      [&] {
        if (is_alone || latest <= number + 1) {
          chunk = gomp::shared_chunk(loop, taken, team_size);
          state.construct = number + 1;
          state.taken = taken + chunk.count;
        }
        state.polls = state.polls + 1;
      },
      nothing);
  begin_work();
  return chunk;
}

gomp::ConstructState& open_construct(std::uint64_t number) {
  application.check();
  ask(ProcessId{0}, {.kind = WireKind::open_state, .address = number}, nullptr, &opened_state);
  // What it points to was written by the thread that came first.
  if (const auto lock = traits().flush_lock) {
    acquire_lock(*lock);
  } else {
    synchronise_memory();
  }
  return opened_state;
}

void close_construct(std::uint64_t number) {
  application.check();
  if (const auto lock = traits().flush_lock) {
    release_lock(*lock);
  } else {
    synchronise_memory();
  }
  tell(ProcessId{0}, {.kind = WireKind::close_state, .bytes = sizeof opened_state, .address = number}, &opened_state);
}

void leave_construct(std::uint64_t /*number*/, std::uint32_t /*team_size*/) {}

void acquire(LockClass lock_class, const void* lock) {
  application.check();
  NamedLock& named = lock_named(lock_class, lock);
  if (lock_class == LockClass::nest_lock && named.depth > 0) {
    ++named.depth;
    return;
  }
  end_work(EventKind::acquire);
  acquire_lock(named.id);
  named.depth = 1;
  begin_work();
}

bool try_acquire(LockClass lock_class, const void* lock) {
  application.check();
  NamedLock& named = lock_named(lock_class, lock);
  if (named.depth > 0 || !try_acquire_lock(named.id)) return false;
  named.depth = 1;
  end_work(EventKind::acquire);
  begin_work();
  return true;
}

int try_acquire_nested(const void* lock) {
  application.check();
  NamedLock& named = lock_named(LockClass::nest_lock, lock);
  if (named.depth > 0) return static_cast<int>(++named.depth);
  return try_acquire(LockClass::nest_lock, lock) ? 1 : 0;
}

void release(LockClass lock_class, const void* lock) {
  application.check();
  NamedLock& named = lock_named(lock_class, lock);
  if (named.depth > 1) {
    --named.depth;
    return;
  }
  named.depth = 0;
  end_work(EventKind::release);
  release_lock(named.id);
  begin_work();
}

void create_lock(LockClass lock_class, const void* lock) {
  application.check();
  lock_named(lock_class, lock).depth = 0;
}

void reset_lock(LockClass lock_class, const void* lock) {
  application.check();
  if (NamedLock* const named = known_lock(lock_class, lock)) named->depth = 0;
}

void enter_ordered(const gomp::OrderedLoop& loop) {
  application.check();
  const OrderedTurn turn{loop.construct, loop.first_iteration};
  end_work(EventKind::acquire);
  acquire_lock(ordered_lock, &turn);
  begin_work();
}

void leave_ordered(const gomp::OrderedLoop& /*loop*/) {
  application.check();
  end_work(EventKind::release);
  release_lock(ordered_lock);
  begin_work();
}

void pass_ordered(const gomp::OrderedLoop& loop, std::uint64_t next_iteration) {
  application.check();
  const OrderedTurn turn{loop.construct, loop.first_iteration};
  ask(manager_of(ordered_lock, processes()),
      {.kind = WireKind::ordered_pass, .bytes = sizeof turn, .value = next_iteration}, &turn);
}

void post_flag(const gomp::Flag& flag, std::uint64_t value) {
  application.check();
  end_work(EventKind::post);
  dsm::post_flag(flag_number(flag.construct, flag.part), value);
  begin_work();
}

void wait_for_flag(const gomp::Flag& flag, std::uint64_t value) {
  application.check();
  end_work(EventKind::wait);
  await_flag(flag_number(flag.construct, flag.part), value);
  begin_work();
}

bool read_clock(ClockSource source, std::uint64_t& since_begin_ns) {
  if (!gomp::has_begun() || !application.is_taken()) return false;
  application.check();
  since_begin_ns = now_ns();
  if (!is_clock_event()) return source == ClockSource::omp_get_wtime;
  end_work(EventKind::clock);
  since_begin_ns = now_ns();
  if (is_initial()) {
    note_own_clock(source, since_begin_ns);
    // A loop may read the clock and do nothing else.
    send_long_page_log();
    send_long_timeline_log();
    begin_emulating();
  }
  begin_work();
  return source == ClockSource::omp_get_wtime;
}

double wtime() {
  std::uint64_t now = 0;
  if (!read_clock(ClockSource::omp_get_wtime, now)) now = now_ns();
  return static_cast<double>(now) * 1e-9;
}

bool clock_now(std::uint64_t& /*since_begin_ns*/) {
  return false;
}
std::uint64_t date_of_begin() {
  return 0;
}
void sleep(std::uint64_t nanoseconds) {
  if (nanoseconds == 0 || !gomp::has_begun() || !application.is_taken()) return;
  application.check();
  end_clock_row();
}

}  // namespace sdsm::engine
