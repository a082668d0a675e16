/// The program's inline atomic operations on traced memory, and fences: `#pragma omp flush` and __sync_synchronize,
/// which are one instruction each.
#include <sys/mman.h>

#include <cstring>

#include "native/guest/code/locked_instructions.hpp"
#include "native/guest/runtime/raw_memory.hpp"
#include "native/guest/runtime/unseen.hpp"
#include "native/tracer/execution/pages.hpp"
#include "native/tracer/execution/team.hpp"
#include "native/tracer/execution/threads.hpp"
#include "native/tracer/execution/touch.hpp"
#include "native/tracer/record/options.hpp"
#include "native/tracer/record/recorder.hpp"

namespace sdsm::tracer {
namespace {

/// The thread spins: its clock goes past the next thread's, so that it does not fill the trace.
void put_behind_others(VirtualThread& self) REQUIRES(turn) {
  std::uint64_t next = ~std::uint64_t{0};
  for (const VirtualThread& other : all_threads()) {
    if (&other == &self || other.status != ThreadStatus::runnable) continue;
    if (other.clock_ns < next) next = other.clock_ns;
  }
  if (next != ~std::uint64_t{0} && self.clock_ns <= next) self.clock_ns = next + 1;
}

/// Whether the instruction's trap is to be an event. Strange threads, and programs of one, have nobody to see it.
bool is_event() {
  if (!turn.is_taken() || watched.is_inside) return false;
  turn.check();
  running_thread().stopwatch.exclude(clock_rates.trap_ticks);
  return options.threads > 1 || current_team_size() > 1;
}

/// The thread's pages are made known, and others may go first. A second one in a row that has changed nothing shows a
/// loop that waits.
void pass(VirtualThread& self, const Event& event, std::uintptr_t code) REQUIRES(turn) {
  self.call_site = code;
  synchronise(self, event);
  ++self.clock_ns;
  // As at locks (locks.cpp).
  constexpr std::uint64_t slack_ns = 10'000;
  const bool spins = ++self.unchanged_in_a_row > 1;
  if (spins) put_behind_others(self);
  schedule(spins ? 0 : slack_ns);
}

/// The page stays as shut or open as it is, and what changes is no change of the interval.
AtomicOutcome operate_untouched(const VirtualThread& self, std::uintptr_t address, const AtomicOperation& operation)
    REQUIRES(turn) {
  auto* const memory = reinterpret_cast<void*>(address);
  if (!is_tracked() || self.stack.holds(address) || self.locals.holds(address)) return operate(operation, memory);
  const std::uintptr_t page = address & ~(page_bytes - 1);
  const PageInfo& info = find_range(address)->page_of(page);
  protect(page, page + page_bytes, PROT_READ | PROT_WRITE);
  const AtomicOutcome outcome = operate(operation, memory);
  if (info.twin != nullptr) std::memcpy(info.twin + (address - page), memory, operation.bytes);
  if (info.state == PageState::untouched) protect(page, page + page_bytes, PROT_NONE);
  if (info.state == PageState::read) protect(page, page + page_bytes, PROT_READ);
  return outcome;
}

/// What a comparing instruction expected when a thread last came to it.
struct Expectation {
  std::uintptr_t code = 0;
  AtomicValue value;
  bool varies = false;  ///< it has expected different values
};
constinit GrowingArray<Expectation> expectations GUARDED_BY(turn);

/// Whether the instruction has expected something else before: what it expects is no constant.
bool expects_no_constant(std::uintptr_t code, const AtomicValue& expected) REQUIRES(turn) {
  for (Expectation& known : expectations) {
    if (known.code != code) continue;
    known.varies |= !(known.value == expected);
    return known.varies;
  }
  expectations.push_back({code, expected, false});
  return false;
}

/// Whether the expected value was loaded from there, as far as values show: it is what is there before others go first,
/// the thread has touched the page, and at other times the instruction expected something else. A lock of the program's
/// own expects the same each time.
bool compares_what_it_found(const VirtualThread& self, std::uintptr_t code, std::uintptr_t address,
                            const AtomicOperation& operation) REQUIRES(turn) {
  if (!is_tracked() || !operation.compares() || !expects_no_constant(code, operation.expected)) return false;
  const std::uintptr_t page = address & ~(page_bytes - 1);
  const PageInfo& info = find_range(address)->page_of(page);
  const bool is_own = self.stack.holds(address) || self.locals.holds(address);
  if (info.state == PageState::untouched && !is_own) return false;
  if (info.is_watched) protect(page, page + page_bytes, PROT_READ);
  AtomicValue there;
  std::memcpy(&there, reinterpret_cast<const void*>(address), operation.bytes);
  if (info.is_watched) protect(page, page + page_bytes, PROT_NONE);
  return there == operation.expected;
}

std::uint32_t changed_words(const AtomicOutcome& outcome) {
  std::uint32_t words = 0;
  for (const std::uint64_t changed : {outcome.before.low ^ outcome.now.low, outcome.before.high ^ outcome.now.high}) {
    constexpr unsigned word_bits = 8 * word_bytes;
    words += (changed << word_bits != 0 ? 1 : 0) + (changed >> word_bits != 0 ? 1 : 0);
  }
  return words;
}

/// The trace's last event of the thread is an operation that had this outcome. `detail`: what else the event says.
void tell_outcome(VirtualThread& self, const AtomicOutcome& outcome, std::uint32_t detail = 0) REQUIRES(turn) {
  const std::uint32_t words = changed_words(outcome);
  const AtomicWordsRecord record{self.number, words | detail};
  if (words > 0) self.unchanged_in_a_row = 0;
  if (is_tracked()) recorder::put(RecordKind::atomic_words, &record, sizeof record);
}

}  // namespace
}  // namespace sdsm::tracer

