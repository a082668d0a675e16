#include "sim/replay.hpp"

#include <fmt/core.h>

#include <array>
#include <functional>
#include <optional>
#include <sstream>
#include <string>

#include "commands/forked_call.hpp"

namespace sdsm::sim {
namespace {

using trace::Interval;
using trace::TouchRun;

constexpr std::uint64_t delay_ns = 10'000;

/// A computation that is all memory-bound; `sdsm calibrate` compares it with a measured loop of this length.
constexpr std::uint64_t memory_bound_ns = 1'000'000;

/// So many messages on their way occupy all links of a route.
constexpr std::uint32_t most_links = 16;

/// Changed words of a page in the releases that `sdsm microbench` times.
constexpr std::array<std::uint16_t, 6> release_words{1, 4, 16, 64, 256, 1024};

/// Runs `body` in a child process and returns its results.
std::vector<Time> times_in_child(const std::function<std::vector<Time>()>& body) {
  std::istringstream output(commands::in_child([&] {
    std::string counts;
    for (const Time time : body()) counts += std::to_string(time.count()) + ' ';
    return counts;
  }));
  std::vector<Time> times;
  for (std::int64_t count = 0; output >> count;) times.emplace_back(count);
  return times;
}

Time time_in_child(const std::function<Time()>& body) {
  return times_in_child([&] { return std::vector{body()}; }).at(0);
}

/// Returns the mean time of a repetition: the difference of two runs, one with twice as many, each in a child process.
Time each_of(std::uint32_t repetitions, const std::function<Time(std::uint32_t)>& run) {
  const auto time_of = [&](std::uint32_t count) { return time_in_child([&] { return run(count); }); };
  return (time_of(2 * repetitions) - time_of(repetitions)) / static_cast<std::int64_t>(repetitions);
}

/// Builds threads' intervals by hand, inside one parallel region.
class Script {
 public:
  explicit Script(Layout layout) : layout_(layout), threads_(layout.processes()) {
    for (std::uint32_t t = 0; t < layout.processes(); ++t) {
      add(t, 0, {}, {t == 0 ? EventKind::fork : EventKind::team_begin, 0, 0, layout.processes()});
    }
  }
  void add(std::uint32_t thread, std::uint64_t compute_ns, std::vector<TouchRun> touches, Event end) {
    threads_[thread].push_back({compute_ns, std::move(touches), end});
  }
  void add_all(std::uint64_t compute_ns, Event end) {
    for (std::uint32_t t = 0; t < layout_.processes(); ++t) add(t, compute_ns, {}, end);
  }
  Event barrier() const { return {EventKind::barrier, 0, 0, layout_.processes()}; }

  Result run(const Platform& platform, NetworkKind network, std::uint64_t pages, const RunOptions& options = {}) {
    add_all(0, {EventKind::join, 0, 0, layout_.processes()});
    add_all(0, {EventKind::end, 0, 0, 0});
    Program program;
    program.regions.push_back({{RegionKind::globals, Placement::initial, 0, pages}, RegionId{0}, 0, false, "globals"});
    for (auto& intervals : threads_) program.sources.push_back(std::make_unique<MemorySource>(std::move(intervals)));
    return simulate(platform, layout_, network, std::move(program), options);
  }

