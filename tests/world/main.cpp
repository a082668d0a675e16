/// Runs random programs on the native DSM's protocol in many orders, and says what went wrong in the first one that
/// does, as shortly as it can.
///
///   sdsm_world [--kind locks|plain|atomics|jiajia] [--per-node P] [--seed S] [--schedules N] [--process LIBRARY
///   [--fault N]]
///              [--log]
///
/// Schedule i has seed S + i, which makes its program and its order. Exit status: 0 all was well, 1 a fault was found.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "tests/world/scheduler.hpp"

namespace sdsm::world {
namespace {

struct Options {
  Kind kind{};
  std::uint32_t per_node = 1;
  std::uint64_t seed = 1;
  std::uint64_t schedules = 1000;
  std::string process = WORLD_PROCESS;
  int fault = 0;  ///< that the library has planted
  bool wants_log = false;
};

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--log") {
      options.wants_log = true;
      continue;
    }
    if (i + 1 == argc) throw std::runtime_error(name + " needs a value");
    const std::string value = argv[++i];
    if (name == "--kind") {
      const auto* const found = std::find(std::begin(kind_names), std::end(kind_names), value);
      if (found == std::end(kind_names)) throw std::runtime_error("there is no kind " + value);
      options.kind = static_cast<Kind>(found - kind_names);
    } else if (name == "--per-node") {
      options.per_node = static_cast<std::uint32_t>(std::stoul(value));
    } else if (name == "--seed") {
      options.seed = std::stoull(value);
    } else if (name == "--schedules") {
      options.schedules = std::stoull(value);
    } else if (name == "--fault") {
      options.fault = std::stoi(value);
    } else if (name == "--process") {
      options.process = value;
    } else {
      throw std::runtime_error("there is no option " + name);
    }
  }
  if (options.per_node < 1 || options.per_node > 2) throw std::runtime_error("--per-node is 1 or 2");
  return options;
}

Order order_of(std::uint64_t seed) {
  return {seed, seed % 4 == 0, static_cast<std::uint32_t>(seed / 4 % 8)};
}

/// An order in which the program fails, with as few untimely moments as possible: fewer than `changes`, if it finds
/// one.
std::optional<Order> failing_order(World& world, const Program& program, std::uint32_t changes, std::uint32_t tries) {
  for (std::uint32_t few = 0; few < changes; ++few) {
    for (std::uint64_t seed = 0; seed < tries; ++seed) {
      const Order order{seed, false, few};
      if (!world.run(program, order).failure.empty()) return order;
    }
  }
  return {};
}

/// Leaves out steps as long as what remains fails in one of some orders. The first ones that it tries to leave out are
/// half of the program.
void shrink(World& world, Program& program, Order& order) {
  constexpr std::uint32_t tries = 300;
  constexpr std::uint32_t most_changes = 4;
  for (std::size_t count = program.steps.size() / 2; count > 0; count /= 2) {
    for (std::size_t first = 0; first < program.steps.size();) {
      const auto rest = without(program, first, count);
      std::optional<Order> fails;
      if (rest && !world.run(*rest, order).failure.empty()) fails = order;
      if (rest && !fails) fails = failing_order(world, *rest, most_changes, tries);
      if (!fails) {
        first += std::max<std::size_t>(count / 2, 1);
        continue;
      }
      program = *rest;
      order = *fails;
    }
  }
  const std::uint32_t before = order.is_uniform ? 8 : order.changes;
  if (const auto fewer = failing_order(world, program, before, 10 * tries)) order = *fewer;
}

/// Prints at most `most` lines from the begin, and as many from the end.
void print(const Outcome& outcome, std::size_t most) {
  const std::size_t lines = outcome.log.size();
  for (std::size_t i = 0; i < lines; ++i) {
    if (i >= most && i + most < lines) {
      if (i == most) std::printf("  ... %zu lines ...\n", lines - 2 * most);
      continue;
    }
    std::printf("  %s\n", outcome.log[i].c_str());
  }
}

int run(const Options& options) {
  World world(options.process, options.fault);
  const auto begun = std::chrono::steady_clock::now();
  std::uint64_t steps = 0;
  std::uint64_t fingerprint = 0;
  for (std::uint64_t i = 0; i < options.schedules; ++i) {
    const std::uint64_t seed = options.seed + i;
    Program program = random_program(options.kind, seed, options.per_node);
    Order order = order_of(seed);
    const Outcome outcome = world.run(program, order, options.wants_log);
    steps += outcome.steps;
    fingerprint = fingerprint * 31 + outcome.fingerprint;
    if (options.wants_log) print(outcome, outcome.log.size());
    constexpr std::uint64_t often = 100;
    if (i % often == 0 && world.run(program, order).fingerprint != outcome.fingerprint)
      throw std::runtime_error("seed " + std::to_string(seed) + " does not repeat");
    if (outcome.failure.empty()) continue;
    std::printf("seed %llu (schedule %llu): %s\n", static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(i + 1), outcome.failure.c_str());
    std::fflush(stdout);
    shrink(world, program, order);
    const Setup& setup = program.setup;
    std::printf("the shortest way to it: %u x %u processes, %s, %u steps of the program\n", setup.layout.nodes,
                setup.layout.threads_per_node, std::string(name_of(setup.protocol)).c_str(),
                static_cast<unsigned>(program.steps.size()));
    constexpr std::size_t most = 100;
    print(world.run(program, order, true), most);
    return 1;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  std::printf("%llu schedules of %llu steps in all, in %.1f s; fingerprint %016llx\n",
              static_cast<unsigned long long>(options.schedules), static_cast<unsigned long long>(steps), took.count(),
              static_cast<unsigned long long>(fingerprint));
  return 0;
}

}  // namespace
}  // namespace sdsm::world

int main(int argc, char** argv) {
  try {
    const int status = sdsm::world::run(sdsm::world::options_of(argc, argv));
    std::fflush(stdout);
    _exit(status);  // without destructors of the copies, whose memory is as the last schedule left it
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sdsm_world: %s\n", error.what());
    return 2;
  }
}
