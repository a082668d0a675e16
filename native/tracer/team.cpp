#include "native/tracer/team.hpp"

#include "native/gomp/engine.hpp"
#include "native/tracer/stacks.hpp"
#include "native/tracer/touch.hpp"

namespace sdsm::tracer {
namespace {

using trace::EventKind;

/// The team at work. A copy: the front end's lies on the program's stack, where reading it would count as a touch.
gomp::TeamStart team;
bool has_team = false;
std::uint32_t arrived = 0;

trace::Event team_event(EventKind kind) {
  return {kind, 0, team.region, team.size};
}

/// The latest of the members' clocks: when the last of them arrived.
std::uint64_t latest_clock() {
  std::uint64_t latest = 0;
  for (std::uint32_t i = 0; i < team.size; ++i) {
    if (thread_of(i).clock_ns > latest) latest = thread_of(i).clock_ns;
  }
  return latest;
}

void run_body(void* argument) {
  auto& self = *static_cast<VirtualThread*>(argument);
  begin_interval(self);
  gomp::run_member(team, self.number);
  end_interval(self, team_event(EventKind::join));
}

}  // namespace

bool is_in_team() {
  return has_team;
}
std::uint32_t current_team_size() {
  return has_team ? team.size : 1;
}
std::uint32_t arrived_members() {
  return arrived;
}

void work_in_teams(VirtualThread& self) {
  for (;;) {
    record_event(self, team_event(EventKind::team_begin), 0);
    close_pages(self, Closing::at_synchronisation);
    sdsm_call_on_stack(self.stack.end, run_body, &self);
    close_pages(self, Closing::at_synchronisation);
    self.status = ThreadStatus::idle;
    if (++arrived == team.size) {
      VirtualThread& initial = thread_of(0);
      initial.clock_ns = latest_clock();
      initial.status = ThreadStatus::runnable;
    }
    schedule();
  }
}

void wait_for_team(const trace::Event& event) {
  const auto team_size = static_cast<std::uint32_t>(event.value);
  VirtualThread& self = *running;
  end_interval(self, event);
  close_pages(self, Closing::at_synchronisation);
  if (++arrived == team_size) {
    arrived = 0;
    const std::uint64_t latest = latest_clock();
    for (std::uint32_t i = 0; i < team_size; ++i) {
      thread_of(i).clock_ns = latest;
      thread_of(i).status = ThreadStatus::runnable;
    }
  } else {
    self.status = ThreadStatus::at_barrier;
  }
  schedule();
  begin_interval(self);
}

}  // namespace sdsm::tracer

namespace sdsm::engine {

using namespace sdsm::tracer;

void run_team(const gomp::TeamStart& start) {
  VirtualThread& self = *running;
  end_interval(self, {EventKind::fork, 0, start.region, start.size});
  close_pages(self, Closing::at_synchronisation);
  const gomp::TeamStart outer = team;  // of one thread, so nobody waits in it
  const bool has_outer = has_team;
  team = start;
  has_team = true;
  arrived = 0;
  for (std::uint32_t i = 1; i < team.size; ++i) {
    VirtualThread& member = thread_of(i);
    create_thread(member);
    member.clock_ns = self.clock_ns;
    member.status = ThreadStatus::runnable;
  }
  begin_interval(self);

  gomp::run_member(team, 0);

  end_interval(self, team_event(EventKind::join));
  close_pages(self, Closing::at_synchronisation);
  if (++arrived < team.size) {
    self.status = ThreadStatus::at_join;
    schedule();
  } else {
    self.clock_ns = latest_clock();
  }
  team = outer;
  has_team = has_outer;
  arrived = 0;
  begin_interval(self);
}

void barrier(std::uint32_t team_size) {
  wait_for_team({EventKind::barrier, 0, 0, team_size});
}

}  // namespace sdsm::engine
