#include "native/dsm/openmp/team.hpp"

#include <cstring>

#include "models/scash/directives.hpp"
#include "native/dsm/books/heap_books.hpp"
#include "native/dsm/files/open_files.hpp"
#include "native/dsm/files/standard_output.hpp"
#include "native/dsm/memory/stacks.hpp"
#include "native/dsm/openmp/barrier_requests.hpp"
#include "native/dsm/openmp/gang_requests.hpp"
#include "native/dsm/openmp/lock_requests.hpp"
#include "native/dsm/openmp/steps.hpp"
#include "native/dsm/openmp/synchronisation.hpp"
#include "native/dsm/process/inherited.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/timing/emulation.hpp"
#include "native/dsm/timing/timeline_log.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/kernel/fortran.hpp"
#include "native/guest/memory/stacks.hpp"
#include "native/guest/openmp/engine.hpp"
#include "native/guest/openmp/thread.hpp"

namespace sdsm::dsm {
namespace {

/// Data that the initial thread writes for the others.
struct Start {
  gomp::TeamStart team;
  Inherited inherited;
  ProcessState state;
  program::FortranSettings fortran;
  FilesOfInitial files;
  std::uint64_t number = 0;  ///< from 1, of the teams that have others
};
static_assert(sizeof(Start) <= page_payload.count);

Start* region_page() {
  return reinterpret_cast<Start*>(address_of(AdministrativePage::region));
}

/// The initial thread's original; elsewhere a copy of the page, which goes at the region's first barrier.
constinit Start own_start GUARDED_BY(application);

/// Behind it no member uses flags of constructs that they all have left.
void pass_team_barrier(std::uint32_t team_size) REQUIRES(application) EXCLUDES(handling) {
  pass_barrier(team_size == processes() ? Barrier::of_all : Barrier::of_some);
  const Held nothing_is_handled(handling);
  forget_flags_before(gomp::this_thread().next_construct);
}

void run_body(void* start) {
  gomp::run_member(*static_cast<const gomp::TeamStart*>(start), index_of(self.process));
}

}  // namespace

void work_in_teams() {
  spend(Spent::idle, {self.begun_ns, 0});  // its start, in which process 0 may be computing already
  std::uint64_t last = 0;
  for (;;) {
    perform(
        Directive::fork_worker,
        []() REQUIRES(application) { std::memcpy(&own_start, region_page(), sizeof own_start); }, nothing,
        []() REQUIRES(application) { pass_barrier(Barrier::fork_worker); });
    the_protocol().note_peers(true);
    // libgomp ends the threads for which a team has no use, and creates others for the next one.
    if (last == 0 || own_start.number != last + 1) own_start.inherited.give_to_this_thread();
    own_start.state.give_to_this_process();
    own_start.files.learn_files_of_initial();
    // The library gets them once, at the begin of main.
    if (last == 0) own_start.fortran.give_to_this_process();
    last = own_start.number;
    begin_work();
    end_work(EventKind::team_begin);
    begin_work();
    program::sdsm_call_on_stack(stack_of(index_of(self.process)).end, run_body, &own_start.team);
    end_work(EventKind::join);
    flush_output();
    pass_team_barrier(own_start.team.size);
  }
}

/// A team of one has nobody to wait for, and the others wait for the next team, not for this one's barriers.
void wait_for_team(std::uint32_t team_size) {
  if (team_size > 1) {
    pass_team_barrier(team_size);
  } else {
    ++asked.barriers;
  }
}

}  // namespace sdsm::dsm

namespace sdsm::engine {

using namespace dsm;

void run_team(const gomp::TeamStart& start) {
  application.check();
  end_work(EventKind::fork);
  if (start.size == 1) {
    wait_for_team(1);
    begin_work();
    gomp::run_member(start, 0);
    end_work(EventKind::join);
    wait_for_team(1);
    begin_work();
    return;
  }
  static constinit std::uint64_t teams = 0;
  // Not on the stack, which has to be as deep here as in the tracer: the region's variables lie on the same pages.
  own_start.team = start;
  own_start.inherited = Inherited::of_this_thread();
  own_start.state = ProcessState::of_initial();
  own_start.fortran = program::FortranSettings::of_this_process();
  own_start.files = FilesOfInitial::now();
  own_start.number = ++teams;
  const gomp::TeamStart& team = own_start.team;
  if (team.size < processes()) the_protocol().need_openmp_scope("a barrier of some of the run's threads");
  if (holds_a_lock()) the_protocol().need_openmp_scope("a parallel region that begins within a lock");
  flush_output();
  {
    const Held nothing_is_handled(handling);
    set_team(team.size);
  }
  end_alone();
  perform(
      Directive::fork_master, nothing,
      [&] {
        std::memcpy(region_page(), &own_start, sizeof own_start);
        begin_parallel_region();
      },
      []() REQUIRES(application) { pass_barrier(Barrier::of_some); });
  begin_work();
  the_protocol().note_peers(true);
  gomp::run_member(team, 0);
  end_work(EventKind::join);
  pass_team_barrier(team.size);
  the_protocol().note_peers(false);
  begin_alone();
  end_parallel_region();
  begin_work();
}

void barrier(std::uint32_t team_size) {
  application.check();
  end_work(EventKind::barrier);
  wait_for_team(team_size);
  begin_work();
}

void gang_barrier(const gomp::Gang& gang) {
  application.check();
  if (!traits().has_gang_barriers && gang.size > 1) {
    program::end_run(
        {"the program divides its team (sdsm_divide), and under this protocol sdsm run has no barriers of gangs. Give "
         "--protocol scash"});
  }
  end_work(EventKind::barrier);
  if (gang.size > 1) {
    pass_gang_barrier(gang);
  } else {
    wait_for_team(1);
  }
  begin_work();
}

void note_division(const gomp::Gang& gang) {
  application.check();
  if (gang.division.threads > 1) dsm::note_division(gang);
}

void leave_gang(const gomp::Gang& gang) {
  application.check();
  if (gang.size > 1) dsm::leave_gang(gang);
}

}  // namespace sdsm::engine
