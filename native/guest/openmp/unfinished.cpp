#include "native/guest/openmp/unfinished.hpp"

#include <cstring>

#include "native/guest/openmp/thread.hpp"
#include "native/guest/runtime/entry.hpp"

namespace sdsm::gomp {
namespace {

constexpr unsigned nobodys_child = ~0U;

struct Unfinished {
  Unfinished* next = nullptr;
  std::uint64_t number = 0;  ///< of the thread's unfinished tasks, in their order
  unsigned generation = 0;
  Task task;                ///< that has yet to run; without a body: it has
  std::uint64_t event = 0;  ///< that has yet to be fulfilled; 0: none
  void** depend = nullptr;  ///< a copy
  bool is_busy = false;     ///< somebody finishes it, further out on the stack
};

constexpr std::uint32_t most_events = 1024;

/// The thread's own.
struct Tasks {
  Unfinished* first = nullptr;
  std::uint64_t so_far = 0;
  unsigned generation = 0;
  std::uint32_t uses_of[most_events] = {};  ///< of each of the thread's flags for events
  bool is_used[most_events] = {};
};
thread_local Tasks* tasks_of_thread = nullptr;

Tasks& tasks() {
  if (tasks_of_thread == nullptr) {
    void* const room = engine::allocate_private(sizeof(Tasks));
    std::memset(room, 0, sizeof(Tasks));
    tasks_of_thread = static_cast<Tasks*>(room);
  }
  return *tasks_of_thread;
}

/// A handle: which use of which flag of which thread.
struct EventUse {
  std::uint32_t use = 0;
  std::uint16_t flag = 0;
  std::uint16_t thread = 0;
};

std::uint64_t handle_of(const EventUse& event) {
  return std::uint64_t{event.use} << 32 | std::uint64_t{event.flag} << 16 | event.thread;
}
EventUse event_of(std::uint64_t handle) {
  return {static_cast<std::uint32_t>(handle >> 32), static_cast<std::uint16_t>(handle >> 16),
          static_cast<std::uint16_t>(handle)};
}
Flag flag_of(const EventUse& event) {
  return {first_event_construct + event.flag, event.thread, 0};
}

/// The compiler's list of dependences (libgomp/task.c): out and inout, then mutexinoutset, then in, then objects of the
/// type omp_depend_t, which hold an address and a kind. Old programs have only out and in.
class Dependences {
 public:
  explicit Dependences(void** list) : list_(list) {}

  std::size_t count() const { return is_old() ? number(0) : number(1); }
  std::size_t words() const { return first() + count(); }
  const void* address(std::size_t i) const { return is_object(i) ? object(i)[0] : list_[first() + i]; }
  bool is_in(std::size_t i) const {
    constexpr std::uintptr_t kind_in = 1;
    if (is_object(i)) return reinterpret_cast<std::uintptr_t>(object(i)[1]) == kind_in;
    return i >= (is_old() ? number(1) : number(2) + number(3));
  }

 private:
  std::size_t number(std::size_t i) const { return reinterpret_cast<std::uintptr_t>(list_[i]); }
  bool is_old() const { return number(0) != 0; }
  std::size_t first() const { return is_old() ? 2 : 5; }
  bool is_object(std::size_t i) const { return !is_old() && i >= number(2) + number(3) + number(4); }
  void** object(std::size_t i) const { return static_cast<void**>(list_[first() + i]); }

