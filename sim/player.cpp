#include "sim/player.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/locks.hpp"
#include "sim/simulation.hpp"

namespace sdsm::sim {

Player::Player(Cluster& cluster, ProcessId process, std::unique_ptr<IntervalSource> source, unsigned clock_rank,
               std::uint64_t clock_calls, std::vector<trace::ReductionPart> reductions)
    : cluster_(cluster),
      thread_(cluster.thread(process)),
      source_(std::move(source)),
      memory_(cluster.room->memory_of(thread_)),
      locks_(thread_, *memory_),
      clock_rank_(clock_rank),
      clock_calls_(clock_calls),
      reductions_(std::move(reductions)),
      atomics_(cluster.options.atomics.value_or(cluster.costs.costs().atomics)),
      constructs_(thread_.account.constructs.get()),
      has_faults_(takes_faults(cluster.layout) && cluster.tables.has_pages()),
      stretch_(cluster.costs.stretch(cluster.layout.threads_per_node, cluster.options.memory_bound)) {
  if (cluster_.options.whole_run || clock_calls_ < 2) {
    clock_calls_ = 0;
    cluster_.window.begin = Time{};
  }
}

void Player::run() {
  while (const trace::Interval* interval = source_->next()) {
    memory_->begin(*interval, intervals_);
    work(*interval);
    last_event_ = interval->end;
    come_to(*interval);
    close(interval->end);
    pass(*interval);
    ++intervals_;
  }
  thread_.catch_up_and_wait();
  memory_->end(intervals_);
  finished_ = true;
  if (cluster_.ended_by == thread_.id()) return cluster_.end_program();
  cluster_.clock.pauses();
}

std::string Player::position() const {
  const std::string waits_for = memory_->position();
  return fmt::format("thread {}: {} after {} intervals, last event '{}' (object {}, value {}){}{}",
                     index_of(thread_.id()), finished_ ? "finished" : "waiting", intervals_, name_of(last_event_.kind),
                     last_event_.object, last_event_.value, waits_for.empty() ? "" : "; ", waits_for);
}

void Player::come_to(const trace::Interval& interval) {
  if (constructs_ == nullptr) return;
  constructs_->come_to(interval.end, interval.call_site);
}

void Player::pass(const trace::Interval& interval) {
  if (constructs_ == nullptr) return;
  using enum EventKind;
  constexpr std::array uncounted{join, release, copyprivate, chunk, loop_end, task, clock, give};
  const bool counts = std::find(uncounted.begin(), uncounted.end(), interval.end.kind) == uncounted.end();
  if (counts && cluster_.window.contains(thread_.local_now())) constructs_->count_time(interval.end.kind);
  constructs_->pass(interval.end, interval.call_site);
}

Time Player::scaled(std::uint64_t compute_ns) const {
  return from_picoseconds(static_cast<double>(compute_ns) * 1000 * cluster_.options.compute_factor * stretch_);
}

void Player::work(const trace::Interval& interval) {
  const Time compute = scaled(interval.compute_ns);
  if (!has_faults_) return spend(compute);
  Time done{};
  for (const trace::TouchRun& run : interval.touches) {
    constexpr auto steps = static_cast<std::int64_t>(position_steps);
    const Time at = compute / steps * run.position + compute % steps * run.position / steps;
    spend(at - done);
    done = at;
    touch(run);
  }
  spend(compute - done);
}

void Player::spend(Time computing) {
  const Time own = stretch_ == 1 ? computing : from_picoseconds(static_cast<double>(computing.count()) / stretch_);
  thread_.spend(Spent::compute, own);
  thread_.spend_added_computing(computing - own);
}

void Player::touch(const trace::TouchRun& run) {
  const RegionHomes& homes = cluster_.homes[index_of(run.region)];
  const Change change =
      run.access == Access::write && cluster_.options.full_page_diffs ? Change{cluster_.page_words, 1} : run.change;
  const std::uint32_t processes = cluster_.layout.processes();
  const std::uint64_t end = run.first + run.pages;
  if (homes.placement == Placement::first_touch) {
    for (std::uint64_t index = run.first; index < end; ++index) {
      const PageId page{run.region, index};
      memory_->touch({page, 1, home_of(page), run.access, change, &run});
    }
    return;
  }
  for (std::uint64_t index = run.first; index < end;) {
    // Threads mostly stay within one home's share of a region, and finding its bounds takes divisions.
    if (run.region != share_.region || index < share_.begin || index >= share_.end) {
      share_ = {run.region, index, homes.end_of_home(index, processes), homes.home(index, processes)};
    }
    const std::uint64_t alike = std::min(end, share_.end) - index;
    memory_->touch({{run.region, index}, alike, share_.home, run.access, change, &run});
    index += alike;
  }
}

void Player::acquire(LockId lock, const Event& event) {
  if (!may_be_tried(static_cast<LockClass>(event.detail))) {
    memory_->acquire(lock, turn_of(event));
    sections_.push_back(lock);
    return;
  }
  // A recorded order grants locks as they were granted.
  locks_.take(lock, was_tried(event) && !cluster_.order);
}

void Player::release(LockId lock, const Event& event) {
  if (may_be_tried(static_cast<LockClass>(event.detail))) return locks_.give(lock);
  std::erase(sections_, lock);
  memory_->release(lock);
}

void Player::give_locks_back() {
  locks_.give_all();
  for (const LockId lock : sections_) memory_->release(lock);
}

std::optional<std::uint64_t> Player::turn_of(const Event& acquire) {
  if (!has_turn(acquire)) return {};
  if (acquire.value != 0) return acquire.value - 1;
  cluster_.has_unknown_turns = true;
  return {};
}

/// Raises a demand's limit by `value`, a signed number of 32 bits.
Demand beyond(Demand demand, std::uint64_t value) {
  const std::int64_t limit = demand.limit + std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(value))};
  demand.limit = static_cast<std::int32_t>(std::min(limit, std::int64_t{std::numeric_limits<std::int32_t>::max()}));
  return demand;
}

