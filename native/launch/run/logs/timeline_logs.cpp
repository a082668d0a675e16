#include "native/launch/run/logs/timeline_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>

#include "commands/errors.hpp"
#include "commands/standard_streams.hpp"
#include "native/launch/run/logs/control_channel.hpp"

namespace sdsm::run_command {
namespace {

using dsm::TimedEvent;
using TimedKind = dsm::TimedEvent::Kind;
using Events = std::vector<TimedEvent>;

/// Puts one run's logs into its timeline.
class Merge {
 public:
  /// The run begins and ends with process 0.
  Merge(const std::vector<Events>& processes, timelines::Timeline& timeline, ProtocolKind protocol)
      : processes_(processes), timeline_(timeline), protocol_(protocol) {
    if (const auto life = life_of(0)) run_ = *life;
  }

  /// A state within another counts instead of it; what none claims is computing. Before its process began and behind
  /// its end a thread was idle.
  void add_states(std::uint32_t process) {
    const Events& logged = processes_[process];
    const auto life = life_of(process);
    if (!life) return;
    Events states;
    std::ranges::copy_if(logged, std::back_inserter(states), [](const TimedEvent& event) {
      return event.kind == TimedKind::state || event.kind == TimedKind::fault;
    });
    states.push_back(idle_between(run_.begin_ns, life->begin_ns));
    states.push_back(idle_between(life->end_ns, run_.end_ns));
    for (TimedEvent& event : states) {
      event.begin_ns = std::clamp(event.begin_ns, run_.begin_ns, run_.end_ns);
      event.end_ns = std::clamp(event.end_ns, event.begin_ns, run_.end_ns);
    }
    std::ranges::sort(states, [](const TimedEvent& a, const TimedEvent& b) {
      return std::tuple(a.begin_ns, b.end_ns) < std::tuple(b.begin_ns, a.end_ns);
    });
    process_ = ProcessId{process};
    at_ns_ = run_.begin_ns;
    open_ = {{.end_ns = run_.end_ns}};
    timeline_.start(process_, time_of(at_ns_));
    for (TimedEvent event : states) {
      while (open_.size() > 1 && (open_.back().end_ns <= event.begin_ns || open_.back().end_ns < event.end_ns)) close();
      // What a trap takes before its handler is measured once for all, so a fault may seem to begin too early.
      if (event.begin_ns < at_ns_) overlap_ns_ += at_ns_ - event.begin_ns;
      event.end_ns = std::min(event.end_ns, open_.back().end_ns);
      go_on_to(event.begin_ns);
      if (event.kind == TimedKind::fault) {
        timeline_.faults(process_, event.what - 1U, {RegionId{event.object}, event.value}, 1, time_of(at_ns_));
      }
      open_.push_back(event);
    }
    while (!open_.empty()) close();
  }

  void add_services(std::uint32_t process) {
    for (const TimedEvent& event : processes_[process]) {
      if (event.kind != TimedKind::serves) continue;
      timeline_.serve(ProcessId{process}, time_of(event.value), time_of(event.begin_ns), time_of(event.end_ns));
    }
  }

  /// Messages of one kind from a process to another arrive in the order in which they were sent.
  void add_messages() {
    struct Both {
      Events sent, arrived;
    };
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>, Both> kinds;
    for (std::uint32_t process = 0; process < processes_.size(); ++process) {
      for (const TimedEvent& event : processes_[process]) {
        if (event.kind == TimedKind::asks || event.kind == TimedKind::answers) {
          kinds[{process, event.object, event.what}].sent.push_back(event);
        } else if (event.kind == TimedKind::is_asked || event.kind == TimedKind::is_answered) {
          kinds[{event.object, process, event.what}].arrived.push_back(event);
        }
      }
    }
    for (auto& [key, both] : kinds) {
      const auto [from, to, what] = key;
      for (Events* const events : {&both.sent, &both.arrived}) {
        std::ranges::stable_sort(*events, {}, &TimedEvent::begin_ns);
      }
      for (std::size_t i = 0; i < std::min(both.sent.size(), both.arrived.size()); ++i) {
        const Time sent = time_of(both.sent[i].begin_ns), arrived = time_of(both.arrived[i].begin_ns);
        timeline_.message(
            {ProcessId{from}, ProcessId{to},
             what < tables_of(protocol_).messages.size() ? std::optional<std::size_t>(what) : std::nullopt,
             Bytes{static_cast<std::int64_t>(both.sent[i].value)}, sent, std::max(sent, arrived)});
      }
    }
  }

  std::uint64_t overlap_ns() const { return overlap_ns_; }
  Time time_of(std::uint64_t ns) const { return std::chrono::nanoseconds(ns - std::min(ns, run_.begin_ns)); }

 private:
  std::optional<TimedEvent> life_of(std::uint32_t process) const {
    const Events& logged = processes_[process];
    const auto life = std::ranges::find(logged, TimedKind::life, &TimedEvent::kind);
    return life == logged.end() ? std::nullopt : std::optional(*life);
  }
  static TimedEvent idle_between(std::uint64_t begin_ns, std::uint64_t end_ns) {
    return {.begin_ns = begin_ns,
            .end_ns = end_ns,
            .what = static_cast<std::uint16_t>(Spent::idle),
            .kind = TimedKind::state};
  }

