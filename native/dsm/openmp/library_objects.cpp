#include "native/dsm/openmp/library_objects.hpp"

#include <bit>
#include <utility>
#include <vector>

#include "models/locks.hpp"
#include "native/dsm/books/lock_names.hpp"
#include "native/dsm/memory/memory.hpp"
#include "native/dsm/openmp/synchronisation.hpp"
#include "native/dsm/process/ending.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/timing/emulation.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/threads/engine.hpp"

namespace sdsm::dsm {
namespace {

using engine::Demand;

constinit std::vector<std::pair<const void*, ObjectNumber>> early_numbers GUARDED_BY(application);
constinit std::uint64_t own_numbers GUARDED_BY(application) = 0;

NamedLock& named(const volatile void* object) REQUIRES(application) {
  return lock_named(LockClass::lock, const_cast<const void*>(object));
}

/// The events of the trace (native/guest/threads/engine.hpp).
void pass_event(EventKind kind) REQUIRES(application) {
  end_work(kind);
  begin_work();
}
void note_taken(NamedLock& lock, Demand demand) REQUIRES(application) {
  if (demand.is_exclusive()) lock.depth = 1;
  // A mutex has no event if the work ended before.
  pass_event(demand == engine::mutex_demand ? EventKind::acquire : EventKind::take);
}

std::uint64_t end_of(std::uint64_t patience_ns) {
  const std::uint64_t now = now_ns();
  return patience_ns < no_end - now ? now + patience_ns : no_end;
}

}  // namespace

bool is_shared(const volatile void* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return find_range(number) != nullptr || program_image.variables_at(number).end != 0;
}

void send_early_numbers() {
  for (const auto& [object, set] : early_numbers) engine::set_number(object, set.what, set.number);
}

}  // namespace sdsm::dsm

namespace sdsm::engine {

using namespace dsm;

bool has_object(const volatile void* address) {
  return is_running.load(std::memory_order_relaxed) && find_range(reinterpret_cast<std::uintptr_t>(address)) != nullptr;
}

bool take(const volatile void* object, Demand demand, std::uint64_t patience_ns) {
  application.check();
  NamedLock& lock = named(object);
  if (demand == mutex_demand && patience_ns == for_ever) end_work(EventKind::acquire);
  const Head question{.kind = WireKind::lock_request, .value = std::bit_cast<std::uint64_t>(demand)};
  if (wait_for_grant(lock.id, question, nullptr, end_of(patience_ns)) == GrantSays::too_late) return false;
  note_taken(lock, demand);
  return true;
}

bool try_take(const volatile void* object, Demand demand) {
  application.check();
  NamedLock& lock = named(object);
  if (!try_acquire_lock(lock.id, demand)) return false;
  note_taken(lock, demand);
  return true;
}

void give(const volatile void* object, Demand demand) {
  application.check();
  NamedLock& lock = named(object);
  if (demand.is_exclusive()) lock.depth = 0;
  end_work(demand == mutex_demand ? EventKind::release : EventKind::give);
  release_lock(lock.id, demand);
  begin_work();
}

std::uint32_t* times_held(const volatile void* object) {
  application.check();
  NamedLock& lock = named(object);
  return lock.depth == 0 ? nullptr : &lock.depth;
}

void set_number(const volatile void* object, Counted what, std::int32_t number) {
  if (!is_shared(object)) return;
  application.check();
  const ObjectNumber set{.what = what, .number = number};
  if (!is_running) {
    early_numbers.emplace_back(const_cast<const void*>(object), set);
    return;
  }
  ask_manager(named(object).id, WireKind::object_set, std::bit_cast<std::uint64_t>(set));
}

std::int32_t number_of(const volatile void* object, Counted what) {
  application.check();
  const ObjectNumber asked{.what = what};
  return static_cast<std::int32_t>(
      ask_manager(named(object).id, WireKind::object_number, std::bit_cast<std::uint64_t>(asked)));
}

bool meet(const volatile void* barrier) {
  application.check();
  const GrantSays what = wait_for_grant(named(barrier).id, {.kind = WireKind::object_meet});
  pass_event(EventKind::meet);
  return what == GrantSays::last_to_meet;
}

void need_all_memory(const char* what) {
  the_protocol().need_openmp_scope(what);
}

void enlist(const volatile void* object) {
  application.check();
  ask_manager(named(object).id, WireKind::object_enlist);
}

const std::uint64_t time_between_polls_ns = 5'000'000;

bool await(const volatile void* object, std::uint64_t patience_ns, bool stays) {
  application.check();
  const Head question{.kind = WireKind::object_await, .value = stays ? 1U : 0U};
  const GrantSays what = wait_for_grant(named(object).id, question, nullptr, end_of(patience_ns));
  if (what != GrantSays::too_late) pass_event(EventKind::take);
  return what != GrantSays::too_late;
}

void leave(const volatile void* object) {
  application.check();
  const LockId lock = named(object).id;
  tell(manager_of(lock, processes()), {.kind = WireKind::object_leave, .address = index_of(lock)});
}

std::uint32_t wake(const volatile void* object, std::uint32_t most) {
  application.check();
  const LockId lock = named(object).id;
  end_work(EventKind::give);
  const std::uint64_t woken = wake_enlisted(lock, most);
  begin_work();
  return static_cast<std::uint32_t>(woken);
}

void see_all() {
  application.check();
  if (traits().operates_in_lock) {
    // Others' atomic operations hand on by a lock of their own.
    the_protocol().need_openmp_scope("a wait of the C++ library for an atomic variable");
    acquire_lock(atomic_lock);
    release_lock(atomic_lock);
  }
  synchronise_memory();
}

std::uint64_t next_own_number() {
  application.check();
  return own_numbers++ * processes() + index_of(self.process);
}

void took_private() {}
void gave_private() {}

}  // namespace sdsm::engine
