#include "native/tracer/schedule_log.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "native/tracer/ending.hpp"
#include "native/tracer/options.hpp"

namespace sdsm::tracer::schedule_log {
namespace {

constexpr std::size_t buffered = 4096;
ScheduleEntry buffer[buffered];
std::size_t used = 0;

const ScheduleEntry* entries = nullptr;
std::size_t count = 0;
std::size_t next = 0;

bool is_next(ScheduleEntry::Kind kind, std::uint32_t self) {
  return next < count && entries[next].kind == kind && entries[next].self == self;
}

}  // namespace

void open() {
  if (!is_replay()) return;
  struct stat status {};
  if (fstat(options.schedule, &status) != 0) end_run({"the tracer's schedule cannot be read"});
  count = static_cast<std::size_t>(status.st_size) / sizeof(ScheduleEntry);
  if (count == 0) return;
  void* memory = mmap(nullptr, count * sizeof(ScheduleEntry), PROT_READ, MAP_PRIVATE, options.schedule, 0);
  if (memory == MAP_FAILED) end_run({"the tracer's schedule cannot be mapped"});
  entries = static_cast<const ScheduleEntry*>(memory);
}

void append(const ScheduleEntry& entry) {
  if (options.schedule < 0) return;
  buffer[used++] = entry;
  if (used == buffered) flush();
}

bool is_preempted_next(std::uint32_t self, std::uint64_t interval) {
  return is_next(ScheduleEntry::Kind::preempt, self) && entries[next].value == interval;
}

ScheduleEntry take(ScheduleEntry::Kind kind, std::uint32_t self) {
  if (!is_next(kind, self)) end_diverged(self);
  return entries[next++];
}

void flush() {
  const char* bytes = reinterpret_cast<const char*>(buffer);
  std::size_t left = used * sizeof(ScheduleEntry);
  used = 0;
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