 private:
  Layout layout_;
  std::vector<std::vector<Interval>> threads_;
};

/// How to cause each kind of fault: `preparer` touches the page of process 0 before, `victim` takes the fault.
struct FaultScene {
  Layout layout;
  std::uint32_t victim;  ///< the thread that takes the fault
  Access access;
  std::uint32_t preparer;  ///< the thread that brings the page into its earlier state
  std::optional<Access> preparation;
};

FaultScene scene_of(FaultKind kind) {
  using enum FaultKind;
  const Layout pair{2, 1}, local_peers{1, 2}, both{2, 2};
  switch (kind) {
    case WROH: return {pair, 0, Access::write, 0, std::nullopt};
    case WROL: return {local_peers, 1, Access::write, 0, std::nullopt};
    case WROR: return {pair, 1, Access::write, 1, Access::read};
    case WRWH: return {local_peers, 0, Access::write, 1, Access::write};
    case WRWL: return {local_peers, 1, Access::write, 0, Access::write};
    case WRWR: return {both, 3, Access::write, 2, Access::write};
    case WUMR: return {pair, 1, Access::write, 0, std::nullopt};
    case RRWR: return {both, 3, Access::read, 2, Access::write};
    case RROR: return {both, 3, Access::read, 2, Access::read};
    case RUMR: return {pair, 1, Access::read, 0, std::nullopt};
  }
  throw std::logic_error("no such kind of fault");
}

}  // namespace

Time replay_fault(const Platform& given, NetworkKind network, FaultKind kind, std::uint32_t faults) {
  const FaultScene scene = scene_of(kind);
  // Each page is used once here, but a fault is measured on pages that the node has had and twinned before. The
  // measuring program's clock cannot separate the trap from computing that the trap slows.
  Platform platform = given;
  platform.costs.first_copy = {};
  platform.costs.first_write = {};
  platform.costs.fault_cold = {};
  return each_of(faults, [&](std::uint32_t pages) {
    Script script(scene.layout);
    const auto touch = [](std::uint64_t page, Access access, std::uint8_t position) {
      return TouchRun{RegionId{0}, 1, page, access, position, access == Access::write ? Change{1, 1} : Change{}};
    };
    // At least a millisecond between touches, so that each finds the cluster idle.
    for (std::uint32_t page = 0; page < pages; ++page) {
      for (std::uint32_t t = 0; t < scene.layout.processes(); ++t) {
        std::vector<TouchRun> touches;
        if (scene.preparation && t == scene.preparer) touches.push_back(touch(page, *scene.preparation, 0));
        if (t == scene.victim) touches.push_back(touch(page, scene.access, 128));
        script.add(t, 4'000'000, std::move(touches), script.barrier());
      }
    }
    const Tally tally = script.run(platform, network, pages).threads[scene.victim].whole;
    if (tally.faults[static_cast<std::size_t>(kind)] < pages) {
      throw RunError(fmt::format("{} of {} expected faults {} were met", tally.faults[static_cast<std::size_t>(kind)],
                                 pages, name_of(kind)));
    }
    return tally.time[static_cast<std::size_t>(spent_on(kind))];
  });
}

Time replay_barrier(const Platform& platform, NetworkKind network, Layout layout, std::uint32_t repetitions) {
  const Time each = each_of(repetitions, [&](std::uint32_t count) {
    Script script(layout);
    for (std::uint32_t i = 0; i < count; ++i) script.add_all(delay_ns, script.barrier());
    return script.run(platform, network, 1).whole_makespan;
  });
  return each - std::chrono::nanoseconds(delay_ns);
}

Time replay_lock(const Platform& platform, NetworkKind network, Layout layout, std::uint32_t repetitions_per_thread) {
  const Time of_all_threads = each_of(repetitions_per_thread, [&](std::uint32_t count) {
    Script script(layout);
    for (std::uint32_t i = 0; i < count; ++i) {
      script.add_all(0, {EventKind::acquire, 0, 0, 0});
      script.add_all(delay_ns, {EventKind::release, 0, 0, 0});
    }
    return script.run(platform, network, 1).whole_makespan;
  });
  return of_all_threads / std::int64_t{layout.processes()} - std::chrono::nanoseconds(delay_ns);
}

Time replay_release(const Platform& platform, NetworkKind network, std::uint16_t words, std::uint32_t releases) {
  return each_of(releases, [&](std::uint32_t count) {
    Script script({2, 1});
    for (std::uint32_t page = 0; page < count; ++page) {
      script.add(1, 1'000'000, {}, {EventKind::acquire, 0, 0, 0});
      script.add(1, 1'000'000, {{RegionId{0}, 1, page, Access::write, 128, Change{words, 1}}},
                 {EventKind::release, 0, 0, 0});
      script.add_all(4'000'000, script.barrier());
    }
    return script.run(platform, network, count).threads[1].whole.time[static_cast<std::size_t>(Spent::diff)];
  });
}

Time replay_dirty_pages(const Platform& platform, NetworkKind network, std::uint32_t pages, std::uint32_t barriers) {
  const Time of_all_pages = each_of(barriers, [&](std::uint32_t count) {
    Script script({2, 1});
    for (std::uint32_t i = 0; i < count; ++i) {
      script.add(0, 4'000'000, {{RegionId{0}, pages, 0, Access::write, 128, Change{1, 1}}}, script.barrier());
      script.add(1, 4'000'000, {}, script.barrier());
    }
    return script.run(platform, network, pages).threads[0].whole.time[static_cast<std::size_t>(Spent::protect)];
  });
  return of_all_pages / pages;
}

Time replay_further_runs(const Platform& platform, NetworkKind network, std::uint32_t runs, std::uint32_t barriers) {
  const auto charged = [&](std::uint32_t stride) {
    return time_in_child([&] {
      Script script({2, 1});
      for (std::uint32_t i = 0; i < barriers; ++i) {
        std::vector<TouchRun> touches;
        for (std::uint32_t run = 0; run < runs; ++run)
          touches.push_back({RegionId{0}, 1, run * stride, Access::write, 128, Change{1, 1}});
        script.add(0, 4'000'000, touches, script.barrier());
        script.add(1, 4'000'000, {}, script.barrier());
      }
      return script.run(platform, network, 2 * runs).threads[0].whole.time[static_cast<std::size_t>(Spent::protect)];
    });
  };
  return (charged(2) - charged(1)) / static_cast<std::int64_t>(barriers) / (runs - 1);
}

Time replay_memory_bus(const Platform& platform, NetworkKind network, std::uint32_t threads, std::uint32_t loops) {
  return each_of(loops, [&](std::uint32_t count) {
    Script script({1, threads});
    for (std::uint32_t i = 0; i < count; ++i) script.add_all(memory_bound_ns, script.barrier());
    const Tally tally = script.run(platform, network, 1, {.memory_bound = 1}).threads[0].whole;
    return tally.time[static_cast<std::size_t>(Spent::compute)];
  });
}

std::vector<Time> replay_messages(const Platform& platform, NetworkKind network, const std::vector<Bytes>& payloads) {
  return times_in_child([&] { return time_messages(platform, network, payloads); });
}

std::vector<Time> replay_streams(const Platform& platform, NetworkKind network, const std::vector<Bytes>& payloads) {
  constexpr std::uint32_t burst = 8;
  const auto sent_at_once = [&](std::uint32_t messages) {
    return times_in_child([&] { return time_messages(platform, network, payloads, messages); });
  };
  const std::vector<Time> few = sent_at_once(most_links + burst);
  std::vector<Time> times = sent_at_once(most_links + 2 * burst);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = (times[i] - few[i]) / burst;
  return times;
}

namespace {

/// Re-runs a platform's microbenchmarks for which its hosts have room.
class Rerun {
 public:
  Rerun(const Platform& platform, NetworkKind network, const ReplayRequest& request)
      : platform_(platform), costs_(platform.costs), network_(network), request_(request) {}

