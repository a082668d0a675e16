/// Tasks run in place, by the thread that meets them, as if each were undeferred: an order that OpenMP allows. Whatever
/// a task depends on has then run before it, unless that is detached (unfinished.hpp).
#include <cstring>

#include "native/guest/openmp/reductions.hpp"
#include "native/guest/openmp/thread.hpp"
#include "native/guest/openmp/unfinished.hpp"
#include "native/guest/runtime/entry.hpp"

using namespace sdsm;
using gomp::this_thread;
using gomp::ThreadState;

namespace {

/// GOMP_task's and GOMP_taskloop's flags (gcc's include/gomp-constants.h).
enum TaskFlag : unsigned {
  final_task = 1U << 1,
  ascending = 1U << 8,
  grainsize = 1U << 9,
  nogroup = 1U << 11,
  with_reduction = 1U << 12,
  detachable = 1U << 13,
  strict = 1U << 14,
};

/// Aligned copy of a task's arguments on the stack of the thread that runs it.
class Arguments {
 public:
  /// `room` has at least size + alignment bytes.
  Arguments(void* room, void* data, void (*copy)(void*, void*), long size, long alignment) {
    const auto boundary = static_cast<std::uintptr_t>(alignment > 0 ? alignment : 1);
    copied_ = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(room) + boundary - 1) / boundary * boundary);
    if (copy) {
      copy(copied_, data);
    } else {
      std::memcpy(copied_, data, static_cast<std::size_t>(size));
    }
  }
  void* get() const { return copied_; }

 private:
  void* copied_;
};

/// Marks the thread as inside a task for a while, for the engine, too.
class TaskScope {
 public:
  TaskScope(ThreadState& thread, unsigned flags)
      : thread_(thread), was_final_(thread.in_final_task), was_in_task_(thread.in_task) {
    gomp::note(thread, EventKind::task, 0, 0, 0);
    thread.in_final_task = was_final_ || (flags & final_task) != 0;
    thread.in_task = true;
  }
  ~TaskScope() {
    thread_.in_final_task = was_final_;
    thread_.in_task = was_in_task_;
  }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  ThreadState& thread_;
  bool was_final_;
  bool was_in_task_;
  gomp::Generation children_;
};

/// Tasks of a taskloop: `large` of them have `iterations + 1`, then come those with `iterations`; the last has `rest`
/// instead if that is not 0.
struct TaskShares {
  std::uint64_t tasks = 0;
  std::uint64_t iterations = 0;
  std::uint64_t large = 0;
  std::uint64_t rest = 0;

  std::uint64_t of(std::uint64_t task) const {
    if (rest > 0 && task == tasks - 1) return rest;
    return iterations + (task < large ? 1 : 0);
  }
};

TaskShares share_out(std::uint64_t iterations, std::uint64_t wanted, unsigned flags, std::uint32_t threads) {
  std::uint64_t tasks = wanted;
  if ((flags & grainsize) != 0) {
    if ((flags & strict) != 0) {
      const std::uint64_t rest = iterations % wanted;
      return {iterations / wanted + (rest > 0), wanted, 0, rest};
    }
    tasks = iterations / wanted;
  } else if (tasks == 0) {
    tasks = threads;
  }
  if (tasks == 0) tasks = 1;
  if (tasks > iterations) tasks = iterations;
  return {tasks, iterations / tasks, iterations % tasks, 0};
}

template <typename Number>
void run_taskloop(void (*body)(void*), void* data, void (*copy)(void*, void*), long size, long alignment,
                  unsigned flags, std::uint64_t wanted, std::uint64_t iterations, Number start, Number step) {
  if (iterations == 0) return;
  ThreadState& thread = this_thread();
  const bool is_group = (flags & nogroup) == 0;
  if (is_group) {
    gomp::begin_taskgroup(thread);
    if ((flags & with_reduction) != 0) {
      struct Head {
        Number start;
        Number end;
        std::uintptr_t* reductions;
      };
      std::uintptr_t* descriptors = static_cast<Head*>(data)->reductions;
      gomp::register_reductions(descriptors, thread.taskgroup->reductions, thread.team_size);
      thread.taskgroup->reductions = descriptors;
    }
  }
  const TaskShares shares = share_out(iterations, wanted, flags, thread.team_size);
  void* room = engine::allocate_private(static_cast<std::size_t>(size + alignment));
  auto value = static_cast<std::uint64_t>(start);
  for (std::uint64_t task = 0; task < shares.tasks; ++task) {
    const Arguments arguments(room, data, copy, size, alignment);
    auto* bounds = static_cast<Number*>(arguments.get());
    bounds[0] = static_cast<Number>(value);
    value += shares.of(task) * static_cast<std::uint64_t>(step);
    bounds[1] = static_cast<Number>(value);
    const TaskScope scope(thread, flags);
    body(arguments.get());
  }
  engine::free_private(room);
  if (is_group) gomp::end_taskgroup(thread);
}

