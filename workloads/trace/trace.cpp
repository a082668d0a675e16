#include "workloads/trace/trace.hpp"

#include <algorithm>
#include <iterator>

namespace sdsm::trace {

std::string_view name_of(EventKind kind) {
  switch (kind) {
    case EventKind::fork: return "fork";
    case EventKind::team_begin: return "team_begin";
    case EventKind::join: return "join";
    case EventKind::barrier: return "barrier";
    case EventKind::acquire: return "acquire";
    case EventKind::release: return "release";
    case EventKind::single: return "single";
    case EventKind::copyprivate: return "copyprivate";
    case EventKind::loop_begin: return "loop_begin";
    case EventKind::chunk: return "chunk";
    case EventKind::loop_end: return "loop_end";
    case EventKind::flush: return "flush";
    case EventKind::task: return "task";
    case EventKind::clock: return "clock";
    case EventKind::end: return "end";
    case EventKind::post: return "post";
    case EventKind::wait: return "wait";
    case EventKind::atomic: return "atomic";
    case EventKind::fence: return "fence";
    case EventKind::take: return "take";
    case EventKind::give: return "give";
    case EventKind::meet: return "meet";
    case EventKind::spin: return "spin";
  }
  return "?";
}

std::string_view name_of(LockClass lock_class) {
  switch (lock_class) {
    case LockClass::lock: return "lock";
    case LockClass::nest_lock: return "nest_lock";
    case LockClass::critical: return "critical";
    case LockClass::atomic: return "atomic";
    case LockClass::ordered: return "ordered";
  }
  return "?";
}

std::string_view name_of(ObjectClass object_class) {
  switch (object_class) {
    case ObjectClass::given_semaphore: return "given_semaphore";
    case ObjectClass::given_read_write_lock: return "given_read_write_lock";
    case ObjectClass::condition: return "condition";
    case ObjectClass::semaphore: return "semaphore";
    case ObjectClass::reader: return "reader";
    case ObjectClass::writer: return "writer";
  }
  return "?";
}

std::string_view name_of(Schedule schedule) {
  switch (schedule) {
    case Schedule::static_: return "static";
    case Schedule::dynamic: return "dynamic";
    case Schedule::guided: return "guided";
    case Schedule::sections: return "sections";
  }
  return "?";
}

std::string_view name_of(ClockSource source) {
  switch (source) {
    case ClockSource::omp_get_wtime: return "omp_get_wtime";
    case ClockSource::clock_gettime: return "clock_gettime";
    case ClockSource::gettimeofday: return "gettimeofday";
    case ClockSource::timespec_get: return "timespec_get";
    case ClockSource::time: return "time";
    case ClockSource::clock: return "clock";
    case ClockSource::system_clock: return "std::chrono::system_clock";
    case ClockSource::steady_clock: return "std::chrono::steady_clock";
    case ClockSource::fortran_system_clock: return "system_clock";
    case ClockSource::fortran_cpu_time: return "cpu_time";
    case ClockSource::fortran_date_and_time: return "date_and_time";
    case ClockSource::times: return "times";
    case ClockSource::getrusage: return "getrusage";
  }
  return "?";
}

std::string_view name_of(Access access) {
  switch (access) {
    case Access::read: return "read";
    case Access::write: return "write";
  }
  return "?";
}

std::string_view name_of(RegionKind kind) {
  switch (kind) {
    case RegionKind::globals: return "globals";
    case RegionKind::mapped: return "mapped";
    case RegionKind::heap_block: return "heap_block";
    case RegionKind::small_heap: return "small_heap";
    case RegionKind::initial_stack: return "initial_stack";
    case RegionKind::thread_stack: return "thread_stack";
  }
  return "?";
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
