/// Synchronisation objects of the C library, for virtual threads (native/guest/threads/engine.hpp).
#include "native/guest/threads/engine.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "native/guest/runtime/nanoseconds.hpp"
#include "native/tracer/execution/locks.hpp"
#include "native/tracer/execution/pages.hpp"
#include "native/tracer/execution/touch.hpp"

namespace sdsm::tracer {
namespace {

constinit std::uint64_t enlisted_so_far GUARDED_BY(turn) = 0;
constinit std::uint64_t own_numbers GUARDED_BY(turn) = 0;

bool is_traced(const volatile void* address) REQUIRES(turn) {
  return find_range(reinterpret_cast<std::uintptr_t>(address)) != nullptr;
}

Lock& object_at(const volatile void* address) REQUIRES(turn) {
  return find_lock(LockClass::lock, const_cast<const void*>(address));
}

ObjectClass class_of(engine::Demand demand) {
  if (demand == engine::semaphore_demand) return ObjectClass::semaphore;
  return demand == engine::writer_demand ? ObjectClass::writer : ObjectClass::reader;
}

void pass_event(VirtualThread& self, const Event& event) REQUIRES(turn) {
  synchronise(self, event);
  begin_interval(self);
}

void pass_event(VirtualThread& self, EventKind kind, const Lock& lock, std::uint64_t value, ObjectClass object_class)
    REQUIRES(turn) {
  pass_event(self, {kind, static_cast<std::uint8_t>(object_class), lock.id, value});
}

/// How far the number that the events make is above the object's, which may be set, or be another's in the same memory.
/// So of a semaphore it is how often it could be taken if it were never given.
std::uint64_t events_beyond(const Lock& lock, Counted what) REQUIRES(turn) {
  const std::int64_t beyond = lock.added - lock.numbers[what];
  return static_cast<std::uint32_t>(std::clamp(beyond, std::int64_t{INT32_MIN}, std::int64_t{INT32_MAX}));
}

/// Precondition: the number allows it, and nobody interrupts.
void take_now(VirtualThread& self, Lock& lock, engine::Demand demand, bool only_tried) REQUIRES(turn) {
  if (demand == engine::mutex_demand) return take_free_lock(self, lock, demand, only_tried);
  const std::uint64_t value = events_beyond(lock, counted_by(demand));
  note_holder(self, lock, demand);
  lock.added += demand.add;
  pass_event(self, EventKind::take, lock, value, class_of(demand));
}

/// The end of a wait, by the thread's clock and by the real one.
struct Limit {
  std::uint64_t virtual_ns = never;
  std::uint64_t real_ns = never;
};
Limit limit_of(const VirtualThread& self, std::uint64_t patience_ns) REQUIRES(turn) {
  if (patience_ns == engine::for_ever) return {};
  return {self.clock_ns + self.stopwatch.elapsed_ns() + patience_ns, read_ns(CLOCK_MONOTONIC) + patience_ns};
}

/// False when the time is over, also by the clocks that the program may read.
bool wait_at(VirtualThread& self, const Lock& lock, const Limit& limit) REQUIRES(turn) {
  const std::uint64_t begun_ns = self.clock_ns;
  if (wait_in_between(self, ThreadStatus::at_object, &lock, limit.virtual_ns)) return true;
  if (self.clock_ns > begun_ns) self.readings.slept_ns += self.clock_ns - begun_ns;
  self.stopwatch.pause();
  const timespec until = timespec_of(limit.real_ns);
  while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == -1 && errno == EINTR) {
  }
  self.stopwatch.resume();
  return false;
}

}  // namespace
}  // namespace sdsm::tracer

