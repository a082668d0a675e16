#include "native/tracer/team.hpp"

#include "native/gomp/engine.hpp"
#include "native/tracer/stacks.hpp"
#include "native/tracer/touch.hpp"

namespace sdsm::tracer {
namespace {

using trace::EventKind;

struct Team {
  gomp::TeamStart start;  ///< a copy: the front end's lies on the program's stack, where reading it would be a touch
  std::uint32_t arrived = 0;  ///< members at the barrier, or the join, that the others wait at
};
constinit Team team GUARDED_BY(turn);

bool is_in_team() {
  return watched.is_in_team.load(std::memory_order_relaxed);
}

trace::Event team_event(EventKind kind) REQUIRES(turn) {
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

void run_body(void* argument) REQUIRES(turn) {
  auto& self = *static_cast<VirtualThread*>(argument);
  begin_interval(self);
  gomp::run_member(team.start, self.number);
  end_interval(self, team_event(EventKind::join));
}

}  // namespace

std::uint32_t current_team_size() {
  return is_in_team() ? team.start.size : 1;
}

void work_in_teams(VirtualThread& self) {
  for (;;) {
    record_event(self, team_event(EventKind::team_begin), 0);
    close_pages(self, Closing::at_synchronisation);
    sdsm_call_on_stack(self.stack.end, run_body, &self);
    close_pages(self, Closing::at_synchronisation);
    stop(self, ThreadStatus::idle);
    if (++team.arrived == team.start.size) wake(thread_of(0), latest_clock());
    schedule();
  }
}

void wait_for_team(const trace::Event& event) {
  VirtualThread& self = running_thread();
  if (event.value != current_team_size()) end_run({"an error of sdsm's: a barrier is not as large as its team"});
  end_interval(self, event);
  close_pages(self, Closing::at_synchronisation);
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

void wait_for_gang(const trace::Event& event) {
  VirtualThread& self = running_thread();
  end_interval(self, event);
  close_pages(self, Closing::at_synchronisation);
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
  end_interval(self, {EventKind::fork, 0, start.region, start.size});
  close_pages(self, Closing::at_synchronisation);
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
  begin_interval(self);

  gomp::run_member(team.start, 0);

  end_interval(self, team_event(EventKind::join));
  close_pages(self, Closing::at_synchronisation);
  if (++team.arrived < team.start.size) {
    stop(self, ThreadStatus::at_join);
    schedule();
  } else {
    self.clock_ns = latest_clock();
  }
  team = outer;
  watched.is_in_team.store(has_outer, std::memory_order_relaxed);
  begin_interval(self);
}

void barrier(std::uint32_t team_size) {
  enter();
  wait_for_team({EventKind::barrier, 0, 0, team_size});
}

void gang_barrier(const gomp::Gang& gang) {
  enter();
  wait_for_gang({EventKind::barrier, 0, 0, gang.size, gang.id});
}

void note_division(const gomp::Gang& /*gang*/) {}

/// Members who wait for it at the gang's barrier are deadlocked with those who wait for them at the next.
void leave_gang(const gomp::Gang& /*gang*/) {}

}  // namespace sdsm::engine
