#include "native/tracer/ending.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include "native/gomp/message.hpp"
#include "native/tracer/recorder.hpp"

namespace sdsm::tracer {
namespace {

/// Not `_exit`, which is the program's and reports a normal end.
[[noreturn]] void leave() {
  for (;;) syscall(SYS_exit_group, 1);
}

/// False if there is no command, or the records are another thread's.
bool tell_driver(std::initializer_list<const char*> why) {
  if (!turn.is_taken()) return false;
  turn.check();
  if (!recorder::is_connected()) return false;
  recorder::put_text(RecordKind::refused, why);
  recorder::flush();
  return true;
}

}  // namespace

void end_diverged(std::uint32_t thread) {
  const DivergedRecord record{thread};
  recorder::put(RecordKind::diverged, &record, sizeof record);
  recorder::flush();
  leave();
}

}  // namespace sdsm::tracer

namespace sdsm::program {

using namespace tracer;

void end_run(std::initializer_list<const char*> why) {
  if (!tell_driver(why)) gomp::message(why);
  leave();
}

}  // namespace sdsm::program
