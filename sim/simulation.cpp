#include "sim/simulation.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/crash_is_bad_input.hpp"
#include "sim/player.hpp"

namespace sdsm::sim {
namespace {

/// Whether a link is what a <cluster>'s limiter_link makes of each host: no cable, and without a latency.
bool is_limiter(const std::string& name) {
  return name.ends_with("_limiter") && name.find("_link_") != std::string::npos;
}

/// SimGrid's engine with a platform, its links changed by --set. Throws PlatformError if SimGrid rejects the file.
class LoadedEngine {
 public:
  explicit LoadedEngine(const Platform& platform) {
    const std::filesystem::path& path = platform.path;
    static char name[] = "sdsm";
    static char quiet[] = "--log=root.thres:error";
    // SimGrid prints a backtrace at a deadlock; RunError says the same, and which thread waits for what.
    static char calm[] = "--log=ker_engine.app:file:/dev/null ker_engine.add:0";
    static char* arguments[] = {name, quiet, calm, nullptr};
    int count = 3;
    engine_ = std::make_unique<simgrid::s4u::Engine>(&count, arguments);
    configure_engine();
    const CrashIsBadInput guard(path);
    try {
      engine_->load_platform(path.string());
    } catch (const std::exception& error) {
      // SimGrid's reason may have several lines; a finding is one line.
      std::string reason = error.what();
      std::replace(reason.begin(), reason.end(), '\n', ' ');
      throw PlatformError(fmt::format("{}: SimGrid cannot use this file ({}). Mend the file.", path.string(), reason));
    }
    for (auto* link : engine_->get_all_links()) {
      if (is_limiter(link->get_name())) continue;
      const double bandwidth = platform.bandwidth.of(link->get_bandwidth());
      const double latency = platform.latency.of(link->get_latency());
      if (bandwidth != link->get_bandwidth()) link->set_bandwidth(bandwidth);
      if (latency != link->get_latency()) link->set_latency(latency);
    }
  }
  simgrid::s4u::Engine& engine() const { return *engine_; }

 private:
  std::unique_ptr<simgrid::s4u::Engine> engine_;
};

/// Gives links that equal the reference the bandwidth and latency that `costs` give the reference: a drawn network is
/// both the one on which costs were measured and the one that is simulated.
void follow_reference(simgrid::s4u::Engine& engine, const Platform& platform) {
  if (platform.costs.reference.empty()) return;
  const LinkSpec& given = platform.reference_link;
  const LinkSpec& drawn = platform.costs.reference.front();
  const double bandwidth = given.bandwidth.bytes_per_second;
  const bool is_as_given = drawn.bandwidth.bytes_per_second == bandwidth && drawn.latency == given.latency;
  if (is_as_given) return;
  for (auto* link : engine.get_all_links()) {
    const bool is_alike = std::abs(link->get_bandwidth() - bandwidth) <= 1e-9 * bandwidth &&
                          std::abs(link->get_latency() - to_seconds(given.latency)) <= 1e-12;
    if (!is_alike) continue;
    link->set_bandwidth(drawn.bandwidth.bytes_per_second);
    link->set_latency(to_seconds(drawn.latency));
  }
}

/// Reports the initial thread's progress. It is no actor of its own: the order of simultaneous events must not depend
/// on whether somebody watches.
class ObservedSource final : public IntervalSource {
 public:
  ObservedSource(std::unique_ptr<IntervalSource> source, Progress progress, std::uint64_t intervals)
      : source_(std::move(source)), progress_(std::move(progress)), intervals_(intervals) {}

  const trace::Interval* next() override {
    progress_(static_cast<double>(played_++) / static_cast<double>(intervals_));
    return source_->next();
  }