  /// The innermost open state lasts until then.
  void go_on_to(std::uint64_t ns) {
    ns = std::min(ns, open_.back().end_ns);
    if (ns <= at_ns_) return;
    timeline_.state(process_, open_.back().what, time_of(at_ns_), time_of(ns));
    at_ns_ = ns;
  }
  void close() {
    go_on_to(open_.back().end_ns);
    open_.pop_back();
  }

  const std::vector<Events>& processes_;
  timelines::Timeline& timeline_;
  ProtocolKind protocol_;
  TimedEvent run_{};  ///< as process 0's life
  ProcessId process_{};
  std::uint64_t at_ns_ = 0;
  std::uint64_t overlap_ns_ = 0;
  Events open_;  ///< states, each within the one before; the first is computing
};

}  // namespace

void TimelineLogs::take(std::uint32_t process, const std::string& payload) {
  if (payload.size() % sizeof(TimedEvent) != 0) throw ProtocolError("sent the launcher a log that is cut off");
  for (std::size_t at = 0; at < payload.size(); at += sizeof(TimedEvent)) {
    TimedEvent event;
    std::memcpy(&event, payload.data() + at, sizeof event);
    const bool has_state = event.kind == TimedKind::state || event.kind == TimedKind::fault;
    const bool is_impossible = event.kind > TimedKind::life ||
                               (event.kind == TimedKind::fault && event.what > most_fault_kinds) ||
                               (has_state && (event.what >= spent_terms || event.end_ns < event.begin_ns)) ||
                               (event.kind == TimedKind::fault && event.what == 0) ||
                               (!has_state && event.kind < TimedKind::serves && event.object >= layout_.processes());
    if (is_impossible) throw ProtocolError("sent the launcher a log of impossible events");
    if (event.kind == TimedKind::clock) {
      if (process != 0) continue;
      if (dsm::calls_of(event.value) == 1) clock_readings_ns_.clear();  // the first of clocks of a higher rank
      clock_readings_ns_.resize(std::min<std::size_t>(clock_readings_ns_.size() + 1, 2));
      clock_readings_ns_.back() = event.begin_ns;
    } else if (event.kind == TimedKind::life) {
      processes_[process].push_back(event);
    } else if (event.begin_ns >= horizon_ns_) {
      ++dropped_;
    } else {
      processes_[process].push_back(event);
      if (++kept_ > most_logs_ + most_logs_ / 4) drop_the_latest();
    }
  }
}

void TimelineLogs::drop_the_latest() {
  std::vector<std::uint64_t> begins_ns;
  begins_ns.reserve(kept_);
  for (const Events& logged : processes_) {
    for (const TimedEvent& event : logged) {
      if (event.kind != TimedKind::life) begins_ns.push_back(event.begin_ns);
    }
  }
  const auto first_dropped = begins_ns.begin() + static_cast<std::ptrdiff_t>(most_logs_);
  std::ranges::nth_element(begins_ns, first_dropped);
  horizon_ns_ = *first_dropped;
  for (Events& logged : processes_) {
    const std::uint64_t fewer = std::erase_if(
        logged, [this](const auto& event) { return event.kind != TimedKind::life && event.begin_ns >= horizon_ns_; });
    kept_ -= fewer;
    dropped_ += fewer;
  }
}

timelines::Timeline TimelineLogs::timeline(timelines::Selection selection, timelines::Labels& labels) const {
  std::string dropped;
  if (dropped_ > 0) {
    timelines::Timeline none(layout_, tables_of(protocol_), {});
    const Time horizon = Merge(processes_, none, protocol_).time_of(horizon_ns_);
    const std::uint64_t enough = (kept_ + dropped_) / logs_per_event + 1;
    if (horizon <= selection.begin) {
      throw commands::BadInput(fmt::format(
          "the timeline ends at {:.9f} s, {}: what a real run logs is kept from the run's begin on, up to {} "
          "times --timeline-events. Give --timeline-events {} or more",
          to_seconds(horizon), selection.begin == Time{} ? "where the run begins" : "before its window begins",
          logs_per_event, enough));
    }
    if (horizon < selection.end) {
      selection.end = horizon;
      dropped = fmt::format(
          "{} more events were logged, which begin at {:.9f} s or later: the timeline ends there. Let it have more "
          "(--timeline-events)",
          dropped_, to_seconds(horizon));
      labels.notes.push_back(dropped);
    }
  }
  timelines::Timeline timeline(layout_, tables_of(protocol_), selection);
  Merge merge(processes_, timeline, protocol_);
  for (std::uint32_t process = 0; process < processes_.size(); ++process) {
    merge.add_states(process);
    merge.add_services(process);
  }
  merge.add_messages();
  if (clock_readings_ns_.size() == 2) {
    labels.measured_from = merge.time_of(clock_readings_ns_.front());
    labels.measured_until = merge.time_of(clock_readings_ns_.back());
  }
  if (merge.overlap_ns() > 0) {
    labels.notes.push_back(
        fmt::format("faults seem to begin {} ns too early, all together, and are cut there", merge.overlap_ns()));
  }
  timeline.end();
  // What the timeline cuts itself begins earlier.
  if (!dropped.empty() && timeline.cut() == 0) commands::say("warning: " + dropped + ".");
  return timeline;
}

}  // namespace sdsm::run_command
