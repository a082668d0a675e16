#include "sim/uncertainty.hpp"

#include <fmt/core.h>
#include <boost/random/normal_distribution.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include <poll.h>

#include "commands/forked_call.hpp"

namespace sdsm::sim {
namespace {

/// Sets that may be refused for each accepted set, and before the first.
constexpr std::uint64_t most_refused = 50;

/// Keeps the draws' random numbers apart from those of jitter and noise with the same seed.
std::mt19937_64 generator_of(std::uint64_t seed) {
  std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U), 0x636f7374U};
  return std::mt19937_64(words);
}

/// What is impossible in a set of costs on the reference network, of both models or `only` one; empty if nothing is.
std::vector<std::string> contradictions(const Costs& costs, std::optional<WireModel> only, ProtocolKind protocol) {
  for (const WireModel model : {WireModel::store_and_forward, WireModel::flow}) {
    if (only.value_or(model) != model) continue;
    if (auto found = CostModel(costs, model, {}, protocol).contradictions(); !found.empty()) return found;
  }
  return {};
}

}  // namespace

CostSampler::CostSampler(const Platform& platform, std::uint64_t seed, ProtocolKind protocol)
    : platform_(platform), protocol_(protocol), random_(generator_of(seed)) {
  for (const UncertainCost& cost : platform.uncertain) runs_ = std::max(runs_, cost.runs.size());
  if (!platform.uncertain.empty()) return;
  throw std::invalid_argument(
      fmt::format("{} gives no standard error, so there is nothing to draw from. `sdsm calibrate` writes them into the "
                  "platform files that it makes; by hand, add properties such as fault.RUMR.standard-error",
                  platform.path.string()));
}

double CostSampler::normal() {
  // A new one each time, as it may keep a second number. Boost's gives the same numbers with every standard library.
  return boost::random::normal_distribution<double>()(random_);
}

Costs CostSampler::any() {
  Costs costs = platform_.costs;
  std::vector<double> weights(runs_);  // weights of the runs' deviations from their mean, the same for all costs
  const auto count = static_cast<double>(runs_);
  for (double& weight : weights) weight = normal() * std::sqrt((1 + 1 / count) / (count - 1));
  std::optional<double> of_fixed;
  for (const UncertainCost& cost : platform_.uncertain) {
    const double value = cost.get(platform_.costs);
    if (!cost.runs.empty()) {
      const double mean = std::accumulate(cost.runs.begin(), cost.runs.end(), 0.) / count;
      double deviation = 0;
      for (std::size_t run = 0; run < runs_; ++run) deviation += weights[run] * (cost.runs[run] - mean);
      cost.set(costs, value + deviation);
      continue;
    }
    double deviation = normal();
    if (cost.property == "message.fixed") of_fixed = deviation;
    if (cost.property == "message.per-byte" && of_fixed) {
      const double r = platform_.message_correlation;
      deviation = r * *of_fixed + std::sqrt(1 - r * r) * deviation;
    }
    cost.set(costs, value + cost.standard_error * deviation);
  }
  return costs;
}

Costs CostSampler::draw() {
  ++drawn_;
  for (;;) {
    Costs costs = any();
    const std::vector<std::string> wrong = contradictions(costs, platform_.model, protocol_);
    if (wrong.empty()) return costs;
    if (++refused_ >= most_refused * drawn_) {
      throw std::invalid_argument(fmt::format(
          "{}: of {} sets of costs drawn from its standard errors, {} are impossible ({}). The errors are too "
          "large for a band: measure more, and calibrate again",
          platform_.path.string(), refused_ + drawn_ - 1, refused_, wrong.front()));
    }
  }
}

Time quantile(const Uncertainty& uncertainty, double part) {
  std::vector<Time> times;
  for (const Draw& draw : uncertainty.draws) times.push_back(draw.makespan);
  std::sort(times.begin(), times.end());
  const double position = part * static_cast<double>(times.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, times.size() - 1);
  const double step = static_cast<double>((times[above] - times[below]).count());
  return times[below] + Time{std::llround((position - static_cast<double>(below)) * step)};
}

std::uint64_t usual_draws(std::uint64_t intervals, std::uint64_t touches) {
  constexpr std::uint64_t budget_us = 2'000'000, least = 21, most = 401;
  // Roughly what they take on a machine of 2020, and a child process takes 5 ms.
  return std::clamp(budget_us / (5000 + 6 * intervals + touches), least, most) | 1;
}

const Draw& median_draw(const Uncertainty& uncertainty) {
  std::vector<const Draw*> order;
  for (const Draw& draw : uncertainty.draws) order.push_back(&draw);
  std::stable_sort(order.begin(), order.end(), [](const Draw* a, const Draw* b) { return a->makespan < b->makespan; });
  return *order[order.size() / 2];
}

Uncertainty simulate_draws(const Platform& platform, Layout layout, NetworkKind network,
                           const std::function<Program()>& program, const RunOptions& options, Varied varied,
                           std::uint64_t count, const Progress& progress, std::span<const double> factors) {
  std::optional<CostSampler> sampler;
  if (varied == Varied::costs) sampler.emplace(platform, options.seed, options.protocol);
  Uncertainty found;
  struct Running {
    std::size_t draw;
    commands::ForkedCall child;
  };
  std::vector<Running> running;
  std::size_t finished = 0;
  const auto start = [&] {
    Platform drawn = platform;
    if (sampler) drawn.costs = sampler->draw();
    RunOptions own = options;
    own.page_figures = own.constructs = false;
    own.timeline = nullptr;
    Draw draw;
    if (sampler) {
      draw.seed = own.seed = options.seed + found.draws.size() + 1;
      for (const UncertainCost& cost : platform.uncertain) draw.costs.push_back(cost.get(drawn.costs));
    } else if (varied == Varied::computing) {
      own.compute_factor = factors[found.draws.size()];
    } else {
      draw.seed = own.seed;
      own.draw = draw.number = static_cast<std::uint32_t>(found.draws.size());
    }
    running.push_back({found.draws.size(), commands::ForkedCall([&] {
                         const Result result = simulate(drawn, layout, network, program(), own);
                         return std::to_string(result.makespan.count());
                       })});
    found.draws.push_back(std::move(draw));
  };
  const auto finish = [&](std::size_t which) {
    found.draws[running[which].draw].makespan = Time{std::stoll(running[which].child.result())};
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
    ++finished;
    if (progress) progress(static_cast<double>(finished) / static_cast<double>(count));
  };
  // The first draw runs alone, so that an error of all draws is reported once.
  start();
  finish(0);
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  while (finished < count) {
    while (running.size() < processors && found.draws.size() < count) start();
    std::vector<pollfd> waiting;
    for (const Running& one : running) waiting.push_back({one.child.descriptor(), POLLIN, 0});
    if (::poll(waiting.data(), waiting.size(), -1) < 0) {
      if (errno == EINTR) continue;
      throw std::system_error(errno, std::generic_category(), "poll");
    }
    const auto ready = std::find_if(waiting.begin(), waiting.end(), [](const pollfd& one) { return one.revents != 0; });
    finish(static_cast<std::size_t>(ready - waiting.begin()));
  }
  if (sampler) found.refused = sampler->refused();
  return found;
}

}  // namespace sdsm::sim
