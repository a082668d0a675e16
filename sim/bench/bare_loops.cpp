#include "sim/bench/bare_loops.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include "sim/clock.hpp"

namespace sdsm::sim::bench {
namespace {

namespace sg = simgrid::s4u;

constexpr double bytes_per_second = 12.5e6;
constexpr double latency = 50e-6;
constexpr double request_bytes = 64;
constexpr double page_bytes = 4096;
constexpr double home_time = 20e-6;
constexpr double requester_time = 10e-6;
constexpr double longest_think = 200e-6;

struct Faulter {
  std::minstd_rand random;
  std::uint32_t node;
  std::uint32_t nodes;
  std::uint64_t left;
  std::uint32_t home = 0;

  double think() { return longest_think * static_cast<double>(random() % 1024) / 1024; }
  void pick_home() {
    home = static_cast<std::uint32_t>(random() % (nodes - 1));
    if (home >= node) ++home;
  }
};

std::vector<std::unique_ptr<Faulter>> faulters(std::uint32_t nodes, std::uint64_t faults_per_node) {
  std::vector<std::unique_ptr<Faulter>> all;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    all.push_back(std::make_unique<Faulter>(Faulter{std::minstd_rand(node + 1), node, nodes, faults_per_node}));
  }
  return all;
}

/// FIFO resources of all nodes.
struct Queues {
  explicit Queues(std::uint32_t nodes) : processor(nodes), up(nodes), down(nodes) {}
  std::vector<double> processor, up, down;
};

double take(std::vector<double>& free_at, std::uint32_t which, double now, double duration) {
  return free_at[which] = std::max(now, free_at[which]) + duration;
}

std::vector<sg::Host*> load(sg::Engine& engine, const std::filesystem::path& platform, std::uint32_t nodes) {
  configure_engine();
  engine.load_platform(platform.string());
  std::vector<sg::Host*> hosts = engine.get_all_hosts();
  hosts.resize(nodes);
  return hosts;
}

int argument_count = 2;
char program_name[] = "bench";
char quiet[] = "--log=root.thres:error";
char* arguments[] = {program_name, quiet, nullptr};

}  // namespace

std::uint64_t two_communications(const std::filesystem::path& platform, std::uint32_t nodes,
                                 std::uint64_t faults_per_node) {
  sg::Engine engine(&argument_count, arguments);
  const std::vector<sg::Host*> hosts = load(engine, platform, nodes);
  for (auto* link : engine.get_all_links()) link->set_concurrency_limit(1);
  const auto all = faulters(nodes, faults_per_node);
  Queues queues(nodes);
  for (const auto& faulter : all) {
    start_actor("thread", hosts[faulter->node], [&hosts, &queues, &f = *faulter] {
      for (; f.left > 0; --f.left) {
        f.pick_home();
        sg::this_actor::sleep_for(f.think());
        sg::Comm::sendto_async(hosts[f.node], hosts[f.home], static_cast<std::uint64_t>(request_bytes))->wait();
        const double now = sg::Engine::get_clock();
        sg::this_actor::sleep_for(take(queues.processor, f.home, now, home_time) - now);
        sg::Comm::sendto_async(hosts[f.home], hosts[f.node], static_cast<std::uint64_t>(page_bytes))->wait();
        sg::this_actor::sleep_for(requester_time);
      }
    });
  }
  engine.run();
  return nodes * faults_per_node;
}

namespace {

/// The stages of a fault; each reserves a resource when the message reaches it and schedules the next.
template <typename Schedule>
struct Stages {
  Queues& queues;
  Schedule schedule;  ///< (date, stage, faulter)

  void enter(int stage, double now, Faulter& f) {
    switch (stage) {
      case 0: return schedule(take(queues.up, f.node, now, request_bytes / bytes_per_second) + latency, 1, f);
      case 1: return schedule(take(queues.processor, f.home, now, home_time), 2, f);
      case 2:
        return schedule(
            take(queues.up, f.home, now, page_bytes / bytes_per_second) + latency - page_bytes / bytes_per_second, 3,
            f);
      case 3: return schedule(take(queues.down, f.node, now, page_bytes / bytes_per_second), 4, f);
      default:
        if (--f.left == 0) return;
        f.pick_home();
        return schedule(now + requester_time + f.think(), 0, f);
    }
  }
};

}  // namespace

std::uint64_t simgrid_timers(const std::filesystem::path& platform, std::uint32_t nodes,
                             std::uint64_t faults_per_node) {
  using simgrid::kernel::timer::Timer;
  sg::Engine engine(&argument_count, arguments);
  const std::vector<sg::Host*> hosts = load(engine, platform, nodes);
  const auto all = faulters(nodes, faults_per_node);
  Queues queues(nodes);
  struct Machine {
    Queues& queues;
    void at(double date, int stage, Faulter& f) {
      // A timer with two words of state allocates nothing.
      struct Step {
        Machine* machine;
        Faulter* faulter;
      };
      const Step step{this, &f};
      switch (stage) {
        case 0: Timer::set(date, [step] { step.machine->enter(0, *step.faulter); }); break;
        case 1: Timer::set(date, [step] { step.machine->enter(1, *step.faulter); }); break;
        case 2: Timer::set(date, [step] { step.machine->enter(2, *step.faulter); }); break;
        case 3: Timer::set(date, [step] { step.machine->enter(3, *step.faulter); }); break;
        default: Timer::set(date, [step] { step.machine->enter(4, *step.faulter); }); break;
      }
    }
    void enter(int stage, Faulter& f) {
      const auto schedule = [this](double date, int next, Faulter& g) { at(date, next, g); };
      Stages<decltype(schedule)>{queues, schedule}.enter(stage, sg::Engine::get_clock(), f);
    }
  } machine{queues};
  // An actor keeps the simulation alive while timers run.
  start_actor("keeper", hosts[0], [&] {
    for (const auto& f : all) {
      f->pick_home();
      machine.at(f->think(), 0, *f);
    }
    while (std::any_of(all.begin(), all.end(), [](const auto& f) { return f->left > 0; })) sg::this_actor::sleep_for(1);
  });
  engine.run();
  return nodes * faults_per_node;
}

std::uint64_t event_heap(std::uint32_t nodes, std::uint64_t faults_per_node) {
  struct Event {
    double date;
    std::uint64_t number;
    int stage;
    Faulter* faulter;
    bool operator<(const Event& other) const {
      return date > other.date || (date == other.date && number > other.number);
    }
  };
  const auto all = faulters(nodes, faults_per_node);
  Queues queues(nodes);
  std::priority_queue<Event> events;
  std::uint64_t number = 0;
  const auto schedule = [&](double date, int stage, Faulter& f) { events.push({date, number++, stage, &f}); };
  Stages<decltype(schedule)> stages{queues, schedule};
  for (const auto& f : all) {
    f->pick_home();
    schedule(f->think(), 0, *f);
  }
  while (!events.empty()) {
    const Event event = events.top();
    events.pop();
    stages.enter(event.stage, event.date, *event.faulter);
  }
  return nodes * faults_per_node;
}

}  // namespace sdsm::sim::bench