namespace sdsm::program {

using namespace tracer;

void fence_shared(std::uintptr_t code) {
  if (!is_event()) return;
  turn.check();
  VirtualThread& self = running_thread();
  pass(self, {EventKind::fence, 0, 0, 0}, code);
  begin_interval(self);
}

void note_library(const char* /*path*/, std::size_t bytes_of_variables) {
  add_unseen(UnseenCall::dlopen, bytes_of_variables);
}

bool operate_on_shared(std::uintptr_t code, std::uintptr_t address, const AtomicOperation& operation,
                       AtomicOutcome& outcome) {
  if (!is_event()) return false;
  turn.check();
  const Range* const range = find_range(address);
  // One that reaches over the end of a page is two accesses.
  if (range == nullptr || address % page_bytes + operation.bytes > page_bytes) return false;
  const std::uint32_t region = range->page_of(address).region;
  if (region == no_region) return false;
  VirtualThread& self = running_thread();
  // A loop that computes a new value from the one that it found (a reduction of floating-point numbers, say) is one
  // operation: it failed only because others were let go first. One that waits for a value fails again, and is an
  // event; and so is one by another instruction, which is no turn of such a loop.
  if (operation.compares() && self.failed_exchange == address && self.failed_at == code) {
    outcome = operate_untouched(self, address, operation);
    if (outcome.is_equal()) {
      self.failed_exchange = 0;
      tell_outcome(self, outcome);
      return true;
    }
  }
  const std::uint32_t detail = compares_what_it_found(self, code, address, operation) ? compares_found : 0;
  pass(self, {EventKind::atomic, 0, region - 1, address - region_info(region).begin}, code);
  outcome = operate_untouched(self, address, operation);
  tell_outcome(self, outcome, detail);
  if (operation.compares() && !outcome.is_equal()) {
    self.failed_exchange = address;
    self.failed_at = code;
  }
  begin_interval(self);
  return true;
}

}  // namespace sdsm::program
