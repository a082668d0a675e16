#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "models/scash/messages.hpp"
#include "native/dsm/books/heap_books.hpp"
#include "native/dsm/openmp/barrier_requests.hpp"
#include "native/dsm/openmp/gang_requests.hpp"
#include "native/dsm/openmp/measured_region.hpp"
#include "native/dsm/process/ending.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

struct BarrierHandler {
  std::uint32_t team = 1;
  std::vector<bool> arrived;    ///< by process
  bool is_dismissing = false;   ///< the program has ended
  std::uint64_t ended_ns = 0;   ///< when it has
  std::uint32_t dismissed = 0;  ///< processes that have their answer
  bool others_have_exit_functions = false;
  Dismissal dismissal = Dismissal::at_once;
  std::vector<bool> awaits_turn;   ///< to run exit functions, by process
  std::uint32_t turn = 1;          ///< whose it is: one after the other, as one thread would run them
  std::optional<int> exit_status;  ///< if one of them ended the program
  bool wants_end = false;          ///< another thread than the initial one has ended it
  Head wanted_end;
};
constinit BarrierHandler barrier_handler GUARDED_BY(handling);

bool has_arrived(std::uint32_t process) REQUIRES(handling) {
  return process < barrier_handler.arrived.size() && barrier_handler.arrived[process];
}

void release_team() REQUIRES(handling) {
  for (std::uint32_t i = 0; i < barrier_handler.team; ++i) {
    if (!has_arrived(i)) return;
  }
  // A diff of a page that has lost its block would go nowhere.
  if (the_protocol().are_changes_home()) end_waiting_of_blocks();
  std::fill_n(barrier_handler.arrived.begin(), barrier_handler.team, false);
  const ClockCalls clock = clock_calls();
  the_protocol().release_team(barrier_handler.team, {.kind = WireKind::barrier_release,
                                                     .generation = newest_generation(),
                                                     .address = clock.last_ns,
                                                     .value = clock.number()});
}

void dismiss(ProcessId member) REQUIRES(handling) {
  const ClockCalls clock = clock_calls();
  answer(member, {.kind = barrier_handler.dismissal == Dismissal::at_once ? WireKind::quit : WireKind::quit_in_turn,
                  .generation = static_cast<std::uint32_t>(barrier_handler.ended_ns),
                  .address = clock.last_ns,
                  .value = clock.number()});
  ++barrier_handler.dismissed;
}

void give_end_turn() REQUIRES(handling) {
  if (!barrier_handler.awaits_turn[barrier_handler.turn]) return;
  barrier_handler.awaits_turn[barrier_handler.turn] = false;
  answer(ProcessId{barrier_handler.turn}, {.kind = WireKind::done, .generation = newest_generation()});
}

void end_program() REQUIRES(handling) {
  barrier_handler.arrived[index_of(self.process)] = false;
  answer(self.process, barrier_handler.wanted_end);
}

}  // namespace

void want_end(const Head& head) {
  if (barrier_handler.wants_end) return;
  barrier_handler.wants_end = true;
  barrier_handler.wanted_end = {.kind = WireKind::exit_run, .address = head.address, .value = head.value};
  if (has_arrived(index_of(self.process))) return end_program();
  end_without_initial_thread(static_cast<int>(head.value));
}

void arrive(ProcessId from, const Head& head, const std::byte* notices) {
  barrier_handler.arrived.resize(processes());
  the_protocol().note_arrival(from, head, notices);
  if (barrier_handler.wants_end && from == self.process) return end_program();
  if (barrier_handler.is_dismissing && from != self.process) return dismiss(from);
  if (!barrier_handler.wants_end && index_of(from) < barrier_handler.team) check_divisions(from, 0);
  barrier_handler.arrived[index_of(from)] = true;
  release_team();
}

void set_team(std::uint32_t size) {
  barrier_handler.team = size;
}

void note_exit_functions() {
  barrier_handler.others_have_exit_functions = true;
}

bool others_have_exit_functions() {
  return barrier_handler.others_have_exit_functions;
}

void dismiss_all(std::uint64_t ended_ns, Dismissal dismissal) {
  if (std::exchange(barrier_handler.is_dismissing, true)) return;
  barrier_handler.ended_ns = ended_ns;
  barrier_handler.dismissal = dismissal;
  barrier_handler.awaits_turn.resize(processes());
  for (std::uint32_t i = 1; i < processes(); ++i) {
    if (has_arrived(i)) dismiss(ProcessId{i});
  }
}

bool waits_for_team(ProcessId member) {
  return !barrier_handler.wants_end && index_of(member) < barrier_handler.team && has_arrived(index_of(member));
}

bool are_all_dismissed() {
  return barrier_handler.dismissed + 1 >= processes() &&
         (barrier_handler.dismissal == Dismissal::at_once || barrier_handler.turn >= processes());
}

void await_end_turn(ProcessId from) {
  barrier_handler.awaits_turn[index_of(from)] = true;
  give_end_turn();
}

void pass_end_turn(const Head& head) {
  if (head.address != 0) barrier_handler.exit_status = static_cast<int>(head.value);
  ++barrier_handler.turn;
  if (barrier_handler.turn < processes()) give_end_turn();
}

std::optional<int> status_of_exit_functions() {
  return barrier_handler.exit_status;
}

void let_others_leave() {
  if (!barrier_handler.is_dismissing || barrier_handler.dismissal == Dismissal::at_once) return;
  for (std::uint32_t i = 1; i < processes(); ++i) answer(ProcessId{i}, {.kind = WireKind::done});
}

}  // namespace sdsm::dsm
