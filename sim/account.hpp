/// Charges each picosecond of a thread to exactly one item, so that a thread's items sum to the makespan.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include "models/ids.hpp"
#include "sim/constructs.hpp"
#include "sim/tally.hpp"

namespace sdsm::timelines {
class Timeline;
}

namespace sdsm::sim {

/// The measured region is [begin, end) of simulated time. Time::max() stands for an unknown bound.
struct Window {
  Time begin = Time::max();
  Time end = Time::max();

  bool contains(Time now) const { return now >= begin && now < end; }
  /// Returns the part of [from, to] inside the region.
  Time clip(Time from, Time to) const { return std::max(std::min(to, end) - std::max(from, begin), Time{}); }
};

/// One thread's tallies, of the whole run and of the measured region. Charge a period only when simulated time has
/// reached its end: only then is it known whether the region ended before.
class Account {
 public:
  /// `timeline` shows the charges as states of thread `id`; it may be null.
  explicit Account(const Window& window, ProcessId id = {}, timelines::Timeline* timeline = nullptr)
      : window_(window), id_(id), timeline_(timeline) {}

  /// Ends all charging and counting.
  void close() { is_closed_ = true; }

  using Part = ConstructAccount::Part;
  /// The construct that what happens now belongs to, if the account is kept by constructs.
  Part here() const { return constructs ? constructs->here() : Part{}; }

  void charge(Spent item, Time from, Time to) {
    charge(item, from, to, constructs && item == Spent::idle ? constructs->idle() : here());
  }
  void charge(Spent item, Time from, Time to, Part part) {
    if (is_closed_) return;
    if (timeline_ != nullptr) show(item, from, to);
    whole.time[static_cast<std::size_t>(item)] += to - from;
    const Time within = window_.clip(from, to);
    region.time[static_cast<std::size_t>(item)] += within;
    if (constructs) constructs->tally_of(part).time[static_cast<std::size_t>(item)] += within;
  }

  /// Records that stolen time, which charge() gets separately, interrupted `item`.
  void note_stolen(Spent item, Time from, Time to) {
    if (is_closed_) return;
    whole.stolen_from[static_cast<std::size_t>(item)] += to - from;
    region.stolen_from[static_cast<std::size_t>(item)] += window_.clip(from, to);
  }

  /// Records how much of a computing time the platform's costs and noise `added`, spread evenly over its `duration`.
  /// [from, to] is the charged part. Noise that shortens the work makes `added` negative.
  void note_added_computing(Time from, Time to, Time added, Time duration) {
    if (is_closed_ || added == Time{}) return;
    const auto part = [&](Time within) {
      if (within == duration) return added;
      return Time{std::llround(static_cast<double>(added.count()) * (to_seconds(within) / to_seconds(duration)))};
    };
    whole.added_computing += part(to - from);
    region.added_computing += part(window_.clip(from, to));
  }

  /// Applies `change` to the whole-run tally, and to the region's if the region contains `when`.
  template <typename Change>
  void count(Time when, Change change) {
    count(when, here(), change);
  }
  template <typename Change>
  void count(Time when, Part part, Change change) {
    if (is_closed_) return;
    change(whole);
    if (!(is_informed_ ? is_in_region_ : window_.contains(when))) return;
    change(region);
    if (constructs) change(constructs->tally_of(part));
  }
  /// The thread learns now whether the region has begun or ended. Its counts belong to the region, or not, according to
  /// what it last learnt, until follow_region().
  void learn_region(Time now) {
    is_informed_ = true;
    is_in_region_ = window_.contains(now);
  }
  /// From now on simulated time decides again whether counts belong to the region.
  void follow_region() { is_informed_ = false; }

  void count_diff(Time when, std::uint64_t payload) {
    count(when, [=](Tally& tally) {
      ++tally.diffs;
      tally.diff_bytes += payload;
      tally.largest_diff = std::max(tally.largest_diff, payload);
    });
  }
  void count_barrier(Time when) {
    count(when, [](Tally& tally) { ++tally.barriers; });
  }
  void count_lock(Time when) {
    count(when, [](Tally& tally) { ++tally.locks; });
  }

  /// `kind` is one of the protocol's message kinds.
  template <typename Kind>
  void count_message(Time when, Kind kind, Bytes payload) {
    count(when, [=](Tally& tally) {
      ++tally.messages;
      tally.bytes += static_cast<std::uint64_t>(payload.count);
      ++tally.messages_by_kind[static_cast<std::size_t>(kind)];
    });
  }

  /// Counts a reply to another thread, by kind if it has one.
  void count_served(Time when, std::optional<std::size_t> kind, Bytes payload) {
    count(when, [=](Tally& tally) {
      ++tally.served;
      tally.served_bytes += static_cast<std::uint64_t>(payload.count);
      if (kind) ++tally.messages_by_kind[*kind];
    });
  }
  template <typename Kind>
  requires std::is_enum_v<Kind>
  void count_served(Time when, Kind kind, Bytes payload) {
    count_served(when, static_cast<std::size_t>(kind), payload);
  }

  Tally whole;
  Tally region;
  std::unique_ptr<ConstructAccount> constructs;  ///< of the region; null if not asked for

 private:
  void show(Spent item, Time from, Time to);

  const Window& window_;
  ProcessId id_;
  bool is_closed_ = false;
  bool is_informed_ = false;  ///< learn_region() decides for counts, not for time
  bool is_in_region_ = false;
  timelines::Timeline* timeline_;
};

}  // namespace sdsm::sim
