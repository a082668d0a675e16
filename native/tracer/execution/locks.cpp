/// Locks: mutual exclusion between virtual threads, in the order of their clocks.
#include "native/tracer/execution/locks.hpp"

#include "models/locks.hpp"
#include "native/guest/openmp/engine.hpp"
#include "native/tracer/execution/touch.hpp"
#include "native/tracer/record/ending.hpp"
#include "native/tracer/record/options.hpp"

namespace sdsm::tracer {
namespace {

std::uint64_t key_of(LockClass lock_class, const void* address) {
  // User addresses have 47 bits. Nested and plain locks at one address are one object.
  const auto number = static_cast<std::uint64_t>(lock_class == LockClass::nest_lock ? LockClass::lock : lock_class);
  return reinterpret_cast<std::uint64_t>(address) | (number + 1) << 56;
}

/// Open addressing with linear probing over pointers, so that a Lock stays where it is.
class LockTable {
 public:
  Lock& find(LockClass lock_class, const void* address) {
    const std::uint64_t key = key_of(lock_class, address);
    if (2 * (used_ + 1) > capacity_) grow();
    Lock*& place = places_[place_of(key)];
    if (place == nullptr) {
      place = make(lock_class, address, key);
      ++used_;
    }
    return *place;
  }

  /// Null if nobody has asked for it yet.
  Lock* known(LockClass lock_class, const void* address) const {
    return capacity_ == 0 ? nullptr : places_[place_of(key_of(lock_class, address))];
  }

 private:
  std::size_t place_of(std::uint64_t key) const {
    std::size_t place = (key * 0x9e3779b97f4a7c15U) >> 32 & (capacity_ - 1);
    while (places_[place] != nullptr && places_[place]->key != key) place = (place + 1) & (capacity_ - 1);
    return place;
  }

  Lock* make(LockClass lock_class, const void* address, std::uint64_t key) {
    if (unused_ == 0) {
      constexpr std::size_t batch = 1024;
      fresh_ = reserve_array<Lock>(batch);
      unused_ = batch;
    }
    Lock* lock = &fresh_[--unused_];
    lock->key = key;
    lock->lock_class = lock_class;
    lock->id = address == nullptr ? index_of(nameless_lock(lock_class)) : next_id_++;
    return lock;
  }

  void grow() {
    Lock** old = places_;
    const std::size_t old_capacity = capacity_;
    capacity_ = old_capacity == 0 ? 1024 : 2 * old_capacity;
    places_ = reserve_array<Lock*>(capacity_);
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (old[i] != nullptr) places_[place_of(old[i]->key)] = old[i];
    }
  }

  Lock** places_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
  Lock* fresh_ = nullptr;
  std::size_t unused_ = 0;
  std::uint32_t next_id_ = first_named_lock;
};

constinit LockTable locks GUARDED_BY(turn);

void reset(Lock& lock, LockClass lock_class) REQUIRES(turn) {
  lock.numbers = {};
  lock.holder = nullptr;
  lock.depth = 0;
  lock.lock_class = lock_class;
}

Event lock_event(EventKind kind, const Lock& lock, bool was_tried = false) {
  const bool is_try = was_tried && may_be_tried(lock.lock_class);
  return {kind, static_cast<std::uint8_t>(lock.lock_class), lock.id, is_try ? 1U : 0U};
}

void ask_for(VirtualThread& self, const Lock& lock, bool only_tries) REQUIRES(turn) {
  synchronise(self, lock_event(EventKind::acquire, lock, only_tries));
}

bool waits_at(const VirtualThread& thread, const Lock& lock) REQUIRES(turn) {
  const bool is_waiting_there = thread.status == ThreadStatus::at_lock || thread.status == ThreadStatus::at_object;
  return is_waiting_there && thread.waits_for == &lock;
}

/// The one that came first gets the lock. Later passes let all of them try: the schedule knows who it was.
void wake_next(const Lock& lock, std::uint64_t clock_ns) REQUIRES(turn) {
  VirtualThread* first = nullptr;
  for (VirtualThread& thread : all_threads()) {
    if (!waits_at(thread, lock)) continue;
    if (is_replay()) {
      wake(thread, clock_ns);
    } else if (first == nullptr || thread.clock_ns < first->clock_ns) {
      first = &thread;
    }
  }
  if (first != nullptr) wake(*first, clock_ns);
}

/// What a thread waits for at its turn in an ordered loop. Never null.
const void* ordered_loop(std::uint64_t construct) {
  return reinterpret_cast<const void*>(construct + 1);
}

void wake_waiting(ThreadStatus status, const void* waits_for, std::uint64_t clock_ns) REQUIRES(turn) {
  for (VirtualThread& thread : all_threads()) {
    if (thread.status == status && thread.waits_for == waits_for) wake(thread, clock_ns);
  }
}

const void* flag_key(const gomp::Flag& flag) {
  return reinterpret_cast<const void*>(flag_number(flag.construct, flag.part) + 1);
}

Event flag_event(EventKind kind, const gomp::Flag& flag, std::uint64_t value) {
  return {kind, 0, flag_number(flag.construct, flag.part), value};
}

Event ordered_event(EventKind kind) {
  return {kind, static_cast<std::uint8_t>(LockClass::ordered), index_of(ordered_lock), 0};
}

}  // namespace

