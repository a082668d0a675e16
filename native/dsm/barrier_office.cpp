#include <vector>

#include "models/scash/messages.hpp"
#include "native/dsm/counting.hpp"
#include "native/dsm/ending.hpp"
#include "native/dsm/heap_books.hpp"
#include "native/dsm/measured_region.hpp"
#include "native/dsm/offices.hpp"

namespace sdsm::dsm {
namespace {

struct BarrierOffice {
  std::uint32_t team = 1;
  std::vector<bool> arrived;    ///< by process
  bool is_dismissing = false;   ///< the program has ended
  std::uint32_t dismissed = 0;  ///< processes that have been told
  bool wants_end = false;       ///< another thread than the initial one has ended it
  Head wanted_end;
};
constinit BarrierOffice office GUARDED_BY(handling);

bool has_arrived(std::uint32_t process) REQUIRES(handling) {
  return process < office.arrived.size() && office.arrived[process];
}

void release_team() REQUIRES(handling) {
  for (std::uint32_t i = 0; i < office.team; ++i) {
    if (!has_arrived(i)) return;
  }
  end_waiting_of_blocks();
  const ClockCalls clock = clock_calls();
  for (std::uint32_t i = 0; i < office.team; ++i) {
    office.arrived[i] = false;
    count_served(ProcessId{i}, MessageKind::barrier_release, control_payload.count);
  }
  // This process goes on last: by then everything is counted that it may look at.
  for (std::uint32_t i = office.team; i-- > 0;) {
    answer(ProcessId{i}, {.kind = WireKind::barrier_release,
                          .generation = newest_generation(),
                          .address = clock.last_ns,
                          .value = clock.count});
  }
}

void dismiss(ProcessId member) REQUIRES(handling) {
  const ClockCalls clock = clock_calls();
  answer(member, {.kind = WireKind::quit, .address = clock.last_ns, .value = clock.count});
  ++office.dismissed;
}

void end_program() REQUIRES(handling) {
  office.arrived[index_of(self.process)] = false;
  answer(self.process, office.wanted_end);
}

}  // namespace

void want_end(const Head& head) {
  if (office.wants_end) return;
  office.wants_end = true;
  office.wanted_end = {.kind = WireKind::exit_run, .address = head.address, .value = head.value};
  if (has_arrived(index_of(self.process))) return end_program();
  end_without_initial_thread(static_cast<int>(head.value));
}

void arrive(ProcessId from) {
  office.arrived.resize(processes());
  if (office.wants_end && from == self.process) return end_program();
  if (office.is_dismissing && from != self.process) return dismiss(from);
  if (!office.wants_end && index_of(from) < office.team) check_divisions(from, 0);
  office.arrived[index_of(from)] = true;
  release_team();
}

void set_team(std::uint32_t size) {
  office.team = size;
}

void dismiss_all() {
  office.is_dismissing = true;
  for (std::uint32_t i = 1; i < processes(); ++i) {
    if (has_arrived(i)) dismiss(ProcessId{i});
  }
}

bool waits_for_team(ProcessId member) {
  return !office.wants_end && index_of(member) < office.team && has_arrived(index_of(member));
}

bool are_all_dismissed() {
  return office.dismissed + 1 >= processes();
}

}  // namespace sdsm::dsm
