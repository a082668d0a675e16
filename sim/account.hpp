/// Where each thread's time goes. Every picosecond of a thread is charged to exactly one item, so the items sum to the
/// makespan, per thread, to the digit.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "models/account.hpp"
#include "models/counts.hpp"
#include "models/ids.hpp"
#include "models/units.hpp"

namespace sdsm::timelines {
class Timeline;
}

namespace sdsm::sim {

struct Tally : ThreadCounts {
  std::array<Time, spent_terms> time{};  ///< by Spent
  /// Of the stolen time, which a run's account has where the thread was: by what it did meanwhile.
  std::array<Time, spent_terms> stolen_from{};
  Time added_computing{};          ///< of the computing, what costs (fault_cold, first_write, memory_bus) and noise add
  std::uint64_t largest_diff = 0;  ///< payload, bytes

  Time total() const {
    Time sum{};
    for (const Time item : time) sum += item;
    return sum;
  }
};

/// The measured region: [begin, end) of simulated time. Time::max() stands for a bound that is not known yet.
struct Window {
  Time begin = Time::max();
  Time end = Time::max();

  bool contains(Time now) const { return now >= begin && now < end; }
  /// How much of [from, to] lies in the region.
  Time clip(Time from, Time to) const { return std::max(std::min(to, end) - std::max(from, begin), Time{}); }
};

/// One thread's tallies of the whole run and of the measured region. A charge must come when simulated time has reached
/// its end: only then is it known whether the region ended before.
class Account {
 public:
  /// `timeline`: that shows the charges as states of thread `id`; null for none.
  explicit Account(const Window& window, ProcessId id = {}, timelines::Timeline* timeline = nullptr)
      : window_(window), id_(id), timeline_(timeline) {}

  /// Nothing more is charged or counted.
  void close() { is_closed_ = true; }

  void charge(Spent item, Time from, Time to) {
    if (is_closed_) return;
    if (timeline_ != nullptr) show(item, from, to);
    whole.time[static_cast<std::size_t>(item)] += to - from;
    region.time[static_cast<std::size_t>(item)] += window_.clip(from, to);
  }

  /// Of what charge() has as stolen: the thread did `item` meanwhile.
  void note_stolen(Spent item, Time from, Time to) {
    if (is_closed_) return;
    whole.stolen_from[static_cast<std::size_t>(item)] += to - from;
    region.stolen_from[static_cast<std::size_t>(item)] += window_.clip(from, to);
  }

  /// Of what charge() has as computing that lasts `duration` in all: what costs and noise of the platform add to it,
  /// evenly; below zero where noise makes it shorter.
  void note_added_computing(Time from, Time to, Time added, Time duration) {
    if (is_closed_ || added == Time{}) return;
    const auto part = [&](Time within) {
      if (within == duration) return added;
      return Time{std::llround(static_cast<double>(added.count()) * (to_seconds(within) / to_seconds(duration)))};
    };
    whole.added_computing += part(to - from);
    region.added_computing += part(window_.clip(from, to));
  }

  /// Applies `change` to the whole-run tally, and to the region's if `when` is in it.
  template <typename Change>
  void count(Time when, Change change) {
    if (is_closed_) return;
    change(whole);
    if (is_informed_ ? is_in_region_ : window_.contains(when)) change(region);
  }
  /// The thread hears now whether the region has begun or ended: for its counts it has not until then, nor does it from
  /// now on until it hears again, or follow_region() ends that.
  void learn_region(Time now) {
    is_informed_ = true;
    is_in_region_ = window_.contains(now);
  }
  /// From now on its counts belong to the region while that lasts.
  void follow_region() { is_informed_ = false; }

  /// `kind`: of the protocol's messages.
  template <typename Kind>
  void count_message(Time when, Kind kind, Bytes payload) {
    count(when, [=](Tally& tally) {
      ++tally.messages;
      tally.bytes += static_cast<std::uint64_t>(payload.count);
      ++tally.messages_by_kind[static_cast<std::size_t>(kind)];
    });
  }

  /// A reply to another thread. Without a kind it is counted by none.
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

 private:
  void show(Spent item, Time from, Time to);

  const Window& window_;
  ProcessId id_;
  bool is_closed_ = false;
  bool is_informed_ = false;  ///< learn_region() bounds its counts, not the time
  bool is_in_region_ = false;
  timelines::Timeline* timeline_;
};

}  // namespace sdsm::sim