void note_holder(VirtualThread& self, Lock& lock, engine::Demand demand) {
  lock.numbers.add(demand);
  lock.holder = demand.is_exclusive() ? &self : nullptr;
  lock.depth = 1;
}

Lock& find_lock(LockClass lock_class, const void* address) {
  const Uninterrupted guard;
  return locks.find(lock_class, address);
}

void take_lock(VirtualThread& self, Lock& lock, engine::Demand demand) {
  ask_for(self, lock, false);
  // A thread whose clock is behind may ask for the lock at an earlier time. On a cluster a lock costs a multiple of the
  // slack; here it saves most hand-overs of programs with many short locks.
  constexpr std::uint64_t slack_ns = 10'000;
  schedule(lock.numbers.allow(demand) ? slack_ns : 0);
  while (!lock.numbers.allow(demand)) {
    stop(self, ThreadStatus::at_lock, &lock);
    schedule();
  }
  note_holder(self, lock, demand);
  begin_interval(self);
}

void take_free_lock(VirtualThread& self, Lock& lock, engine::Demand demand, bool only_tried) {
  ask_for(self, lock, only_tried);
  note_holder(self, lock, demand);
  begin_interval(self);
}

void give_lock_back(VirtualThread& self, Lock& lock) {
  synchronise(self, lock_event(EventKind::release, lock));
  lock.numbers[Counted::holders] = 0;
  lock.holder = nullptr;
  lock.depth = 0;
  wake_next(lock, self.clock_ns);
  begin_interval(self);
}

void wake_all(const Lock& lock, std::uint64_t clock_ns) {
  for (VirtualThread& thread : all_threads()) {
    if (waits_at(thread, lock)) wake(thread, clock_ns);
  }
}

}  // namespace sdsm::tracer

namespace sdsm::engine {

using namespace sdsm::tracer;

void acquire(LockClass lock_class, const void* address) {
  VirtualThread& self = running_thread();
  Lock& lock = find_lock(lock_class, address);
  if (lock_class == LockClass::nest_lock && lock.holder == &self) {
    ++lock.depth;
    return;
  }
  take_lock(self, lock, mutex_demand);
}

bool try_acquire(LockClass lock_class, const void* address) {
  VirtualThread& self = running_thread();
  Lock& lock = find_lock(lock_class, address);
  // Others go first here, not after the test: a test that succeeded must not wait any more.
  yield(self, 0);
  const Uninterrupted guard;
  if (!lock.numbers.allow(mutex_demand)) return false;
  take_free_lock(self, lock, mutex_demand, true);
  return true;
}

int try_acquire_nested(const void* address) {
  VirtualThread& self = running_thread();
  Lock& lock = find_lock(LockClass::nest_lock, address);
  if (lock.holder == &self) return static_cast<int>(++lock.depth);
  return try_acquire(LockClass::nest_lock, address) ? 1 : 0;
}

void release(LockClass lock_class, const void* address) {
  VirtualThread& self = running_thread();
  Lock& lock = find_lock(lock_class, address);
  if (lock.holder == nullptr) {
    refuse("the release of a lock that nobody holds", "thread and lock are the program's to put right");
  }
  if (lock.depth > 1) {
    --lock.depth;
    return;
  }
  give_lock_back(self, lock);
}

void create_lock(LockClass lock_class, const void* address) {
  enter();
  const Uninterrupted guard;
  reset(find_lock(lock_class, address), lock_class);
}

void reset_lock(LockClass lock_class, const void* address) {
  enter();
  const Uninterrupted guard;
  if (Lock* const lock = locks.known(lock_class, address)) reset(*lock, lock_class);
}

void enter_ordered(const gomp::OrderedLoop& loop) {
  VirtualThread& self = running_thread();
  synchronise(self, ordered_event(EventKind::acquire));
  schedule();
  while (ordered_turn(loop.construct) != loop.first_iteration) {
    stop(self, ThreadStatus::at_ordered, ordered_loop(loop.construct));
    schedule();
  }
  begin_interval(self);
}

void leave_ordered(const gomp::OrderedLoop& /*loop*/) {
  VirtualThread& self = running_thread();
  synchronise(self, ordered_event(EventKind::release));
  begin_interval(self);
}

void pass_ordered(const gomp::OrderedLoop& loop, std::uint64_t next_iteration) {
  VirtualThread& self = running_thread();
  // A chunk whose iterations left their ordered regions out has not waited yet.
  while (ordered_turn(loop.construct) != loop.first_iteration) {
    wait_in_between(self, ThreadStatus::at_ordered, ordered_loop(loop.construct));
  }
  const Uninterrupted guard;
  ordered_turn(loop.construct) = next_iteration;
  wake_waiting(ThreadStatus::at_ordered, ordered_loop(loop.construct), self.clock_ns);
}

void post_flag(const gomp::Flag& flag, std::uint64_t value) {
  VirtualThread& self = running_thread();
  synchronise(self, flag_event(EventKind::post, flag, value));
  progress_of(flag) = value;
  wake_waiting(ThreadStatus::at_flag, flag_key(flag), self.clock_ns);
  begin_interval(self);
}

void wait_for_flag(const gomp::Flag& flag, std::uint64_t value) {
  VirtualThread& self = running_thread();
  synchronise(self, flag_event(EventKind::wait, flag, value));
  schedule();
  while (progress_of(flag) < value) {
    stop(self, ThreadStatus::at_flag, flag_key(flag));
    schedule();
  }
  begin_interval(self);
}

}  // namespace sdsm::engine
