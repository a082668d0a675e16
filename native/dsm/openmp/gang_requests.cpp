#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "models/scash/messages.hpp"
#include "native/dsm/openmp/barrier_requests.hpp"
#include "native/dsm/openmp/gang_requests.hpp"
#include "native/dsm/openmp/measured_region.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/guest/openmp/gangs.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

struct GangHandler {
  std::vector<ProcessId> arrived;
  std::uint64_t left = 0;
};
struct OpenDivision {
  GangDivision how;
  std::vector<ProcessId> members;  ///< that have divided so far
};
/// State by keys: gangs that some member has yet to leave, and divisions that some has yet to make.
struct GangHandlers {
  std::map<std::uint64_t, GangHandler> gangs;
  std::map<std::uint64_t, OpenDivision> divisions;
};

/// Made when it is needed: no thread may find it destroyed.
GangHandlers& gang_handlers() REQUIRES(handling) {
  static GangHandlers* const made = new GangHandlers;
  return *made;
}

[[noreturn]] void end_where_not_all_come() {
  program::end_run({"the program calls sdsm_unite or sdsm_gang_barrier: " SDSM_NOT_ALL_COME});
}

[[noreturn]] void end_where_divided_otherwise() {
  program::end_run({"the program calls sdsm_divide: " SDSM_DIVIDED_OTHERWISE});
}

bool waits(ProcessId member, std::uint64_t whole) REQUIRES(handling) {
  return whole == 0 ? waits_for_team(member) : std::ranges::count(gang_handlers().gangs[whole].arrived, member) > 0;
}

}  // namespace

void arrive_in_gang(ProcessId from, const Head& head) {
  check_divisions(from, head.address);
  GangHandler& handler = gang_handlers().gangs[head.address];
  if (handler.left > 0) end_where_not_all_come();
  handler.arrived.push_back(from);
  if (handler.arrived.size() < head.value) return;
  const std::vector<ProcessId> members = std::exchange(handler.arrived, {});
  for (const ProcessId member : members) count_served(member, MessageKind::barrier_release, control_payload.count);
  const Head release{.kind = WireKind::barrier_release, .generation = newest_generation()};
  // As at the team's barrier: this process goes on last.
  for (const ProcessId member : members) {
    if (member != self.process) answer(member, release);
  }
  answer(self.process, release);
}

void note_division(ProcessId from, const Head& head, const std::byte* payload) {
  GangDivision how;
  std::memcpy(&how, payload, sizeof how);
  OpenDivision& division = gang_handlers().divisions[head.address];
  if (division.members.empty()) division.how = how;
  division.members.push_back(from);
  bool is_alike = division.how.arguments == how.arguments;
  for (std::uint32_t i = 0; i < processes(); ++i) {
    is_alike &= std::ranges::count(division.members, ProcessId{i}) > 0 || !waits(ProcessId{i}, how.whole);
  }
  if (!is_alike) end_where_divided_otherwise();
  if (division.members.size() == how.size) gang_handlers().divisions.erase(head.address);
}

void check_divisions(ProcessId from, std::uint64_t whole) {
  for (const auto& [key, division] : gang_handlers().divisions) {
    if (division.how.whole == whole && std::ranges::count(division.members, from) == 0) end_where_divided_otherwise();
  }
}

void leave_gang(const Head& head) {
  GangHandler& handler = gang_handlers().gangs[head.address];
  if (!handler.arrived.empty()) end_where_not_all_come();
  if (++handler.left == head.value) gang_handlers().gangs.erase(head.address);
}

}  // namespace sdsm::dsm
