#include "sim/player.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "sim/simulation.hpp"

namespace sdsm::sim {

Player::Player(Cluster& cluster, ProcessId process, std::unique_ptr<IntervalSource> source, std::uint64_t clock_calls)
    : cluster_(cluster),
      thread_(cluster.thread(process)),
      pages_(cluster.pages(thread_.node())),
      source_(std::move(source)),
      clock_calls_(clock_calls),
      stretch_(cluster.costs.stretch(cluster.layout.threads_per_node, cluster.options.memory_bound)) {
  if (cluster_.options.whole_run || clock_calls_ < 2) {
    clock_calls_ = 0;
    cluster_.window.begin = Time{};
  }
}

void Player::run() {
  while (const trace::Interval* interval = source_->next()) {
    begin_interval(*interval);
    work(*interval);
    last_event_ = interval->end;
    close(interval->end);
    ++intervals_;
  }
  thread_.catch_up_and_wait();
  if (cluster_.order) leave_order();
  finished_ = true;
  cluster_.clock.pauses();
}

std::string Player::position() const {
  return fmt::format("thread {}: {} after {} intervals, last event '{}' (object {}, value {}){}",
                     index_of(thread_.id()), finished_ ? "finished" : "waiting", intervals_, name_of(last_event_.kind),
                     last_event_.object, last_event_.value,
                     cluster_.order ? "; " + cluster_.order->position(thread_.id()) : "");
}

Time Player::scaled(std::uint64_t compute_ns) const {
  const double ps = static_cast<double>(compute_ns) * 1000 * cluster_.options.compute_factor * stretch_;
  // Thread::spend() refuses what is longer than a run may last; this keeps the number within its type.
  return Time{std::llround(std::min(ps, 1.01 * static_cast<double>(last_date.count())))};
}

void Player::work(const trace::Interval& interval) {
  const Time compute = scaled(interval.compute_ns);
  if (!takes_faults(cluster_.layout)) return thread_.spend(Spent::compute, compute);
  Time done{};
  for (const trace::TouchRun& run : interval.touches) {
    constexpr auto steps = static_cast<std::int64_t>(trace::position_steps);
    const Time at = compute / steps * run.position + compute % steps * run.position / steps;
    thread_.spend(Spent::compute, at - done);
    done = at;
    ++touched_;
    touch(run);
  }
  thread_.spend(Spent::compute, compute - done);
}

void Player::touch(const trace::TouchRun& run) {
  const RegionHomes& homes = cluster_.homes[index_of(run.region)];
  const Change change = run.access == Access::write && cluster_.options.full_page_diffs ? whole_page : run.change;
  const std::uint32_t processes = cluster_.layout.processes();
  const std::uint64_t end = run.first + run.pages;
  if (homes.placement == Placement::first_touch) {
    for (std::uint64_t index = run.first; index < end; ++index) {
      const PageId page{run.region, index};
      touch(page, 1, first_toucher(page), run.access, change);
    }
    return;
  }
  for (std::uint64_t index = run.first; index < end;) {
    // Threads mostly stay within one home's share of a region, and finding its bounds takes divisions.
    if (run.region != share_.region || index < share_.begin || index >= share_.end) {
      share_ = {run.region, index, homes.end_of_home(index, processes), homes.home(index, processes)};
    }
    const std::uint64_t alike = std::min(end, share_.end) - index;
    touch({run.region, index}, alike, share_.home, run.access, change);
    index += alike;
  }
}

/// Who comes first is a matter of simulated time.
ProcessId Player::first_toucher(PageId page) {
  if (!cluster_.first_touches.home(page)) thread_.catch_up_and_wait();
  return cluster_.first_touches.touched(page, thread_.id());
}

void Player::touch(PageId first, std::uint64_t pages, ProcessId home, Access access, Change change) {
  const Owner owner = cluster_.owner_of(thread_.id(), home);
  if (cluster_.layout.threads_per_node > 1 && !cluster_.order) {
    for (std::uint64_t i = 0; i < pages; ++i)
      touch_among_companions({first.region, first.index + i}, home, owner, access, change);
    return;
  }
  if (cluster_.order) {
    for (std::uint64_t i = 0; i < pages; ++i)
      touch_in_order({first.region, first.index + i}, home, owner, access, change);
    return;
  }
  for (PageId page = first; page.index < first.index + pages;) {
    const std::uint64_t left = first.index + pages - page.index;
    const NodePages::AccessedRun run = pages_.access_run(thread_.id(), page, left, home, owner, access);
    if (run.kind) fault(page, *run.kind, run.pages, home);
    for (std::uint64_t i = 0; change && owner != Owner::home && i < run.pages; ++i) {
      pages_.changed({page.region, page.index + i}, owner, change);
    }
    page.index += run.pages;
  }
}

/// Companions share the node's pages: which of them comes first is a matter of simulated time, so a process looks at
/// the node's state only when simulated time has reached it.
void Player::touch_among_companions(PageId page, ProcessId home, Owner owner, Access access, Change change) {
  // Again if a companion took a lock, and with it dropped the page, while it was on its way.
  while (traps(access, pages_.process_permission(thread_.id(), page, owner))) {
    thread_.catch_up_and_wait();
    const Time since = cluster_.clock.now();
    cluster_.await_arrival(thread_, page);
    const std::optional<FaultKind> kind = pages_.access(thread_.id(), page, home, owner, access);
    // The trap came before the wait for a companion's fetch, so the wait is part of this fault.
    thread_.waited(spent_on(*kind), since);
    const bool fetches = rule_of(*kind).fetches_page;
    if (fetches) cluster_.begin_arrival(thread_.node(), page);
    finish_fault(page, *kind, home);
    if (!fetches) break;
  }
  if (change) pages_.changed(page, owner, change);
}

/// Precondition: a page that comes is being waited for.
void Player::finish_fault(PageId page, FaultKind kind, ProcessId home) {
  fault(page, kind, 1, home);
  if (!rule_of(kind).fetches_page) return;
  thread_.catch_up_and_wait();  // companions find the page once it is installed
  cluster_.end_arrival(thread_.node(), page);
}

void Player::fault(PageId first, FaultKind kind, std::uint64_t pages, ProcessId home) {
  for (std::uint64_t i = 0; cluster_.options.page_figures && i < pages; ++i) {
    cluster_.note(thread_.id(), {first.region, first.index + i}, trace::figures_of(kind));
  }
  const FaultRule& rule = rule_of(kind);
  if (rule.fetches_page) return fetch(kind, home);
  const Time each = cluster_.costs.fault_local(kind);
  if (rule.sends_request && rule.owner == Owner::remote) {
    for (std::uint64_t i = 0; i < pages; ++i) {
      // Nobody waits for it, but it takes its turn on the wire at the time at which it is sent.
      cluster_.clock.at(thread_.local_now() + static_cast<std::int64_t>(i) * each, [this, home] {
        thread_.account.count_message(cluster_.clock.now(), MessageKind::write_request, control_payload);
        cluster_.network.send(thread_.node(), cluster_.layout.node_of(home), control_payload, [] {});
      });
    }
  }
  thread_.spend_faults(kind, pages, static_cast<std::int64_t>(pages) * each);
}

void Player::fetch(FaultKind kind, ProcessId home) {
  const Time local = cluster_.costs.fault_local(kind);
  const Time at_home = cluster_.costs.home_part(local);
  const Time at_requester = local - at_home;
  fetch_ = {kind, home, cluster_.jittered(at_home), {}};
  thread_.catch_up([this] { issue_fetch(); });
  thread_.bell.wait();
  thread_.spend(spent_on(kind), cluster_.jittered(at_requester));
}

void Player::issue_fetch() {
  fetch_.since = cluster_.clock.now();
  ++cluster_.remote_faults;
  const auto kind = static_cast<std::size_t>(fetch_.kind);
  thread_.account.count(fetch_.since, [kind](Tally& tally) { ++tally.faults[kind]; });
  thread_.account.count_message(fetch_.since, MessageKind::page_request, control_payload);
  const NodeId home_node = cluster_.layout.node_of(fetch_.home);
  cluster_.network.send(thread_.node(), home_node, control_payload, [this] {
    cluster_.service.serve(fetch_.home, fetch_.at_home, [this] {
      cluster_.thread(fetch_.home).account.count(cluster_.clock.now(), [](Tally& tally) {
        ++tally.served;
        tally.served_bytes += static_cast<std::uint64_t>(page_payload.count);
      });
      cluster_.network.send(cluster_.layout.node_of(fetch_.home), thread_.node(), page_payload, [this] {
        thread_.waited(spent_on(fetch_.kind), fetch_.since);
        thread_.bell.ring();
      });
    });
  });
}

void Player::close(const trace::Event& event) {
  using trace::EventKind;
  if (cluster_.order) finish_interval();
  const auto team = static_cast<std::uint32_t>(event.value);
  switch (event.kind) {
    case EventKind::fork: perform(Directive::fork_master, team); break;
    case EventKind::team_begin: perform(Directive::fork_worker, team); break;
    case EventKind::join:
    case EventKind::barrier: perform(Directive::barrier, team); break;
    case EventKind::single:
      executed_single_ = event.detail == 1;
      perform(executed_single_ ? Directive::single_executes : Directive::single_passes, 0);
      break;
    case EventKind::copyprivate:
      perform(executed_single_ ? Directive::copyprivate_gives : Directive::copyprivate_takes, team);
      break;
    case EventKind::acquire: acquire(LockId{static_cast<std::uint32_t>(event.object)}); break;
    case EventKind::release: release(LockId{static_cast<std::uint32_t>(event.object)}); break;
    case EventKind::chunk: perform(Directive::chunk, 0); break;
    case EventKind::flush: perform(Directive::flush, 0); break;
    case EventKind::clock:
      if (thread_.id() == ProcessId{0}) note_clock();
      break;
    case EventKind::loop_begin:
    case EventKind::loop_end:
    case EventKind::task:
    case EventKind::end: break;  // cost nothing by themselves
  }
}

void Player::perform(Directive directive, std::uint32_t team) {
  if (team == 1) {
    // A team of one has nobody to agree with: an empty barrier of one process, and no page changes hands.
    const auto [first, second, third] = cluster_.costs.synchronisations({1, 1});
    thread_.spend(Spent::barrier, first + second + third);
    thread_.account.count(cluster_.clock.now(), [](Tally& tally) { ++tally.barriers; });
    return;
  }
  for (const ProtocolStep& step : steps_of(directive)) {
    const PageId page = cluster_.page_of(step.page);
    switch (step.what) {
      case Primitive::read:
      case Primitive::write:
        if (takes_faults(cluster_.layout)) {
          administrative_ = page;
          const Access access = step.what == Primitive::read ? Access::read : Access::write;
          touch(page, 1, cluster_.home_of_page(page), access, access == Access::write ? Change{1, 1} : Change{});
        }
        break;
      case Primitive::acquire: acquire(lock_of(step.page)); break;
      case Primitive::release: release(lock_of(step.page)); break;
      case Primitive::barrier: {
        if (team == 0 || team > cluster_.layout.processes() || index_of(thread_.id()) >= team) {
          throw RunError(
              fmt::format("thread {} is at a barrier of {} threads, which are others (the trace's teams do not "
                          "match). Trace the program again",
                          index_of(thread_.id()), team));
        }
        const auto kind = directive == Directive::fork_master   ? TeamBarrier::Kind::fork_master
                          : directive == Directive::fork_worker ? TeamBarrier::Kind::fork_worker
                                                                : TeamBarrier::Kind::inside;
        if (cluster_.order) arrive_in_turn(kind == TeamBarrier::Kind::fork_worker ? Spent::idle : Spent::barrier);
        thread_.catch_up(
            [this, team, kind] { cluster_.barrier.arrive(thread_, team, kind, [this] { thread_.bell.ring(); }); });
        thread_.bell.wait();
        break;
      }
      case Primitive::flush:
        thread_.catch_up([this] { cluster_.locks.flush(thread_, [this] { thread_.bell.ring(); }); });
        thread_.bell.wait();
        break;
    }
  }
}

void Player::acquire(LockId lock) {
  if (cluster_.order) return acquire_in_turn(lock);
  thread_.catch_up([this, lock] { cluster_.locks.acquire(thread_, lock, [this] { thread_.bell.ring(); }); });
  thread_.bell.wait();
}

void Player::release(LockId lock) {
  if (cluster_.order) return release_in_turn(lock);
  thread_.catch_up([this, lock] { cluster_.locks.release(thread_, lock, [this] { thread_.bell.ring(); }); });
  thread_.bell.wait();
}

void Player::note_clock() {
  if (clock_calls_ == 0) return;
  ++clock_calls_seen_;
  if (clock_calls_seen_ != 1 && clock_calls_seen_ != clock_calls_) return;
  thread_.catch_up_and_wait();
  (clock_calls_seen_ == 1 ? cluster_.window.begin : cluster_.window.end) = cluster_.clock.now();
}

}  // namespace sdsm::sim