  void faults() {
    for (const FaultRule& rule : fault_rules) {
      add(fmt::format("fault.{}", rule.name), scene_of(rule.kind).layout,
          costs_.fault[static_cast<std::size_t>(rule.kind)],
          [&] { return replay_fault(platform_, network_, rule.kind, 10); });
    }
  }

  /// `rerun` is replay_barrier or replay_lock.
  void layouts(const char* group, const std::map<Layout, Time>& costs, decltype(replay_barrier)* rerun) {
    std::map<Layout, std::optional<Time>> all(costs.begin(), costs.end());
    for (const Layout layout : request_.layouts) all.emplace(layout, std::nullopt);
    for (const auto& [layout, given] : all) {
      add(fmt::format("{}.{}x{}", group, layout.nodes, layout.threads_per_node), layout, given,
          [&, at = layout] { return rerun(platform_, network_, at, 100); });
    }
  }

  void releases() {
    for (const std::uint16_t words : release_words) {
      const Bytes diff = diff_bytes({words, 1});
      const std::int64_t pieces = (diff.count + max_payload.count - 1) / max_payload.count;
      add(fmt::format("release.{}", words), {2, 1},
          pieces * costs_.message_fixed + diff.count * costs_.message_per_byte,
          [&] { return replay_release(platform_, network_, words, 10); });
    }
  }

