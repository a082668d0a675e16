/// Events of an OpenMP program: what its threads do with each other. An event ends an *interval*, in which its thread
/// computed and touched pages.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/ids.hpp"

namespace sdsm {

/// Event's `object`, `value` and `detail` have the meaning given here, or are 0.
enum class EventKind : std::uint8_t {
  fork,        ///< initial thread: starts a team. object: number of the region (0, 1, ...); value: team size
  team_begin,  ///< other team members: begin the region. object, value: as in `fork`. Closes an empty interval
  join,        ///< every member: end of the region (an implied barrier). object, value: as in `fork`
  barrier,     ///< explicit or implied barrier inside a region. value: team size
  acquire,  ///< asks for a lock. object: LockId; detail: LockClass; value: of class ordered, the turn (has_turn()); of
            ///< a lock, 1 if the thread only tried to take it, and did (was_tried())
  release,  ///< releases a lock. object: LockId; detail: LockClass
  single,   ///< reaches a `single`. object: construct number; detail: 1 for the thread that executes it
  copyprivate,  ///< barrier at which a `single copyprivate` distributes its values. object: construct; value: team size
  loop_begin,  ///< begins a work-shared loop or sections. object: construct number; detail: Schedule; value: iterations
  chunk,       ///< takes a chunk from shared loop state. object: construct number; value: iterations in it (0: no more)
  loop_end,    ///< leaves a work-shared loop or sections (a barrier is a separate event). object: construct
  flush,       ///< an explicit flush seen by the run-time
  task,        ///< begins a task (run in place)
  clock,   ///< reads a clock. detail: ClockSource. The initial thread's readings bound the measured region (rank_of)
  end,     ///< the thread's last interval
  post,    ///< counts a flag up (doacross: depend(source)). object: flag (models/locks.hpp); value: the new count
  wait,    ///< waits for a flag's count (depend(sink)). object, value: as in `post`
  atomic,  ///< an inline atomic operation on shared memory. object: RegionId; value: its byte in the region; detail:
           ///< number of changed words (0 to 4), and compares_found
  fence,   ///< a fence instruction: from here on, own changes are visible to others, and others' to the thread
  /// Takes a library's object (a unit of a semaphore, a read-write lock), or is woken by one. object: LockId; detail:
  /// ObjectClass. value of a semaphore or read-write lock: by how much its takes less its gives so far exceed its
  /// number (demand.hpp; 32 bits, with sign), as it may have been set, or its address reused. value of a condition, and
  /// of any object in older traces: least number of earlier gives
  take,
  give,  ///< releases or posts it, or wakes others. object, detail: as in `take`
  meet,  ///< meets others at a library's barrier. object: LockId; value: arrivals so far, in all
  spin,  ///< waited in its own loop for another thread's store. object: that thread; value: how many of its events had
         ///< begun
};

inline constexpr unsigned event_kinds = static_cast<unsigned>(EventKind::spin) + 1;

enum class LockClass : std::uint8_t { lock, nest_lock, critical, atomic, ordered };
/// Older traces use the first two.
enum class ObjectClass : std::uint8_t { given_semaphore, given_read_write_lock, condition, semaphore, reader, writer };
enum class Schedule : std::uint8_t { static_, dynamic, guided, sections };

constexpr std::string_view name_of(EventKind kind) {
  constexpr std::array<std::string_view, event_kinds> names{
      "fork",       "team_begin", "join",     "barrier", "acquire", "release", "single", "copyprivate",
      "loop_begin", "chunk",      "loop_end", "flush",   "task",    "clock",   "end",    "post",
      "wait",       "atomic",     "fence",    "take",    "give",    "meet",    "spin"};
  return name_in(names, kind);
}
constexpr std::string_view name_of(LockClass lock_class) {
  return name_in(std::array<std::string_view, 5>{"lock", "nest_lock", "critical", "atomic", "ordered"}, lock_class);
}
constexpr std::string_view name_of(ObjectClass object_class) {
  constexpr std::array<std::string_view, 6> names{
      "given_semaphore", "given_read_write_lock", "condition", "semaphore", "reader", "writer"};
  return name_in(names, object_class);
}
constexpr std::string_view name_of(Schedule schedule) {
  return name_in(std::array<std::string_view, 4>{"static", "dynamic", "guided", "sections"}, schedule);
}

struct Event {
  EventKind kind{};
  std::uint8_t detail = 0;
  std::uint64_t object = 0;
  std::uint64_t value = 0;
  /// For kinds whose value is a team's size: 0 for the team of the fork, else a part of it (a sub-team).
  std::uint32_t team = 0;

  bool operator==(const Event&) const = default;
};

/// Whether the event's value is its turn: the ordered region's place, from 1, in the order of the loops' iterations. It
/// is 0 in older traces, which lack it.
constexpr bool has_turn(const Event& event) {
  return event.kind == EventKind::acquire && event.detail == static_cast<std::uint8_t>(LockClass::ordered);
}
/// Whether programs may try to take such locks: by omp_test_lock and the like. A library's mutex counts as a lock.
constexpr bool may_be_tried(LockClass lock) {
  return lock <= LockClass::nest_lock;
}
/// Whether the event's value says if the thread only tried, and would have gone on without the lock.
constexpr bool tells_try(const Event& event) {
  return event.kind == EventKind::acquire && may_be_tried(static_cast<LockClass>(event.detail));
}
constexpr bool was_tried(const Event& event) {
  return tells_try(event) && event.value == 1;
}

/// Marks a compare-exchange with the value that the thread had loaded. If another thread's operation comes between, it
/// fails, and the thread repeats it with the value that it then found.
inline constexpr std::uint8_t compares_found = 8;

constexpr std::uint8_t words_changed(const Event& atomic) {
  return atomic.detail & (compares_found - 1);
}

// Numbers of locks; others follow in the order of their first use.
inline constexpr LockId critical_lock{0};  ///< of the critical section without a name
inline constexpr LockId atomic_lock{1};    ///< of atomic operations that gcc compiles to calls
inline constexpr LockId ordered_lock{2};   ///< of ordered regions
inline constexpr std::uint32_t first_named_lock = 3;

/// The lock of a construct that has no name. Precondition: class critical or atomic.
constexpr LockId nameless_lock(LockClass lock_class) {
  return lock_class == LockClass::atomic ? atomic_lock : critical_lock;
}

/// Units of a touch's place in its interval: position p is p/256 of the compute time.
inline constexpr unsigned position_steps = 256;

}  // namespace sdsm
