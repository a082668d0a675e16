#include "sim/cluster.hpp"

#include <boost/random/normal_distribution.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cmath>

#include "commands/timelines/timeline.hpp"
namespace sdsm::sim {

Cluster::Cluster(Clock& clock_, Network& network_, const Topology& topology, Layout layout_, const CostModel& costs_,
                 const std::vector<trace::Region>& regions, const RunOptions& options_)
    : clock(clock_),
      network(network_),
      layout(layout_),
      costs(costs_),
      options(options_),
      tables(tables_of(options_.protocol)),
      page_size(options_.page.value_or(costs_.costs().page)),
      page_words(static_cast<std::uint16_t>(page_size.count / diff_word.count)),
      administrative_region(RegionId{static_cast<std::uint32_t>(regions.size())}),
      noise(options_.is_noisy ? costs_.costs().noise_deviation : 0, costs_.costs().noise_duration, options_.seed,
            layout_.processes(), options_.draw),
      service(*this, layout_.processes()),
      first_uses(costs_.costs().first_copy > Time{} || costs_.costs().first_write > Time{}),
      first_twins(costs_.costs().first_write > Time{}),
      barrier(*this),
      locks(*this),
      atomics(*this),
      arriving_(layout_.nodes),
      unacknowledged_(layout_.processes()),
      random_(Noise::seed_of(options_.seed, options_.draw)) {
  for (const trace::Region& region : regions) {
    homes.push_back(homes_of(region, placement_of(options.placement, region, region.is_filled), region.pages));
    has_prefetch.push_back(sdsm::has_prefetch(region.kind));
    const bool stays = is_placed_by_option(region) || region.placement == Placement::first_touch;
    variables_.push_back(!is_program_variable(region.kind) ? Variables::none
                         : stays                           ? Variables::at_start
                                                           : Variables::placed);
  }
  homes.push_back(administrative_homes);
  has_prefetch.push_back(false);
  variables_.push_back(Variables::none);
  for (std::uint32_t i = 0; i < regions.size(); ++i) {
    if (is_open_at_home(regions[i].kind)) unnoticed_regions.push_back(RegionId{i});
  }
  if (costs.costs().invalidation == Invalidation::changed) {
    notices = std::make_unique<WriteNotices>();
    for (const RegionId region : unnoticed_regions) notices->add_unnoticed(region);
  }
  processors.resize(layout.nodes);
  readings.resize(layout.processes());
  for (std::uint32_t node = 0; node < layout.nodes; ++node) {
    processors[node].cores = topology.host(NodeId{node})->get_core_count();
    node_pages.push_back(
        std::make_unique<NodePages>(NodeId{node}, ProcessId{node * layout.threads_per_node}, layout.threads_per_node,
                                    notices.get(), std::pmr::get_default_resource(), home_pages_of(options.protocol)));
    if (costs.costs().further_run > Time{}) node_pages.back()->note_opened_pages();
  }
  for (std::uint32_t process = 0; process < layout.processes(); ++process) {
    const NodeId node = layout.node_of(ProcessId{process});
    threads.push_back(std::make_unique<Thread>(clock, noise, window, ProcessId{process}, node,
                                               processors[index_of(node)], costs.costs().fault_trap, options.timeline));
    if (options.constructs) threads.back()->account.constructs = std::make_unique<ConstructAccount>(options.singles);
    flushes.push_back(std::make_unique<Flush>(*this, *threads.back()));
  }
  rights.emplace(*this);
  room = make_room(*this);
}

bool Cluster::has_from_start(NodeId node, PageId page) const {
  switch (variables_[index_of(page.region)]) {
    case Variables::none: return false;
    case Variables::at_start: return node == NodeId{0};
    case Variables::placed: break;
  }
  return node == NodeId{0} || node == layout.node_of(home_of_page(page));
}

void Cluster::send(const Outgoing& message, std::function<void()> arrived) {
  const bool travels = layout.node_of(message.from) != layout.node_of(message.to);
  if (travels && costs.costs().acknowledgement > Bytes{}) return send_in_turn(message, std::move(arrived));
  send_now(message, std::move(arrived));
}

void Cluster::send_in_turn(const Outgoing& message, std::function<void()> arrived) {
  auto& unacknowledged = unacknowledged_[index_of(message.from)];
  unacknowledged.emplace_back(message, std::move(arrived));
  if (unacknowledged.size() == 1) send_first_of(message.from);
}

void Cluster::send_first_of(ProcessId process) {
  const auto& [message, arrived] = unacknowledged_[index_of(process)].front();
  send_now(message, [this, process, to = message.to, arrived = arrived] {
    network.send(layout.node_of(to), layout.node_of(process), costs.costs().acknowledgement, [this, process] {
      auto& unacknowledged = unacknowledged_[index_of(process)];
      unacknowledged.pop_front();
      if (!unacknowledged.empty()) send_first_of(process);
    });
    arrived();
  });
}

void Cluster::send_now(const Outgoing& message, std::function<void()>&& arrived) {
  const NodeId from = layout.node_of(message.from), to = layout.node_of(message.to);
  const Bytes payload = costs.on_wire(message.payload);
  if (options.timeline == nullptr || from == to) return network.send(from, to, payload, std::move(arrived));
  const Time sent = clock.now();
  network.send(from, to, payload, [this, message, sent, arrived = std::move(arrived)] {
    options.timeline->message({message.from, message.to, message.kind, message.payload, sent, clock.now()});
    arrived();
  });
}

void Cluster::end_program() {
  has_ended = true;
  for (const auto& thread : threads) thread->cut();
  clock.stop();
  simgrid::s4u::Actor::kill_all();
}

std::vector<Uncontended> Cluster::uncontended() const {
  std::vector<Uncontended> found;
  for (const auto& thread : threads) found.push_back(thread->uncontended);
  return found;
}

void Cluster::show_faults(const Thread& thread, std::size_t kind, PageId first, std::uint64_t pages) {
  if (options.timeline != nullptr) options.timeline->faults(thread.id(), kind, first, pages, thread.local_now());
  for (std::uint64_t i = 0; options.page_figures && i < pages; ++i) {
    note(thread.id(), {first.region, first.index + i}, trace::figures_of(tables.faults[kind]));
  }
}

ProcessId Cluster::first_toucher(Thread& thread, PageId page) {
  if (!first_touches.home(page)) thread.catch_up_and_wait();
  return first_touches.touched(page, thread.id());
}

bool Cluster::is_arriving(NodeId node, PageId page) const {
  const auto& pages = arriving_[index_of(node)];
  return std::any_of(pages.begin(), pages.end(), [&](const Arriving& a) { return a.page == page; });
}

void Cluster::await_arrival(Thread& thread, PageId page) {
  for (Arriving& arriving : arriving_[index_of(thread.node())]) {
    if (arriving.page != page) continue;
    arriving.waiting.push_back(&thread);
    thread.bell.wait();
    return;
  }
}

void Cluster::note(ProcessId process, PageId page, const trace::PageFigures& figures) {
  if (options.page_figures && window.contains(clock.now())) page_counts[{page, process}] += figures;
}

void Cluster::begin_arrival(NodeId node, PageId page) {
  arriving_[index_of(node)].push_back({page, {}});
}

void Cluster::end_arrival(NodeId node, PageId page) {
  auto& pages = arriving_[index_of(node)];
  const auto found = std::find_if(pages.begin(), pages.end(), [&](const Arriving& a) { return a.page == page; });
  const std::vector<Thread*> waiting = std::move(found->waiting);
  pages.erase(found);
  for (Thread* thread : waiting) thread->bell.ring();
}

Time Cluster::jittered(Time part) {
  if (options.jitter <= 0) return part;
  // exp(N(mu, sigma^2)) has mean 1 and coefficient of variation c if sigma^2 = ln(1 + c^2) and mu = -sigma^2 / 2.
  // Boost's distribution gives the same numbers with every standard library.
  const double variance = std::log1p(options.jitter * options.jitter);
  boost::random::normal_distribution<double> normal(-variance / 2, std::sqrt(variance));
  return from_picoseconds(static_cast<double>(part.count()) * std::exp(normal(random_)));
}

}  // namespace sdsm::sim
