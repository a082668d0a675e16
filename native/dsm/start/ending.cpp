#include "native/dsm/process/ending.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "native/dsm/files/standard_output.hpp"
#include "native/dsm/memory/page_log.hpp"
#include "native/dsm/openmp/measured_region.hpp"
#include "native/dsm/openmp/synchronisation.hpp"
#include "native/dsm/process/launcher.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/start/exit_functions.hpp"
#include "native/dsm/timing/timeline_log.hpp"
#include "native/guest/kernel/fortran.hpp"
#include "native/guest/kernel/processes.hpp"

namespace sdsm::dsm {
namespace {

void send_bare_result(const Result& result) {
  send_to_launcher(FrameKind::result, &result, sizeof result);
}

constinit Result worker_result GUARDED_BY(application);

[[noreturn]] void leave_as_worker() REQUIRES(application) {
  program::close_fortran_units();
  flush_output();
  std::fflush(nullptr);
  send_result(worker_result);
  leave(0);
}

/// Body of a thread of its own. `status`: the program's, in the pointer's place.
void* end_impatiently(void* status) {
  constexpr unsigned patience_us = 2'000'000;
  usleep(patience_us);
  if (is_ending) return nullptr;
  application.take();  // whose thread waits for good
  flush_output();
  send_to_launcher(FrameKind::leaving);
  send_bare_result(result());  // without the log, which that thread may be writing
  leave(static_cast<int>(reinterpret_cast<std::intptr_t>(status)));
}

}  // namespace

void send_result(const Result& result) {
  if (self.wants_page_log || self.wants_timeline) send_page_log();
  if (self.wants_timeline) send_timeline_log(result.whole.now_ns);
  send_bare_result(result);
}

void end_worker(std::uint64_t ended_ns, Dismissal dismissal) {
  worker_result = result(ended_ns);
  if (dismissal == Dismissal::at_once) leave_as_worker();
  note_generation(ask(ProcessId{0}, {.kind = WireKind::end_turn}).generation);
  synchronise_memory();
  run_exit_functions();
  end_exit_functions({});
}

void end_exit_functions(std::optional<int> status) {
  flush_output();
  synchronise_memory();
  // Until the program has ended this process may be the home of what it uses.
  ask(ProcessId{0}, {.kind = WireKind::end_done,
                     .address = status ? 1U : 0U,
                     .value = static_cast<std::uint64_t>(status.value_or(0))});
  leave_as_worker();
}

void end_initial(ExitKind kind, int status) {
  is_ending = true;
  program::HeldSignals::let_go();  // the program's exit functions run as ever
  switch (kind) {
    case ExitKind::normal: std::exit(status);
    case ExitKind::quick: quick_exit(status);
    case ExitKind::immediate: break;
  }
  _exit(status);
}

void end_without_initial_thread(int status) {
  pthread_t thread;
  program::real_pthread_create(&thread, nullptr, end_impatiently,
                               reinterpret_cast<void*>(static_cast<std::intptr_t>(status)));
}

}  // namespace sdsm::dsm
