#include "native/tracer/execution/schedule_log.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "native/tracer/execution/wait_loops.hpp"
#include "native/tracer/record/ending.hpp"
#include "native/tracer/record/options.hpp"

namespace sdsm::tracer::schedule_log {
namespace {

constexpr std::size_t buffered = 4096;
struct Log {
  // In the first pass:
  ScheduleEntry buffer[buffered];
  std::size_t used = 0;
  // In later passes:
  const ScheduleEntry* entries = nullptr;
  std::size_t count = 0;
  std::size_t next = 0;
};
constinit Log log GUARDED_BY(turn);

}  // namespace

void open() {
  if (options.schedule < 0) return;
  struct stat status {};
  if (fstat(options.schedule, &status) != 0) end_run({"the tracer's schedule cannot be read"});
  log.count = static_cast<std::size_t>(status.st_size) / sizeof(ScheduleEntry);
  if (log.count == 0) return;
  void* memory = mmap(nullptr, log.count * sizeof(ScheduleEntry), PROT_READ, MAP_PRIVATE, options.schedule, 0);
  if (memory == MAP_FAILED) end_run({"the tracer's schedule cannot be mapped"});
  log.entries = static_cast<const ScheduleEntry*>(memory);
}

void append(const ScheduleEntry& entry) {
  if (options.schedule < 0) return;
  log.buffer[log.used++] = entry;
  if (log.used == buffered) flush();
}

bool is_next(ScheduleEntry::Kind kind, std::uint32_t self) {
  return log.next < log.count && log.entries[log.next].kind == kind && log.entries[log.next].self == self;
}

bool is_next(ScheduleEntry::Kind kind, std::uint32_t self, std::uint16_t chosen) {
  return is_next(kind, self) && log.entries[log.next].chosen == chosen;
}

void set_wait_loops() {
  for (; log.next < log.count && log.entries[log.next].kind == ScheduleEntry::Kind::wait_loop; ++log.next) {
    set_wait_loop(log.entries[log.next].value, log.entries[log.next].chosen);
  }
}

bool is_preempted_next(std::uint32_t self, std::uint64_t interval) {
  return is_next(ScheduleEntry::Kind::preempt, self) && log.entries[log.next].value == interval;
}

ScheduleEntry take(ScheduleEntry::Kind kind, std::uint32_t self) {
  if (!is_next(kind, self)) end_diverged(self);
  const ScheduleEntry entry = log.entries[log.next++];
  set_wait_loops();
  return entry;
}

void flush() {
  const char* bytes = reinterpret_cast<const char*>(log.buffer);
  std::size_t left = log.used * sizeof(ScheduleEntry);
  log.used = 0;
  if (is_replay() || options.schedule < 0) return;
  while (left > 0) {
    const long written = syscall(SYS_write, options.schedule, bytes, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) end_run({"the tracer's schedule cannot be written: is the temporary folder's disk full?"});
    bytes += written;
    left -= static_cast<std::size_t>(written);
  }
}

}  // namespace sdsm::tracer::schedule_log