/// Keeps the task's arguments in memory that lives until a thread runs it.
void defer(gomp::Task task, const void* source, void (*copy)(void*, void*), long size, long alignment, void** depend,
           std::uint64_t event) {
  task.arguments = engine::allocate_shared(static_cast<std::size_t>(size > 0 ? size : 1),
                                           static_cast<std::size_t>(alignment > 16 ? alignment : 16));
  if (task.arguments == nullptr) engine::refuse("a task that depends on a detached one", "there is no memory left");
  if (copy) {
    copy(task.arguments, const_cast<void*>(source));
  } else {
    std::memcpy(task.arguments, source, static_cast<std::size_t>(size));
  }
  gomp::run_later(task, depend, event);
}

}  // namespace

void sdsm::gomp::run_task(const Task& task) {
  const TaskScope scope(this_thread(), task.flags);
  task.body(task.arguments);
}

SDSM_ENTRY void GOMP_task(void (*body)(void*), void* data, void (*copy)(void*, void*), long size, long alignment,
                          bool if_clause, unsigned flags, void** dependences, int /*priority*/, void* detach) {
  constexpr unsigned has_dependences = 1U << 3;
  void** const depend = (flags & has_dependences) != 0 ? dependences : nullptr;
  const std::uint64_t event = (flags & detachable) != 0 ? gomp::create_event() : 0;
  if (event != 0) {
    // The event's variable is the first one that the task gets.
    std::memcpy(detach, &event, sizeof event);
    if (data != nullptr) std::memcpy(data, &event, sizeof event);
  }
  const bool is_undeferred = !if_clause || this_thread().in_final_task;
  if (gomp::must_wait(depend)) {
    if (!is_undeferred) return defer({body, nullptr, flags}, data, copy, size, alignment, depend, event);
    gomp::await_dependences(depend);
  }
  if (event != 0) gomp::detach(event, depend);
  if (copy == nullptr && size == 0) {
    gomp::run_task({body, data, flags});
  } else {
    // On the stack: the thread that runs the task owns its arguments, and others see them only through pointers.
    void* room = __builtin_alloca(static_cast<std::size_t>(size + alignment));
    const Arguments arguments(room, data, copy, size, alignment);
    gomp::run_task({body, arguments.get(), flags});
  }
  if (event != 0 && is_undeferred) gomp::finish_event(event);
}

SDSM_ENTRY void GOMP_taskloop(void (*body)(void*), void* data, void (*copy)(void*, void*), long size, long alignment,
                              unsigned flags, unsigned long wanted, int /*priority*/, long start, long end, long step) {
  run_taskloop<long>(body, data, copy, size, alignment, flags, wanted, gomp::iterations_of(start, end, step), start,
                     step);
}

SDSM_ENTRY void GOMP_taskloop_ull(void (*body)(void*), void* data, void (*copy)(void*, void*), long size,
                                  long alignment, unsigned flags, unsigned long wanted, int /*priority*/,
                                  unsigned long long start, unsigned long long end, unsigned long long step) {
  run_taskloop<unsigned long long>(body, data, copy, size, alignment, flags, wanted,
                                   gomp::iterations_of((flags & ascending) != 0, start, end, step), start, step);
}

SDSM_ENTRY_AS(void, GOMP_taskwait, (), gomp::finish_children())
SDSM_ENTRY_AS(void, GOMP_taskwait_depend, (void** depend), gomp::await_dependences(depend))
SDSM_ENTRY_AS(void, GOMP_taskwait_depend_nowait, (void** depend), gomp::await_dependences(depend))
SDSM_ENTRY_AS(void, GOMP_taskyield, (), gomp::run_ready())
