#include "native/dsm/memory/stop_the_world.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bitset>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "native/dsm/wire/clock.hpp"

namespace sdsm::dsm {
namespace {

std::uint32_t own_place() {
  return index_of(self.process) % self.layout.threads_per_node;
}
ApplicationThread& own_thread() {
  return node().application_threads[own_place()];
}

void on_stop(int /*signal*/, siginfo_t* /*info*/, void* /*context*/) {
  const int saved_errno = errno;
  program::note_interruption();
  stop_if_asked();
  errno = saved_errno;
}

/// Whether the thread sleeps: a signal would end its sleep. The state follows the name, which is in brackets.
bool sleeps(const ApplicationThread& thread) {
  const int file = open(thread.state_file, O_RDONLY | O_CLOEXEC);
  // Where there is no /proc, rather a sleep that ends early than an older value.
  if (file < 0) return false;
  char text[64];
  const ssize_t bytes = read(file, text, sizeof text - 1);
  close(file);
  if (bytes <= 0) return true;
  text[bytes] = '\0';
  const char* const name_end = std::strrchr(text, ')');
  return name_end == nullptr || std::strncmp(name_end, ") S", 3) == 0;
}

}  // namespace

void stop_if_asked() {
  constexpr unsigned turns = 1000;
  if (node().changing == 0 || own_thread().changes) return;
  own_thread().stands = true;
  // On a processor that the other thread wants this one gives way.
  for (unsigned turn = 0; node().changing > 0; ++turn) {
    if (turn >= turns) sched_yield();
  }
  own_thread().stands = false;
}

void allow_stops() {
  program::take_signal(program::stop_signal(), on_stop, SA_RESTART);
  ApplicationThread& own = own_thread();
  own.process = static_cast<std::uint32_t>(getpid());
  own.thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  std::snprintf(own.state_file, sizeof own.state_file, "/proc/%u/task/%u/stat", own.process, own.thread);
  own.is_known = true;
}

StopTheWorld::StopTheWorld() : is_application_(application.is_taken()) {
  // A running thread is interrupted within some microseconds. One that does not answer is in the run-time's handlers,
  // or runs on no processor now, and stops before its next instruction.
  constexpr std::uint64_t patience_ns = 50'000;
  // Two that change something at once do not wait for each other: neither runs code of the program.
  if (is_application_) own_thread().changes = own_thread().stands = true;
  ++node().changing;
  std::bitset<most_processes> asked;
  for (std::uint32_t i = 0; i < self.layout.threads_per_node; ++i) {
    const ApplicationThread& one = node().application_threads[i];
    if (!one.is_known || one.changes || sleeps(one)) continue;
    if (syscall(SYS_tgkill, one.process, one.thread, program::stop_signal()) != 0) continue;
    // On the same processor it does not run while this thread does.
    asked[i] = !(self.is_bound && i == own_place());
  }
  const std::uint64_t end = now_ns() + patience_ns;
  for (std::uint32_t i = 0; i < self.layout.threads_per_node; ++i) {
    while (asked[i] && !node().application_threads[i].stands && now_ns() < end) {
    }
  }
}

StopTheWorld::~StopTheWorld() {
  --node().changing;
  if (is_application_) own_thread().changes = own_thread().stands = false;
}

}  // namespace sdsm::dsm