/// Returns the demand of taking a library's object.
FlagWait taken_by(const Event& event) {
  switch (static_cast<ObjectClass>(event.detail)) {
    case ObjectClass::semaphore: return {.demand = beyond(semaphore_demand, event.value)};
    case ObjectClass::reader: return {.demand = beyond(reader_demand, event.value)};
    case ObjectClass::writer: return {.demand = beyond(writer_demand, event.value)};
    default: return {.until = event.value};
  }
}

void Player::close(const Event& event) {
  memory_->finish_interval(intervals_ + 1);
  const auto team = static_cast<std::uint32_t>(event.value);
  const LockId lock{static_cast<std::uint32_t>(event.object)};
  switch (event.kind) {
    case EventKind::fork: perform(Directive::fork_master, team); break;
    case EventKind::team_begin: perform(Directive::fork_worker, team); break;
    case EventKind::join:
      perform(Directive::barrier, team);
      memory_->leave_region();
      break;
    case EventKind::barrier:
      if (event.team != 0 && team > 1 && takes_faults(cluster_.layout)) {
        memory_->gang_barrier(event.team, team);
      } else {
        perform(Directive::barrier, team);
      }
      break;
    case EventKind::single:
      executed_single_ = event.detail == 1;
      perform(Directive::single, 0);
      break;
    case EventKind::copyprivate:
      perform(executed_single_ ? Directive::copyprivate_gives : Directive::copyprivate_takes, team);
      break;
    case EventKind::acquire: acquire(lock, event); break;
    case EventKind::release: release(lock, event); break;
    case EventKind::post: memory_->post(event.object, {event.value}); break;
    case EventKind::wait: memory_->wait(event.object, {event.value}); break;
    case EventKind::take: memory_->wait(flag_of(lock), taken_by(event)); break;
    case EventKind::meet: memory_->wait(flag_of(lock), {event.value, true}); break;
    case EventKind::give: memory_->post(flag_of(lock), {{}, taken_by(event).demand.add}); break;
    case EventKind::spin: spin(ProcessId{static_cast<std::uint32_t>(event.object)}, event.value); break;
    case EventKind::chunk: perform(Directive::chunk, 0); break;
    case EventKind::flush: perform(Directive::flush, 0); break;
    case EventKind::atomic: operate_or_reduce(event); break;
    case EventKind::fence: fence(); break;
    case EventKind::clock: note_clock(event); break;
    case EventKind::end:
      if (cluster_.ended_by && cluster_.ended_by != thread_.id()) give_locks_back();
      break;
    case EventKind::loop_begin:
    case EventKind::loop_end:
    case EventKind::task: break;  // cost nothing by themselves
  }
}

void Player::perform(Directive directive, std::uint32_t team) {
  if (team == 1) {
    // A team of one needs an empty barrier only, and no page changes hands.
    thread_.spend(Spent::barrier, memory_->lone_barrier());
    thread_.account.count_barrier(cluster_.clock.now());
    return;
  }
  for (const ProtocolStep& step : steps_of(directive)) {
    if (step.by == By::executing && !executed_single_) continue;
    const PageId page = cluster_.page_of(step.page);
    switch (step.what) {
      case Primitive::read:
      case Primitive::write:
        if (has_faults_) {
          const bool writes = step.what == Primitive::write;
          memory_->touch({page, 1, cluster_.home_of_page(page), writes ? Access::write : Access::read,
                          writes ? Change{1, 1} : Change{}, nullptr});
        }
        break;
      case Primitive::acquire: memory_->acquire(lock_of(step.page), std::nullopt); break;
      case Primitive::release: memory_->release(lock_of(step.page)); break;
      case Primitive::barrier: {
        if (team == 0 || team > cluster_.layout.processes() || index_of(thread_.id()) >= team) {
          throw RunError(
              fmt::format("thread {} is at a barrier of {} threads, which are others (the trace's teams do not "
                          "match). Trace the program again",
                          index_of(thread_.id()), team));
        }
        memory_->barrier(team, directive == Directive::fork_master   ? Arrival::fork_master
                               : directive == Directive::fork_worker ? Arrival::fork_worker
                                                                     : Arrival::inside);
        break;
      }
      case Primitive::flush: memory_->flush(); break;
    }
  }
}

