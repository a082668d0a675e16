#include "native/dsm/ending.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "native/dsm/asking.hpp"
#include "native/dsm/exit_functions.hpp"
#include "native/dsm/launcher.hpp"
#include "native/dsm/measured_region.hpp"
#include "native/dsm/page_log.hpp"
#include "native/dsm/standard_output.hpp"
#include "native/dsm/synchronisation.hpp"
#include "native/dsm/timeline_log.hpp"
#include "native/program/fortran_statements.hpp"
#include "native/program/processes.hpp"

namespace sdsm::dsm {
namespace {

void send_bare_result(const Result& result) {
  send_to_launcher(FrameKind::result, &result, sizeof result);
}

/// Of a thread of its own. `status`: the program's, in the pointer's place.
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
  const Result own = result(ended_ns);
  if (dismissal == Dismissal::after_exit_functions) {
    ask(ProcessId{0}, {.kind = WireKind::end_turn});
    synchronise_memory();
    run_exit_functions();
    flush_output();
    synchronise_memory();
    // Until the program has ended this process may be the home of what it uses.
    ask(ProcessId{0}, {.kind = WireKind::end_done});
  }
  program::close_fortran_units();
  flush_output();
  std::fflush(nullptr);
  send_result(own);
  leave(0);
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
