#include "native/dsm/team.hpp"

#include <cstring>

#include "models/openmp.hpp"
#include "native/dsm/cluster.hpp"
#include "native/dsm/coherence.hpp"
#include "native/dsm/emulation.hpp"
#include "native/dsm/heap_books.hpp"
#include "native/dsm/managers.hpp"
#include "native/dsm/standard_output.hpp"
#include "native/dsm/start.hpp"
#include "native/dsm/steps.hpp"
#include "native/dsm/synchronisation.hpp"
#include "native/gomp/engine.hpp"
#include "native/program/stacks.hpp"

namespace sdsm::dsm {
namespace {

static_assert(sizeof(gomp::TeamStart) <= page_payload.count);

gomp::TeamStart* region_page() {
  return reinterpret_cast<gomp::TeamStart*>(address_of(AdministrativePage::region));
}

void run_body(void* start) {
  gomp::run_member(*static_cast<const gomp::TeamStart*>(start), index_of(self.process));
}

}  // namespace

void work_in_teams() {
  static gomp::TeamStart start;  // a copy: the page goes at the region's first barrier
  for (;;) {
    perform(
        Directive::fork_worker, [] { std::memcpy(&start, region_page(), sizeof start); }, nothing,
        [] { pass_barrier(true); });
    begin_work();
    end_work(trace::EventKind::team_begin);
    begin_work();
    program::sdsm_call_on_stack(own_stack_end(), run_body, &start);
    end_work(trace::EventKind::join);
    flush_output();
    pass_barrier();
  }
}

/// A team of one has nobody to wait for, and the others wait for the next team, not for this one's barriers.
void wait_for_team(std::uint32_t team_size) {
  if (team_size > 1) {
    pass_barrier();
  } else {
    ++tally.barriers;
  }
}

}  // namespace sdsm::dsm

namespace sdsm::engine {

using namespace dsm;

void run_team(const gomp::TeamStart& start) {
  end_work(gomp::EventKind::fork);
  if (start.size == 1) {
    wait_for_team(1);
    begin_work();
    gomp::run_member(start, 0);
    end_work(gomp::EventKind::join);
    wait_for_team(1);
    begin_work();
    return;
  }
  const gomp::TeamStart team = start;
  flush_output();
  while_nothing_is_handled(set_team, team.size);
  perform(
      Directive::fork_master, nothing,
      [&] {
        std::memcpy(region_page(), &team, sizeof team);
        begin_parallel_region();
      },
      [] { pass_barrier(); });
  begin_work();
  gomp::run_member(team, 0);
  end_work(gomp::EventKind::join);
  pass_barrier();
  end_parallel_region();
  begin_work();
}

void barrier(std::uint32_t team_size) {
  end_work(gomp::EventKind::barrier);
  wait_for_team(team_size);
  begin_work();
}

}  // namespace sdsm::engine