void Player::operate_or_reduce(const Event& event) {
  if (next_reduction_ < reductions_.size() && reductions_[next_reduction_].interval == intervals_) {
    const bool combines = thread_.id() == ProcessId{0};
    perform(combines ? Directive::reduction_combines : Directive::reduction_gives, reductions_[next_reduction_++].team);
    return;
  }
  const auto region = static_cast<std::uint32_t>(event.object);
  // In a run of one process, atomic instructions do not trap.
  if (!takes_faults(cluster_.layout)) return;
  const PageId page{RegionId{region}, event.value / static_cast<std::uint64_t>(cluster_.page_size.count)};
  operate(page, event);
}

/// Repeats a refused operation with the value that it found. Baselines leave repetitions out, as these are a kind of
/// waiting. Nothing is refused under a lock, which Omni holds during the whole update, nor in a recorded order, which
/// fits only a run without refusals.
void Player::operate(PageId page, const Event& event) {
  const ProcessId home = home_of(page);
  const std::uint16_t words = words_changed(event);
  if (atomics_ == Atomics::lock) {
    count_atomic();
    memory_->acquire(atomic_lock, std::nullopt);
    const Change change{words, static_cast<std::uint16_t>(words > 0 ? 1 : 0)};
    const bool is_open = home == thread_.id() && cluster_.rights->is_of_stack(page);
    if (!is_open) memory_->touch({page, 1, home, Access::write, change, nullptr});
    memory_->release(atomic_lock);
    return;
  }
  WordOperation operation{.page = page, .byte = event.value, .words = words};
  // The program does not repeat an operation that failed in the trace, so neither do we.
  operation.compares = words > 0 && (event.detail & compares_found) != 0 && !cluster_.order;
  operation.found = operate_at_home(operation, home);
  const Uncontended once = thread_.uncontended;
  while (operation.found) {
    operation.found = operate_at_home(operation, home);
    thread_.uncontended = once;
  }
}

std::optional<Moment> Player::operate_at_home(const WordOperation& operation, ProcessId home) {
  count_atomic();
  // The home writes without a fault, so the notice is added here.
  if (cluster_.notices) cluster_.notices->add(operation.page, cluster_.layout.node_of(home));
  return memory_->operate(operation, home, atomics_ != Atomics::relaxed);
}

void Player::count_atomic() {
  thread_.account.count(thread_.local_now(), [](Tally& tally) { ++tally.atomics; });
}

void Player::fence() {
  if (!takes_faults(cluster_.layout)) return;
  count_atomic();
  memory_->fence();
}

void Player::spin(ProcessId by, std::uint64_t events) {
  thread_.account.count(cluster_.clock.now(), [](Tally& tally) { ++tally.waits; });
  if (takes_faults(cluster_.layout)) memory_->spin(by, events);
}

ProcessId Player::home_of(PageId page) {
  const bool is_first_touch = cluster_.homes[index_of(page.region)].placement == Placement::first_touch;
  return is_first_touch ? cluster_.first_toucher(thread_, page) : cluster_.home_of_page(page);
}

void Player::note_clock(const Event& event) {
  if (cluster_.options.readings) {
    thread_.catch_up_and_wait();
    cluster_.readings[index_of(thread_.id())].push_back({static_cast<ClockSource>(event.detail), cluster_.clock.now()});
  }
  if (thread_.id() != ProcessId{0} || clock_calls_ == 0 || !bounds_region(event, clock_rank_)) return;
  ++clock_calls_seen_;
  if (clock_calls_seen_ != 1 && clock_calls_seen_ != clock_calls_) return;
  thread_.catch_up_and_wait();
  const bool begins = clock_calls_seen_ == 1;
  (begins ? cluster_.window.begin : cluster_.window.end) = cluster_.clock.now();
  if (begins) {
    cluster_.baselines.begin(cluster_.uncontended());
  } else {
    cluster_.baselines.end(cluster_.uncontended());
  }
}

}  // namespace sdsm::sim