  void dirty_pages() {
    add("barrier.dirty-home-page", {2, 1}, costs_.dirty_home_page,
        [&] { return replay_dirty_pages(platform_, network_, 64, 10); });
    if (costs_.further_run == Time{}) return;
    add("barrier.further-run", {2, 1}, costs_.further_run,
        [&] { return replay_further_runs(platform_, network_, 64, 10); });
  }

  void memory_bus() {
    for (const auto& [threads, slowdown] : costs_.memory_bus) {
      const std::chrono::duration<double, std::nano> given{memory_bound_ns * slowdown};
      add(fmt::format("memory-bus.{}", threads), {1, threads}, std::chrono::round<Time>(given),
          [&, at = threads] { return replay_memory_bus(platform_, network_, at, 10); });
    }
  }

  void messages() {
    const std::vector<LinkSpec>& route = costs_.reference;
    add_sizes(
        "network", request_.messages,
        [&](Bytes payload) { return idle_time(row_of(network_).model, route, costs_.framing, payload); },
        replay_messages);
    add_sizes(
        "network.stream", request_.streams,
        [&](Bytes payload) { return route.front().bandwidth.time_of(wire_bytes(costs_.framing, payload)); },
        replay_streams);
  }

  std::vector<Replayed> replayed;
  std::vector<std::string> skipped;

 private:
  bool has_room(Layout layout) const {
    return time_in_child([&] { return Time{offers(platform_, layout)}; }) == Time{1};
  }

  template <typename Body>
  void add(std::string what, Layout layout, std::optional<Time> given, Body rerun) {
    if (has_room(layout)) {
      replayed.push_back({std::move(what), layout, given, rerun()});
    } else {
      skipped.push_back(std::move(what));
    }
  }

  template <typename Given, typename Body>
  void add_sizes(const char* name, const std::vector<Bytes>& payloads, Given given, Body rerun) {
    if (payloads.empty()) return;
    check_duration(costs_.reference, costs_.framing, payloads, 1);
    const Layout pair{2, 1};
    const std::vector<Time> times = has_room(pair) ? rerun(platform_, network_, payloads) : std::vector<Time>{};
    for (std::size_t i = 0; i < payloads.size(); ++i) {
      std::string what = fmt::format("{}.{}", name, payloads[i].count);
      if (!times.empty()) {
        replayed.push_back({std::move(what), pair, given(payloads[i]), times[i]});
      } else {
        skipped.push_back(std::move(what));
      }
    }
  }

  const Platform& platform_;
  const Costs& costs_;
  NetworkKind network_;
  const ReplayRequest& request_;
};

}  // namespace

std::vector<Replayed> replay_microbenchmarks(const Platform& platform, NetworkKind network,
                                             std::vector<std::string>* skipped, const ReplayRequest& request) {
  const auto wanted = [&](const char* group) { return request.groups.empty() || request.groups.contains(group); };
  Rerun rerun(platform, network, request);
  if (wanted("fault")) rerun.faults();
  if (wanted("barrier")) rerun.layouts("barrier", platform.costs.barrier, replay_barrier);
  if (wanted("lock")) rerun.layouts("lock", platform.costs.lock, replay_lock);
  if (wanted("release")) rerun.releases();
  if (wanted("barrier")) rerun.dirty_pages();
  if (wanted("memory-bus")) rerun.memory_bus();
  if (wanted("network")) rerun.messages();
  if (skipped) *skipped = std::move(rerun.skipped);
  return std::move(rerun.replayed);
}

}  // namespace sdsm::sim
