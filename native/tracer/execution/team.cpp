#include "native/tracer/execution/team.hpp"

#include <algorithm>

#include "native/guest/openmp/engine.hpp"
#include "native/guest/runtime/raw_memory.hpp"
#include "native/tracer/execution/stacks.hpp"
#include "native/tracer/execution/touch.hpp"

namespace sdsm::tracer {
namespace {

struct Team {
  gomp::TeamStart start;  ///< a copy: the front end's lies on the program's stack, where reading it would be a touch
  std::uint32_t arrived = 0;  ///< members at the barrier, or the join, that the others wait at
};
constinit Team team GUARDED_BY(turn);

/// A division that some member of the divided gang has yet to make.
struct OpenDivision {
  std::uint64_t key = 0;
  std::uint64_t whole = 0;  ///< key of what is divided; 0: the team
  sdsm_division how{};      ///< as the first member divided
  int came = 0;
  bool* has_come = nullptr;  ///< by thread of the team
};
constinit GrowingArray<OpenDivision> divisions GUARDED_BY(turn);

OpenDivision& division_of(const gomp::Gang& gang) REQUIRES(turn) {
  for (OpenDivision& open : divisions) {
    if (open.key == gang.division_key) return open;
  }
  const std::uint64_t whole = gang.outer != nullptr && gang.outer->id != 0 ? gang.outer->key : 0;
  auto* const has_come = static_cast<bool*>(engine::allocate_private(team.start.size));
  std::fill_n(has_come, team.start.size, false);
  divisions.push_back({gang.division_key, whole, gang.division, 0, has_come});
  return divisions.back();
}

void close(OpenDivision& open) REQUIRES(turn) {
  engine::free_private(open.has_come);
  open = divisions.back();
  divisions.pop_back();
}

/// Checks, when the caller comes to a barrier of the gang, or the team, that all members divided it alike.
void check_divisions(std::uint64_t whole) REQUIRES(turn) {
  const std::uint32_t self = running_thread().number;
  for (const OpenDivision& open : divisions) {
    if (open.whole == whole && !open.has_come[self]) engine::refuse("sdsm_divide", SDSM_DIVIDED_OTHERWISE);
  }
}

/// check_divisions() at the end of the team, after which no division of it is open.
void check_divisions_at_join() REQUIRES(turn) {
  check_divisions(0);
  if (team.arrived + 1 == team.start.size && !divisions.is_empty())
    engine::refuse("sdsm_divide", SDSM_DIVIDED_OTHERWISE);
}

bool is_in_team() {
  return watched.is_in_team.load(std::memory_order_relaxed);
}

Event team_event(EventKind kind) REQUIRES(turn) {
  return {kind, 0, team.start.region, team.start.size};
}

/// The latest of the members' clocks: when the last of them arrived.
std::uint64_t latest_clock() REQUIRES(turn) {
  std::uint64_t latest = 0;
  for (std::uint32_t i = 0; i < team.start.size; ++i) {
    if (thread_of(i).clock_ns > latest) latest = thread_of(i).clock_ns;
  }
  return latest;
}

bool waits_at_barrier_of(std::uint32_t sub_team, const VirtualThread& thread) REQUIRES(turn) {
  return thread.status == ThreadStatus::at_barrier && thread.sub_team == sub_team;
}

/// `frame`: the run-time's, above which the body runs.
void enter_body(VirtualThread& self, std::uintptr_t frame) REQUIRES(turn) {
  self.team_body = reinterpret_cast<std::uintptr_t>(team.start.body);
  self.team_frame = frame;
}

void run_body(void* argument) REQUIRES(turn) {
  auto& self = *static_cast<VirtualThread*>(argument);
  enter_body(self, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  begin_interval(self);
  gomp::run_member(team.start, self.number);
  check_divisions_at_join();
  end_interval(self, team_event(EventKind::join));
  self.team_body = self.team_frame = 0;
}

}  // namespace

bool has_yet_to_begin(const VirtualThread& member) {
  return is_in_team() && member.number < team.start.size && !member.has_begun && member.status != ThreadStatus::idle;
}

bool has_done_its_part(const VirtualThread& member) {
  return is_in_team() && member.number < team.start.size && member.status == ThreadStatus::idle;
}

void begin_part(VirtualThread& member) {
  record_event(member, team_event(EventKind::team_begin), 0);
  close_pages(member, Closing::at_synchronisation);
  member.has_begun = true;
}

std::uint32_t current_team_size() {
  return is_in_team() ? team.start.size : 1;
}

void work_in_teams(VirtualThread& self) {
  for (;;) {
    begin_part(self);
    sdsm_call_on_stack(self.stack.end, run_body, &self);
    close_pages(self, Closing::at_synchronisation);
    self.has_begun = false;
    stop(self, ThreadStatus::idle);
    if (++team.arrived == team.start.size) wake(thread_of(0), latest_clock());
    schedule();
  }
}

void wait_for_team(const Event& event) {
  VirtualThread& self = running_thread();
  if (event.value != current_team_size()) end_run({"an error of sdsm's: a barrier is not as large as its team"});
  self.private_locks = 0;  // one that an exception has left is not held any more
  synchronise(self, event);
  if (++team.arrived < team.start.size) {
    stop(self, ThreadStatus::at_barrier);
  } else {
    team.arrived = 0;
    const std::uint64_t latest = latest_clock();
    for (std::uint32_t i = 0; i < team.start.size; ++i) {
      if (i != self.number) wake(thread_of(i), latest);
    }
    self.clock_ns = latest;
  }
  schedule();
  begin_interval(self);
}

void wait_for_gang(const Event& event) {
  VirtualThread& self = running_thread();
  synchronise(self, event);
  self.sub_team = event.team;
  std::uint64_t here = 1;
  std::uint64_t latest = self.clock_ns;
  for (std::uint32_t i = 0; i < team.start.size; ++i) {
    if (!waits_at_barrier_of(event.team, thread_of(i))) continue;
    ++here;
    if (thread_of(i).clock_ns > latest) latest = thread_of(i).clock_ns;
  }
  if (here < event.value) {
    stop(self, ThreadStatus::at_barrier);
  } else {
    for (std::uint32_t i = 0; i < team.start.size; ++i) {
      if (waits_at_barrier_of(event.team, thread_of(i))) wake(thread_of(i), latest);
    }
    self.clock_ns = latest;
  }
  schedule();
  self.sub_team = 0;
  begin_interval(self);
}

}  // namespace sdsm::tracer

namespace sdsm::engine {

using namespace sdsm::tracer;

void run_team(const gomp::TeamStart& start) {
  VirtualThread& self = running_thread();
  self.call_site = reinterpret_cast<std::uintptr_t>(start.body);
  synchronise(self, {EventKind::fork, 0, start.region, start.size});
  if (self.number != 0 || current_team_size() > 1) end_run({"an error of sdsm's: a team starts inside another"});
  const Team outer = team;  // of one thread, so nobody waits in it
  const bool has_outer = is_in_team();
  team = {.start = start};
  watched.is_in_team.store(true, std::memory_order_relaxed);
  for (std::uint32_t i = 1; i < start.size; ++i) {
    VirtualThread& member = thread_of(i);
    create_thread(member);
    wake(member, self.clock_ns);
  }
  const std::uintptr_t outer_body = self.team_body, outer_frame = self.team_frame;
  enter_body(self, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  begin_interval(self);

  gomp::run_member(team.start, 0);

  check_divisions_at_join();
  synchronise(self, team_event(EventKind::join));
  if (++team.arrived < team.start.size) {
    stop(self, ThreadStatus::at_join);
    schedule();
  } else {
    self.clock_ns = latest_clock();
  }
  self.team_body = outer_body;
  self.team_frame = outer_frame;
  team = outer;
  watched.is_in_team.store(has_outer, std::memory_order_relaxed);
  begin_interval(self);
}

void barrier(std::uint32_t team_size) {
  enter();
  check_divisions(0);
  wait_for_team({EventKind::barrier, 0, 0, team_size});
}

void gang_barrier(const gomp::Gang& gang) {
  enter();
  check_divisions(gang.key);
  wait_for_gang({EventKind::barrier, 0, 0, gang.size, gang.id});
}

void note_division(const gomp::Gang& gang) {
  enter();
  if (gang.division.threads == 1) return;
  const VirtualThread& self = running_thread();
  bool is_alike = true;
  {
    const Uninterrupted guard;
    OpenDivision& open = division_of(gang);
    is_alike = open.how.partition == gang.division.partition && open.how.gangs == gang.division.gangs &&
               open.how.unit == gang.division.unit;
    open.has_come[self.number] = true;
    const std::uint32_t whole_id = open.whole != 0 ? gang.outer->id : 0;
    for (std::uint32_t i = 0; i < team.start.size; ++i) {
      is_alike &= open.has_come[i] || !waits_at_barrier_of(whole_id, thread_of(i));
    }
    if (++open.came == gang.division.threads) close(open);
  }
  if (!is_alike) refuse("sdsm_divide", SDSM_DIVIDED_OTHERWISE);
}

/// Members that wait for it at the gang's barrier are deadlocked with those that wait for them at the next.
void leave_gang(const gomp::Gang& /*gang*/) {}

}  // namespace sdsm::engine