namespace sdsm::engine {

using namespace sdsm::tracer;

bool has_object(const volatile void* address) {
  if (!turn.is_taken() || watched.is_inside) return false;
  turn.check();
  return is_traced(address);
}

bool take(const volatile void* object, Demand demand, std::uint64_t patience_ns) {
  VirtualThread& self = running_thread();
  Lock& lock = object_at(object);
  if (demand == mutex_demand && patience_ns == for_ever) {
    take_lock(self, lock, demand);
    return true;
  }
  const Limit limit = limit_of(self, patience_ns);
  yield(self, 0);
  const Uninterrupted guard;
  while (!lock.numbers.allow(demand)) {
    if (!wait_at(self, lock, limit)) return false;
  }
  take_now(self, lock, demand, false);
  return true;
}

bool try_take(const volatile void* object, Demand demand) {
  VirtualThread& self = running_thread();
  Lock& lock = object_at(object);
  // Others go first here, not after the test: a test that succeeded must not wait any more.
  yield(self, 0);
  const Uninterrupted guard;
  if (!lock.numbers.allow(demand)) return false;
  take_now(self, lock, demand, true);
  return true;
}

void give(const volatile void* object, Demand demand) {
  VirtualThread& self = running_thread();
  Lock& lock = object_at(object);
  if (demand == mutex_demand) return give_lock_back(self, lock);
  pass_event(self, EventKind::give, lock, 0, class_of(demand));
  const Uninterrupted guard;
  lock.numbers.subtract(demand);
  lock.added -= demand.add;
  ++lock.gives;
  if (demand.is_exclusive()) {
    lock.holder = nullptr;
    lock.depth = 0;
  }
  wake_all(lock, self.clock_ns);
}

std::uint32_t* times_held(const volatile void* object) {
  VirtualThread& self = running_thread();
  Lock& lock = object_at(object);
  return lock.holder == &self ? &lock.depth : nullptr;
}

void set_number(const volatile void* object, Counted what, std::int32_t number) {
  enter();
  const Uninterrupted guard;
  if (is_traced(object)) object_at(object).numbers[what] = number;
}

std::int32_t number_of(const volatile void* object, Counted what) {
  yield(running_thread(), 0);
  enter();
  return object_at(object).numbers[what];
}

bool meet(const volatile void* barrier) {
  VirtualThread& self = running_thread();
  Lock& lock = object_at(barrier);
  yield(self, 0);
  const Uninterrupted guard;
  const std::int32_t parties = lock.numbers[Counted::parties];
  const bool is_last = ++lock.met >= parties;
  const std::uint64_t all = ++lock.gives + static_cast<std::uint64_t>(parties - lock.met);
  const Event event{EventKind::meet, 0, lock.id, all};
  if (is_last) {
    lock.met = 0;
    ++lock.meetings;
    wake_all(lock, self.clock_ns);
  } else {
    self.meeting = {&lock.meetings, lock.meetings, event};
    while (!self.meeting.is_over()) wait_at(self, lock, {});
    self.meeting = {};
  }
  pass_event(self, event);
  return is_last;
}

void need_all_memory(const char* /*what*/) {}

void enlist(const volatile void* object) {
  VirtualThread& self = running_thread();
  self.enlisted_at = &object_at(object);
  self.enlisted_as = enlisted_so_far++;
}

const std::uint64_t time_between_polls_ns = for_ever;

bool await(const volatile void* object, std::uint64_t patience_ns, bool stays) {
  VirtualThread& self = running_thread();
  const Lock& lock = object_at(object);
  const Limit limit = limit_of(self, patience_ns);
  const Uninterrupted guard;
  while (self.enlisted_at == &lock) {
    if (wait_at(self, lock, limit)) continue;
    if (!stays) self.enlisted_at = nullptr;
    return false;
  }
  pass_event(self, EventKind::take, lock, self.woken_by, ObjectClass::condition);
  return true;
}

void leave(const volatile void* /*object*/) {
  running_thread().enlisted_at = nullptr;
}

std::uint32_t wake(const volatile void* object, std::uint32_t most) {
  VirtualThread& self = running_thread();
  Lock& lock = object_at(object);
  pass_event(self, EventKind::give, lock, 0, ObjectClass::condition);
  const Uninterrupted guard;
  ++lock.gives;
  std::uint32_t woken = 0;
  for (; woken < most; ++woken) {
    VirtualThread* first = nullptr;
    for (VirtualThread& thread : all_threads()) {
      if (thread.enlisted_at != &lock) continue;
      if (first == nullptr || thread.enlisted_as < first->enlisted_as) first = &thread;
    }
    if (first == nullptr) break;
    first->enlisted_at = nullptr;
    first->woken_by = lock.gives;
    if (first->status == ThreadStatus::at_object) tracer::wake(*first, self.clock_ns);
  }
  return woken;
}

void see_all() {}

std::uint64_t next_own_number() {
  enter();
  return own_numbers++;
}

void took_private() {
  if (turn.is_taken() && !watched.is_inside) ++running_thread().private_locks;
}
void gave_private() {
  if (!turn.is_taken() || watched.is_inside) return;
  VirtualThread& self = running_thread();
  if (self.private_locks > 0) --self.private_locks;
}

}  // namespace sdsm::engine
