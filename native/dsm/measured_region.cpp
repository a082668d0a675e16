#include "native/dsm/measured_region.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <tuple>
#include <type_traits>

#include "native/dsm/clock.hpp"
#include "native/dsm/counting.hpp"
#include "native/dsm/page_log.hpp"
#include "native/dsm/timeline_log.hpp"
#include "native/dsm/trap_time.hpp"

namespace sdsm::dsm {
namespace {

struct Clock {
  std::atomic<std::uint64_t> count = 0;
  std::atomic<std::uint64_t> last_ns = 0;
};
constinit Clock clock;  ///< the application thread's to change

/// Tallies at the first and at the last call.
struct MeasuredRegion {
  Tally begin{};
  Tally end{};
};
constinit MeasuredRegion measured GUARDED_BY(application);

/// The account as it was at `ns`: this thread may have been charged since, before it heard of the reading.
Tally tally_when(std::uint64_t ns) REQUIRES(application) EXCLUDES(handling) {
  Tally taken = tally_at(ns);
  const auto& ring = last_charges.ring;
  std::array<std::uint64_t, std::tuple_size_v<std::remove_cvref_t<decltype(ring)>>> since{};  ///< of each, behind `ns`
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const std::size_t at = (last_charges.next + i) % ring.size();
    const Charge& charge = ring[at];
    if (charge.ended_ns <= ns) continue;
    since[at] = charge.ended_ns - std::max(ns, charge.begun_ns);
    for (std::size_t before = 0; before < i; ++before) {
      const std::size_t inner = (last_charges.next + before) % ring.size();
      if (ring[inner].begun_ns >= charge.begun_ns) since[at] -= std::min(since[at], since[inner]);
    }
    std::uint64_t& spent = taken.spent(charge.term);
    spent -= std::min(spent, since[at]);
  }
  return taken;
}

}  // namespace

ClockCalls clock_calls() {
  return {clock.count.load(std::memory_order_relaxed), clock.last_ns.load(std::memory_order_relaxed)};
}

void note_clock(const ClockCalls& calls) {
  const program::HeldSignals held;
  const std::uint64_t known = clock.count.load(std::memory_order_relaxed);
  if (calls.count == known) return;
  measured.end = tally_when(calls.last_ns);
  if (calls_of(known) == 0 || rank_of(calls.count) > rank_of(known)) measured.begin = measured.end;
  clock.last_ns.store(calls.last_ns, std::memory_order_relaxed);
  clock.count.store(calls.count, std::memory_order_relaxed);
  log({.value = calls.count, .kind = PageEvent::Kind::clock});
  if (self.wants_timeline) keep({calls.last_ns, 0, calls.count, 0, 0, TimedEvent::Kind::clock});
}

void note_own_clock(trace::ClockSource source, std::uint64_t now_ns) {
  const std::uint64_t known = clock_calls().count;
  const unsigned rank = trace::rank_of(source);
  if (calls_of(known) > 0 && rank < rank_of(known)) return;
  const std::uint64_t before = rank == rank_of(known) ? calls_of(known) : 0;
  note_clock({with_rank(before + 1, rank), now_ns});
}

Result result(std::uint64_t ended_ns) {
  Result result;
  result.trap_ns = trap_time_ns();
  result.whole = tally_when(ended_ns);
  result.whole.now_ns = ended_ns - std::min(ended_ns, self.begun_ns);
  result.clock_calls = calls_of(clock_calls().count);
  result.tasks = tasks_run.count;
  result.task_regions = tasks_run.regions;
  result.region = result.clock_calls >= 2 ? measured.end - measured.begin : result.whole;
  return result;
}

}  // namespace sdsm::dsm
