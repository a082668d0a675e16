#include "native/dsm/openmp/measured_region.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <type_traits>

#include "native/dsm/memory/page_log.hpp"
#include "native/dsm/process/processors.hpp"
#include "native/dsm/requests/answering.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/timing/timeline_log.hpp"
#include "native/dsm/timing/trap_time.hpp"
#include "native/dsm/wire/counting.hpp"

namespace sdsm::dsm {
namespace {

struct Clock {
  std::atomic<std::uint64_t> count = 0;
  std::atomic<std::uint64_t> last_ns = 0;
  std::atomic<bool> is_behind_barrier = false;
  std::atomic<bool> is_first_behind_barrier = false;
};
constinit Clock clock;  ///< the application thread's to change

/// Tallies at the first and at the last call.
struct MeasuredRegion {
  Tally begin{};
  Tally end{};
};
constinit MeasuredRegion measured GUARDED_BY(application);

/// Tallies at the process's last arrival at a barrier of the team, and when it went on behind the one before.
struct LastMeetings {
  Tally arrival{};
  Tally leaving{};
  /// Processor time of the initial thread, as the machine's other work must not decide what is nearer.
  std::uint64_t leaving_processor_ns = 0, first_reading_processor_ns = 0, reading_processor_ns = 0;
};
constinit LastMeetings last_meetings GUARDED_BY(application);

using AsOf = PageEvent::AsOf;

/// The account as it was at `ns`: this thread may have been charged since, before it learnt of the reading.
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

/// Whether all that the thread was charged with behind `ns` is remembered.
bool is_known_when(std::uint64_t ns) REQUIRES(application) {
  return last_charges.ring[last_charges.next].ended_ns <= ns;
}

/// Counts at the arrival, and the account at `ns`, as if terms had grown evenly since the barrier before.
Tally evenly_until(std::uint64_t ns) REQUIRES(application) {
  const Tally& leaving = last_meetings.leaving;
  Tally taken = last_meetings.arrival;
  const double passed = static_cast<double>(ns - std::min(ns, leaving.now_ns));
  const double part =
      std::min(1., passed / static_cast<double>(std::max<std::uint64_t>(1, taken.now_ns - leaving.now_ns)));
  for (std::size_t term = 0; term < std::size(taken.spent_ns); ++term) {
    const std::uint64_t before = leaving.spent_ns[term];
    taken.spent_ns[term] =
        before + static_cast<std::uint64_t>(part * static_cast<double>(taken.spent_ns[term] - before));
  }
  taken.now_ns = ns;
  return taken;
}

/// Counts as they were at that moment, and the account as it was at `ns`, as far as that is known.
Tally tally_as_of(AsOf moment, std::uint64_t ns) REQUIRES(application) EXCLUDES(handling) {
  if (moment == AsOf::arrival && !is_known_when(ns)) return evenly_until(ns);
  const Tally at_reading = tally_when(ns);
  if (moment == AsOf::now) return at_reading;
  Tally taken = moment == AsOf::arrival ? last_meetings.arrival : last_meetings.leaving;
  // Behind the last `leaving` there may be more charges than are remembered, and none lies between that and `ns`.
  if (moment == AsOf::arrival)
    std::copy(std::begin(at_reading.spent_ns), std::end(at_reading.spent_ns), taken.spent_ns);
  taken.now_ns = ns;
  return taken;
}

void log_reading(std::uint64_t calls, AsOf moment) REQUIRES(application) {
  log({.value = calls, .object = static_cast<std::uint32_t>(moment), .kind = PageEvent::Kind::clock});
}

void note_clock(const ClockCalls& calls, AsOf moment) REQUIRES(application) EXCLUDES(handling) {
  const program::HeldSignals held;
  const std::uint64_t known = clock.count.load(std::memory_order_relaxed);
  const bool is_of_new_clock = calls_of(known) == 0 || rank_of(calls.count) > rank_of(known);
  if (is_of_new_clock && calls_of(calls.count) > 1 && moment != AsOf::now && calls.is_first_behind_barrier) {
    // Of several readings since the last news, only the last one's time is known.
    measured.begin = last_meetings.leaving;
    log_reading(with_rank(1, rank_of(calls.count)), AsOf::leaving);
  } else if (is_of_new_clock) {
    measured.begin = tally_as_of(moment, calls.last_ns);
  }
  measured.end = tally_as_of(moment, calls.last_ns);
  clock.last_ns.store(calls.last_ns, std::memory_order_relaxed);
  clock.count.store(calls.count, std::memory_order_relaxed);
  log_reading(calls.count, moment);
  if (self.wants_timeline) keep({calls.last_ns, 0, calls.count, 0, 0, TimedEvent::Kind::clock});
}

}  // namespace

ClockCalls clock_calls() {
  return {clock.count.load(std::memory_order_relaxed), clock.last_ns.load(std::memory_order_relaxed),
          clock.is_behind_barrier, clock.is_first_behind_barrier};
}

void note_clock_calls(const ClockCalls& calls, bool waited_for_work) {
  if (calls.count == clock_calls().count) return;
  note_clock(calls, waited_for_work ? AsOf::now : calls.is_behind_barrier ? AsOf::leaving : AsOf::arrival);
}

void note_arrival() {
  LastMeetings& last = last_meetings;
  last.arrival = tally_at(now_ns());
  if (self.process != ProcessId{0}) return;
  const auto is_behind_barrier = [now = processor_time_ns(), left = last.leaving_processor_ns](std::uint64_t reading) {
    return reading - left < now - reading;
  };
  clock.is_behind_barrier = is_behind_barrier(last.reading_processor_ns);
  clock.is_first_behind_barrier = is_behind_barrier(last.first_reading_processor_ns);
}

void note_leaving() {
  last_meetings.leaving = tally_at(now_ns());
  if (self.process == ProcessId{0}) last_meetings.leaving_processor_ns = processor_time_ns();
  log({.kind = PageEvent::Kind::leave});
}

void note_own_clock(ClockSource source, std::uint64_t now_ns) {
  const std::uint64_t known = clock_calls().count;
  const unsigned rank = rank_of(source);
  if (calls_of(known) > 0 && rank < rank_of(known)) return;
  const std::uint64_t before = rank == rank_of(known) ? calls_of(known) : 0;
  last_meetings.reading_processor_ns = processor_time_ns();
  if (before == 0) last_meetings.first_reading_processor_ns = last_meetings.reading_processor_ns;
  note_clock({with_rank(before + 1, rank), now_ns}, AsOf::now);
}

Result result(std::uint64_t ended_ns) {
  Result result;
  result.trap_ns = trap_time_ns();
  result.whole = tally_when(ended_ns);
  result.whole.now_ns = ended_ns - std::min(ended_ns, self.begun_ns);
  result.clock_calls = calls_of(clock_calls().count);
  result.tasks = tasks_run.count;
  result.task_regions = tasks_run.regions;
  result.processors = usable_processors();
  result.retransmissions = questions_retransmitted();
  {
    const Held nothing_is_handled(handling);
    result.retransmissions += answers_retransmitted();
  }
  result.region = result.clock_calls >= 2 ? measured.end - measured.begin : result.whole;
  return result;
}

}  // namespace sdsm::dsm