 private:
  std::unique_ptr<IntervalSource> source_;
  Progress progress_;
  std::uint64_t intervals_;
  std::uint64_t played_ = 0;
};

}  // namespace

void require_room(const Platform& platform, Layout layout) {
  const LoadedEngine loaded(platform);
  const CrashIsBadInput guard(platform.path);
  const Topology topology(loaded.engine(), layout.nodes, layout.threads_per_node);
}

bool offers(const Platform& platform, Layout layout) {
  try {
    require_room(platform, layout);
    return true;
  } catch (const TooSmall&) {
    return false;
  }
}

std::vector<std::string> check_platform(const Platform& platform, CheckedHosts& hosts) {
  // A million routes take a second. A host of a <cluster> has the routes of any other.
  constexpr std::size_t most_tried = 1024;
  const LoadedEngine loaded(platform);
  std::vector<std::string> findings;
  hosts.all = loaded.engine().get_host_count();
  try {
    if (hosts.all == 0) throw std::invalid_argument("the platform has no host. Add a <host> for each node");
    const CrashIsBadInput guard(platform.path);
    const Topology topology(loaded.engine(), most_tried);
    topology.find_all_routes();
    hosts.tried = topology.nodes();
    for (const NetworkRow& network : network_rows()) {
      for (const ProtocolKind protocol : platform.protocols) {
        const CostModel costs(platform.costs, network.model,
                              topology.longest_route(network.model, platform.costs.framing), protocol);
        for (const std::string& wrong : costs.contradictions()) {
          findings.push_back(fmt::format("{}: {} (network {}).", platform.path.string(), wrong, network.name));
        }
      }
    }
  } catch (const std::invalid_argument& error) {
    findings.push_back(fmt::format("{}: {}.", platform.path.string(), error.what()));
  }
  return findings;
}

void check_duration(const std::vector<LinkSpec>& route, const Framing& framing, const std::vector<Bytes>& payloads,
                    std::uint32_t burst) {
  double total = 0;  // a Time might overflow
  for (const Bytes payload : payloads) {
    for (const LinkSpec& link : route) {
      total += burst * (static_cast<double>(wire_bytes(framing, payload).count) / link.bandwidth.bytes_per_second +
                        to_seconds(link.latency));
    }
  }
  if (total > to_seconds(last_date)) {
    throw std::invalid_argument(fmt::format(
        "the messages would take {:.3g} s, more than the {:.3g} s that a run can last. Ask for smaller ones", total,
        to_seconds(last_date)));
  }
}

std::vector<Time> time_messages(const Platform& platform, NetworkKind kind, const std::vector<Bytes>& payloads,
                                std::uint32_t burst) {
  const LoadedEngine loaded(platform);
  const Topology topology = [&] {
    const CrashIsBadInput guard(platform.path);
    return Topology(loaded.engine(), 2, 1);
  }();
  const NetworkRow& row = row_of(kind);
  Clock clock(row.alone);
  const Framing& framing = platform.costs.framing;
  const std::unique_ptr<Network> network = row.make(clock, topology, framing);
  check_duration(topology.longest_route(row.model, framing), framing, payloads, burst);
  std::vector<Time> times;
  Doorbell done(clock);
  start_actor("sender", topology.host(NodeId{1}), [&] {
    for (const Bytes payload : payloads) {
      const Time sent = clock.now();
      std::uint32_t open = burst;
      for (std::uint32_t i = 0; i < burst; ++i) {
        network->send(NodeId{1}, NodeId{0}, payload, [&] {
          if (--open > 0) return;
          times.push_back(clock.now() - sent);
          done.ring();
        });
      }
      done.wait();
    }
  });
  loaded.engine().run();
  return times;
}

namespace {

/// Returns the costs on the simulated network. Throws as simulate() does.
CostModel costs_on(const Platform& platform, Layout layout, WireModel model, const Topology& topology,
                   const RunOptions& options) {
  CostModel costs(platform.costs, model, topology.longest_route(model, platform.costs.framing), options.protocol);
  if (const auto wrong = costs.contradictions(); !wrong.empty()) {
    std::vector<std::string> findings;
    for (const std::string& finding : wrong) findings.push_back(platform.path.string() + ": " + finding + ".");
    // One setting may make many costs impossible, in the same words.
    if (!platform.settings.empty() && wrong.size() > 1) {
      findings = {fmt::format("{}: {} (and {} more: sdsm check with the same --set has all).", platform.path.string(),
                              wrong.front(), wrong.size() - 1)};
    }
    throw PlatformError(findings);
  }
  const std::uint32_t sharing = layout.threads_per_node;
  if (options.memory_bound > 0 && sharing > 1 && platform.costs.memory_bus.empty()) {
    throw std::invalid_argument(fmt::format(
        "{} has no property memory-bus.T, so how much {} threads of a node slow each other's memory down is not known. "
        "Measure it (sdsm microbench with a layout of {} threads per node, sdsm calibrate), or leave out "
        "--memory-bound",
        platform.path.string(), sharing, sharing));
  }
  return costs;
}

using Players = std::vector<std::unique_ptr<Player>>;

/// Plays every thread's trace to the end. Throws what a player throws, and RunError if threads wait for ever.
void play(simgrid::s4u::Engine& engine, const Topology& topology, Cluster& cluster, Players& players) {
  std::exception_ptr failure;
  for (std::uint32_t process = 0; process < players.size(); ++process) {
    start_actor(fmt::format("thread-{}", process), topology.host(cluster.layout.node_of(ProcessId{process})),
                [player = players[process].get(), &failure] {
                  try {
                    player->run();
                  } catch (const simgrid::ForcefulKillException&) {
                    throw;
                  } catch (...) {
                    // A damaged trace or a broken invariant: reported once the engine has stopped.
                    if (!failure) failure = std::current_exception();
                    simgrid::s4u::Actor::kill_all();
                  }
                });
  }
  engine.run();
  if (failure) std::rethrow_exception(failure);

  if (cluster.has_ended) return;

  std::vector<std::string> stuck;
  for (const auto& player : players) {
    if (!player->finished()) stuck.push_back(player->position());
  }
  if (stuck.empty()) return;
  if (stuck.size() > 8) stuck.resize(8);
  throw RunError(fmt::format(
      "the simulated program stopped at {} with threads waiting for what never comes ({}):\n  {}",
      format_time(cluster.clock.now()),
      cluster.order ? "the recorded order is of another run than the trace. Record it and trace again"
                    : "the trace's barriers or locks do not match, or threads take locks in different orders, "
                      "which may stop the program, too. Let all threads take them in one order, or together "
                      "(std::scoped_lock; traces made before this version do not tell which were)",
      fmt::join(stuck, "\n  ")));
}

/// Returns the thread's account by construct. Throws RunError unless it is the whole account.
std::vector<ConstructTally> constructs_of(Thread& thread, Time makespan) {
  std::vector<ConstructTally> constructs = thread.account.constructs->finish();
  Tally sum;
  for (const ConstructTally& one : constructs) sum += one.tally;
  if (sum.time != thread.account.region.time || sum.faults != thread.account.region.faults) {
    throw RunError(fmt::format("broken invariant: thread {} accounts for {} of {} by construct", index_of(thread.id()),
                               format_time(sum.total()), format_time(makespan)));
  }
  return constructs;
}

/// Returns the threads' accounts after the run.
Result result_of(Cluster& cluster) {
  Result result;
  // Messages without a waiting thread may still be on their way when the last thread has ended.
  for (const auto& thread : cluster.threads) {
    result.whole_makespan = std::max(result.whole_makespan, thread->account.whole.total());
  }
  result.makespan = cluster.window.clip(Time{}, result.whole_makespan);
  for (const auto& thread : cluster.threads) {
    Account& account = thread->account;
    // A thread is idle after its end; its account is complete up to then.
    account.charge(Spent::idle, account.whole.total(), result.whole_makespan);
    if (account.whole.total() != result.whole_makespan || account.region.total() != result.makespan) {
      throw RunError(fmt::format("broken invariant: thread {} accounts for {} of {} ({} of {} in the measured region)",
                                 index_of(thread->id()), format_time(account.whole.total()),
                                 format_time(result.whole_makespan), format_time(account.region.total()),
                                 format_time(result.makespan)));
    }
    result.threads.push_back({thread->id(), thread->node(), account.region, account.whole});
    if (account.constructs) result.constructs.push_back(constructs_of(*thread, result.makespan));
  }
  if (cluster.tables.has_pages() && cluster.page_size != cluster.costs.costs().page) {
    result.extrapolated.emplace_back("page-size");
  }
  if (cluster.extrapolated_barrier) result.extrapolated.emplace_back("barrier");
  if (cluster.extrapolated_lock) result.extrapolated.emplace_back("lock");
  if (cluster.extrapolated_atomic) result.extrapolated.emplace_back("atomic");
  if (cluster.options.memory_bound > 0 && !cluster.costs.memory_bus_is_measured(cluster.layout.threads_per_node)) {
    result.extrapolated.emplace_back("memory-bus");
  }
  result.has_unknown_turns = cluster.has_unknown_turns;
  result.baselines = cluster.baselines.between(cluster.uncontended());
  result.remote_faults = cluster.remote_faults;
  result.pages = std::move(cluster.page_counts);
  result.readings = std::move(cluster.readings);
  result.window = cluster.window;
  return result;
}

}  // namespace

Result simulate(const Platform& platform, Layout layout, NetworkKind kind, Program program, const RunOptions& options,
                const Progress& progress) {
  require_costs(platform, options.protocol);
  if (layout.nodes > 1 && !tables_of(options.protocol).has_messages()) {
    throw std::invalid_argument(
        fmt::format("{} nodes under protocol {}, which is of one node, whose threads share its memory. Use --nodes 1 "
                    "--threads-per-node {}, or another --protocol",
                    layout.nodes, name_of(options.protocol), layout.processes()));
  }
  const LoadedEngine loaded(platform);
  const Topology topology = [&] {
    const CrashIsBadInput guard(platform.path);
    follow_reference(loaded.engine(), platform);
    return Topology(loaded.engine(), layout.nodes, layout.threads_per_node);
  }();
  const NetworkRow& row = row_of(kind);
  Clock clock(row.alone);
  const std::unique_ptr<Network> network = row.make(clock, topology, platform.costs.framing);
  network->timeline = options.timeline;
  const CostModel costs = costs_on(platform, layout, row.model, topology, options);
  if (progress && program.intervals > 0) {
    program.sources[0] = std::make_unique<ObservedSource>(std::move(program.sources[0]), progress, program.intervals);
  }
  Cluster cluster(clock, *network, topology, layout, costs, program.regions, options);
  cluster.idle = std::make_unique<IdleNetwork>(topology, row.model, costs);
  if (!program.has_operations) cluster.rights->expect_no_operations();
  cluster.ended_by = program.ended_by;
  if (program.has_spins) cluster.spins.emplace(layout.processes());
  // One process meets nobody, and a run of one process records nothing.
  if (program.order && takes_faults(layout)) cluster.order.emplace(std::move(*program.order), layout, program.regions);
  Players players;
  for (std::uint32_t process = 0; process < layout.processes(); ++process) {
    std::vector<trace::ReductionPart> reductions;
    if (process < program.reductions.size()) reductions = std::move(program.reductions[process]);
    players.push_back(std::make_unique<Player>(cluster, ProcessId{process}, std::move(program.sources[process]),
                                               program.clock_rank, program.clock_calls, std::move(reductions)));
  }
  play(loaded.engine(), topology, cluster, players);
  Result result = result_of(cluster);
  for (std::uint32_t link = 0; link < topology.link_count(); ++link) result.links.push_back(topology.link(link).name);
  return result;
}

}  // namespace sdsm::sim