  void** list_;
};

bool conflict(void** one, void** other) {
  if (one == nullptr || other == nullptr) return false;
  const Dependences a(one), b(other);
  for (std::size_t i = 0; i < a.count(); ++i) {
    for (std::size_t j = 0; j < b.count(); ++j) {
      if (a.address(i) == b.address(j) && !(a.is_in(i) && b.is_in(j))) return true;
    }
  }
  return false;
}

/// Objects may change or go before the task runs: what they hold now counts.
void** copy_of(void** depend) {
  if (depend == nullptr) return nullptr;
  const Dependences from(depend);
  auto** copy = static_cast<void**>(engine::allocate_private((2 + from.count()) * sizeof(void*)));
  std::size_t out = 0;
  std::size_t at = 2;
  for (const bool is_in : {false, true}) {
    for (std::size_t i = 0; i < from.count(); ++i) {
      if (from.is_in(i) == is_in) copy[at++] = const_cast<void*>(from.address(i));
    }
    if (!is_in) out = at - 2;
  }
  copy[0] = reinterpret_cast<void*>(from.count());
  copy[1] = reinterpret_cast<void*>(out);
  return copy;
}

Unfinished& append(void** depend, std::uint64_t event) {
  Tasks& own = tasks();
  auto* made = static_cast<Unfinished*>(engine::allocate_private(sizeof(Unfinished)));
  *made = {};
  made->number = own.so_far++;
  made->generation = own.generation;
  made->event = event;
  made->depend = copy_of(depend);
  Unfinished** end = &own.first;
  while (*end != nullptr) end = &(*end)->next;
  *end = made;
  return *made;
}

void remove(Unfinished& done) {
  Unfinished** at = &tasks().first;
  while (*at != &done) at = &(*at)->next;
  *at = done.next;
  if (done.depend != nullptr) engine::free_private(done.depend);
  engine::free_private(&done);
}

void run(Unfinished& one) {
  const Task task = one.task;
  one.task = {};
  run_task(task);
  engine::free_shared(task.arguments);
}

/// Runs a task when those before it are complete.
void finish(Unfinished& one) {
  one.is_busy = true;
  if (one.task.body != nullptr) run(one);
  if (one.event != 0) {
    const EventUse event = event_of(one.event);
    engine::wait_for_flag(flag_of(event), event.use);
    tasks().is_used[event.flag] = false;
  }
  remove(one);
}

/// The first that the task has to wait for; null if there is none.
Unfinished* earlier_than(const Unfinished& one) {
  for (Unfinished* other = tasks().first; other != &one; other = other->next) {
    if (other->generation == one.generation && conflict(other->depend, one.depend)) return other;
  }
  return nullptr;
}

/// Finishes those that `is_wanted` names, in their order.
template <typename IsWanted>
void finish_those(IsWanted is_wanted) {
  if (tasks_of_thread == nullptr) return;
  for (;;) {
    run_ready();
    Unfinished* one = tasks().first;
    while (one != nullptr && (one->is_busy || !is_wanted(*one))) one = one->next;
    if (one == nullptr) return;
    for (Unfinished* earlier = earlier_than(*one); earlier != nullptr; earlier = earlier_than(*one)) one = earlier;
    finish(*one);
  }
}

const Unfinished* last_conflict(void** depend) {
  const Unfinished* last = nullptr;
  if (tasks_of_thread == nullptr || depend == nullptr) return last;
  for (const Unfinished* one = tasks().first; one != nullptr; one = one->next) {
    if (one->generation == tasks().generation && conflict(one->depend, depend)) last = one;
  }
  return last;
}

}  // namespace

bool must_wait(void** depend) {
  return last_conflict(depend) != nullptr;
}

void await_dependences(void** depend) {
  const Unfinished* const last = last_conflict(depend);
  if (last == nullptr) return;
  const unsigned generation = tasks().generation;
  const std::uint64_t number = last->number;
  finish_those([&](const Unfinished& one) { return one.generation == generation && one.number <= number; });
}

void run_later(const Task& task, void** depend, std::uint64_t event) {
  append(depend, event).task = task;
}

std::uint64_t create_event() {
  Tasks& own = tasks();
  std::uint32_t flag = 0;
  while (flag < most_events && own.is_used[flag]) ++flag;
  if (flag == most_events) engine::refuse("more than 1024 tasks with a detach clause", "fulfil some of them before");
  own.is_used[flag] = true;
  return handle_of(
      {++own.uses_of[flag], static_cast<std::uint16_t>(flag), static_cast<std::uint16_t>(this_thread().shared_number)});
}

void detach(std::uint64_t event, void** depend) {
  append(depend, event);
}

void fulfil(std::uint64_t handle) {
  const EventUse event = event_of(handle);
  if (event.thread != this_thread().shared_number) return engine::post_flag(flag_of(event), event.use);
  for (Unfinished* one = tasks().first; one != nullptr; one = one->next) {
    if (one->event != handle) continue;
    tasks().is_used[event.flag] = false;
    one->event = 0;
    if (one->task.body == nullptr && !one->is_busy) remove(*one);
    return;
  }
}

void run_ready() {
  if (tasks_of_thread == nullptr) return;
  for (Unfinished* one = tasks().first; one != nullptr;) {
    if (one->task.body == nullptr || earlier_than(*one) != nullptr) {
      one = one->next;
      continue;
    }
    const bool is_detached = one->event != 0;
    run(*one);
    if (!is_detached) remove(*one);
    one = tasks().first;
  }
}

void finish_children() {
  if (tasks_of_thread == nullptr) return;
  const unsigned generation = tasks().generation;
  finish_those([&](const Unfinished& one) { return one.generation == generation; });
}

void finish_tasks(std::uint64_t since) {
  finish_those([&](const Unfinished& one) { return one.number >= since; });
}

void finish_event(std::uint64_t event) {
  finish_those([&](const Unfinished& one) { return one.event == event; });
}

std::uint64_t tasks_so_far() {
  return tasks_of_thread == nullptr ? 0 : tasks().so_far;
}

Generation::Generation() {
  ++tasks().generation;
}

Generation::~Generation() {
  Tasks& own = tasks();
  for (Unfinished* one = own.first; one != nullptr; one = one->next) {
    if (one->generation == own.generation) one->generation = nobodys_child;
  }
  --own.generation;
}

}  // namespace sdsm::gomp

SDSM_ENTRY_AS(void, omp_fulfill_event, (std::uintptr_t event), sdsm::gomp::fulfil(event))
/// Fortran's entry, which gets the handle by value.
SDSM_ENTRY_AS(void, omp_fulfill_event_, (std::uintptr_t event), sdsm::gomp::fulfil(event))
