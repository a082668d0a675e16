/// What happens at `#pragma omp flush` and __sync_synchronize, which are one instruction each. A thread that reads a
/// flag and flushes until another sets it would never let the other run.
#include "native/program/locked_instructions.hpp"
#include "native/tracer/options.hpp"
#include "native/tracer/team.hpp"
#include "native/tracer/threads.hpp"
#include "native/tracer/touch.hpp"

namespace sdsm::tracer {
namespace {

/// A second flush without anything else in between: the thread spins. Its clock goes past the next thread's, so that it
/// does not fill the trace with flushes until that one has had its turn.
void put_behind_others(VirtualThread& self) REQUIRES(turn) {
  std::uint64_t next = ~std::uint64_t{0};
  for (std::uint32_t i = 0; i < thread_count(); ++i) {
    const VirtualThread& other = thread_of(i);
    if (&other == &self || other.status != ThreadStatus::runnable) continue;
    if (other.clock_ns < next) next = other.clock_ns;
  }
  if (next != ~std::uint64_t{0} && self.clock_ns <= next) self.clock_ns = next + 1;
}

}  // namespace
}  // namespace sdsm::tracer

namespace sdsm::program {

using namespace tracer;

/// The thread's pages are made known, and others may go first.
void fence_shared() {
  VirtualThread& self = running_thread();
  if (watched.is_inside || current_team_size() == 1) return;
  end_interval(self, {trace::EventKind::flush, 0, 0, 0});
  close_pages(self, Closing::at_synchronisation);
  ++self.clock_ns;
  if (++self.flushes_in_a_row > 1) put_behind_others(self);
  schedule();
  begin_interval(self);
}

/// Virtual threads run one at a time: the operation is done where the memory is.
bool operate_on_shared(std::uintptr_t /*address*/, const AtomicOperation& /*operation*/, AtomicOutcome& /*outcome*/) {
  return false;
}

}  // namespace sdsm::program
