#include "native/tracer/record/ending.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include "native/guest/runtime/message.hpp"
#include "native/tracer/execution/locks.hpp"
#include "native/tracer/execution/team.hpp"
#include "native/tracer/record/recorder.hpp"

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

class Text {
 public:
  void append(const char* text) {
    while (*text != '\0' && length_ < sizeof text_ - 1) text_[length_++] = *text++;
    text_[length_] = '\0';
  }
  operator const char*() const { return text_; }

 private:
  char text_[4096] = {};
  std::size_t length_ = 0;
};

void describe_lock(Text& text, const VirtualThread& thread) REQUIRES(turn) {
  const auto& lock = *static_cast<const Lock*>(thread.waits_for);
  switch (lock.lock_class) {
    case LockClass::critical: text.append("waits for a critical section"); break;
    case LockClass::atomic: text.append("waits for an atomic operation"); break;
    case LockClass::lock:
    case LockClass::nest_lock:
    case LockClass::ordered: text.append("waits for a lock"); break;
  }
  if (lock.holder == nullptr) return;
  text.append(lock.holder == &thread ? " that it holds itself (thread " : " held by thread ");
  text.append(Decimal(lock.holder->number));
  if (lock.holder == &thread) text.append(")");
}

void describe(Text& text, const VirtualThread& thread) REQUIRES(turn) {
  text.append("thread ");
  text.append(Decimal(thread.number));
  text.append(" ");
  switch (thread.status) {
    case ThreadStatus::idle: text.append("has left the region"); break;
    case ThreadStatus::runnable: text.append("can go on"); break;
    case ThreadStatus::at_barrier:
      text.append(thread.sub_team != 0 ? "waits at its gang's barrier" : "waits at a barrier");
      break;
    case ThreadStatus::at_join: text.append("waits at the end of the region"); break;
    case ThreadStatus::at_ordered: text.append("waits for its turn in an ordered loop"); break;
    case ThreadStatus::at_flag: text.append("waits for an iteration of a doacross loop or a detached task"); break;
    case ThreadStatus::at_lock: describe_lock(text, thread); break;
    case ThreadStatus::at_object: text.append("waits for a semaphore, barrier or condition of the C library"); break;
  }
}

}  // namespace

void end_deadlocked() {
  static constinit Text text;  // not on the stack, which is the program's and may be small
  constexpr std::uint32_t shown_at_most = 32;
  const std::uint32_t size = current_team_size();
  const std::uint32_t shown = size < shown_at_most ? size : shown_at_most;
  for (std::uint32_t i = 0; i < shown; ++i) {
    if (i > 0) text.append("; ");
    describe(text, thread_of(i));
  }
  if (shown < size) text.append("; ...");
  end_run({"the program is deadlocked, no thread can go on: ", text, ". Do all threads reach the same barriers?"});
}

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
