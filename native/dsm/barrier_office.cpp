#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "models/scash/messages.hpp"
#include "native/dsm/counting.hpp"
#include "native/dsm/ending.hpp"
#include "native/dsm/heap_books.hpp"
#include "native/dsm/measured_region.hpp"
#include "native/dsm/offices.hpp"
#include "native/program/ending.hpp"

namespace sdsm::dsm {
namespace {

struct BarrierOffice {
  std::uint32_t team = 1;
  std::vector<bool> arrived;    ///< by process
  bool is_dismissing = false;   ///< the program has ended
  std::uint64_t ended_ns = 0;   ///< when it has
  std::uint32_t dismissed = 0;  ///< processes that have been told
  bool others_have_exit_functions = false;
  Dismissal dismissal = Dismissal::at_once;
  std::vector<bool> awaits_turn;    ///< to run exit functions, by process
  std::uint32_t turn = 1;           ///< whose it is: one after the other, as one thread would run them
  std::optional<int> exit_status;   ///< if one of them ended the program
  std::vector<NoticeRun> gathered;  ///< notices of the epoch
  std::vector<NoticeRun> ended;     ///< of the one before
  std::uint32_t epochs = 0;         ///< that have ended
  bool has_flushed = false;         ///< all members' changes are home when the last one has come
  bool ends_epoch = false;          ///< and their notices are here
  bool wants_end = false;           ///< another thread than the initial one has ended it
  Head wanted_end;
};
constinit BarrierOffice office GUARDED_BY(handling);

bool has_arrived(std::uint32_t process) REQUIRES(handling) {
  return process < office.arrived.size() && office.arrived[process];
}

/// As many of the ended epoch's notices from number `first` on as go into a message.
std::uint32_t bytes_from(std::size_t first) REQUIRES(handling) {
  return static_cast<std::uint32_t>(std::min(most_notices, office.ended.size() - first) * sizeof(NoticeRun));
}

/// What the members of the team are told.
Head release_of_team() REQUIRES(handling) {
  const ClockCalls clock = clock_calls();
  Head release{.kind = WireKind::barrier_release,
               .generation = newest_generation(),
               .address = clock.last_ns,
               .value = clock.number()};
  if (std::exchange(office.ends_epoch, false)) {
    office.ended = std::exchange(office.gathered, {});
    release.bytes = bytes_from(0);
    release.address = office.epochs++;
    release.value = office.ended.size();
  }
  return release;
}

void release_team() REQUIRES(handling) {
  for (std::uint32_t i = 0; i < office.team; ++i) {
    if (!has_arrived(i)) return;
  }
  // A diff of a page that has lost its block would go nowhere.
  if (plays_jiajia() || std::exchange(office.has_flushed, false)) end_waiting_of_blocks();
  const Head release = release_of_team();
  for (std::uint32_t i = 0; i < office.team; ++i) {
    office.arrived[i] = false;
    if (!plays_jiajia()) count_served(ProcessId{i}, MessageKind::barrier_release, control_payload.count);
  }
  if (plays_jiajia()) return answer_team(office.team, release);
  // This process goes on last: by then everything is counted that it may look at.
  for (std::uint32_t i = office.team; i-- > 0;) answer(ProcessId{i}, release, office.ended.data());
}

void dismiss(ProcessId member) REQUIRES(handling) {
  const ClockCalls clock = clock_calls();
  answer(member, {.kind = office.dismissal == Dismissal::at_once ? WireKind::quit : WireKind::quit_in_turn,
                  .generation = static_cast<std::uint32_t>(office.ended_ns),
                  .address = clock.last_ns,
                  .value = clock.number()});
  ++office.dismissed;
}

void give_end_turn() REQUIRES(handling) {
  if (!office.awaits_turn[office.turn]) return;
  office.awaits_turn[office.turn] = false;
  answer(ProcessId{office.turn}, {.kind = WireKind::done, .generation = newest_generation()});
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

void arrive(ProcessId from, const Head& head, const std::byte* notices) {
  office.arrived.resize(processes());
  gather_notices(head, notices);
  office.has_flushed |= head.value != 0;
  office.ends_epoch |= head.value == notices_are_here;
  if (office.wants_end && from == self.process) return end_program();
  if (office.is_dismissing && from != self.process) return dismiss(from);
  if (!office.wants_end && index_of(from) < office.team) check_divisions(from, 0);
  office.arrived[index_of(from)] = true;
  release_team();
}

void gather_notices(const Head& head, const std::byte* notices) {
  const std::size_t before = office.gathered.size();
  office.gathered.resize(before + head.bytes / sizeof(NoticeRun));
  for (std::size_t i = before; i < office.gathered.size(); ++i)
    std::memcpy(&office.gathered[i], notices + (i - before) * sizeof(NoticeRun), sizeof(NoticeRun));
}

void tell_more_notices(ProcessId from, const Head& head) {
  if (head.value >= office.ended.size()) {
    program::end_run({"process ", program::Decimal(index_of(from)), " asks for notices that nobody sent"});
  }
  answer(from, {.kind = WireKind::done, .bytes = bytes_from(head.value)}, office.ended.data() + head.value);
}

void set_team(std::uint32_t size) {
  office.team = size;
}

void note_exit_functions() {
  office.others_have_exit_functions = true;
}

bool others_have_exit_functions() {
  return office.others_have_exit_functions;
}

void dismiss_all(std::uint64_t ended_ns, Dismissal dismissal) {
  if (std::exchange(office.is_dismissing, true)) return;
  office.ended_ns = ended_ns;
  office.dismissal = dismissal;
  office.awaits_turn.resize(processes());
  for (std::uint32_t i = 1; i < processes(); ++i) {
    if (has_arrived(i)) dismiss(ProcessId{i});
  }
}

bool waits_for_team(ProcessId member) {
  return !office.wants_end && index_of(member) < office.team && has_arrived(index_of(member));
}

bool are_all_dismissed() {
  return office.dismissed + 1 >= processes() && (office.dismissal == Dismissal::at_once || office.turn >= processes());
}

void await_end_turn(ProcessId from) {
  office.awaits_turn[index_of(from)] = true;
  give_end_turn();
}

void pass_end_turn(const Head& head) {
  if (head.address != 0) office.exit_status = static_cast<int>(head.value);
  ++office.turn;
  if (office.turn < processes()) give_end_turn();
}

std::optional<int> status_of_exit_functions() {
  return office.exit_status;
}

void let_others_leave() {
  if (!office.is_dismissing || office.dismissal == Dismissal::at_once) return;
  for (std::uint32_t i = 1; i < processes(); ++i) answer(ProcessId{i}, {.kind = WireKind::done});
}

}  // namespace sdsm::dsm
