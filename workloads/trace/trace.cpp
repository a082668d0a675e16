#include "workloads/trace/trace.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace sdsm::trace {

namespace {

// By number.
constexpr std::array<std::string_view, event_kinds> event_names{
    "fork",       "team_begin", "join",     "barrier", "acquire", "release", "single", "copyprivate",
    "loop_begin", "chunk",      "loop_end", "flush",   "task",    "clock",   "end",    "post",
    "wait",       "atomic",     "fence",    "take",    "give",    "meet",    "spin"};
constexpr std::array<std::string_view, 5> lock_names{"lock", "nest_lock", "critical", "atomic", "ordered"};
constexpr std::array<std::string_view, 6> object_names{
    "given_semaphore", "given_read_write_lock", "condition", "semaphore", "reader", "writer"};
constexpr std::array<std::string_view, 4> schedule_names{"static", "dynamic", "guided", "sections"};
constexpr std::array<std::string_view, 13> clock_names{"omp_get_wtime",
                                                       "clock_gettime",
                                                       "gettimeofday",
                                                       "timespec_get",
                                                       "time",
                                                       "clock",
                                                       "std::chrono::system_clock",
                                                       "std::chrono::steady_clock",
                                                       "system_clock",
                                                       "cpu_time",
                                                       "date_and_time",
                                                       "times",
                                                       "getrusage"};
constexpr std::array<std::string_view, 2> access_names{"read", "write"};
constexpr std::array<std::string_view, 6> region_names{"globals",    "mapped",        "heap_block",
                                                       "small_heap", "initial_stack", "thread_stack"};

}  // namespace

std::string_view name_of(EventKind kind) {
  return name_in(event_names, kind);
}
std::string_view name_of(LockClass lock_class) {
  return name_in(lock_names, lock_class);
}
std::string_view name_of(ObjectClass object_class) {
  return name_in(object_names, object_class);
}
std::string_view name_of(Schedule schedule) {
  return name_in(schedule_names, schedule);
}
std::string_view name_of(ClockSource source) {
  return name_in(clock_names, source);
}
std::string_view name_of(Access access) {
  return name_in(access_names, access);
}
std::string_view name_of(RegionKind kind) {
  return name_in(region_names, kind);
}

std::string unpredicted_clocks(const Header& header) {
  // Older traces have these; newer ones have events of all but the last.
  constexpr std::string_view names[] = {"clock_gettime", "gettimeofday", "timespec_get", "time", "clock", "rdtsc"};
  std::string found;
  for (const UnseenCall& unseen : header.unseen) {
    if (std::find(std::begin(names), std::end(names), unseen.call) == std::end(names)) continue;
    if (!found.empty()) found += ", ";
    found += unseen.call;
  }
  return found;
}

}  // namespace sdsm::trace
